//! Why no answer came: the errors of kube, hyper and rustls told apart and put into words that help.

use std::error::Error;
use std::io;

use hyper_util::client::legacy;
use rustls::{AlertDescription, CertificateError, Error as TlsError};

use super::credentials::CredentialSource;
use crate::error::{Failure, FailureKind};

/// What the words about a failed connection need to know.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The address of the API server.
    pub server: String,
    /// The context in use.
    pub context: Option<String>,
    /// The proxy on the way, without its password.
    pub proxy: Option<String>,
    /// Whether the kubeconfig names an authority; else the system's are trusted.
    pub has_authority: bool,
    /// Where the credentials come from.
    pub credentials: CredentialSource,
}

/// Whether no connection came about; else there was one, and it broke.
#[must_use]
pub fn is_connect(error: &kube::Error) -> bool {
    chain(error).filter_map(|e| e.downcast_ref::<legacy::Error>()).any(legacy::Error::is_connect)
}

/// Whether a time limit of the connection ran out.
#[must_use]
pub fn is_timeout(error: &kube::Error) -> bool {
    io_kind(error) == Some(io::ErrorKind::TimedOut)
}

/// The failure for a connection that did not come about.
#[must_use]
pub fn unreachable(error: &kube::Error, endpoint: &Endpoint) -> Failure {
    let text = reason(error);
    if let Some(tls) = find_tls(error) {
        return untrusted(tls, endpoint);
    }
    let kind = io_kind(error);
    let is_name = chain(error).any(|e| e.to_string().starts_with("dns error"));
    let (what, whom) = match &endpoint.proxy {
        Some(proxy) => ("proxy", proxy.as_str()),
        None => ("API server", endpoint.server.as_str()),
    };
    let message = match kind {
        _ if is_name => format!("the name of the {what} in {whom} is not known here"),
        Some(io::ErrorKind::ConnectionRefused) => format!("nothing answers at {whom}: the connection is refused"),
        Some(io::ErrorKind::TimedOut) => format!("the {what} at {whom} does not answer: the connection timed out"),
        Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => {
            format!("there is no way from here to the {what} at {whom}")
        }
        Some(io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
            format!("the {what} at {whom} breaks the connection off: {text}")
        }
        _ => format!("cannot connect to the {what} at {whom}: {text}"),
    };
    let failure = Failure::new(FailureKind::NoCluster, message);
    match (&endpoint.proxy, &endpoint.context) {
        (Some(_), _) => failure.hint(format!(
            "the way to {} leads through this proxy (the cluster's proxy-url, else HTTPS_PROXY and NO_PROXY)",
            endpoint.server
        )),
        (None, Some(context)) => failure.hint(format!(
            "is the cluster of the context {context:?} running, and is the network (VPN) up that leads to it? --context chooses another"
        )),
        (None, None) => failure.hint("is the address right, and is the network (VPN) up that leads to it?"),
    }
}

/// The failure for a handshake that one side broke off.
fn untrusted(tls: &TlsError, endpoint: &Endpoint) -> Failure {
    let server = &endpoint.server;
    let (message, hint) = match tls {
        TlsError::InvalidCertificate(bad) => match bad {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => (
                format!("the certificate of {server} is not signed by an authority that is trusted"),
                if endpoint.has_authority {
                    "the certificate-authority of the kubeconfig is not the one of this server: fetch the kubeconfig anew if the cluster was made anew, or give --certificate-authority"
                } else {
                    "the kubeconfig names no certificate-authority, so the system's are trusted: give --certificate-authority"
                },
            ),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => (
                format!("the certificate of {server} has expired"),
                "it has to be renewed on the server; or the clock of this machine is wrong",
            ),
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                (format!("the certificate of {server} is not valid yet"), "is the clock of this machine right?")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => (
                format!("the certificate of {server} is for other names: {bad}"),
                "use an address that it names, or tell the name with --tls-server-name",
            ),
            other => (
                format!("the certificate of {server} cannot be accepted: {other}"),
                "look at it with openssl s_client -connect",
            ),
        },
        TlsError::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied,
        ) => {
            return Failure::new(
                FailureKind::NoAccess,
                format!("{server} does not accept the client certificate: {tls}"),
            )
            .hint("it might have expired, or belong to another cluster: fetch the kubeconfig anew");
        }
        TlsError::InvalidMessage(_) => (
            format!("{server} does not speak TLS: {tls}"),
            "is it meant to be http://, or is this not the port of the API server?",
        ),
        other => (format!("no secure connection to {server}: {other}"), "is this the address of the API server?"),
    };
    Failure::new(FailureKind::NoCluster, message).hint(hint)
}

/// The failure for a 401.
#[must_use]
pub fn unauthorized(words: &str, endpoint: &Endpoint, now: jiff::Timestamp) -> Failure {
    let ended = |expires: &Option<jiff::Timestamp>| expires.filter(|at| *at <= now);
    let hint = match &endpoint.credentials {
        CredentialSource::Nothing => {
            "the kubeconfig has no credentials for it: log in, or name a user with --user".to_owned()
        }
        CredentialSource::Token { expires } | CredentialSource::Oidc { expires } if ended(expires).is_some() => {
            format!("the token ended at {}: log in again", ended(expires).unwrap_or_default())
        }
        CredentialSource::Token { .. } => "the token is wrong, or has been withdrawn: log in again".to_owned(),
        CredentialSource::Oidc { .. } => "log in again: any kubectl command renews the login".to_owned(),
        CredentialSource::Certificate => {
            "the client certificate has expired, or is of another cluster: fetch the kubeconfig anew".to_owned()
        }
        CredentialSource::Password => {
            "the user name or the password is wrong, or the server accepts neither".to_owned()
        }
        CredentialSource::Plugin { command } => format!(
            "the credentials that {command} gave are not accepted: log in again, or check which account and cluster it is set to"
        ),
    };
    Failure::new(FailureKind::NoAccess, format!("{} does not accept the credentials: {words}", endpoint.server))
        .hint(hint)
}

/// The failure for a client that could not be built.
#[must_use]
pub fn unusable(error: &kube::Error, endpoint: &Endpoint) -> Failure {
    let message = format!("the connection to {} cannot be set up: {}", endpoint.server, reason(error));
    let failure = Failure::bad_input(message);
    match endpoint.credentials {
        CredentialSource::Certificate | CredentialSource::Plugin { .. } => {
            failure.hint("look at the client certificate and its key in the kubeconfig")
        }
        _ => failure.hint("look at the certificate-authority and the tls-server-name in the kubeconfig"),
    }
}

/// The last cause that says something. The layers above it name themselves.
#[must_use]
pub fn reason(error: &kube::Error) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}

fn io_kind(error: &kube::Error) -> Option<io::ErrorKind> {
    chain(error).find_map(|e| e.downcast_ref::<io::Error>()).map(io::Error::kind)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&e| {
        // An io::Error hides what it wraps from source(), and that is where the TLS error is.
        let wrapped = e.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        wrapped.map(|inner| inner as &(dyn Error + 'static)).or_else(|| e.source())
    })
}

fn find_tls(error: &kube::Error) -> Option<&TlsError> {
    chain(error).find_map(|e| e.downcast_ref::<TlsError>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(credentials: CredentialSource, has_authority: bool) -> Endpoint {
        Endpoint { server: "https://s".to_owned(), context: None, proxy: None, has_authority, credentials }
    }

    #[test]
    fn a_handshake_that_fails_says_what_to_look_at() {
        let invalid = TlsError::InvalidCertificate;
        for (error, has_authority, kind, message, hint) in [
            (
                invalid(CertificateError::UnknownIssuer),
                true,
                FailureKind::NoCluster,
                "not signed",
                "fetch the kubeconfig",
            ),
            (
                invalid(CertificateError::UnknownIssuer),
                false,
                FailureKind::NoCluster,
                "not signed",
                "--certificate-authority",
            ),
            (invalid(CertificateError::Expired), true, FailureKind::NoCluster, "has expired", "clock"),
            (invalid(CertificateError::NotValidYet), true, FailureKind::NoCluster, "not valid yet", "clock"),
            (
                invalid(CertificateError::NotValidForName),
                true,
                FailureKind::NoCluster,
                "for other names",
                "--tls-server-name",
            ),
            (
                TlsError::AlertReceived(AlertDescription::CertificateRequired),
                true,
                FailureKind::NoAccess,
                "does not accept the client certificate",
                "another cluster",
            ),
            (
                TlsError::InvalidMessage(rustls::InvalidMessage::InvalidContentType),
                true,
                FailureKind::NoCluster,
                "does not speak TLS",
                "http://",
            ),
        ] {
            let failure = untrusted(&error, &endpoint(CredentialSource::Nothing, has_authority));
            let hinted = failure.hint.clone().unwrap_or_default();
            assert_eq!(failure.kind, kind, "{error}");
            assert!(failure.message.contains(message) && hinted.contains(hint), "{error}: {failure}; {hinted}");
        }
    }

    #[test]
    fn a_401_says_how_to_log_in() {
        let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let ended = Some("2026-01-01T11:00:00Z".parse().unwrap());
        let command = || CredentialSource::Plugin { command: "aws".to_owned() };
        for (credentials, hint) in [
            (CredentialSource::Nothing, "--user"),
            (CredentialSource::Token { expires: None }, "withdrawn"),
            (CredentialSource::Token { expires: ended }, "ended at 2026-01-01T11:00:00Z"),
            (CredentialSource::Oidc { expires: ended }, "ended at"),
            (CredentialSource::Oidc { expires: None }, "any kubectl command"),
            (CredentialSource::Certificate, "client certificate has expired"),
            (CredentialSource::Password, "password"),
            (command(), "aws"),
        ] {
            let failure = unauthorized("Unauthorized", &endpoint(credentials, true), now);
            let hinted = failure.hint.clone().unwrap_or_default();
            assert!(failure.kind == FailureKind::NoAccess && hinted.contains(hint), "{hint}: {hinted}");
        }
    }
}
