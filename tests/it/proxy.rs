//! The way through a proxy.

use std::io::{BufRead, BufReader, Write, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use kubectl_pdb::cluster::{Cluster, ConnectOptions, Silent};
use kubectl_pdb::error::Failure;

use crate::fake_api::FakeApi;

/// A proxy that tunnels, or answers every request with `refusal`. Gives its address and what it was asked.
fn proxy(refusal: Option<&'static str>) -> (String, Receiver<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (heads, asked) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let heads = heads.clone();
            thread::spawn(move || drop(tunnel(stream, refusal, &heads)));
        }
    });
    (address, asked)
}

fn tunnel(mut client: TcpStream, refusal: Option<&str>, heads: &Sender<Vec<String>>) -> std::io::Result<()> {
    let head = read_head(&mut BufReader::new(client.try_clone()?));
    let target = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
    drop(heads.send(head));
    if let Some(refusal) = refusal {
        return client.write_all(format!("HTTP/1.1 {refusal}\r\nContent-Length: 0\r\n\r\n").as_bytes());
    }
    let mut server = TcpStream::connect(target)?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    let (mut to_server, mut to_client) = (server.try_clone()?, client.try_clone()?);
    let back = thread::spawn(move || {
        drop(copy(&mut server, &mut to_client));
        to_client.shutdown(Shutdown::Both)
    });
    drop(copy(&mut client, &mut to_server));
    to_server.shutdown(Shutdown::Both)?;
    drop(back.join());
    Ok(())
}

/// The lines up to the first empty one.
fn read_head(reader: &mut impl BufRead) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) && !line.trim_end().is_empty() {
        lines.push(line.trim_end().to_owned());
        line.clear();
    }
    lines
}

/// Asks for the version by way of a kubeconfig with this `proxy-url`.
fn version(name: &str, server: &str, proxy_url: &str) -> Result<Option<String>, Failure> {
    let file = std::env::temp_dir().join(format!("kubectl-pdb-{name}-{}.yaml", std::process::id()));
    let text = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: c}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{server}', proxy-url: '{proxy_url}'}}}}]\n"
    );
    std::fs::write(&file, text).unwrap();
    let options = ConnectOptions { kubeconfig: Some(file.clone()), ..ConnectOptions::default() };
    let cluster = Cluster::connect(&options, Silent);
    std::fs::remove_file(&file).unwrap();
    cluster?.version()
}

#[test]
fn requests_go_through_the_proxy_of_the_cluster() {
    let api = FakeApi::new().start();
    let (address, asked) = proxy(None);
    let url = format!("http://me:p%40ss@{address}");
    assert_eq!(version("proxy", &api.url, &url).unwrap().as_deref(), Some("v1.36.3"));
    let head = asked.recv().unwrap();
    assert_eq!(head[0], format!("CONNECT {} HTTP/1.1", api.url.trim_start_matches("http://")));
    // "me:p@ss" in base64.
    assert!(head.iter().any(|line| line.eq_ignore_ascii_case("proxy-authorization: Basic bWU6cEBzcw==")), "{head:?}");
}

#[test]
fn a_proxy_that_refuses_is_named_without_its_password() {
    let (address, _asked) = proxy(Some("407 Proxy Authentication Required"));
    let failure = version("refused", "http://10.1.2.3:6443", &format!("http://me:s3cr3t@{address}")).unwrap_err();
    let want = format!("cannot connect to the proxy at http://{address}: tunnel error: proxy authorization required");
    assert_eq!(failure.to_string(), want);
    assert!(failure.hint.unwrap().starts_with("the way to http://10.1.2.3:6443 leads through this proxy"));
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failure = version("gone", "http://10.1.2.3:6443", &format!("http://{gone}")).unwrap_err();
    assert_eq!(failure.to_string(), format!("nothing answers at http://{gone}: the connection is refused"));
}
