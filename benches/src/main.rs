//! What measuring needs. `benches/compare` and `benches/instructions` call it.

mod bare;
mod cluster;
mod protobuf;
mod server;

use server::{Format, Server};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

const USAGE: &str = "usage:
  benches generate PODS NODES                    a cluster as `kubectl get -o json` writes it
  benches parse FILE                             reads a file into generic JSON values, to compare with
  benches serve PODS NODES json|protobuf [MB/S]  a server of the cluster's lists; says its address and how many bytes it holds
  benches read URL json|protobuf LIMIT AT_ONCE PATH...   the bare client: reads lists and throws them away";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(io::stderr(), "error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> io::Result<()> {
    match *words {
        ["generate", pods, nodes] => {
            let mut out = BufWriter::new(io::stdout().lock());
            cluster::write(&mut out, number(pods)?, number(nodes)?.max(1))?;
            out.flush()
        }
        ["parse", file] => parse(file),
        ["serve", pods, nodes, format] => {
            Server::new(number(pods)?, number(nodes)?.max(1), parsed(format)?, None)?.run()
        }
        ["serve", pods, nodes, format, rate] => {
            let rate: f64 = rate.parse().map_err(io::Error::other)?;
            Server::new(number(pods)?, number(nodes)?.max(1), parsed(format)?, Some(rate * 1e6))?.run()
        }
        ["read", url, format, limit, at_once, ref paths @ ..] => {
            let accept = match parsed(format)? {
                Format::Json => "application/json",
                Format::Protobuf => "application/vnd.kubernetes.protobuf",
            };
            let bytes = bare::read(url, accept, limit, number(at_once)?, paths)?;
            writeln!(io::stdout(), "{bytes} bytes")
        }
        _ => Err(io::Error::other(USAGE)),
    }
}

fn number(text: &str) -> io::Result<usize> {
    text.parse().map_err(io::Error::other)
}

fn parsed(format: &str) -> io::Result<Format> {
    match format {
        "json" => Ok(Format::Json),
        "protobuf" => Ok(Format::Protobuf),
        _ => Err(io::Error::other(USAGE)),
    }
}

fn parse(file: &str) -> io::Result<()> {
    let text = std::fs::read(file)?;
    let value: serde_json::Value = serde_json::from_slice(&text)?;
    let items = value["items"].as_array().map_or(0, Vec::len);
    writeln!(io::stdout(), "{items} items")
}
