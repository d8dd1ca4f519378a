//! An API server of a few lines on the loopback address: it serves objects in pages, and misbehaves when told to.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What is answered once, in the place of the objects.
#[derive(Clone)]
pub struct Reply {
    pub code: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// Waited before the head is sent.
    pub delay: Duration,
    /// Bytes of the body after which the connection is closed.
    pub cut: Option<usize>,
}

impl Reply {
    pub fn new(code: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type", content_type.to_owned())];
        Self { code, headers, body: body.into(), delay: Duration::ZERO, cut: None }
    }

    /// A refusal as an API server words it.
    pub fn status(code: u16, reason: &str, message: &str) -> Self {
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": reason, "code": code});
        Self::new(code, "application/json", status.to_string())
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    pub fn cut_at(mut self, bytes: usize) -> Self {
        self.cut = Some(bytes);
        self
    }
}

#[derive(Default)]
struct State {
    /// Objects by the path of their list over all namespaces.
    lists: BTreeMap<String, (String, Vec<Value>)>,
    objects: BTreeMap<String, Value>,
    /// Answers that are given before the others, by path without query; the last one of a path stays if `always`.
    script: Mutex<BTreeMap<String, VecDeque<Reply>>>,
    always: BTreeMap<String, Reply>,
    page: usize,
    asked: Mutex<Vec<String>>,
}

/// The server as it is set up. Nothing listens before [`FakeApi::start`].
#[derive(Default)]
pub struct FakeApi(State);

/// The server as it runs, until the process ends.
pub struct Running {
    pub url: String,
    state: Arc<State>,
}

impl FakeApi {
    /// A server without objects, that knows its version.
    pub fn new() -> Self {
        let state = State { page: 500, ..State::default() };
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

    /// Serves at most so many objects a page, however many are asked for.
    pub fn page(mut self, items: usize) -> Self {
        self.0.page = items;
        self
    }

    pub fn start(self) -> Running {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(self.0);
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                // A client that goes away in the middle is no fault of the server's.
                thread::spawn(move || drop(serve(&state, stream)));
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

fn serve(state: &State, stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            // The beginning of a TLS handshake is no text.
            Err(_) => return stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        }
        let request = line.rsplit_once(' ').map_or(line.as_str(), |(request, _)| request).to_owned();
        while line.trim_end() != "" {
            line.clear();
            reader.read_line(&mut line)?;
        }
        state.asked.lock().unwrap().push(request.clone());
        let target = request.split_once(' ').map_or("", |(_, target)| target);
        let reply = answer(state, target);
        thread::sleep(reply.delay);
        let mut head = format!("HTTP/1.1 {} X\r\nContent-Length: {}\r\n", reply.code, reply.body.len());
        for (name, value) in &reply.headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        stream.write_all(&reply.body[..reply.cut.unwrap_or(reply.body.len())])?;
        if reply.cut.is_some() {
            return stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

fn answer(state: &State, target: &str) -> Reply {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if let Some(reply) = state.script.lock().unwrap().get_mut(path).and_then(VecDeque::pop_front) {
        return reply;
    }
    if let Some(reply) = state.always.get(path) {
        return reply.clone();
    }
    let found = state.objects.get(path).cloned().or_else(|| listed(state, path, query));
    match found {
        Some(value) => Reply::new(200, "application/json", value.to_string()),
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
