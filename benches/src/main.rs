//! Large clusters for measuring: `generate PODS [NODES]` writes one as `kubectl get -o json` would, and `parse FILE`
//! reads a file into generic JSON values, to compare with. See `benches/compare`.

mod cluster;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["generate", pods] => generate(pods, None),
        ["generate", pods, nodes] => generate(pods, Some(nodes)),
        ["parse", file] => parse(file),
        _ => Err(io::Error::other("usage: benches generate PODS [NODES] | parse FILE")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            let _ = writeln!(io::stderr(), "error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn generate(pods: &str, nodes: Option<&str>) -> io::Result<()> {
    let pods: usize = pods.parse().map_err(io::Error::other)?;
    let nodes = nodes.map_or(Ok(pods / 30), str::parse).map_err(io::Error::other)?;
    let mut out = BufWriter::new(io::stdout().lock());
    cluster::write(&mut out, pods, nodes.max(1))?;
    out.flush()
}

fn parse(file: &str) -> io::Result<()> {
    let text = std::fs::read(file)?;
    let value: serde_json::Value = serde_json::from_slice(&text)?;
    let items = value["items"].as_array().map_or(0, Vec::len);
    writeln!(io::stdout(), "{items} items")
}
