//! The live cluster, and nothing but reading from it.
//!
//! ```text
//! flags, kubeconfig, environment ──► target ──► client (GET only, retries) ──► pages of bytes ──► whoever decodes them
//! ```
//!
//! Only this module knows kube and tokio. To everything outside it blocks: a thread of its own talks to the server
//! while the caller's decodes what came before.

mod client;
mod credentials;
mod discovery;
mod environment;
mod exec;
mod explain;
mod export;
mod kubeconfig;
mod list;
mod list_meta;
pub mod options;
mod pages;
mod progress;
mod proxy;
mod read;
mod status;
mod target;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use prost::bytes::Bytes;
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

pub use self::discovery::{Resource, group_path};
pub use self::export::Export;
use self::list::METADATA;
pub use self::list::{Event, JSON, ListRequest, Outcome, PROTOBUF, Page};
pub use self::options::ConnectOptions;
pub use self::pages::each_item;
pub use self::progress::{Observer, Silent, Terminal};
pub use self::read::{Needs, list_of};
pub use self::status::Encoding;
pub use self::target::Configured;

use self::client::{Client, Refusal, Reply};
use self::environment::System;
use self::explain::Facts;
use crate::error::{Failure, Kind, Result};
use crate::snapshot;

/// Single objects that are asked for at the same time.
const GETS_AT_ONCE: usize = 8;

/// How long someone who wants a name completed is kept waiting.
const PATIENCE: Duration = Duration::from_secs(2);

/// An API server to read from.
pub struct Cluster {
    client: Client,
    runtime: Runtime,
    observer: Arc<dyn Observer>,
    options: ConnectOptions,
    context: Option<String>,
    namespace: String,
    expires: Option<Timestamp>,
    connected: Instant,
}

/// Credentials that are older than this may have ended; those that are refused at once were never good.
const STALE_AFTER: Duration = Duration::from_secs(60);

/// A single object, or what became of it.
pub type Got = Result<Bytes, Outcome>;

impl Cluster {
    /// Finds the cluster that the flags and the environment name. May run a credential plugin; connects to nothing yet.
    ///
    /// # Errors
    /// No cluster, a bad kubeconfig, no credentials; never a fault of the server.
    pub fn connect(options: &ConnectOptions, observer: impl Observer + 'static) -> Result<Self> {
        Self::connect_with(options, Arc::new(observer))
    }

    fn connect_with(options: &ConnectOptions, observer: Arc<dyn Observer>) -> Result<Self> {
        let target = target::resolve(&System, options, Timestamp::now())?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Failure::new(Kind::Internal, "no runtime for the network").caused_by(e))?;
        // The client starts a task of its own when it is made.
        let client = {
            let _entered = runtime.enter();
            Client::new(&target, facts(&target))?
        };
        log::info!(
            "server {}, context {}, namespace {}",
            client.facts().server,
            target.context.as_deref().unwrap_or("none"),
            target.namespace
        );
        Ok(Self {
            client,
            runtime,
            observer,
            options: options.clone(),
            context: target.context,
            namespace: target.namespace,
            expires: target.expires,
            connected: Instant::now(),
        })
    }

    /// The context in use; `None` inside a cluster, or with a server and no context.
    #[must_use]
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// The namespace that is meant where none is named.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The address of the API server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.client.facts().server
    }

    /// Reads by `read`, with new credentials if those at hand have ended: a watch outlives a token.
    fn with_fresh_credentials<T>(&mut self, read: impl Fn(&Self) -> Result<T>) -> Result<T> {
        let stale = self.connected.elapsed() > STALE_AFTER;
        if stale && self.expires.is_some_and(|at| at <= Timestamp::now()) {
            *self = Self::connect_with(&self.options, Arc::clone(&self.observer))?;
        }
        match read(self) {
            Err(failure) if failure.kind == Kind::NoAccess && stale => {
                *self = Self::connect_with(&self.options, Arc::clone(&self.observer))?;
                read(self)
            }
            outcome => outcome,
        }
    }

    /// The server's version, like `v1.36.3`; `None` where it may not be asked for.
    ///
    /// # Errors
    /// No connection, credentials that are not accepted, or something that is no API server.
    pub fn version(&self) -> Result<Option<String>> {
        self.version_in(self.get("/version")?)
    }

    fn version_in(&self, got: Got) -> Result<Option<String>> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Version {
            git_version: String,
        }
        let body = match got {
            Ok(body) => body,
            Err(Outcome::Forbidden { .. }) => return Ok(None),
            Err(outcome) => return Err(self.strange(&format!("/version: {}", list::words(&outcome)))),
        };
        match serde_json::from_slice::<Version>(&body) {
            Ok(version) => Ok(Some(version.git_version)),
            Err(_) => Err(self.strange("it gives no version")),
        }
    }

    /// A single object or subresource, in JSON.
    ///
    /// # Errors
    /// No connection, or credentials that are not accepted.
    pub fn get(&self, path: &str) -> Result<Got> {
        let all = self.get_all(&[path.to_owned()])?;
        all.into_iter().next().ok_or_else(|| Failure::new(Kind::Internal, "an answer is missing"))
    }

    /// Single objects or subresources, in JSON, a few at once; the answers are in the order of the paths.
    ///
    /// # Errors
    /// As [`Cluster::get`].
    pub fn get_all(&self, paths: &[String]) -> Result<Vec<Got>> {
        let observer = &*self.observer;
        let gets = stream::iter(paths).map(|path| self.client.get(path, JSON, observer));
        let all = gets.buffered(GETS_AT_ONCE).map_ok(got).try_collect();
        self.runtime.block_on(list::ticking(all, observer))
    }

    /// The kinds of a group and version (`v1`, `apps/v1`), or what became of the question.
    ///
    /// # Errors
    /// As [`Cluster::get`].
    pub fn discover(&self, api_version: &str) -> Result<Result<Vec<Resource>, Outcome>> {
        Ok(resources(self.get(&group_path(api_version))?))
    }

    /// Reads lists, a few at once and in pages. `on_event` is called on this thread with the number of the request
    /// and what came of it, while another thread goes on reading; it is never more than a few pages behind.
    ///
    /// # Errors
    /// No connection, or credentials that are not accepted. What concerns one list alone is its [`Outcome`].
    pub fn read_all(&self, requests: &[ListRequest], mut on_event: impl FnMut(usize, Event)) -> Result<Vec<Outcome>> {
        let (to, mut from) = mpsc::channel(list::AHEAD);
        std::thread::scope(|scope| {
            let network = std::thread::Builder::new().name("network".into());
            let reading = network.spawn_scoped(scope, move || {
                self.runtime.block_on(list::read_all(&self.client, requests, to, &*self.observer))
            });
            let reading =
                reading.map_err(|e| Failure::new(Kind::Internal, "no thread for the network").caused_by(e))?;
            while let Some((index, event, _room)) = from.blocking_recv() {
                on_event(index, event);
            }
            reading.join().unwrap_or_else(|_| Err(Failure::new(Kind::Internal, "the network's thread panicked")))
        })
    }

    fn names(&self, kind: snapshot::Kind, namespace: Option<&str>) -> Option<Vec<String>> {
        let request = list_of(kind, Some(namespace.unwrap_or(&self.namespace)));
        let path = request.first_page();
        let get = async { tokio::time::timeout(PATIENCE, self.client.get(&path, METADATA, &Silent)).await };
        list_meta::names(&self.runtime.block_on(get).ok()?.ok()?.ok()?.body)
    }

    fn strange(&self, what: &str) -> Failure {
        Failure::new(Kind::NoCluster, format!("{} does not answer as an API server: {what}", self.server()))
            .hint("is the server of the kubeconfig right, and does no proxy or login page answer in its place?")
    }
}

fn resources(got: Got) -> Result<Vec<Resource>, Outcome> {
    got.and_then(|body| discovery::parse(&body).map_err(|e| Outcome::Failed { message: e.to_string() }))
}

fn got(answer: Result<Reply, Refusal>) -> Got {
    answer.map(|reply| reply.body).map_err(Outcome::from)
}

fn facts(target: &target::Target) -> Facts {
    Facts {
        server: target.config.cluster_url.to_string().trim_end_matches('/').to_owned(),
        context: target.context.clone(),
        proxy: target.config.proxy_url.as_ref().map(without_password),
        has_authority: target.config.root_cert.is_some(),
        credentials: target.credentials.clone(),
    }
}

/// A proxy's address is shown, its password is not.
fn without_password(url: &http::Uri) -> String {
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{}://{host}", url.scheme_str().unwrap_or("http"))
}

/// The namespace that is meant where none is named; `None` where the kubeconfig is of no use. Runs no plugin.
#[must_use]
pub fn namespace(options: &ConnectOptions) -> Option<String> {
    target::namespace(&System, options).ok()
}

/// The names in the kubeconfig, for completion; none where it cannot be read.
#[must_use]
pub fn configured(options: &ConnectOptions) -> Configured {
    target::configured(&System, options.kubeconfig.as_deref())
}

/// The names of objects of a kind, in `namespace` or the one that is meant without, for completion: soon, or none.
#[must_use]
pub fn names(options: &ConnectOptions, kind: snapshot::Kind, namespace: Option<&str>) -> Vec<String> {
    let found = Cluster::connect(options, Silent).ok().and_then(|cluster| cluster.names(kind, namespace));
    found.unwrap_or_default()
}
