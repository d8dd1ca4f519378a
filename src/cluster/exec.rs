//! Credential plugins: programs that print a token or a certificate. As client-go's `plugin/pkg/client/auth/exec`.
//! kube would run one three times to build one client, so the program does it itself, once.

use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::kubeconfig::Exec;
use crate::error::{Failure, FailureKind, Result};

const GROUP: &str = "client.authentication.k8s.io/";

/// What a plugin may be told about the cluster (`provideClusterInfo`), by the names of its API.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterInfo {
    pub server: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tls_server_name: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub insecure_skip_tls_verify: bool,
    /// Base64 of PEM.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub certificate_authority_data: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub proxy_url: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disable_compression: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<serde_json::Value>,
}

/// What a plugin gave. Holds secrets, hence no `Debug`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Credential {
    pub token: Option<String>,
    /// PEM.
    pub client_certificate_data: Option<String>,
    /// PEM.
    pub client_key_data: Option<String>,
    /// When it ends, if it does.
    #[serde(rename = "expirationTimestamp")]
    pub expires: Option<Timestamp>,
}

/// Runs the plugin of `user` and takes what it prints.
///
/// # Errors
/// The plugin is not there, fails, or prints something else than a credential.
pub fn run(user: &str, exec: &Exec, cluster: &ClusterInfo) -> Result<Credential> {
    let interactive = is_interactive(exec, io::stdin().is_terminal()).map_err(|why| refused(user, exec, why))?;
    let mut command = Command::new(&exec.command);
    command.args(&exec.args).envs(exec.env.iter().map(|v| (&v.name, &v.value)));
    command.env("KUBERNETES_EXEC_INFO", info(exec, cluster, interactive));
    // Someone who is asked to log in has to see the question as it comes; a failure then stands above the message.
    let (stdin, stderr) =
        if interactive { (Stdio::inherit(), Stdio::inherit()) } else { (Stdio::null(), Stdio::piped()) };
    let output =
        command.stdin(stdin).stderr(stderr).stdout(Stdio::piped()).output().map_err(|e| not_run(user, exec, e))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failed(user, exec, &output.status.to_string(), said.trim()));
    }
    // What a plugin warns of is for the user, as with kubectl; nothing is left to be done about a closed stderr.
    let _ = io::stderr().write_all(&output.stderr);
    parse(exec, &output.stdout).map_err(|why| refused(user, exec, why))
}

/// Whether the plugin may ask the user something.
fn is_interactive(exec: &Exec, stdin_is_terminal: bool) -> Result<bool, String> {
    let older = exec.api_version == format!("{GROUP}v1beta1");
    match exec.interactive_mode.as_str() {
        "Never" => Ok(false),
        "IfAvailable" => Ok(stdin_is_terminal),
        "" if older => Ok(stdin_is_terminal),
        "Always" if stdin_is_terminal => Ok(true),
        "Always" => {
            Err("it needs an answer from a person (interactiveMode: Always), and standard input is not a terminal"
                .into())
        }
        "" => Err("its interactiveMode is not set: Never, IfAvailable or Always".into()),
        other => Err(format!("its interactiveMode is {other:?}, not Never, IfAvailable or Always")),
    }
}

/// The value of KUBERNETES_EXEC_INFO.
fn info(exec: &Exec, cluster: &ClusterInfo, interactive: bool) -> String {
    let cluster = exec.provide_cluster_info.then_some(cluster);
    let mut spec = serde_json::json!({ "interactive": interactive });
    if let Some(cluster) = cluster {
        spec["cluster"] = serde_json::json!(cluster);
    }
    serde_json::json!({ "kind": "ExecCredential", "apiVersion": exec.api_version, "spec": spec }).to_string()
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ExecCredential {
    api_version: String,
    kind: String,
    status: Option<Credential>,
}

/// Reads what the plugin printed: JSON, or YAML, which client-go's decoder takes too.
fn parse(exec: &Exec, stdout: &[u8]) -> Result<Credential, String> {
    if stdout.trim_ascii().is_empty() {
        return Err("it printed nothing".into());
    }
    // Without a snippet: that would be a piece of the secret.
    let options = serde_saphyr::options! { with_snippet: false };
    let printed: ExecCredential =
        serde_saphyr::from_slice_with_options(stdout, options).map_err(|_| "what it printed is no ExecCredential")?;
    if printed.kind != "ExecCredential" || printed.api_version != exec.api_version {
        return Err(format!(
            "it printed a {} of {}, and the kubeconfig requires an ExecCredential of {}",
            printed.kind, printed.api_version, exec.api_version
        ));
    }
    let mut given = printed.status.ok_or("what it printed has no status")?;
    for field in [&mut given.token, &mut given.client_certificate_data, &mut given.client_key_data] {
        *field = field.take().filter(|text| !text.is_empty());
    }
    match (&given.token, &given.client_certificate_data, &given.client_key_data) {
        (None, None, None) => Err("it gave neither a token nor a certificate".into()),
        (_, Some(_), None) => Err("it gave a certificate without its key".into()),
        (_, None, Some(_)) => Err("it gave a key without its certificate".into()),
        _ => Ok(given),
    }
}

fn refused(user: &str, exec: &Exec, why: impl AsRef<str>) -> Failure {
    Failure::new(
        FailureKind::NoAccess,
        format!("the credential plugin {} of the user {user:?}: {}", exec.command, why.as_ref()),
    )
}

fn failed(user: &str, exec: &Exec, status: &str, said: &str) -> Failure {
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    refused(user, exec, format!("it failed ({status}){said}"))
        .hint(format!("run it by hand, or log in again: {}", command_line(exec)))
}

fn not_run(user: &str, exec: &Exec, error: io::Error) -> Failure {
    let missing = error.kind() == io::ErrorKind::NotFound;
    let failure = if missing {
        refused(user, exec, "there is no such program")
    } else {
        refused(user, exec, "it cannot be run").caused_by(error)
    };
    if exec.install_hint.trim().is_empty() {
        failure.hint("install it, or put its folder on $PATH: kubectl would need it as well")
    } else {
        failure.hint(printable(exec.install_hint.trim()))
    }
}

/// The plugin's command line, for a hint. What looks like a secret in it is left out.
fn command_line(exec: &Exec) -> String {
    let is_secret = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.starts_with('-') && ["secret", "token", "password"].iter().any(|word| name.contains(word))
    };
    let mut words = vec![exec.command.clone()];
    let mut before = "";
    for arg in &exec.args {
        words.push(match arg.split_once('=') {
            Some((name, _)) if is_secret(name) => format!("{name}=…"),
            _ if is_secret(before) && !before.contains('=') => "…".to_owned(),
            _ => arg.clone(),
        });
        before = arg;
    }
    words.join(" ")
}

/// An install hint comes from a file that may be someone else's: its escape codes must not reach the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exec(yaml: &str) -> Exec {
        serde_saphyr::from_str(yaml).unwrap()
    }

    fn v1(rest: &str) -> Exec {
        exec(&format!("apiVersion: client.authentication.k8s.io/v1\n{rest}"))
    }

    #[test]
    fn interactive_modes() {
        let beta = "apiVersion: client.authentication.k8s.io/v1beta1";
        let rows = [
            (v1("interactiveMode: Never"), true, Some(false)),
            (v1("interactiveMode: IfAvailable"), true, Some(true)),
            (v1("interactiveMode: IfAvailable"), false, Some(false)),
            (v1("interactiveMode: Always"), true, Some(true)),
            (v1("interactiveMode: Always"), false, None),
            (v1(""), true, None),
            (v1("interactiveMode: Sometimes"), true, None),
            (exec(beta), true, Some(true)),
            (exec(beta), false, Some(false)),
        ];
        for (exec, terminal, want) in rows {
            assert_eq!(is_interactive(&exec, terminal).ok(), want, "{} {terminal}", exec.interactive_mode);
        }
    }

    #[test]
    fn the_plugin_is_told_what_client_go_tells() {
        let cluster = ClusterInfo {
            server: "https://s:6443".into(),
            certificate_authority_data: "Y2E=".into(),
            config: Some(serde_json::json!({"audience": "a"})),
            ..ClusterInfo::default()
        };
        let told = info(&v1("provideClusterInfo: true"), &cluster, false);
        let want = r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false,"cluster":{"server":"https://s:6443","certificate-authority-data":"Y2E=","config":{"audience":"a"}}}}"#;
        assert_eq!(told, want);
        let told = info(&v1(""), &cluster, true);
        assert_eq!(
            told,
            r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":true}}"#
        );
    }

    #[test]
    fn what_a_plugin_prints() {
        let head = "kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\n";
        let rows = [
            (
                r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t"}}"#
                    .into(),
                None,
            ),
            (format!("{head}status: {{token: t, expirationTimestamp: '2030-01-01T00:00:00Z'}}"), None),
            (format!("{head}status: {{clientCertificateData: c, clientKeyData: k}}"), None),
            (format!("{head}status: {{clientCertificateData: c, clientKeyData: ''}}"), Some("without its key")),
            (format!("{head}status: {{clientKeyData: k}}"), Some("without its certificate")),
            (format!("{head}status: {{token: ''}}"), Some("neither a token nor a certificate")),
            (head.into(), Some("no status")),
            (" \n".into(), Some("nothing")),
            ("Please log in".into(), Some("no ExecCredential")),
            (
                "kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1beta1".into(),
                Some("ExecCredential of client.authentication.k8s.io/v1beta1, and"),
            ),
        ];
        for (printed, want) in rows {
            let got = parse(&v1(""), printed.as_bytes()).err();
            match (got, want) {
                (None, None) => {}
                (Some(got), Some(want)) if got.contains(want) => {}
                (got, want) => panic!("{printed}: {got:?}, not {want:?}"),
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_plugin_is_run_once_with_its_arguments_and_environment() {
        let script = r#"
command: sh
interactiveMode: Never
env: [{name: TOKEN, value: from-env}]
args:
- -c
- |
  case "$KUBERNETES_EXEC_INFO" in *'"interactive":false'*) ;; *) exit 3;; esac
  printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s-%s"}}' "$TOKEN" "$1"
- name
- arg"#;
        let given = run("u", &v1(script), &ClusterInfo::default()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(given.token.as_deref(), Some("from-env-arg"));
    }

    #[cfg(unix)]
    #[test]
    fn a_failure_carries_what_the_plugin_said() {
        let script = "command: sh\ninteractiveMode: Never\nargs: [-c, 'echo session expired >&2; exit 7']";
        let exec = v1(script);
        let failure = run("dev", &exec, &ClusterInfo::default()).err().unwrap();
        assert_eq!(
            failure.to_string(),
            "the credential plugin sh of the user \"dev\": it failed (exit status: 7): session expired"
        );
    }

    #[test]
    fn secrets_in_arguments_are_not_shown() {
        let rows = [
            ("[get-token, --cluster-name, prod]", "p get-token --cluster-name prod"),
            ("[get-token, '--oidc-client-secret=s3cr3t', -v]", "p get-token --oidc-client-secret=… -v"),
            ("[--password, s3cr3t, --token=s3cr3t, x]", "p --password … --token=… x"),
        ];
        for (args, want) in rows {
            assert_eq!(command_line(&v1(&format!("command: p\nargs: {args}"))), want);
        }
    }

    #[test]
    fn a_missing_plugin_shows_its_install_hint_without_escape_codes() {
        let exec = v1("command: no-such-plugin-here\ninteractiveMode: Never\ninstallHint: \"brew install it\\e[1m\"");
        let failure = run("dev", &exec, &ClusterInfo::default()).err().unwrap();
        assert!(failure.to_string().ends_with("there is no such program"), "{failure}");
        assert_eq!(failure.hint.as_deref(), Some("brew install it\u{fffd}[1m"));
    }
}
