//! An API server of a few lines on the loopback address: it serves objects in pages, and misbehaves when told to.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use kubectl_pdb::snapshot::Kind;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::reply::Reply;

struct State {
    /// Objects by the path of their list over all namespaces.
    lists: BTreeMap<String, (String, Vec<Value>)>,
    objects: BTreeMap<String, Value>,
    /// Answers that are given before the others, by path without query.
    script: Mutex<BTreeMap<String, VecDeque<Reply>>>,
    always: BTreeMap<String, Reply>,
    /// Answers to requests for a page that is not the first one.
    later: BTreeMap<String, Reply>,
    /// The one token that is accepted, where there is one.
    token: Option<String>,
    page: usize,
    asked: Mutex<Vec<String>>,
}

/// The server as it is set up. Nothing listens before it is started.
pub struct FakeApi(State);

/// The server as it runs, until the process ends.
pub struct Running {
    pub url: String,
    state: Arc<State>,
}

impl FakeApi {
    /// A server that knows its version and the kinds that every server has, without objects.
    pub fn new() -> Self {
        let everywhere = |kind: &&Kind| matches!(kind.info().group, "" | "apps" | "batch" | "policy");
        let kinds = Kind::ALL.iter().filter(everywhere);
        kinds
            .fold(Self::bare(), |api, kind| api.list(&path_of(*kind), &format!("{}List", kind.info().name), Vec::new()))
    }

    /// A server that knows its version, and nothing else.
    pub fn bare() -> Self {
        let state = State {
            lists: BTreeMap::new(),
            objects: BTreeMap::new(),
            script: Mutex::default(),
            always: BTreeMap::new(),
            later: BTreeMap::new(),
            token: None,
            page: 500,
            asked: Mutex::default(),
        };
        Self(state).object("/version", json!({"major": "1", "minor": "36", "gitVersion": "v1.36.3"}))
    }

    /// Serves objects below `path` (`/api/v1/pods`): as a list of `kind`, by namespace and by name.
    pub fn list(mut self, path: &str, kind: &str, items: Vec<Value>) -> Self {
        self.0.lists.insert(path.into(), (kind.into(), items));
        self
    }

    /// Serves one document at `path`.
    pub fn object(mut self, path: &str, object: Value) -> Self {
        self.0.objects.insert(path.into(), object);
        self
    }

    /// Gives these answers first, one a request, then what would have been given without them.
    pub fn script(self, path: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.0.script.lock().unwrap().entry(path.into()).or_default().extend(replies);
        self
    }

    /// Gives this answer whenever `path` is asked for.
    pub fn always(mut self, path: &str, reply: Reply) -> Self {
        self.0.always.insert(path.into(), reply);
        self
    }

    /// Gives this answer whenever a page of `path` is asked for that is not the first one.
    pub fn later(mut self, path: &str, reply: Reply) -> Self {
        self.0.later.insert(path.into(), reply);
        self
    }

    /// Refuses everyone without this token.
    pub fn token(mut self, token: &str) -> Self {
        self.0.token = Some(token.into());
        self
    }

    /// Serves at most so many objects a page, however many are asked for.
    pub fn page(mut self, items: usize) -> Self {
        self.0.page = items;
        self
    }

    pub fn start(self) -> Running {
        self.start_on("127.0.0.1:0", false)
    }

    /// With TLS: the authority of its certificate is [`authority`].
    pub fn start_tls(self) -> Running {
        self.start_on("127.0.0.1:0", true)
    }

    /// On an address of choice, with or without TLS.
    pub fn start_on(self, address: &str, with_tls: bool) -> Running {
        let tls = with_tls.then(|| Arc::clone(&tls().server));
        let listener = TcpListener::bind(address).unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let state = Arc::new(self.0);
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, tls) = (Arc::clone(&shared), tls.clone());
                // A client that goes away in the middle is no fault of the server's.
                thread::spawn(move || match tls {
                    None => drop(serve(&state, stream.try_clone().unwrap(), &stream)),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        drop(serve(&state, StreamOwned::new(connection, stream.try_clone().unwrap()), &stream));
                    }
                });
            }
        });
        Running { url, state }
    }
}

impl Running {
    /// The requests so far: method, path and query.
    pub fn asked(&self) -> Vec<String> {
        self.state.asked.lock().unwrap().clone()
    }
}

/// The path of the list of a kind over all namespaces.
pub fn path_of(kind: Kind) -> String {
    let info = kind.info();
    match info.group {
        "" => format!("/api/{}/{}", info.version, info.plural),
        group => format!("/apis/{group}/{}/{}", info.version, info.plural),
    }
}

struct Tls {
    server: Arc<ServerConfig>,
    authority: PathBuf,
}

/// Settings and certificates of TLS, made once.
fn tls() -> &'static Tls {
    static TLS: OnceLock<Tls> = OnceLock::new();
    TLS.get_or_init(|| {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let authority = std::env::temp_dir().join(format!("kubectl-pdb-ca-{}.pem", std::process::id()));
        std::fs::write(&authority, made.cert.pem()).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let server = config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        Tls { server: Arc::new(server), authority }
    })
}

/// The file with the authority that signed the certificate of [`FakeApi::start_tls`].
pub fn authority() -> &'static PathBuf {
    &tls().authority
}

/// Answers requests until one side has enough. `socket` is what lies below `stream`.
fn serve(state: &State, stream: impl Read + Write, socket: &TcpStream) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        match stream.read_line(&mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            // The beginning of a TLS handshake is no text.
            Err(_) => return stream.get_mut().write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        }
        let request = line.rsplit_once(' ').map_or(line.as_str(), |(request, _)| request).to_owned();
        let mut token = None;
        while line.trim_end() != "" {
            line.clear();
            stream.read_line(&mut line)?;
            let (name, value) = line.split_once(": ").unwrap_or_default();
            if name.eq_ignore_ascii_case("authorization") {
                token = value.trim_end().strip_prefix("Bearer ").map(str::to_owned);
            }
        }
        state.asked.lock().unwrap().push(request.clone());
        let target = request.split_once(' ').map_or("", |(_, target)| target);
        let reply = if state.token.is_some() && token != state.token {
            Reply::status(401, "Unauthorized", "Unauthorized")
        } else {
            answer(state, target)
        };
        if !reply.send(stream.get_mut(), socket)? {
            return Ok(());
        }
    }
}

fn answer(state: &State, target: &str) -> Reply {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if let Some(reply) = state.later.get(path).filter(|_| query.contains("continue=")) {
        return reply.clone();
    }
    if let Some(reply) = state.script.lock().unwrap().get_mut(path).and_then(VecDeque::pop_front) {
        return reply;
    }
    if let Some(reply) = state.always.get(path) {
        return reply.clone();
    }
    let found = state.objects.get(path).cloned().or_else(|| listed(state, path, query));
    match found {
        Some(value) => Reply::json(&value),
        None => Reply::status(404, "NotFound", "the server could not find the requested resource"),
    }
}

/// A list, or an object of one: `/api/v1/pods`, `/api/v1/namespaces/NS/pods`, `/api/v1/namespaces/NS/pods/NAME`.
fn listed(state: &State, path: &str, query: &str) -> Option<Value> {
    let parts: Vec<_> = path.split('/').collect();
    let prefix = if parts.get(1) == Some(&"api") { 3 } else { 4 };
    let namespaced = parts.get(prefix) == Some(&"namespaces") && parts.len() > prefix + 2;
    let (namespace, rest) =
        if namespaced { (Some(parts[prefix + 1]), &parts[prefix + 2..]) } else { (None, parts.get(prefix..)?) };
    let (plural, name) = (rest.first()?, rest.get(1));
    let (kind, all) = state.lists.get(&format!("{}/{plural}", parts[..prefix].join("/")))?;
    let within = |item: &&Value| namespace.is_none_or(|ns| item["metadata"]["namespace"] == ns);
    let asked = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
    let field = asked("fieldSelector").and_then(|selector| selector.split_once("%3D"));
    let chosen = |item: &&Value| {
        field.is_none_or(|(path, value)| item.pointer(&format!("/{}", path.replace('.', "/"))) == Some(&json!(value)))
    };
    let items: Vec<_> = all.iter().filter(within).filter(chosen).collect();
    if let Some(name) = name {
        return items.into_iter().find(|item| item["metadata"]["name"] == **name).cloned();
    }
    let start: usize = asked("continue").and_then(|token| token.parse().ok()).unwrap_or(0);
    let limit = asked("limit").and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX).min(state.page);
    let end = start.saturating_add(limit).min(items.len());
    let mut metadata = json!({"resourceVersion": "1"});
    if end < items.len() {
        metadata["continue"] = json!(end.to_string());
        metadata["remainingItemCount"] = json!(items.len() - end);
    }
    // The order of the fields is the API server's.
    Some(json!({"kind": kind, "apiVersion": "v1", "metadata": metadata, "items": items[start.min(end)..end]}))
}
