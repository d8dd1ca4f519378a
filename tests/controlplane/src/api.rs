//! Plain blocking requests to the API server; objects are `serde_json::Value`, as the harness must be able to say
//! everything that the API can.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// A refusal: the API server's Status.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The HTTP status.
    pub code: u16,
    /// The body, a `Status` object (or its text where it was not JSON).
    pub status: Value,
    request: String,
}

impl Refusal {
    /// The Status' message.
    pub fn message(&self) -> &str {
        self.status["message"].as_str().unwrap_or_default()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.request, self.code, self.message())
    }
}

impl std::error::Error for Refusal {}

/// A response as it comes.
pub struct Raw {
    /// The HTTP status.
    pub code: u16,
    /// The `Content-Type`.
    pub content_type: String,
    /// The body.
    pub body: Vec<u8>,
}

/// One change that a watch tells of.
pub struct Event {
    /// Whether the object is gone.
    pub deleted: bool,
    /// The object, as it is now or as it was last.
    pub object: Value,
}

/// The refusal behind an error, if it is one with this code.
pub fn refused(error: &anyhow::Error, code: u16) -> bool {
    error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code == code)
}

/// A client of one API server with one token. Cheap to clone.
#[derive(Clone)]
pub struct Api {
    agent: Agent,
    base: String,
    token: String,
}

impl Api {
    /// A client of the server at `base` (`https://127.0.0.1:6443`) whose certificate `ca` has signed.
    pub fn new(base: &str, ca: &Path, token: &str) -> Result<Self> {
        let pem = std::fs::read(ca).context("read the authority")?;
        let root = Certificate::from_pem(&pem).context("understand the authority")?;
        let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[root])).build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .proxy(None)
            .build();
        Ok(Self { agent: config.into(), base: base.to_owned(), token: token.to_owned() })
    }

    /// GET.
    pub fn get(&self, path: &str) -> Result<Value> {
        let response =
            self.agent.get(self.url(path)).header("Authorization", self.bearer()).header("Accept", JSON).call();
        answer("GET", path, response)
    }

    /// GET that answers `None` for 404.
    pub fn find(&self, path: &str) -> Result<Option<Value>> {
        match self.get(path) {
            Ok(object) => Ok(Some(object)),
            Err(error) if refused(&error, 404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// GET, as it comes.
    pub fn get_raw(&self, path: &str, accept: &str) -> Result<Raw> {
        let request = self.agent.get(self.url(path)).header("Authorization", self.bearer()).header("Accept", accept);
        let mut response = request.call().with_context(|| format!("GET {path}"))?;
        let content_type =
            response.headers().get("Content-Type").and_then(|v| v.to_str().ok()).unwrap_or(JSON).to_owned();
        let code = response.status().as_u16();
        let body = response.body_mut().with_config().limit(LARGEST_BODY).read_to_vec().context("read a body")?;
        Ok(Raw { code, content_type, body })
    }

    /// POST.
    pub fn create(&self, path: &str, object: &Value) -> Result<Value> {
        let request = self.agent.post(self.url(path)).header("Authorization", self.bearer()).header("Accept", JSON);
        answer("POST", path, request.content_type(JSON).send(object.to_string()))
    }

    /// PUT.
    pub fn replace(&self, path: &str, object: &Value) -> Result<Value> {
        let request = self.agent.put(self.url(path)).header("Authorization", self.bearer()).header("Accept", JSON);
        answer("PUT", path, request.content_type(JSON).send(object.to_string()))
    }

    /// PATCH, as a JSON merge patch.
    pub fn merge(&self, path: &str, patch: &Value) -> Result<Value> {
        let request = self.agent.patch(self.url(path)).header("Authorization", self.bearer()).header("Accept", JSON);
        answer("PATCH", path, request.content_type("application/merge-patch+json").send(patch.to_string()))
    }

    /// DELETE, with a grace period in seconds. An object that is gone already is no error.
    pub fn delete(&self, path: &str, grace_seconds: i64) -> Result<()> {
        self.delete_with(path, &json!({"gracePeriodSeconds": grace_seconds, "propagationPolicy": "Background"}))
    }

    /// DELETE of an object or a collection, with these DeleteOptions. What is gone already is no error.
    pub fn delete_with(&self, path: &str, options: &Value) -> Result<()> {
        let mut options = options.clone();
        options["apiVersion"] = json!("v1");
        options["kind"] = json!("DeleteOptions");
        let request = self.agent.delete(self.url(path)).header("Authorization", self.bearer()).header("Accept", JSON);
        match answer("DELETE", path, request.force_send_body().content_type(JSON).send(options.to_string())) {
            Err(error) if !refused(&error, 404) => Err(error),
            _ => Ok(()),
        }
    }

    /// Watches a collection from a resource version on; every change comes out of the receiver. The watch ends when the
    /// receiver is dropped and something changes, or the server ends it.
    pub fn watch(&self, path: &str, resource_version: &str) -> Result<Receiver<Event>> {
        let watch = format!("{path}?watch=1&resourceVersion={resource_version}");
        let request = self.agent.get(self.url(&watch)).header("Authorization", self.bearer()).header("Accept", JSON);
        let request = request.config().timeout_global(None).timeout_recv_body(None).build();
        let response = request.call().with_context(|| format!("GET {watch}"))?;
        let lines = BufReader::new(response.into_body().into_reader()).lines();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(std::result::Result::ok) {
                let Ok(mut event) = serde_json::from_str::<Value>(&line) else { return };
                let deleted = event["type"] == "DELETED";
                if event["type"] == "ERROR" || sender.send(Event { deleted, object: event["object"].take() }).is_err() {
                    return;
                }
            }
        });
        Ok(receiver)
    }

    /// A client of the same server for another token.
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

const JSON: &str = "application/json";

/// A list may be large: a thousand pods are some ten megabytes.
const LARGEST_BODY: u64 = 512 << 20;

fn answer(verb: &str, path: &str, response: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Value> {
    let mut response = response.with_context(|| format!("{verb} {path}"))?;
    let code = response.status().as_u16();
    let body = response.body_mut().with_config().limit(LARGEST_BODY).read_to_string();
    let body = body.with_context(|| format!("{verb} {path}"))?;
    let value = serde_json::from_str(&body).unwrap_or_else(|_| json!({"message": body}));
    if (200..300).contains(&code) {
        return Ok(value);
    }
    Err(Refusal { code, status: value, request: format!("{verb} {path}") }.into())
}
