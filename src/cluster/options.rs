//! kubectl's global flags: which cluster, as whom, and how to reach it.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::duration::parse_timeout;

/// The limit of a request where none is given. An API server gives up a list after a minute; the rest is for the network.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(300);

/// kubectl's global flags, with kubectl's meanings (`kubectl options`). The namespace is not among them: it also
/// narrows what is read from a file.
///
/// An empty value is a flag that was not given, as kubectl has it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Cluster options")]
pub struct ConnectOptions {
    /// The kubeconfig file to use
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The kubeconfig context to use
    #[arg(long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// The kubeconfig cluster to use
    #[arg(long, global = true, value_name = "NAME")]
    pub cluster: Option<String>,
    /// The kubeconfig user to use
    #[arg(long, global = true, value_name = "NAME")]
    pub user: Option<String>,
    /// The address of the API server
    #[arg(long, short = 's', global = true, value_name = "URL")]
    pub server: Option<String>,
    /// A bearer token for the API server
    #[arg(long, global = true, value_name = "TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// The user to impersonate
    #[arg(long = "as", global = true, value_name = "USER")]
    pub impersonate: Option<String>,
    /// A group to impersonate; can be repeated
    #[arg(long = "as-group", global = true, value_name = "GROUP")]
    pub impersonate_groups: Vec<String>,
    /// The UID to impersonate
    #[arg(long = "as-uid", global = true, value_name = "UID")]
    pub impersonate_uid: Option<String>,
    /// An extra of the impersonated user; can be repeated
    #[arg(long = "as-user-extra", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub impersonate_extra: Vec<(String, String)>,
    /// A client certificate file for TLS
    #[arg(long, global = true, value_name = "FILE")]
    pub client_certificate: Option<PathBuf>,
    /// A client key file for TLS
    #[arg(long, global = true, value_name = "FILE")]
    pub client_key: Option<PathBuf>,
    /// The certificate file of the authority that signed the server's certificate
    #[arg(long, global = true, value_name = "FILE")]
    pub certificate_authority: Option<PathBuf>,
    /// The name the server's certificate must have, if not the host of its address
    #[arg(long, global = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// Do not check the server's certificate
    #[arg(
        long, global = true, value_name = "BOOL", value_parser = parse_bool,
        num_args = 0..=1, require_equals = true, default_missing_value = "true"
    )]
    pub insecure_skip_tls_verify: Option<bool>,
    /// Ask for answers that are not compressed
    #[arg(
        long, global = true, value_name = "BOOL", value_parser = parse_bool,
        num_args = 0..=1, require_equals = true, default_missing_value = "true"
    )]
    pub disable_compression: Option<bool>,
    /// How long a single request may take; 0 is without end (default: 5m)
    #[arg(long, global = true, value_name = "DURATION", value_parser = parse_timeout)]
    pub request_timeout: Option<Duration>,
}

impl ConnectOptions {
    /// The long name of a flag that was given, if any was: none of them makes sense without a cluster.
    #[must_use]
    pub fn any_given(&self) -> Option<&'static str> {
        let given = [
            ("--kubeconfig", self.kubeconfig.is_some()),
            ("--context", self.context.is_some()),
            ("--cluster", self.cluster.is_some()),
            ("--user", self.user.is_some()),
            ("--server", self.server.is_some()),
            ("--token", self.token.is_some()),
            ("--as", self.impersonate.is_some()),
            ("--as-group", !self.impersonate_groups.is_empty()),
            ("--as-uid", self.impersonate_uid.is_some()),
            ("--as-user-extra", !self.impersonate_extra.is_empty()),
            ("--client-certificate", self.client_certificate.is_some()),
            ("--client-key", self.client_key.is_some()),
            ("--certificate-authority", self.certificate_authority.is_some()),
            ("--tls-server-name", self.tls_server_name.is_some()),
            ("--insecure-skip-tls-verify", self.insecure_skip_tls_verify.is_some()),
            ("--disable-compression", self.disable_compression.is_some()),
            ("--request-timeout", self.request_timeout.is_some()),
        ];
        given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }

    /// The limit of one request: none where it is given as 0.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        Some(self.request_timeout.unwrap_or(REQUEST_TIMEOUT)).filter(|limit| !limit.is_zero())
    }
}

/// Go's `strconv.ParseBool`, which reads kubectl's boolean flags.
fn parse_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("it is true or false".into()),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it like KEY=VALUE")?;
    Ok((key.into(), value.into()))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        connect: ConnectOptions,
    }

    fn parsed(line: &str) -> Result<ConnectOptions, String> {
        Cli::try_parse_from(["x"].into_iter().chain(line.split_whitespace()))
            .map(|cli| cli.connect)
            .map_err(|e| e.to_string())
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn each_flag_is_a_cluster_flag() {
        let lines = [
            "--kubeconfig=f",
            "--context=c",
            "--cluster=c",
            "--user=u",
            "--server=https://s",
            "--token=t",
            "--as=u",
            "--as-group=g",
            "--as-uid=1",
            "--as-user-extra=k=v",
            "--client-certificate=f",
            "--client-key=f",
            "--certificate-authority=f",
            "--tls-server-name=n",
            "--insecure-skip-tls-verify",
            "--disable-compression=false",
            "--request-timeout=5",
        ];
        let flags: Vec<_> = Cli::command().get_arguments().filter_map(|a| a.get_long().map(str::to_owned)).collect();
        assert_eq!(flags.len(), lines.len(), "a flag is not in this test: {flags:?}");
        for line in lines {
            let flag = line.split('=').next();
            assert_eq!(parsed(line).unwrap().any_given(), flag, "{line}");
        }
        assert_eq!(parsed("").unwrap().any_given(), None);
        assert_eq!(parsed("-s https://s").unwrap().server.as_deref(), Some("https://s"));
    }

    #[test]
    fn booleans_are_gos() {
        let rows = [
            ("", None),
            ("--insecure-skip-tls-verify", Some(true)),
            ("--insecure-skip-tls-verify=true", Some(true)),
            ("--insecure-skip-tls-verify=1", Some(true)),
            ("--insecure-skip-tls-verify=false", Some(false)),
            ("--insecure-skip-tls-verify=F", Some(false)),
        ];
        for (line, want) in rows {
            assert_eq!(parsed(line).unwrap().insecure_skip_tls_verify, want, "{line}");
        }
        assert!(parsed("--insecure-skip-tls-verify=yes").unwrap_err().contains("true or false"));
    }

    #[test]
    fn a_timeout_of_zero_is_none() {
        let rows = [
            ("", Some(300)),
            ("--request-timeout=0", None),
            ("--request-timeout=0s", None),
            ("--request-timeout=15", Some(15)),
            ("--request-timeout=1m30s", Some(90)),
        ];
        for (line, seconds) in rows {
            assert_eq!(parsed(line).unwrap().timeout(), seconds.map(Duration::from_secs), "{line}");
        }
        assert!(parsed("--request-timeout=soon").is_err());
    }

    #[test]
    fn groups_and_extras_repeat() {
        let options = parsed("--as-group a --as-group b,c --as-user-extra k=v=w --as-user-extra k=x").unwrap();
        assert_eq!(options.impersonate_groups, ["a", "b,c"]);
        assert_eq!(options.impersonate_extra, [("k".into(), "v=w".into()), ("k".into(), "x".into())]);
        assert!(parsed("--as-user-extra k").is_err());
    }
}
