use super::super::environment::fake::Fake;
use super::*;

const CONFIG: &str = r"
current-context: one
contexts:
- {name: one, context: {cluster: c1, user: u1, namespace: shop}}
- {name: two, context: {cluster: c2, user: u2}}
- {name: lost-user, context: {cluster: c1, user: gone}}
- {name: lost-cluster, context: {cluster: gone, user: u1}}
- {name: nobody, context: {cluster: c1}}
- {name: plain, context: {cluster: http, user: gone}}
- {name: empty, context: {}}
clusters:
- {name: c1, cluster: {server: 'https://one:6443', tls-server-name: name-one, insecure-skip-tls-verify: true}}
- {name: c2, cluster: {server: 'https://two', certificate-authority: ca.crt, proxy-url: 'http://proxy:3128', disable-compression: true}}
- {name: http, cluster: {server: 'http://plain:8080'}}
users:
- {name: u1, user: {token: t1}}
- {name: u2, user: {token: t2, as: boss, as-groups: [admins]}}
";

/// A self-signed certificate's outline is enough: it is parsed as PEM here, and as X.509 only when a client is built.
const CA: &str = "-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n";

fn machine() -> Fake {
    Fake::default().with_file("/home/me/.kube/config", CONFIG).with_file("/home/me/.kube/ca.crt", CA)
}

fn pod() -> Fake {
    Fake::default()
        .with_var("KUBERNETES_SERVICE_HOST", "fd00::1")
        .with_var("KUBERNETES_SERVICE_PORT", "443")
        .with_file(&format!("{ACCOUNT}/token"), "account-token\n")
        .with_file(&format!("{ACCOUNT}/ca.crt"), CA)
        .with_file(&format!("{ACCOUNT}/namespace"), "infra\n")
}

fn options(line: &str) -> ConnectOptions {
    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        connect: ConnectOptions,
    }
    <Cli as clap::Parser>::try_parse_from(["x"].into_iter().chain(line.split_whitespace())).unwrap().connect
}

fn resolved(host: &Fake, line: &str) -> Result<Target> {
    resolve(host, &options(line), Timestamp::UNIX_EPOCH)
}

fn target(host: &Fake, line: &str) -> Target {
    resolved(host, line).unwrap_or_else(|e| panic!("{line}: {e}"))
}

fn auth(target: &Target) -> serde_json::Value {
    serde_json::to_value(&target.config.auth_info).unwrap()
}

#[test]
fn the_current_context_is_used() {
    let got = target(&machine(), "");
    assert_eq!(got.context.as_deref(), Some("one"));
    assert_eq!(got.namespace, "shop");
    assert_eq!(got.config.cluster_url, "https://one:6443/");
    assert_eq!(got.config.tls_server_name.as_deref(), Some("name-one"));
    assert!(got.config.accept_invalid_certs);
    assert_eq!(auth(&got)["token"], "t1");
    assert!(!got.config.default_retry);
    assert_eq!(got.config.read_timeout, Some(READ_TIMEOUT));
}

#[test]
fn flags_choose_context_cluster_and_user() {
    let got = target(&machine(), "--context two");
    assert_eq!(got.namespace, "default");
    assert_eq!(got.config.root_cert, Some(vec![vec![1, 2, 3]]));
    assert_eq!(got.config.proxy_url.as_ref().map(Uri::to_string).as_deref(), Some("http://proxy:3128/"));
    assert!(got.config.disable_compression);
    assert_eq!(auth(&got)["as"], "boss");
    let got = target(&machine(), "--cluster c2 --user u2");
    assert_eq!((got.config.cluster_url.host(), got.namespace.as_str()), (Some("two"), "shop"));
    assert_eq!(auth(&got)["token"], "t2");
}

#[test]
fn a_name_that_is_not_there_is_refused_with_those_that_are() {
    let rows = [
        (
            "--context typo",
            "the context \"typo\" is not in the kubeconfig",
            "there are: empty, lost-cluster, lost-user",
        ),
        ("--cluster typo", "the cluster \"typo\" is not in the kubeconfig", "there are: c1, c2, http"),
        ("--user typo", "the user \"typo\" is not in the kubeconfig", "there are: u1, u2"),
        ("--context lost-user", "the user \"gone\" is not in the kubeconfig", "there are: u1, u2"),
        ("--context lost-cluster", "the cluster \"gone\" is not in the kubeconfig", "there are: c1, c2, http"),
        ("--context plain --user typo", "the user \"typo\" is not in the kubeconfig", "there are: u1, u2"),
    ];
    for (line, message, hint) in rows {
        let failure = resolved(&machine(), line).err().unwrap();
        assert_eq!((failure.kind, failure.to_string().as_str()), (FailureKind::Usage, message), "{line}");
        assert!(failure.hint.clone().unwrap().starts_with(hint), "{line}: {:?}", failure.hint);
    }
    let host = Fake::default().with_file("/home/me/.kube/config", "current-context: gone");
    let failure = resolved(&host, "").err().unwrap();
    assert_eq!(failure.to_string(), "the current-context \"gone\" is not in the kubeconfig");
    assert_eq!(failure.hint.unwrap(), "there is none in it. It was read from /home/me/.kube/config");
}

#[test]
fn nobody_and_plain_http_are_anonymous() {
    assert_eq!(target(&machine(), "--context nobody").credentials, CredentialSource::Nothing);
    let got = target(&machine(), "--context plain --token t --as boss");
    assert_eq!(got.credentials, CredentialSource::Nothing);
    assert_eq!((&auth(&got)["token"], &auth(&got)["as"]), (&serde_json::Value::Null, &"boss".into()));
}

#[test]
fn the_command_line_replaces_how_the_server_is_checked() {
    let got = target(&machine(), "--certificate-authority /home/me/.kube/ca.crt");
    assert!(!got.config.accept_invalid_certs && got.config.root_cert.is_some());
    let got = target(&machine(), "--context two --insecure-skip-tls-verify");
    assert!(got.config.accept_invalid_certs && got.config.root_cert.is_none());
    let got = target(&machine(), "--context two --insecure-skip-tls-verify=false");
    assert!(!got.config.accept_invalid_certs && got.config.root_cert.is_some());
    let got = target(&machine(), "--server https://other");
    assert_eq!((got.config.cluster_url.host(), got.config.tls_server_name), (Some("other"), None));
    let got = target(&machine(), "--server https://other --tls-server-name n");
    assert_eq!(got.config.tls_server_name.as_deref(), Some("n"));
    let got = target(&machine(), "--context lost-cluster --server https://other");
    assert_eq!(got.config.cluster_url.host(), Some("other"));
}

#[test]
fn servers_as_client_go_reads_them() {
    let rows = [
        ("https://h:6443", false, Some("https://h:6443/")),
        ("https://h/prefix", false, Some("https://h/prefix")),
        ("h:6443", true, Some("https://h:6443/")),
        ("h:6443", false, Some("http://h:6443/")),
        ("10.0.0.1", false, Some("http://10.0.0.1/")),
        ("ftp://h", false, None),
        ("https://", false, None),
        ("https:///x", false, None),
        ("a b", false, None),
    ];
    for (server, tls, want) in rows {
        let got = server_url(server, tls).ok().map(|url| url.to_string());
        assert_eq!(got.as_deref(), want, "{server}");
    }
}

#[test]
fn no_cluster_says_where_was_looked() {
    let failure = resolved(&Fake::default(), "").err().unwrap();
    assert_eq!((failure.kind, failure.to_string().as_str()), (FailureKind::NoCluster, "no cluster is configured"));
    assert!(failure.hint.unwrap().starts_with("looked into /home/me/.kube/config (absent). Point $KUBECONFIG"));
    let failure = resolved(&machine(), "--context empty").err().unwrap();
    assert_eq!(failure.to_string(), "the context \"empty\" leads to no server");
    let host = Fake::default().with_file("/home/me/.kube/config", "contexts: [{name: a}, {name: b}]");
    let failure = resolved(&host, "").err().unwrap();
    assert_eq!(failure.hint.unwrap(), "no context is current: choose one with --context: a, b");
    let got = target(&Fake::default(), "--server http://127.0.0.1:8001");
    assert_eq!((got.context, got.namespace.as_str()), (None, "default"));
}

#[test]
fn a_pod_uses_its_service_account() {
    let got = target(&pod(), "");
    assert_eq!(got.config.cluster_url, "https://[fd00::1]:443/");
    assert_eq!((got.context.as_deref(), got.namespace.as_str()), (None, "infra"));
    assert_eq!(auth(&got)["token"], "account-token");
    assert!(got.config.root_cert.is_some());
    assert_eq!(target(&pod().with_var("POD_NAMESPACE", "own"), "").namespace, "own");
    let got = target(&pod(), "--token flag");
    assert_eq!(auth(&got)["token"], "flag");
}

#[test]
fn a_kubeconfig_goes_before_the_service_account() {
    let host = pod().with_file("/home/me/.kube/config", CONFIG).with_file("/home/me/.kube/ca.crt", CA);
    assert_eq!(target(&host, "").namespace, "shop");
    // The context names no namespace: the pod's own is taken.
    assert_eq!(target(&host, "--context two").namespace, "infra");
    let got = target(&pod(), "--server https://other --token t");
    assert_eq!((got.config.cluster_url.host(), got.config.root_cert.is_some()), (Some("other"), false));
}

#[test]
fn bad_authorities_are_named() {
    let config = |cluster: &str| {
        let text = format!(
            "current-context: x\ncontexts: [{{name: x, context: {{cluster: c}}}}]\nclusters: [{{name: c, cluster: {{server: 'https://s', {cluster}}}}}]"
        );
        let host = Fake::default()
            .with_file("/home/me/.kube/config", text)
            .with_file("/home/me/.kube/ca.crt", CA)
            .with_file("/home/me/.kube/text", "hello")
            .with_file("/home/me/.kube/broken", CA.replace("AQID", "!!"));
        resolved(&host, "").err().map(|failure| failure.to_string()).unwrap_or_default()
    };
    let rows = [
        ("certificate-authority: ca.crt", ""),
        (
            "certificate-authority: absent",
            "the cluster \"c\" of the kubeconfig: cannot read its certificate-authority /home/me/.kube/absent",
        ),
        ("certificate-authority: text", "has no certificate in it"),
        ("certificate-authority: broken", "is no PEM"),
        ("certificate-authority-data: '%%'", "certificate-authority-data is no base64"),
        (
            "certificate-authority: ca.crt, insecure-skip-tls-verify: true",
            "has a certificate-authority and insecure-skip-tls-verify",
        ),
    ];
    for (cluster, want) in rows {
        let got = config(cluster);
        assert!(got.contains(want) && (got.is_empty() == want.is_empty()), "{cluster}: {got}");
    }
}

#[test]
fn the_namespace_alone_is_found_the_same() {
    for (host, line) in [(machine(), ""), (machine(), "--context two"), (pod(), "")] {
        assert_eq!(namespace(&host, &options(line)).unwrap(), target(&host, line).namespace, "{line}");
    }
    assert_eq!(namespace(&Fake::default(), &options("")).unwrap(), "default");
}

#[test]
fn names_complete() {
    let names = configured(&machine(), None);
    assert_eq!((names.contexts.len(), names.clusters.len(), names.users.len()), (7, 3, 2));
    assert!(configured(&Fake::default(), None).contexts.is_empty());
}
