//! kubeconfig files: found, read and merged as client-go's `clientcmd.ClientConfigLoadingRules` does.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};
use serde_saphyr::options::DuplicateKeyPolicy;

use super::environment::Environment;
use crate::error::{Failure, Result};

/// The merged content of the kubeconfig files.
#[derive(Default)]
pub struct Kubeconfig {
    /// The files that were read, in order of precedence.
    pub files: Vec<PathBuf>,
    /// The files that are named and absent.
    pub missing: Vec<PathBuf>,
    /// The context that is used where none is asked for; empty where none is set.
    pub current_context: String,
    /// Contexts by name.
    pub contexts: BTreeMap<String, Context>,
    /// Clusters by name.
    pub clusters: BTreeMap<String, Cluster>,
    /// Users by name.
    pub users: BTreeMap<String, User>,
}

/// A cluster, a user and a namespace that go together.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Context {
    #[serde(deserialize_with = "or_default")]
    pub cluster: String,
    #[serde(deserialize_with = "or_default")]
    pub user: String,
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
}

/// Where an API server is, and how it is known to be the right one. What is empty is not set, as in Go.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Cluster {
    #[serde(deserialize_with = "or_default")]
    pub server: String,
    #[serde(deserialize_with = "or_default")]
    pub tls_server_name: String,
    #[serde(deserialize_with = "or_default")]
    pub insecure_skip_tls_verify: bool,
    #[serde(deserialize_with = "or_default")]
    pub certificate_authority: PathBuf,
    /// Base64 of PEM.
    #[serde(deserialize_with = "or_default")]
    pub certificate_authority_data: String,
    #[serde(deserialize_with = "or_default")]
    pub proxy_url: String,
    #[serde(deserialize_with = "or_default")]
    pub disable_compression: bool,
    #[serde(deserialize_with = "or_default")]
    pub extensions: Vec<Extension>,
}

/// A value that belongs to some tool.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Extension {
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    pub extension: serde_json::Value,
}

/// Who asks. Holds secrets, hence no `Debug`.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct User {
    #[serde(deserialize_with = "or_default")]
    pub client_certificate: PathBuf,
    /// Base64 of PEM.
    #[serde(deserialize_with = "or_default")]
    pub client_certificate_data: String,
    #[serde(deserialize_with = "or_default")]
    pub client_key: PathBuf,
    /// Base64 of PEM.
    #[serde(deserialize_with = "or_default")]
    pub client_key_data: String,
    #[serde(deserialize_with = "or_default")]
    pub token: String,
    #[serde(rename = "tokenFile", deserialize_with = "or_default")]
    pub token_file: PathBuf,
    #[serde(rename = "as", deserialize_with = "or_default")]
    pub impersonate: String,
    #[serde(rename = "as-uid", deserialize_with = "or_default")]
    pub impersonate_uid: String,
    #[serde(rename = "as-groups", deserialize_with = "or_default")]
    pub impersonate_groups: Vec<String>,
    #[serde(rename = "as-user-extra", deserialize_with = "or_default")]
    pub impersonate_extra: BTreeMap<String, Vec<String>>,
    #[serde(deserialize_with = "or_default")]
    pub username: String,
    #[serde(deserialize_with = "or_default")]
    pub password: String,
    pub auth_provider: Option<AuthProvider>,
    pub exec: Option<Exec>,
}

/// The older way of extending authentication; of its kinds only `oidc` is left in kubectl.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct AuthProvider {
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub config: BTreeMap<String, String>,
}

/// A program that prints credentials.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Exec {
    #[serde(deserialize_with = "or_default")]
    pub command: String,
    #[serde(deserialize_with = "or_default")]
    pub args: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub env: Vec<ExecEnv>,
    #[serde(deserialize_with = "or_default")]
    pub api_version: String,
    #[serde(deserialize_with = "or_default")]
    pub install_hint: String,
    #[serde(deserialize_with = "or_default")]
    pub provide_cluster_info: bool,
    #[serde(deserialize_with = "or_default")]
    pub interactive_mode: String,
}

/// A variable that is set for the program.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct ExecEnv {
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub value: String,
}

/// A file as it is written: lists with names.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct File {
    #[serde(deserialize_with = "or_default")]
    current_context: String,
    #[serde(deserialize_with = "or_default")]
    contexts: Vec<NamedContext>,
    #[serde(deserialize_with = "or_default")]
    clusters: Vec<NamedCluster>,
    #[serde(deserialize_with = "or_default")]
    users: Vec<NamedUser>,
}

#[derive(Deserialize)]
struct NamedContext {
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    context: Context,
}

#[derive(Deserialize)]
struct NamedCluster {
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    cluster: Cluster,
}

#[derive(Deserialize)]
struct NamedUser {
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    user: User,
}

/// `null` is the empty value, as for Go's decoder.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl Kubeconfig {
    /// Reads the file of `--kubeconfig`, which must exist; else those of `$KUBECONFIG`, or `~/.kube/config`, of which
    /// the absent ones are passed over. The first file to set a value or a name wins.
    ///
    /// # Errors
    /// A file that cannot be read or understood.
    pub fn load(host: &dyn Environment, explicit: Option<&Path>) -> Result<Self> {
        let mut merged = Self::default();
        for path in paths(host, explicit) {
            match host.read(&path) {
                Ok(bytes) => {
                    merged.merge(&path, parse(&path, &bytes)?)?;
                    merged.files.push(path);
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound && explicit.is_none() => merged.missing.push(path),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    return Err(Failure::bad_input(format!("the kubeconfig file {} does not exist", path.display()))
                        .hint("--kubeconfig names a file that must be there; without the flag $KUBECONFIG or ~/.kube/config is read"));
                }
                Err(e) => {
                    return Err(
                        Failure::bad_input(format!("cannot read the kubeconfig file {}", path.display())).caused_by(e)
                    );
                }
            }
        }
        Ok(merged)
    }

    /// Adds what is not there yet. Names within one file must differ.
    fn merge(&mut self, path: &Path, file: File) -> Result<()> {
        let dir = path.parent().unwrap_or(Path::new(""));
        if self.current_context.is_empty() {
            self.current_context = file.current_context;
        }
        let contexts = file.contexts.into_iter().map(|named| (named.name, named.context));
        add(path, "contexts", &mut self.contexts, contexts)?;
        let clusters = file.clusters.into_iter().map(|named| (named.name, named.cluster.resolved(dir)));
        add(path, "clusters", &mut self.clusters, clusters)?;
        let users = file.users.into_iter().map(|named| (named.name, named.user.resolved(dir)));
        add(path, "users", &mut self.users, users)
    }
}

fn add<T>(
    path: &Path,
    list: &str,
    to: &mut BTreeMap<String, T>,
    from: impl Iterator<Item = (String, T)>,
) -> Result<()> {
    let mut own = BTreeMap::new();
    for (name, value) in from {
        if own.contains_key(&name) {
            return Err(Failure::bad_input(format!("{}: {list} has two entries named {name:?}", path.display())));
        }
        own.insert(name, value);
    }
    for (name, value) in own {
        to.entry(name).or_insert(value);
    }
    Ok(())
}

fn paths(host: &dyn Environment, explicit: Option<&Path>) -> Vec<PathBuf> {
    if let Some(path) = explicit {
        return vec![path.to_owned()];
    }
    let Some(list) = host.var("KUBECONFIG") else {
        return host.home().map(|home| home.join(".kube").join("config")).into_iter().collect();
    };
    let mut paths = Vec::new();
    for path in std::env::split_paths(&list) {
        if !path.as_os_str().is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

fn parse(path: &Path, bytes: &[u8]) -> Result<File> {
    let text = str::from_utf8(bytes).map_err(|e| {
        Failure::bad_input(format!("the kubeconfig file {} is not UTF-8 text", path.display())).caused_by(e)
    })?;
    // A snippet of the file would put its secrets on the screen. YAML is read as Go's decoder does: the first document.
    let options = serde_saphyr::options! { with_snippet: false, duplicate_keys: DuplicateKeyPolicy::LastWins };
    let documents: Vec<Option<File>> = serde_saphyr::from_multiple_with_options(text, options).map_err(|e| {
        let place = match e.location() {
            Some(at) => format!("{}, line {}, column {}", path.display(), at.line(), at.column()),
            None => path.display().to_string(),
        };
        Failure::bad_input(format!("cannot understand the kubeconfig file {place}")).caused_by(e)
    })?;
    Ok(documents.into_iter().next().flatten().unwrap_or_default())
}

/// A path in a file is relative to the folder of that file.
fn resolve(path: &mut PathBuf, dir: &Path) {
    if !path.as_os_str().is_empty() {
        *path = dir.join(&path);
    }
}

impl Cluster {
    fn resolved(mut self, dir: &Path) -> Self {
        resolve(&mut self.certificate_authority, dir);
        self
    }
}

impl User {
    fn resolved(mut self, dir: &Path) -> Self {
        resolve(&mut self.client_certificate, dir);
        resolve(&mut self.client_key, dir);
        resolve(&mut self.token_file, dir);
        if let Some(exec) = &mut self.exec {
            // A bare name is looked up in $PATH; anything with a folder in it is a path like the others.
            let command = Path::new(&exec.command);
            if command.components().count() > 1 {
                exec.command = dir.join(command).to_string_lossy().into_owned();
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::environment::fake::Fake;
    use super::*;

    fn load(host: &Fake) -> Kubeconfig {
        Kubeconfig::load(host, None).unwrap()
    }

    fn message(host: &Fake, explicit: Option<&str>) -> String {
        Kubeconfig::load(host, explicit.map(Path::new)).err().expect("a failure").to_string()
    }

    #[test]
    fn the_home_file_is_read_where_the_variable_is_unset_or_empty() {
        let host = Fake::default().with_file("/home/me/.kube/config", "current-context: home");
        assert_eq!(load(&host).current_context, "home");
        let host = host.with_var("KUBECONFIG", "");
        assert_eq!(load(&host).current_context, "home");
        let host = host.with_var("KUBECONFIG", "/a");
        assert_eq!(load(&host).current_context, "");
        assert_eq!(load(&host).missing, [Path::new("/a")]);
    }

    #[test]
    fn the_first_file_to_set_a_name_wins_whole() {
        // The example of the documentation: values of the second red-user that do not conflict are left out too.
        let host = Fake::default()
            .with_var("KUBECONFIG", "/a::/missing:/b:/a")
            .with_file("/a", "current-context: ''\nusers: [{name: red, user: {token: first}}]\nclusters: null")
            .with_file(
                "/b",
                "current-context: two\nusers: [{name: red, user: {token: second, username: u}}, {name: green}]",
            );
        let config = load(&host);
        assert_eq!(config.files, [Path::new("/a"), Path::new("/b")]);
        assert_eq!(config.current_context, "two");
        assert_eq!(config.users["red"].token, "first");
        assert_eq!(config.users["red"].username, "");
        assert!(config.users.contains_key("green"));
    }

    #[test]
    fn paths_are_relative_to_the_file_that_names_them() {
        let yaml = r"
            clusters: [{name: c, cluster: {certificate-authority: ca.crt}}]
            users:
            - {name: a, user: {client-certificate: pki/a.crt, client-key: /abs/a.key, tokenFile: ../token}}
            - {name: b, user: {exec: {command: aws}}}
            - {name: c, user: {exec: {command: bin/login}}}
            - {name: d, user: {exec: {command: ./login}}}
            - {name: e, user: {exec: {command: /opt/login}}}";
        let config = load(&Fake::default().with_var("KUBECONFIG", "/etc/k/config").with_file("/etc/k/config", yaml));
        assert_eq!(config.clusters["c"].certificate_authority, Path::new("/etc/k/ca.crt"));
        let user = &config.users["a"];
        assert_eq!(user.client_certificate, Path::new("/etc/k/pki/a.crt"));
        assert_eq!(user.client_key, Path::new("/abs/a.key"));
        assert_eq!(user.token_file, Path::new("/etc/k/../token"));
        let command = |name: &str| config.users[name].exec.as_ref().unwrap().command.clone();
        assert_eq!(command("b"), "aws");
        assert_eq!(command("c"), "/etc/k/bin/login");
        assert_eq!(command("d"), "/etc/k/./login");
        assert_eq!(command("e"), "/opt/login");
    }

    #[test]
    fn json_empty_files_null_and_unknown_fields_are_read() {
        for text in ["", "---\n", "null", "{}", "# nothing", "apiVersion: v1\nkind: Config\npreferences: {}\nx: [1]"] {
            let config = load(&Fake::default().with_file("/home/me/.kube/config", text));
            assert!(config.clusters.is_empty(), "{text}");
        }
        let json = r#"{"clusters":[{"name":"c","cluster":{"server":"https://s","insecure-skip-tls-verify":true}}]}"#;
        let config = load(&Fake::default().with_file("/home/me/.kube/config", json));
        assert!(config.clusters["c"].insecure_skip_tls_verify);
    }

    #[test]
    fn a_bad_file_is_named_with_line_and_column_and_without_its_secrets() {
        let yaml = "users:\n- name: u\n  user:\n    token: s3cr3t\n  - broken\n";
        let text = message(&Fake::default().with_file("/home/me/.kube/config", yaml), None);
        assert!(text.starts_with("cannot understand the kubeconfig file /home/me/.kube/config, line 5"), "{text}");
        assert!(!text.contains("s3cr3t"), "{text}");
        let text = message(&Fake::default().with_file("/home/me/.kube/config", "clusters: {a: b}"), None);
        assert!(text.contains("line 1, column 11"), "{text}");
        let text = message(&Fake::default().with_file("/home/me/.kube/config", b"\xff\xfe\x00"), None);
        assert!(text.contains("is not UTF-8 text"), "{text}");
    }

    #[test]
    fn two_entries_of_one_name_are_refused() {
        let text = message(&Fake::default().with_file("/home/me/.kube/config", "users: [{name: a}, {name: a}]"), None);
        assert_eq!(text, "/home/me/.kube/config: users has two entries named \"a\"");
    }

    #[test]
    fn the_file_of_the_flag_must_exist_and_is_the_only_one() {
        let host = Fake::default().with_var("KUBECONFIG", "/a").with_file("/a", "current-context: a");
        assert_eq!(message(&host, Some("/b")), "the kubeconfig file /b does not exist");
        let host = host.with_file("/b", "users: []");
        assert_eq!(Kubeconfig::load(&host, Some(Path::new("/b"))).unwrap().current_context, "");
    }
}
