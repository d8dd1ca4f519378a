//! A server of lists that costs next to nothing beyond writing to its sockets: what it serves is encoded before it
//! listens, and a page is three writes: a head, a slice of the encoded objects, a tail.

use crate::cluster;
use crate::protobuf::{self, Encoder};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, IoSlice, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How much is written between two looks at the clock, where the server paces itself.
const CHUNK: usize = 128 << 10;

/// The kinds that are generated, the paths of their lists, and those of lists that are empty.
const KINDS: &[(&str, &str, &str)] = &[
    ("Node", "v1", "/api/v1/nodes"),
    ("Namespace", "v1", "/api/v1/namespaces"),
    ("Pod", "v1", "/api/v1/pods"),
    ("Deployment", "apps/v1", "/apis/apps/v1/deployments"),
    ("ReplicaSet", "apps/v1", "/apis/apps/v1/replicasets"),
    ("StatefulSet", "apps/v1", "/apis/apps/v1/statefulsets"),
    ("PodDisruptionBudget", "policy/v1", "/apis/policy/v1/poddisruptionbudgets"),
];

/// How the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Whatever is asked for.
    Json,
    /// Where the client takes it.
    Protobuf,
}

/// The objects of a kind, sorted by namespace and name as a server sorts them, and where each begins.
#[derive(Default)]
struct Objects {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

impl Objects {
    fn slice(&self, from: usize, to: usize) -> &[u8] {
        let at = |i: usize| self.starts.get(i).copied().unwrap_or(self.bytes.len());
        &self.bytes[at(from)..at(to)]
    }
}

struct List {
    kind: &'static str,
    api_version: &'static str,
    objects: Objects,
}

/// All that is served.
pub struct Server {
    lists: BTreeMap<&'static str, List>,
    format: Format,
    /// Bytes a second of each answer; `None` is as fast as the socket takes them.
    rate: Option<f64>,
}

impl Server {
    /// Generates and encodes a cluster.
    pub fn new(pods: usize, nodes: usize, format: Format, rate: Option<f64>) -> io::Result<Self> {
        let encoder = Encoder::new()?;
        let mut sorted: BTreeMap<(String, String, String), Vec<u8>> = BTreeMap::new();
        cluster::each(pods, nodes, |object| {
            let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
            let kind = text("/kind");
            let bytes = match format {
                Format::Json => without_kind(&object).to_string().into_bytes(),
                Format::Protobuf => {
                    let mut field = Vec::new();
                    protobuf::bytes(2, &encoder.object(&kind, &object)?, &mut field);
                    field
                }
            };
            sorted.insert((kind, text("/metadata/namespace"), text("/metadata/name")), bytes);
            Ok(())
        })?;
        let mut lists: BTreeMap<_, _> = KINDS
            .iter()
            .map(|(kind, api_version, path)| (*path, List { kind, api_version, objects: Objects::default() }))
            .collect();
        for ((kind, ..), bytes) in sorted {
            let list = lists.values_mut().find(|list| list.kind == kind).ok_or_else(|| io::Error::other(kind))?;
            list.objects.starts.push(list.objects.bytes.len());
            list.objects.bytes.extend(bytes);
            if format == Format::Json {
                list.objects.bytes.push(b',');
            }
        }
        Ok(Self { lists, format, rate })
    }

    /// Serves until the process ends; says where on standard output.
    pub fn run(self) -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let bytes: usize = self.lists.values().map(|list| list.objects.bytes.len()).sum();
        writeln!(io::stdout(), "http://{} {bytes}", listener.local_addr()?)?;
        let server = Arc::new(self);
        for stream in listener.incoming() {
            let (server, stream) = (Arc::clone(&server), stream?);
            // A client that goes away is no fault.
            thread::spawn(move || drop(server.serve(stream)));
        }
        Ok(())
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
            let mut takes_protobuf = false;
            while !line.trim_end().is_empty() {
                line.clear();
                reader.read_line(&mut line)?;
                let header = line.to_ascii_lowercase();
                takes_protobuf |= header.starts_with("accept:") && header.contains("protobuf");
            }
            self.answer(&target, takes_protobuf, &mut stream)?;
        }
    }

    fn answer(&self, target: &str, takes_protobuf: bool, stream: &mut TcpStream) -> io::Result<()> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if let Some(list) = self.lists.get(path) {
            if self.format == Format::Protobuf && !takes_protobuf {
                return send(stream, 406, "text/plain", &[b"this server was told to serve protobuf"], None);
            }
            let page = Page::of(list, query);
            let (content_type, head, tail) = match self.format {
                Format::Json => ("application/json", page.json_head(), &b"]}\n"[..]),
                Format::Protobuf => ("application/vnd.kubernetes.protobuf", page.protobuf_head(), &[][..]),
            };
            let objects = page.objects.strip_suffix(b",").unwrap_or(page.objects);
            let objects = if self.format == Format::Json { objects } else { page.objects };
            return send(stream, 200, content_type, &[&head, objects, tail], self.rate);
        }
        let (code, body) = match path {
            "/version" => (200, json!({"major": "1", "minor": "36", "gitVersion": "v1.36.3"})),
            // What kubectl asks before it lists pods.
            "/api" => (200, json!({"kind": "APIVersions", "versions": ["v1"]})),
            "/api/v1" => {
                let pods = json!({"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod", "verbs": ["get", "list"]});
                (200, json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [pods]}))
            }
            "/apis" => (200, json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": []})),
            _ => (
                404,
                json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}),
            ),
        };
        send(stream, code, "application/json", &[body.to_string().as_bytes()], None)
    }
}

/// The objects of a list name no kind.
fn without_kind(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, _| name != "apiVersion" && name != "kind");
    }
    object
}

/// A page of a list. Its token is the number of the first object of the next one.
struct Page<'a> {
    list: &'a List,
    objects: &'a [u8],
    next: usize,
    remaining: usize,
}

impl<'a> Page<'a> {
    fn of(list: &'a List, query: &str) -> Self {
        let asked =
            |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('=')?.parse().ok());
        let all = list.objects.starts.len();
        let from: usize = asked("continue").unwrap_or(0).min(all);
        let limit = asked("limit").filter(|limit| *limit > 0).unwrap_or(all);
        let next = from.saturating_add(limit).min(all);
        Self { list, objects: list.objects.slice(from, next), next, remaining: all - next }
    }

    fn token(&self) -> String {
        if self.remaining > 0 { self.next.to_string() } else { String::new() }
    }

    fn json_head(&self) -> Vec<u8> {
        let more = match self.remaining {
            0 => String::new(),
            more => format!(r#","continue":"{}","remainingItemCount":{more}"#, self.token()),
        };
        let List { kind, api_version, .. } = self.list;
        format!(
            r#"{{"kind":"{kind}List","apiVersion":"{api_version}","metadata":{{"resourceVersion":"1"{more}}},"items":["#
        )
        .into_bytes()
    }

    /// The envelope (`runtime.Unknown`), and of the list in it all but the objects.
    fn protobuf_head(&self) -> Vec<u8> {
        let (mut metadata, mut list, mut type_meta) = (Vec::new(), Vec::new(), Vec::new());
        protobuf::bytes(2, b"1", &mut metadata);
        protobuf::bytes(3, self.token().as_bytes(), &mut metadata);
        protobuf::bytes(1, &metadata, &mut list);
        protobuf::bytes(1, self.list.api_version.as_bytes(), &mut type_meta);
        protobuf::bytes(2, format!("{}List", self.list.kind).as_bytes(), &mut type_meta);
        let mut head = b"k8s\0".to_vec();
        protobuf::bytes(1, &type_meta, &mut head);
        protobuf::length(2, list.len() + self.objects.len(), &mut head);
        head.extend(list);
        head
    }
}

fn send(stream: &mut TcpStream, code: u16, content_type: &str, body: &[&[u8]], rate: Option<f64>) -> io::Result<()> {
    let started = Instant::now();
    let length: usize = body.iter().map(|part| part.len()).sum();
    let head = format!("HTTP/1.1 {code} X\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n");
    let Some(rate) = rate else {
        let mut parts: Vec<_> = [head.as_bytes()].iter().chain(body).map(|part| IoSlice::new(part)).collect();
        let mut parts = &mut parts[..];
        while !parts.is_empty() {
            let sent = stream.write_vectored(parts)?;
            IoSlice::advance_slices(&mut parts, sent);
        }
        return Ok(());
    };
    stream.write_all(head.as_bytes())?;
    let mut sent = 0;
    for chunk in body.iter().flat_map(|part| part.chunks(CHUNK)) {
        sent += chunk.len();
        // The time it takes to make the chunk passes before it is sent.
        let due = Duration::from_secs_f64(sent as f64 / rate);
        thread::sleep(due.saturating_sub(started.elapsed()));
        stream.write_all(chunk)?;
    }
    Ok(())
}
