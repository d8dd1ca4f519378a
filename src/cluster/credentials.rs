//! Who asks: a user of the kubeconfig and the flags over it, made into what kube sends.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::HeaderValue;
use jiff::Timestamp;
use kube::config::AuthInfo;

use super::environment::Environment;
use super::exec::{self, ClusterInfo};
use super::kubeconfig::{Exec, User};
use super::options::ConnectOptions;
use crate::error::{Failure, FailureKind, Result};

/// Where the credentials come from, for words about them. Carries no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CredentialSource {
    /// None are configured, or the server is reached over plain HTTP, where none are sent.
    Nothing,
    /// `--token`, or a token in the kubeconfig or in a file; with the time it says it ends at.
    Token { expires: Option<Timestamp> },
    /// A client certificate.
    Certificate,
    /// A user name and a password.
    Password,
    /// A plugin, by the name of its program.
    Plugin { command: String },
    /// A login by OpenID Connect that kubectl keeps fresh.
    Oidc { expires: Option<Timestamp> },
}

/// Credentials as kube takes them, and where they come from.
pub struct Credentials {
    pub auth: AuthInfo,
    pub source: CredentialSource,
    /// When they have to be asked for again, if that is known.
    pub expires: Option<Timestamp>,
}

/// The user with the flags over it: `--token`, the client certificate and key, and the impersonation.
#[must_use]
pub fn with_flags(mut user: User, options: &ConnectOptions) -> User {
    let given = |value: &Option<String>| value.clone().filter(|text| !text.is_empty());
    if let Some(token) = given(&options.token) {
        user.token = token;
        user.token_file = Path::new("").into();
    }
    if let Some(path) = options.client_certificate.as_ref().filter(|path| !path.as_os_str().is_empty()) {
        user.client_certificate.clone_from(path);
        user.client_certificate_data.clear();
    }
    if let Some(path) = options.client_key.as_ref().filter(|path| !path.as_os_str().is_empty()) {
        user.client_key.clone_from(path);
        user.client_key_data.clear();
    }
    if let Some(name) = given(&options.impersonate) {
        user.impersonate = name;
    }
    if let Some(uid) = given(&options.impersonate_uid) {
        user.impersonate_uid = uid;
    }
    if !options.impersonate_groups.is_empty() {
        user.impersonate_groups.clone_from(&options.impersonate_groups);
    }
    if !options.impersonate_extra.is_empty() {
        user.impersonate_extra.clear();
        for (key, value) in &options.impersonate_extra {
            user.impersonate_extra.entry(key.clone()).or_default().push(value.clone());
        }
    }
    user
}

/// Impersonation, which is sent whatever the transport.
///
/// # Errors
/// Something of a user to impersonate, without the user.
pub fn impersonation(user: &User, auth: &mut AuthInfo) -> Result<()> {
    let extras =
        !user.impersonate_uid.is_empty() || !user.impersonate_groups.is_empty() || !user.impersonate_extra.is_empty();
    if user.impersonate.is_empty() {
        if extras {
            return Err(Failure::usage("a group, UID or extra is to be impersonated without a user")
                .hint("name the user with --as"));
        }
        return Ok(());
    }
    auth.impersonate = Some(user.impersonate.clone());
    auth.impersonate_uid = Some(user.impersonate_uid.clone()).filter(|uid| !uid.is_empty());
    auth.impersonate_groups = Some(user.impersonate_groups.clone()).filter(|groups| !groups.is_empty());
    auth.impersonate_user_extra = Some(user.impersonate_extra.clone().into_iter().collect());
    Ok(())
}

/// The credentials of `user`, named `name` for messages. A plugin is run here, once, and only where nothing else
/// identifies the user, as in client-go.
///
/// # Errors
/// A file that cannot be read, a method that kubectl has not, either, a plugin that gives nothing.
pub fn identify(
    host: &dyn Environment,
    name: &str,
    user: &User,
    cluster: &ClusterInfo,
    now: Timestamp,
) -> Result<Credentials> {
    let mut auth = AuthInfo::default();
    let has_certificate = set_certificate(host, name, user, &mut auth)?;
    if let Some(token) = token(host, name, user)? {
        sendable(&token).map_err(|why| bad_user(name, why))?;
        let expires = jwt_expiry(&token);
        auth.token = Some(token.into());
        return Ok(Credentials { auth, source: CredentialSource::Token { expires }, expires: None });
    }
    if !user.username.is_empty() || !user.password.is_empty() {
        auth.username = Some(user.username.clone());
        auth.password = Some(user.password.clone().into());
        return Ok(Credentials { auth, source: CredentialSource::Password, expires: None });
    }
    if has_certificate {
        return Ok(Credentials { auth, source: CredentialSource::Certificate, expires: None });
    }
    if let Some(provider) = &user.auth_provider {
        return if provider.name == "oidc" {
            oidc(name, provider.config.get("id-token").map_or("", String::as_str), auth, now)
        } else {
            Err(bad_user(
                name,
                format!("the auth-provider {:?} is unknown; kubectl has none but oidc left", provider.name),
            )
            .hint("log in to the cluster again with the provider's own tool: it writes a credential plugin instead"))
        };
    }
    match &user.exec {
        Some(exec) => from_plugin(name, exec, cluster, auth),
        None => Ok(Credentials { auth, source: CredentialSource::Nothing, expires: None }),
    }
}

/// A token that is read from a file again and again goes before one that stands in the kubeconfig, as in client-go.
fn token(host: &dyn Environment, name: &str, user: &User) -> Result<Option<String>> {
    let inline = Some(user.token.clone()).filter(|token| !token.is_empty());
    if user.token_file.as_os_str().is_empty() {
        return Ok(inline);
    }
    match host.read(&user.token_file) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned())),
        Err(_) if inline.is_some() => Ok(inline),
        Err(e) => Err(unreadable(name, "tokenFile", &user.token_file).caused_by(e)),
    }
}

fn set_certificate(host: &dyn Environment, name: &str, user: &User, auth: &mut AuthInfo) -> Result<bool> {
    let certificate = pem(host, name, "client-certificate", &user.client_certificate_data, &user.client_certificate)?;
    let key = pem(host, name, "client-key", &user.client_key_data, &user.client_key)?;
    match (certificate, key) {
        (None, None) => Ok(false),
        (Some(certificate), Some(key)) => {
            auth.client_certificate_data = Some(certificate);
            auth.client_key_data = Some(key.into());
            Ok(true)
        }
        (Some(_), None) => Err(bad_user(name, "has a client certificate and no key to it")),
        // client-go looks at the key only beside a certificate.
        (None, Some(_)) => Ok(false),
    }
}

/// Base64 of PEM: as it stands in the kubeconfig, or from the file that it names.
fn pem(host: &dyn Environment, name: &str, field: &str, data: &str, path: &Path) -> Result<Option<String>> {
    if !data.is_empty() {
        return Ok(Some(data.to_owned()));
    }
    if path.as_os_str().is_empty() {
        return Ok(None);
    }
    let bytes = host.read(path).map_err(|e| unreadable(name, field, path).caused_by(e))?;
    Ok(Some(STANDARD.encode(bytes)))
}

fn from_plugin(name: &str, exec: &Exec, cluster: &ClusterInfo, mut auth: AuthInfo) -> Result<Credentials> {
    if exec.command.is_empty() {
        return Err(bad_user(name, "has an exec section without a command"));
    }
    let given = exec::run(name, exec, cluster)?;
    if let Some(token) = &given.token {
        sendable(token).map_err(|why| bad_user(name, format!("the credential plugin {}: {why}", exec.command)))?;
    }
    let expires = given.expires;
    auth.token = given.token.map(Into::into);
    auth.client_certificate_data = given.client_certificate_data.map(|pem| STANDARD.encode(pem));
    auth.client_key_data = given.client_key_data.map(|pem| STANDARD.encode(pem).into());
    Ok(Credentials { auth, source: CredentialSource::Plugin { command: exec.command.clone() }, expires })
}

/// kubectl refreshes an expired token at the provider and writes it back into the kubeconfig. This program writes
/// nothing, and a refresh that is not written back ends the user's login at providers that rotate their tokens.
fn oidc(name: &str, token: &str, mut auth: AuthInfo, now: Timestamp) -> Result<Credentials> {
    let expires = jwt_expiry(token);
    if token.is_empty() || expires.is_some_and(|at| at <= now) {
        let when = expires.map(|at| format!(" at {at}")).unwrap_or_default();
        return Err(Failure::new(
            FailureKind::NoAccess,
            format!("the OIDC login of the user {name:?} has ended{when}"),
        )
        .hint("run any kubectl command, kubectl get ns for one: it renews the login, or has you log in again"));
    }
    sendable(token).map_err(|why| bad_user(name, why))?;
    auth.token = Some(token.to_owned().into());
    Ok(Credentials { auth, source: CredentialSource::Oidc { expires }, expires })
}

/// When a token ends, if it is a JSON web token that says so. The signature is the server's affair.
fn jwt_expiry(token: &str) -> Option<Timestamp> {
    #[derive(serde::Deserialize)]
    struct Claims {
        exp: f64,
    }
    let payload = token.split('.').nth(1)?;
    let json = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    let claims: Claims = serde_json::from_slice(&json).ok()?;
    // Whole seconds are enough for words; a value out of range saturates, and is then no timestamp.
    Timestamp::from_second(claims.exp as i64).ok()
}

/// Whether a token can stand in a header at all: kube does not ask.
fn sendable(token: &str) -> Result<(), &'static str> {
    let fits = HeaderValue::from_str(token).is_ok();
    fits.then_some(()).ok_or("its token has characters that cannot be sent")
}

fn bad_user(name: &str, what: impl AsRef<str>) -> Failure {
    Failure::bad_input(format!("the user {name:?} of the kubeconfig: {}", what.as_ref()))
}

fn unreadable(name: &str, field: &str, path: &Path) -> Failure {
    bad_user(name, format!("cannot read its {field} {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::super::environment::fake::Fake;
    use super::*;

    fn user(yaml: &str) -> User {
        serde_saphyr::from_str(yaml).unwrap()
    }

    fn identified(yaml: &str) -> Result<Credentials, String> {
        let host =
            Fake::default().with_file("/token", " from-file\n").with_file("/c.crt", "CERT").with_file("/c.key", "KEY");
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        identify(&host, "u", &user(yaml), &ClusterInfo::default(), now).map_err(|failure| failure.to_string())
    }

    /// A token whose payload says `{"exp":N}`.
    fn jwt(exp: i64) -> String {
        format!("h.{}.s", URL_SAFE_NO_PAD.encode(format!("{{\"exp\":{exp}}}")))
    }

    #[test]
    fn what_identifies_a_user() {
        use secrecy_of::token_of;
        let rows = [
            ("{}", CredentialSource::Nothing, None),
            ("token: t", CredentialSource::Token { expires: None }, Some("t")),
            ("tokenFile: /token", CredentialSource::Token { expires: None }, Some("from-file")),
            ("{token: t, tokenFile: /token}", CredentialSource::Token { expires: None }, Some("from-file")),
            ("{token: t, tokenFile: /absent}", CredentialSource::Token { expires: None }, Some("t")),
            ("{username: me, password: p}", CredentialSource::Password, None),
            ("{client-certificate: /c.crt, client-key: /c.key}", CredentialSource::Certificate, None),
            ("{client-certificate-data: Yw==, client-key: /c.key}", CredentialSource::Certificate, None),
            (
                "{token: t, client-certificate: /c.crt, client-key: /c.key}",
                CredentialSource::Token { expires: None },
                Some("t"),
            ),
            // The plugin would fail, were it run: what is there identifies the user already.
            ("{token: t, exec: {command: no-such-program}}", CredentialSource::Token { expires: None }, Some("t")),
            ("{username: me, exec: {command: no-such-program}}", CredentialSource::Password, None),
        ];
        for (yaml, source, token) in rows {
            let got = identified(yaml).unwrap_or_else(|e| panic!("{yaml}: {e}"));
            assert_eq!(got.source, source, "{yaml}");
            assert_eq!(token_of(&got.auth).as_deref(), token, "{yaml}");
        }
        let auth = identified("{client-certificate: /c.crt, client-key: /c.key}").unwrap().auth;
        assert_eq!(auth.client_certificate_data.as_deref(), Some("Q0VSVA=="));
    }

    #[test]
    fn what_is_refused() {
        let rows = [
            ("tokenFile: /absent", "the user \"u\" of the kubeconfig: cannot read its tokenFile /absent"),
            (
                "client-certificate: /c.crt",
                "the user \"u\" of the kubeconfig: has a client certificate and no key to it",
            ),
            ("auth-provider: {name: gcp}", "the auth-provider \"gcp\" is unknown"),
            ("exec: {args: [x]}", "has an exec section without a command"),
            ("auth-provider: {name: oidc, config: {id-token: ''}}", "the OIDC login of the user \"u\" has ended"),
        ];
        for (yaml, want) in rows {
            let got = identified(yaml).err().unwrap_or_default();
            assert!(got.contains(want), "{yaml}: {got}");
        }
    }

    #[test]
    fn an_oidc_token_is_used_until_it_ends() {
        let yaml =
            |exp| format!("auth-provider: {{name: oidc, config: {{id-token: '{}', refresh-token: r}}}}", jwt(exp));
        let expires = Timestamp::from_second(1_800_000_001).ok();
        assert_eq!(identified(&yaml(1_800_000_001)).unwrap().source, CredentialSource::Oidc { expires });
        let ended = identified(&yaml(1_800_000_000)).err().unwrap();
        assert_eq!(ended, "the OIDC login of the user \"u\" has ended at 2027-01-15T08:00:00Z");
    }

    #[test]
    fn the_end_of_a_token_is_read_where_it_has_one() {
        assert_eq!(jwt_expiry(&jwt(1_800_000_000)), Timestamp::from_second(1_800_000_000).ok());
        for token in ["", "opaque", "a.b.c", "a.e30.c", &jwt(i64::MAX)] {
            assert_eq!(jwt_expiry(token), None, "{token}");
        }
    }

    #[test]
    fn flags_go_over_the_kubeconfig() {
        let base = user(
            "{token: t, tokenFile: /token, client-certificate-data: c, client-key-data: k, as: a, as-groups: [g], as-user-extra: {k: [v]}}",
        );
        let options = ConnectOptions {
            token: Some("flag".into()),
            client_certificate: Some("/f.crt".into()),
            client_key: Some("/f.key".into()),
            impersonate: Some("b".into()),
            impersonate_groups: vec!["x".into(), "y".into()],
            impersonate_extra: vec![("k".into(), "1".into()), ("k".into(), "2".into())],
            ..ConnectOptions::default()
        };
        let got = with_flags(base.clone(), &options);
        assert_eq!((got.token.as_str(), got.token_file.as_os_str().is_empty()), ("flag", true));
        assert_eq!((got.client_certificate_data.as_str(), got.client_key_data.as_str()), ("", ""));
        let mut auth = AuthInfo::default();
        impersonation(&got, &mut auth).unwrap();
        assert_eq!(auth.impersonate.as_deref(), Some("b"));
        assert_eq!(auth.impersonate_groups.as_deref(), Some(["x".to_owned(), "y".to_owned()].as_slice()));
        assert_eq!(auth.impersonate_user_extra.unwrap()["k"], ["1", "2"]);
        let same = with_flags(base, &ConnectOptions { token: Some(String::new()), ..ConnectOptions::default() });
        assert_eq!((same.token.as_str(), same.impersonate.as_str()), ("t", "a"));
    }

    #[test]
    fn nobody_is_impersonated_by_a_group_alone() {
        let mut auth = AuthInfo::default();
        impersonation(&User::default(), &mut auth).unwrap();
        assert_eq!(auth.impersonate, None);
        assert!(impersonation(&user("as-groups: [g]"), &mut auth).is_err());
    }

    /// The token inside kube's type, by way of its serialised form: the type that hides it is not ours to name.
    mod secrecy_of {
        pub fn token_of(auth: &kube::config::AuthInfo) -> Option<String> {
            let json = serde_json::to_value(auth).unwrap();
            json["token"].as_str().map(str::to_owned)
        }
    }
}
