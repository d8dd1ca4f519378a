//! A server between the product and the API server that makes pages small and misbehaves on purpose.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};

use crate::api::{Api, Raw};

/// How it misbehaves, on lists of pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Not at all; pages are small nevertheless.
    None,
    /// Once, at the second page: 429, with `Retry-After: 1`.
    TooManyRequests,
    /// Once, at the second page: 503.
    Unavailable,
    /// Once, at the second page: 410, the list has expired.
    Expired,
    /// Once, at the second page: the connection is closed without an answer.
    Closed,
    /// Always, from the second page on: 503.
    Down,
    /// Not at all, but no protobuf is to be had.
    JsonAlone,
}

/// A running proxy, on a port of loopback. It ends with the program; its thread holds nothing that matters.
pub struct Proxy {
    /// Its address: `http://127.0.0.1:PORT`.
    pub server: String,
    shared: Arc<Shared>,
}

struct Shared {
    api: Api,
    fault: Fault,
    done: AtomicBool,
    pages: AtomicUsize,
    verbs: Mutex<Vec<String>>,
}

impl Proxy {
    /// Starts it before this API server.
    pub fn start(api: &Api, fault: Fault) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("listen on loopback")?;
        let server = format!("http://{}", listener.local_addr().context("listen on loopback")?);
        let shared = Arc::new(Shared {
            api: api.clone(),
            fault,
            done: AtomicBool::new(false),
            pages: AtomicUsize::new(0),
            verbs: Mutex::default(),
        });
        let all = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&all);
                std::thread::spawn(move || shared.serve(stream));
            }
        });
        Ok(Self { server, shared })
    }

    /// How many pages of pods it has handed on.
    pub fn pages(&self) -> usize {
        self.shared.pages.load(Ordering::Relaxed)
    }

    /// The methods of all requests.
    pub fn methods(&self) -> Vec<String> {
        self.shared.verbs.lock().map(|verbs| verbs.clone()).unwrap_or_default()
    }
}

impl Shared {
    /// Answers the requests of one connection until either side closes it.
    fn serve(&self, mut stream: TcpStream) {
        let Ok(reading) = stream.try_clone() else { return };
        let mut lines = BufReader::new(reading).lines();
        while let Some(Ok(first)) = lines.next() {
            let mut accept = "application/json".to_owned();
            for header in lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()) {
                if let Some((name, value)) = header.split_once(':')
                    && name.eq_ignore_ascii_case("accept")
                {
                    value.trim().clone_into(&mut accept);
                }
            }
            let mut words = first.split_whitespace();
            let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            if let Ok(mut verbs) = self.verbs.lock() {
                verbs.push(method.to_owned());
            }
            let Some(response) = self.respond(path, &accept) else { return };
            if stream.write_all(&response).is_err() {
                return;
            }
        }
    }

    /// The bytes of the response; `None` closes the connection.
    fn respond(&self, path: &str, accept: &str) -> Option<Vec<u8>> {
        let pods = path.starts_with("/api/v1/pods?");
        let later = path.contains("continue=");
        let now = pods && later && (self.fault == Fault::Down || !self.done.swap(true, Ordering::Relaxed));
        if now {
            match self.fault {
                Fault::None | Fault::JsonAlone => {}
                Fault::TooManyRequests => return Some(status(429, "TooManyRequests", "Retry-After: 1\r\n")),
                Fault::Unavailable | Fault::Down => return Some(status(503, "ServiceUnavailable", "")),
                Fault::Expired => return Some(status(410, "Expired", "")),
                Fault::Closed => return None,
            }
        }
        let json: Vec<&str> = accept.split(',').filter(|one| !one.contains("protobuf")).collect();
        let accept = if self.fault == Fault::JsonAlone { json.join(",") } else { accept.to_owned() };
        // Pages of 500 would need a cluster of thousands.
        let small = path.replace("limit=500", "limit=20");
        let Raw { code, content_type, body } = self.api.get_raw(&small, &accept).ok()?;
        if pods && code == 200 {
            self.pages.fetch_add(1, Ordering::Relaxed);
        }
        let mut response =
            format!("HTTP/1.1 {code} -\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n", body.len())
                .into_bytes();
        response.extend(body);
        Some(response)
    }
}

fn status(code: u16, reason: &str, header: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"on purpose","reason":"{reason}","code":{code}}}"#
    );
    format!(
        "HTTP/1.1 {code} -\r\nContent-Type: application/json\r\n{header}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
