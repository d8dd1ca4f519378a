//! An API server to read from.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::version::Info;
use prost::bytes::Bytes;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

use super::client::{Client, Refusal, Reply};
use super::credentials::CredentialSource;
use super::discovery::{self, Resource};
use super::environment::System;
use super::explain::Endpoint;
use super::list::{self, JSON, ListEvent, ListOutcome, ListRequest};
use super::options::ConnectOptions;
use super::progress::{Observer, Silent};
use super::target;
use super::userinfo;
use crate::error::{Failure, FailureKind, Result};

/// Single objects that are asked for at the same time.
const GETS_AT_ONCE: usize = 8;

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
pub type Got = Result<Bytes, ListOutcome>;

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
            .map_err(|e| Failure::new(FailureKind::Internal, "no runtime for the network").caused_by(e))?;
        // The client starts a task of its own when it is made.
        let client = {
            let _entered = runtime.enter();
            Client::new(&target, endpoint(&target))?
        };
        log::info!(
            "server {}, context {}, namespace {}",
            client.endpoint().server,
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
        &self.client.endpoint().server
    }

    /// The server's time.
    pub(super) fn now(&self) -> Timestamp {
        self.client.now()
    }

    /// What is at `path`, if the answer comes soon.
    pub(super) fn get_within(&self, patience: Duration, path: &str, accept: &'static str) -> Option<Bytes> {
        let get = async { tokio::time::timeout(patience, self.client.get(path, accept, &Silent)).await };
        Some(self.runtime.block_on(get).ok()?.ok()?.ok()?.body)
    }

    /// Reads by `read`, with new credentials if those at hand have ended: a watch outlives a token, and what a plugin
    /// keeps may have been withdrawn. As client-go, a plugin is asked once more when the server refuses what it gave.
    pub(super) fn with_fresh_credentials<T>(&mut self, read: impl Fn(&Self) -> Result<T>) -> Result<T> {
        let stale = self.connected.elapsed() > STALE_AFTER;
        let has_plugin = matches!(self.client.endpoint().credentials, CredentialSource::Plugin { .. });
        if stale && self.expires.is_some_and(|at| at <= Timestamp::now()) {
            *self = Self::connect_with(&self.options, Arc::clone(&self.observer))?;
        }
        match read(self) {
            Err(failure) if failure.kind == FailureKind::NoAccess && (stale || has_plugin) => {
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

    pub(super) fn version_in(&self, got: Got) -> Result<Option<String>> {
        let body = match got {
            Ok(body) => body,
            Err(ListOutcome::Forbidden { .. }) => return Ok(None),
            Err(ListOutcome::Failed { message }) => {
                return Err(Failure::new(
                    FailureKind::NoCluster,
                    format!("{} does not answer: {message}", self.server()),
                )
                .hint("the API server, or what stands before it, is overloaded or unwell: try again later"));
            }
            Err(outcome) => return Err(self.strange(&format!("/version: {}", list::words(&outcome)))),
        };
        match serde_json::from_slice::<Info>(&body) {
            Ok(version) if !version.git_version.is_empty() => Ok(Some(version.git_version)),
            _ => Err(self.strange("it gives no version")),
        }
    }

    /// A single object or subresource, in JSON.
    ///
    /// # Errors
    /// No connection, or credentials that are not accepted.
    pub fn get(&self, path: &str) -> Result<Got> {
        let all = self.get_all(&[path.to_owned()])?;
        all.into_iter().next().ok_or_else(|| Failure::new(FailureKind::Internal, "an answer is missing"))
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

    /// Reads lists, a few at once and in pages. `on_event` is called on this thread with the number of the request
    /// and what came of it, while another thread goes on reading; it is never more than a few pages behind.
    ///
    /// # Errors
    /// No connection, or credentials that are not accepted. What concerns one list alone is its [`ListOutcome`].
    pub fn read_all(
        &self,
        requests: &[ListRequest],
        mut on_event: impl FnMut(usize, ListEvent),
    ) -> Result<Vec<ListOutcome>> {
        let (to, mut from) = mpsc::channel(list::AHEAD);
        std::thread::scope(|scope| {
            let network = std::thread::Builder::new().name("network".into());
            let reading = network.spawn_scoped(scope, move || {
                self.runtime.block_on(list::read_all(&self.client, requests, to, &*self.observer))
            });
            let reading =
                reading.map_err(|e| Failure::new(FailureKind::Internal, "no thread for the network").caused_by(e))?;
            while let Some((index, event, _room)) = from.blocking_recv() {
                on_event(index, event);
            }
            reading.join().unwrap_or_else(|_| Err(Failure::new(FailureKind::Internal, "the network's thread panicked")))
        })
    }

    fn strange(&self, what: &str) -> Failure {
        Failure::new(FailureKind::NoCluster, format!("{} does not answer as an API server: {what}", self.server()))
            .hint("is the server of the kubeconfig right, and does no proxy or login page answer in its place?")
    }
}

pub(super) fn resources(got: Got) -> Result<Vec<Resource>, ListOutcome> {
    got.and_then(|body| discovery::parse(&body).map_err(|message| ListOutcome::Failed { message }))
}

fn got(answer: Result<Reply, Refusal>) -> Got {
    answer.map(|reply| reply.body).map_err(ListOutcome::from)
}

fn endpoint(target: &target::Target) -> Endpoint {
    Endpoint {
        server: target.config.cluster_url.to_string().trim_end_matches('/').to_owned(),
        context: target.context.clone(),
        // Its address is shown, its password is not.
        proxy: target.config.proxy_url.as_ref().map(|url| userinfo::hidden(url.to_string().trim_end_matches('/'))),
        has_authority: target.config.root_cert.is_some(),
        credentials: target.credentials.clone(),
    }
}
