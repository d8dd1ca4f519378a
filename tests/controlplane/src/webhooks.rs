//! Real admission webhooks: the API server reaches the pods behind a webhook's Service through this program, which
//! answers in their place.
//!
//! The API server is told to open its connections to the cluster's network through an HTTP CONNECT proxy on a socket.
//! That proxy asks the [`Mirror`] whether a pod has the address that is wanted, and if so is that pod: it speaks TLS with
//! a certificate for whatever Service is asked for, and answers an AdmissionReview as the path says.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, ServerConnection, Stream};
use serde_json::{Value, json};

use crate::certs::Authority;
use crate::mirror::Mirror;

/// A webhook at this path lets everything pass.
pub const ALLOW: &str = "/allow";
/// A webhook at this path refuses everything.
pub const DENY: &str = "/deny";

/// Writes the API server's configuration for connections to the cluster's network, and says where.
pub fn egress(folder: &Path) -> Result<PathBuf> {
    let config = folder.join("egress.yaml");
    let text = format!(
        "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n\
         - {{name: cluster, connection: {{proxyProtocol: HTTPConnect, transport: {{uds: {{udsName: {}}}}}}}}}\n",
        socket(folder).display()
    );
    std::fs::write(&config, text).context("write the egress configuration")?;
    Ok(config)
}

fn socket(folder: &Path) -> PathBuf {
    folder.join("egress.sock")
}

/// Starts answering. It ends with the program; its threads hold nothing that matters.
pub fn serve(folder: &Path, authority: Arc<Authority>, mirror: Mirror) -> Result<()> {
    let listener = UnixListener::bind(socket(folder)).context("listen on a socket")?;
    let certificates = Arc::new(Certificates { authority, made: Mutex::default() });
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .context("set up TLS")?
        .with_no_client_auth()
        .with_cert_resolver(certificates);
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (config, mirror) = (Arc::clone(&config), mirror.clone());
            std::thread::spawn(move || {
                // A caller that goes away is no matter.
                let _ = connection(stream, config, &mirror);
            });
        }
    });
    Ok(())
}

/// A certificate for each name that is asked for, made at the first time.
struct Certificates {
    authority: Arc<Authority>,
    made: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl std::fmt::Debug for Certificates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Certificates")
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name()?.to_owned();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = made.get(&name) {
            return Some(Arc::clone(key));
        }
        let (cert, key) = self.authority.serving(&[&name]).ok()?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let key = ring::sign::any_supported_type(&key).ok()?;
        let key = Arc::new(CertifiedKey::new(vec![cert.der().clone()], key));
        made.insert(name, Arc::clone(&key));
        Some(key)
    }
}

fn connection(mut stream: UnixStream, config: Arc<ServerConfig>, mirror: &Mirror) -> Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(30))).context("set a timeout")?;
    let wanted = head(&mut BufReader::with_capacity(1, &stream))?.0;
    let address = wanted.split_whitespace().nth(1).and_then(|host| host.rsplit_once(':')).map_or("", |(ip, _)| ip);
    if !mirror.pods().iter().any(|pod| answers(pod, address)) {
        return stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n").context("answer");
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").context("answer")?;
    let mut tls = ServerConnection::new(config).context("speak TLS")?;
    let mut stream = Stream::new(&mut tls, &mut stream);
    let (first, length) = head(&mut BufReader::with_capacity(1, &mut stream))?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).context("read a review")?;
    let review: Value = serde_json::from_slice(&body).context("understand a review")?;
    let allowed = first.split_whitespace().nth(1).is_some_and(|path| path.starts_with(ALLOW));
    let answer = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response":
        {"uid": review["request"]["uid"], "allowed": allowed, "status": {"message": "the webhook refuses everything"}}})
    .to_string();
    let mut text = String::from("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n");
    let _ = write!(text, "Content-Length: {}\r\n\r\n{answer}", answer.len());
    stream.write_all(text.as_bytes()).context("answer")?;
    stream.conn.send_close_notify();
    stream.flush().context("answer")
}

/// Whether the pod has this address, and its container runs.
fn answers(pod: &Value, address: &str) -> bool {
    pod["status"]["podIP"] == address && pod["status"]["phase"] == "Running"
}

/// The first line of a request, and the length of its body. Reads no further, byte by byte.
fn head(from: &mut impl BufRead) -> Result<(String, usize)> {
    let (mut first, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).context("read a request")? == 0 {
            bail!("a request ends early");
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Ok((first.unwrap_or_default(), length));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().context("a length")?;
        }
        first.get_or_insert_with(|| line.to_owned());
    }
}
