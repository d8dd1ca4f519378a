//! Which cluster, as whom, by which way: the kubeconfig, the flags and the environment made into one `kube::Config`,
//! by the rules of client-go's `clientcmd.DirectClientConfig` and its in-cluster fallback.

use std::net::Ipv6Addr;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue, Uri};
use jiff::Timestamp;
use kube::config::AuthInfo;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::credentials::{self, CredentialSource, Credentials};
use super::environment::Environment;
use super::exec::ClusterInfo;
use super::kubeconfig::{Cluster, Context, Kubeconfig, User};
use super::options::ConnectOptions;
use super::proxy;
use super::userinfo;
use crate::error::{Failure, FailureKind, Result};

const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// client-go's key for what a plugin is told about the cluster.
const EXEC_EXTENSION: &str = "client.authentication.k8s.io/exec";
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// An API server, and how to reach it.
pub struct Target {
    /// What kube needs.
    pub config: kube::Config,
    /// The context in use; `None` inside a cluster, or with a server and no context.
    pub context: Option<String>,
    /// The namespace of the context, of the pod the program runs in, or `default`.
    pub namespace: String,
    /// Where the credentials come from.
    pub credentials: CredentialSource,
    /// When the credentials have to be asked for again, if that is known.
    pub expires: Option<Timestamp>,
    /// The limit of one request.
    pub timeout: Option<Duration>,
}

/// Finds the target. Reads files and may run a credential plugin; asks no server.
///
/// # Errors
/// A kubeconfig that is bad, a name that it lacks, no cluster at all, credentials that cannot be had.
pub fn resolve(host: &dyn Environment, options: &ConnectOptions, now: Timestamp) -> Result<Target> {
    let explicit = options.kubeconfig.as_deref().filter(|path| !path.as_os_str().is_empty());
    let kubeconfig = Kubeconfig::load(host, explicit)?;
    let chosen = choose(&kubeconfig, options)?;
    if !chosen.cluster.server.is_empty() {
        return from_kubeconfig(host, options, chosen, now);
    }
    if chosen.context.is_none() && in_cluster_possible(host) {
        return in_cluster(host, options, now);
    }
    Err(no_cluster(&kubeconfig, chosen.context.as_deref()))
}

/// The names in a kubeconfig.
#[derive(Debug, Default)]
pub struct Configured {
    /// Its contexts.
    pub contexts: Vec<String>,
    /// Its clusters.
    pub clusters: Vec<String>,
    /// Its users.
    pub users: Vec<String>,
}

/// The names, for completion. Nothing where the kubeconfig cannot be read.
pub fn configured(host: &dyn Environment, kubeconfig: Option<&Path>) -> Configured {
    let names = |config: Kubeconfig| Configured {
        contexts: config.contexts.into_keys().collect(),
        clusters: config.clusters.into_keys().collect(),
        users: config.users.into_keys().collect(),
    };
    Kubeconfig::load(host, kubeconfig).map(names).unwrap_or_default()
}

/// The namespace that [`resolve`] would find, without what costs time.
///
/// # Errors
/// A kubeconfig that is bad, or lacks a name.
pub fn namespace(host: &dyn Environment, options: &ConnectOptions) -> Result<String> {
    let explicit = options.kubeconfig.as_deref().filter(|path| !path.as_os_str().is_empty());
    Ok(effective_namespace(host, choose(&Kubeconfig::load(host, explicit)?, options)?.namespace))
}

/// In a pod the pod's namespace stands in for one that the context does not name, as in client-go.
fn effective_namespace(host: &dyn Environment, of_context: String) -> String {
    match of_context.is_empty() {
        true if in_cluster_possible(host) => account_namespace(host),
        true => "default".into(),
        false => of_context,
    }
}

/// What the kubeconfig and the flags name.
struct Chosen {
    context: Option<String>,
    namespace: String,
    cluster_name: String,
    cluster: Cluster,
    user_name: String,
    user: Option<User>,
}

fn given(value: &Option<String>) -> Option<&str> {
    value.as_deref().filter(|text| !text.is_empty())
}

fn choose(kubeconfig: &Kubeconfig, options: &ConnectOptions) -> Result<Chosen> {
    let context_name =
        given(&options.context).or(Some(kubeconfig.current_context.as_str()).filter(|name| !name.is_empty()));
    let context = match context_name {
        None => Context::default(),
        Some(name) => kubeconfig.contexts.get(name).cloned().ok_or_else(|| {
            let what = if given(&options.context).is_some() { "context" } else { "current-context" };
            unknown(kubeconfig, what, name, kubeconfig.contexts.keys())
        })?,
    };
    let cluster_name = given(&options.cluster).unwrap_or(&context.cluster).to_owned();
    let cluster = match kubeconfig.clusters.get(&cluster_name) {
        Some(cluster) => cluster.clone(),
        // With --server the cluster of the context has nothing to say that is needed.
        None if given(&options.cluster).is_none() && (cluster_name.is_empty() || given(&options.server).is_some()) => {
            Cluster::default()
        }
        None => return Err(unknown(kubeconfig, "cluster", &cluster_name, kubeconfig.clusters.keys())),
    };
    let user_name = given(&options.user).unwrap_or(&context.user).to_owned();
    let user = kubeconfig.users.get(&user_name).cloned();
    if user.is_none() && given(&options.user).is_some() {
        return Err(unknown(kubeconfig, "user", &user_name, kubeconfig.users.keys()));
    }
    let cluster = cluster_with_flags(cluster, options);
    // Over plain HTTP nobody is identified, and client-go does not miss the user either.
    if user.is_none() && !user_name.is_empty() && !cluster.server.starts_with("http://") {
        return Err(unknown(kubeconfig, "user", &user_name, kubeconfig.users.keys()));
    }
    Ok(Chosen {
        context: context_name.map(str::to_owned),
        namespace: context.namespace,
        cluster_name,
        cluster,
        user_name,
        user,
    })
}

/// As `DirectClientConfig.getCluster`: a CA or skipping the check on the command line takes the place of both in the
/// file, and another server does not answer to the old one's name.
fn cluster_with_flags(mut cluster: Cluster, options: &ConnectOptions) -> Cluster {
    let ca = options.certificate_authority.clone().filter(|path| !path.as_os_str().is_empty());
    if ca.is_some() || options.insecure_skip_tls_verify == Some(true) {
        cluster.insecure_skip_tls_verify = options.insecure_skip_tls_verify == Some(true);
        cluster.certificate_authority = ca.unwrap_or_default();
        cluster.certificate_authority_data.clear();
    }
    if given(&options.tls_server_name).is_some() || given(&options.server).is_some() {
        cluster.tls_server_name = given(&options.tls_server_name).unwrap_or_default().to_owned();
    }
    if let Some(server) = given(&options.server) {
        server.clone_into(&mut cluster.server);
    }
    if options.disable_compression == Some(true) {
        cluster.disable_compression = true;
    }
    cluster
}

fn from_kubeconfig(host: &dyn Environment, options: &ConnectOptions, chosen: Chosen, now: Timestamp) -> Result<Target> {
    let Chosen { context, namespace, cluster_name, cluster, user_name, user } = chosen;
    let user = credentials::with_flags(user.unwrap_or_default(), options);
    let ca = certificate_authority(host, &cluster_name, &cluster)?;
    let has_certificate = !user.client_certificate.as_os_str().is_empty() || !user.client_certificate_data.is_empty();
    let url = server_url(&cluster.server, ca.is_some() || cluster.insecure_skip_tls_verify || has_certificate)?;
    let (url, in_url) = userinfo::split(url);
    let proxy_url = if cluster.proxy_url.is_empty() {
        proxy::from_environment(host, &url)?
    } else {
        Some(proxy::from_kubeconfig(&cluster_name, &cluster.proxy_url)?)
    };
    let told = ClusterInfo {
        server: url.to_string().trim_end_matches('/').to_owned(),
        tls_server_name: cluster.tls_server_name.clone(),
        insecure_skip_tls_verify: cluster.insecure_skip_tls_verify,
        certificate_authority_data: ca.as_ref().map(|pem| STANDARD.encode(pem)).unwrap_or_default(),
        proxy_url: proxy_url.as_ref().map(Uri::to_string).unwrap_or_default(),
        disable_compression: cluster.disable_compression,
        config: cluster.extensions.iter().find(|e| e.name == EXEC_EXTENSION).map(|e| e.extension.clone()),
    };
    // A secret does not go over a wire that anyone can read.
    let Credentials { mut auth, source, expires } = if url.scheme_str() == Some("https") {
        credentials::identify(host, &user_name, &user, &told, now)?
    } else {
        Credentials { auth: AuthInfo::default(), source: CredentialSource::Nothing, expires: None }
    };
    // Go's client sends what stands in the URL before anything else, and over plain HTTP, too.
    let source = match in_url {
        Some((name, password)) => {
            (auth.username, auth.password) = (Some(name), Some(password.into()));
            auth.token = None;
            CredentialSource::Password
        }
        None => source,
    };
    credentials::impersonation(&user, &mut auth)?;

    let mut config = base_config(url);
    config.root_cert = ca.map(|pem| certificates(&cluster_name, &pem)).transpose()?;
    config.accept_invalid_certs = cluster.insecure_skip_tls_verify;
    config.tls_server_name = Some(cluster.tls_server_name).filter(|name| !name.is_empty());
    config.disable_compression = cluster.disable_compression;
    config.proxy_url = proxy_url;
    config.auth_info = auth;
    let namespace = effective_namespace(host, namespace);
    Ok(Target { config, context, namespace, credentials: source, expires, timeout: options.timeout() })
}

fn base_config(url: Uri) -> kube::Config {
    let mut config = kube::Config::new(url);
    let agent = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));
    config.headers = vec![(HeaderName::from_static("user-agent"), HeaderValue::from_static(agent))];
    // kube retries like a controller: fifteen times, in silence.
    config.default_retry = false;
    config.read_timeout = Some(READ_TIMEOUT);
    config.reset_reader_on_write = true;
    config
}

/// As client-go's `rest.DefaultServerURL`: a host and a port are enough.
fn server_url(server: &str, tls: bool) -> Result<Uri> {
    let bad = || {
        Failure::bad_input(format!("the server {:?} is no address of an API server", userinfo::hidden(server)))
            .hint("write it like https://host:6443")
    };
    let text = match server.contains("://") {
        true => server.to_owned(),
        false if tls => format!("https://{server}"),
        false => format!("http://{server}"),
    };
    let url: Uri = text.parse().map_err(|_| bad())?;
    let usable = matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some_and(|host| !host.is_empty());
    if usable { Ok(url) } else { Err(bad()) }
}

/// The PEM of the authority that must have signed the server's certificate; `None` where the system's are to be used.
fn certificate_authority(host: &dyn Environment, name: &str, cluster: &Cluster) -> Result<Option<Vec<u8>>> {
    let field = "certificate-authority";
    let pem = if !cluster.certificate_authority_data.is_empty() {
        let data = STANDARD.decode(&cluster.certificate_authority_data);
        data.map_err(|e| bad_cluster(name, &format!("{field}-data is no base64")).caused_by(e))?
    } else if !cluster.certificate_authority.as_os_str().is_empty() {
        let path = &cluster.certificate_authority;
        host.read(path)
            .map_err(|e| bad_cluster(name, &format!("cannot read its {field} {}", path.display())).caused_by(e))?
    } else {
        return Ok(None);
    };
    if cluster.insecure_skip_tls_verify {
        return Err(bad_cluster(name, &format!("has a {field} and insecure-skip-tls-verify")));
    }
    Ok(Some(pem))
}

fn certificates(name: &str, pem: &[u8]) -> Result<Vec<Vec<u8>>> {
    let parsed: Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(pem).map(|der| der.map(|der| der.to_vec())).collect();
    match parsed {
        Ok(list) if !list.is_empty() => Ok(list),
        Ok(_) => Err(bad_cluster(name, "its certificate-authority has no certificate in it")),
        Err(e) => Err(bad_cluster(name, "its certificate-authority is no PEM").caused_by(e)),
    }
}

fn in_cluster_possible(host: &dyn Environment) -> bool {
    host.var("KUBERNETES_SERVICE_HOST").is_some()
        && host.var("KUBERNETES_SERVICE_PORT").is_some()
        && host.read(&Path::new(ACCOUNT).join("token")).is_ok()
}

/// The service account of the pod the program runs in. Of the flags, those of the server, the token and the CA count.
fn in_cluster(host: &dyn Environment, options: &ConnectOptions, now: Timestamp) -> Result<Target> {
    let account = Path::new(ACCOUNT);
    let address = host.var("KUBERNETES_SERVICE_HOST").unwrap_or_default();
    let port = host.var("KUBERNETES_SERVICE_PORT").unwrap_or_default();
    let address = if address.parse::<Ipv6Addr>().is_ok() { format!("[{address}]") } else { address };
    let ca = account.join("ca.crt");
    let cluster = Cluster {
        server: format!("https://{address}:{port}"),
        // An account without a CA is unusual; then the system's certificates decide, as in client-go.
        certificate_authority: if host.read(&ca).is_ok() { ca } else { Path::new("").into() },
        ..Cluster::default()
    };
    let chosen = Chosen {
        context: None,
        namespace: account_namespace(host),
        cluster_name: "(in-cluster)".into(),
        cluster: cluster_with_flags(cluster, options),
        user_name: "(service account)".into(),
        user: Some(User { token_file: account.join("token"), ..User::default() }),
    };
    from_kubeconfig(host, options, chosen, now)
}

fn account_namespace(host: &dyn Environment) -> String {
    host.var("POD_NAMESPACE")
        .or_else(|| {
            let bytes = host.read(&Path::new(ACCOUNT).join("namespace")).ok()?;
            Some(String::from_utf8_lossy(&bytes).trim().to_owned()).filter(|name| !name.is_empty())
        })
        .unwrap_or_else(|| "default".into())
}

fn bad_cluster(name: &str, what: &str) -> Failure {
    Failure::bad_input(format!("the cluster {name:?} of the kubeconfig: {what}"))
}

fn unknown<'a>(kubeconfig: &Kubeconfig, what: &str, name: &str, names: impl Iterator<Item = &'a String>) -> Failure {
    let names: Vec<_> = names.map(String::as_str).collect();
    let failure = Failure::usage(format!("the {what} {name:?} is not in the kubeconfig"));
    if names.is_empty() {
        failure.hint(format!("there is none in it. It was read from {}", files(kubeconfig)))
    } else {
        failure.hint(format!("there are: {}", names.join(", ")))
    }
}

fn no_cluster(kubeconfig: &Kubeconfig, context: Option<&str>) -> Failure {
    let message = match context {
        Some(context) => format!("the context {context:?} leads to no server"),
        None => "no cluster is configured".into(),
    };
    let contexts: Vec<_> = kubeconfig.contexts.keys().map(String::as_str).collect();
    let failure = Failure::new(FailureKind::NoCluster, message);
    if context.is_none() && !contexts.is_empty() {
        return failure.hint(format!("no context is current: choose one with --context: {}", contexts.join(", ")));
    }
    failure.hint(format!(
        "looked into {}. Point $KUBECONFIG or --kubeconfig at a kubeconfig, or read what kubectl saved with --from FILE",
        files(kubeconfig)
    ))
}

fn files(kubeconfig: &Kubeconfig) -> String {
    let there = kubeconfig.files.iter().map(|path| path.display().to_string());
    let missing = kubeconfig.missing.iter().map(|path| format!("{} (absent)", path.display()));
    let all: Vec<_> = there.chain(missing).collect();
    if all.is_empty() { "no file".into() } else { all.join(", ") }
}

/// Resolves a kubeconfig that is these bytes, as far as it goes without running a plugin.
#[cfg(any(test, fuzzing))]
pub(crate) fn try_kubeconfig(bytes: &[u8]) {
    /// A machine with this one file.
    struct One<'a>(&'a [u8]);
    impl Environment for One<'_> {
        fn var(&self, _: &str) -> Option<String> {
            None
        }
        fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
            if path == Path::new("/config") { Ok(self.0.to_vec()) } else { Err(std::io::ErrorKind::NotFound.into()) }
        }
        fn home(&self) -> Option<std::path::PathBuf> {
            None
        }
    }
    let host = One(bytes);
    let Ok(config) = Kubeconfig::load(&host, Some(Path::new("/config"))) else { return };
    if config.users.values().all(|user| user.exec.is_none()) {
        let options = ConnectOptions { kubeconfig: Some("/config".into()), ..ConnectOptions::default() };
        drop(resolve(&host, &options, Timestamp::UNIX_EPOCH));
    }
}

#[cfg(test)]
mod tests;
