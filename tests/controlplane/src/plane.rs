//! One control plane on loopback: etcd and the API server, and the controllers and the scheduler when they are wanted.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::api::Api;
use crate::certs::Certificates;
use crate::components::Components;
use crate::process::{Folder, Process};
use crate::webhooks;

/// The token of the user that may do everything.
const ADMIN: &str = "admin-token";
/// The token of a user that is a kubelet to all policies, and may do everything.
pub const KUBELET: &str = "kubelet-token";

/// What differs between control planes.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Admission gives new pods what their PriorityClass and RuntimeClass say. Off where a snapshot is loaded: its pods
    /// have that already, and the classes may not be in it.
    pub classes: bool,
    /// Further users: (token, user name).
    pub users: Vec<(&'static str, &'static str)>,
    /// Write an audit log of every request.
    pub audit: bool,
    /// Pods need a service account, and webhooks' Services are reached (see [`webhooks`]).
    pub workloads: bool,
}

/// Which controllers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controllers {
    /// Just the one that writes budgets' statuses.
    Disruption,
    /// Just the one that binds claims to volumes; without it the scheduler waits ten minutes for a volume.
    Volumes,
    /// All that a workload's life needs, but none that touches nodes: they stay as they are written.
    Workloads,
}

impl Controllers {
    fn names(self) -> &'static str {
        match self {
            Self::Disruption => "disruption-controller",
            Self::Volumes => "persistentvolume-binder-controller",
            Self::Workloads => concat!(
                "deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,",
                "job-controller,cronjob-controller,replicationcontroller-controller,disruption-controller,",
                "garbage-collector-controller,resourcequota-controller,persistentvolume-binder-controller,",
                "endpoints-controller,endpointslice-controller,horizontal-pod-autoscaler-controller,",
                "ttl-after-finished-controller,namespace-controller,serviceaccount-controller"
            ),
        }
    }
}

/// A running control plane. Everything ends when it is dropped.
pub struct Plane {
    // Fields drop in the order of their declaration: clients of the API server first, the folder last.
    scheduler: Option<Process>,
    controllers: Option<Process>,
    apiserver: Process,
    etcd: Process,
    /// A client with every right.
    pub api: Api,
    /// The built components.
    pub components: Components,
    /// The API server's address: `https://127.0.0.1:PORT`.
    pub server: String,
    /// The certificates.
    pub certificates: Certificates,
    folder: Folder,
}

impl Plane {
    /// Starts etcd and the API server and waits until it is ready. A port taken between the choice and the start is
    /// tried again.
    pub fn start(components: &Components, options: &Options) -> Result<Self> {
        let mut last = None;
        for _ in 0..3 {
            match Self::try_start(components, options) {
                Ok(plane) => return Ok(plane),
                Err(error) => last = Some(error),
            }
        }
        Err(last.context("no try was made")?)
    }

    fn try_start(components: &Components, options: &Options) -> Result<Self> {
        let folder = Folder::new()?;
        let at = folder.path();
        let certificates = Certificates::make(at)?;
        let [client, peer, secure] = free_ports()?;
        let etcd = Process::start("etcd", &components.etcd(), &etcd_flags(at, client, peer), at)?;
        let flags = apiserver_flags(at, &certificates, client, secure, options)?;
        // Webhooks' certificates are held against the authorities of the system: here our own.
        let trust = [("SSL_CERT_FILE", certificates.ca.as_path())];
        let apiserver = Process::start_with("kube-apiserver", &components.apiserver(), &flags, &trust, at)?;
        let server = format!("https://127.0.0.1:{secure}");
        let api = Api::new(&server, &certificates.ca, ADMIN)?;
        std::fs::write(at.join("kubeconfig"), kubeconfig(&server, &certificates.ca, ADMIN))
            .context("write the kubeconfig")?;
        let components = components.clone();
        let mut plane =
            Self { scheduler: None, controllers: None, apiserver, etcd, api, components, server, certificates, folder };
        plane.wait_ready()?;
        Ok(plane)
    }

    fn wait_ready(&mut self) -> Result<()> {
        let start = Instant::now();
        loop {
            for process in [&mut self.etcd, &mut self.apiserver] {
                if let Some(status) = process.ended()? {
                    bail!("ended at the start ({status}): {}", process.last_words());
                }
            }
            if self.api.get("/readyz").is_ok_and(|_| true) && self.api.get("/api/v1/namespaces/default").is_ok() {
                return Ok(());
            }
            if start.elapsed() > Duration::from_secs(90) {
                bail!("the API server is not ready after 90 s: {}", self.apiserver.last_words());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// A kubeconfig of the user that may do everything.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// A folder for temporary files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a kubeconfig with this token and server, and says where.
    pub fn kubeconfig_for(&self, name: &str, server: &str, token: &str) -> Result<PathBuf> {
        let path = self.folder.path().join(format!("kubeconfig-{name}"));
        std::fs::write(&path, kubeconfig(server, &self.certificates.ca, token)).context("write a kubeconfig")?;
        Ok(path)
    }

    /// The audit log's entries so far (with [`Options::audit`]).
    pub fn audit_log(&self) -> Result<String> {
        std::fs::read_to_string(self.folder.path().join("audit.log")).context("read the audit log")
    }

    /// Starts the controller manager with these controllers, in the place of one that runs.
    pub fn start_controllers(&mut self, which: Controllers) -> Result<()> {
        self.controllers = None;
        let flags = [
            format!("--kubeconfig={}", self.kubeconfig().display()),
            format!("--controllers={}", which.names()),
            "--leader-elect=false".to_owned(),
            "--secure-port=0".to_owned(),
            "--kube-api-qps=2000".to_owned(),
            "--kube-api-burst=4000".to_owned(),
            "--pvclaimbinder-sync-period=1s".to_owned(),
            "--resource-quota-sync-period=5s".to_owned(),
            "--horizontal-pod-autoscaler-sync-period=2s".to_owned(),
            format!("--root-ca-file={}", self.certificates.ca.display()),
            format!("--service-account-private-key-file={}", self.certificates.service_account_key.display()),
        ];
        let program = self.components.controller_manager();
        self.controllers = Some(Process::start("kube-controller-manager", &program, &flags, self.folder.path())?);
        Ok(())
    }

    /// Ends the controller manager.
    pub fn stop_controllers(&mut self) {
        self.controllers = None;
    }

    /// Starts the scheduler, in the place of one that runs.
    pub fn start_scheduler(&mut self) -> Result<()> {
        self.scheduler = None;
        let config = self.folder.path().join("scheduler.yaml");
        let text = format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
             leaderElection: {{leaderElect: false}}\npodInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 2\n\
             clientConnection: {{kubeconfig: {}, qps: 2000, burst: 4000}}\n",
            self.kubeconfig().display()
        );
        std::fs::write(&config, text).context("write the scheduler's configuration")?;
        let flags = [format!("--config={}", config.display()), "--secure-port=0".to_owned()];
        let program = self.components.scheduler();
        self.scheduler = Some(Process::start("kube-scheduler", &program, &flags, self.folder.path())?);
        Ok(())
    }

    /// Ends the scheduler.
    pub fn stop_scheduler(&mut self) {
        self.scheduler = None;
    }

    /// Fails when a component has ended by itself.
    pub fn check(&mut self) -> Result<()> {
        let optional = [self.controllers.as_mut(), self.scheduler.as_mut()];
        for process in [&mut self.etcd, &mut self.apiserver].into_iter().chain(optional.into_iter().flatten()) {
            if let Some(status) = process.ended()? {
                bail!("ended ({status}): {}", process.last_words());
            }
        }
        Ok(())
    }
}

/// Waits until `ready` gives a value, asking every 100 ms.
pub fn wait_for<T>(what: &str, seconds: u64, mut ready: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(value) = ready()? {
            return Ok(value);
        }
        if start.elapsed() > Duration::from_secs(seconds) {
            bail!("waited {seconds} s for {what}");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn free_ports<const N: usize>() -> Result<[u16; N]> {
    let listeners: Vec<TcpListener> =
        (0..N).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>().context("find free ports")?;
    let mut ports = [0; N];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        *port = listener.local_addr().context("find free ports")?.port();
    }
    Ok(ports)
}

fn etcd_flags(at: &Path, client: u16, peer: u16) -> Vec<String> {
    vec![
        format!("--data-dir={}", at.join("etcd").display()),
        format!("--listen-client-urls=http://127.0.0.1:{client}"),
        format!("--advertise-client-urls=http://127.0.0.1:{client}"),
        format!("--listen-peer-urls=http://127.0.0.1:{peer}"),
        format!("--initial-advertise-peer-urls=http://127.0.0.1:{peer}"),
        format!("--initial-cluster=default=http://127.0.0.1:{peer}"),
        "--unsafe-no-fsync".to_owned(),
        "--log-level=error".to_owned(),
    ]
}

fn apiserver_flags(
    at: &Path,
    certificates: &Certificates,
    etcd: u16,
    secure: u16,
    options: &Options,
) -> Result<Vec<String>> {
    let tokens = at.join("tokens.csv");
    let mut users = format!(
        "{ADMIN},admin,admin,system:masters\n{KUBELET},system:node:any,system:node:any,\"system:masters,system:nodes\"\n"
    );
    for (token, user) in &options.users {
        users.push_str(&format!("{token},{user},{user}\n"));
    }
    std::fs::write(&tokens, users).context("write the tokens")?;
    // Nodes and claims stay as they are written, and elsewhere no service accounts are made.
    let mut off = vec!["TaintNodesByCondition", "DefaultStorageClass"];
    if !options.workloads {
        off.push("ServiceAccount");
    }
    if !options.classes {
        off.extend(["Priority", "RuntimeClass"]);
    }
    let mut flags = vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        format!("--secure-port={secure}"),
        format!("--tls-cert-file={}", certificates.cert.display()),
        format!("--tls-private-key-file={}", certificates.key.display()),
        format!("--token-auth-file={}", tokens.display()),
        "--authorization-mode=RBAC".to_owned(),
        "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-signing-key-file={}", certificates.service_account_key.display()),
        format!("--service-account-key-file={}", certificates.service_account_public.display()),
        "--enable-priority-and-fairness=false".to_owned(),
        "--max-requests-inflight=0".to_owned(),
        "--max-mutating-requests-inflight=0".to_owned(),
        format!("--disable-admission-plugins={}", off.join(",")),
    ];
    if options.workloads {
        flags.push(format!("--egress-selector-config-file={}", webhooks::egress(at)?.display()));
        flags.push("--enable-aggregator-routing=true".to_owned());
    }
    if options.audit {
        let policy = at.join("audit.yaml");
        std::fs::write(&policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n")
            .context("write the audit policy")?;
        flags.push(format!("--audit-policy-file={}", policy.display()));
        flags.push(format!("--audit-log-path={}", at.join("audit.log").display()));
        flags.push("--audit-log-mode=blocking".to_owned());
    }
    Ok(flags)
}

fn kubeconfig(server: &str, ca: &Path, token: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: plane\n\
         clusters: [{{name: plane, cluster: {{server: '{server}', certificate-authority: '{}'}}}}]\n\
         users: [{{name: user, user: {{token: '{token}'}}}}]\n\
         contexts: [{{name: plane, context: {{cluster: plane, user: user}}}}]\n",
        ca.display()
    )
}
