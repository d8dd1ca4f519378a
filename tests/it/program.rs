//! The executable in a cleared environment.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A file or folder below `tests/`.
pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
}

/// The executable with nothing of this machine's environment: no kubeconfig, no terminal, no colours, a fixed width.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-pdb"));
    command.env_clear().env("HOME", "/nonexistent").env("KUBECTL_PDB_WIDTH", "100").stdin(Stdio::null());
    command
}

/// What a run printed, and how it ended.
#[must_use]
pub struct Ran {
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    /// The exit status.
    pub status: i32,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            status: output.status.code().unwrap_or(-1),
        }
    }
}

impl Ran {
    /// Standard output as JSON; null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_default()
    }
}

/// Runs the executable with these arguments.
pub fn run<I: IntoIterator<Item = S>, S: AsRef<std::ffi::OsStr>>(args: I) -> Ran {
    program().args(args).output().expect("the executable runs").into()
}

/// Runs the executable with these arguments, and with this on its standard input. One that refuses its arguments ends
/// without reading it.
pub fn run_on(input: &str, args: &[&str]) -> Ran {
    let mut command = program();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the executable runs");
    match child.stdin.take().expect("a pipe").write_all(input.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => panic!("{error}"),
        _ => {}
    }
    child.wait_with_output().expect("it ends").into()
}

/// Does `work` for every item, on all cores, and collects what it returns.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            while let Some(item) = items.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                done.push(work(item));
            }
            done
        };
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        threads.into_iter().flat_map(|t| t.join().expect("a worker ends")).collect()
    })
}

/// Folders below `root` that hold a file of this name, sorted.
pub fn folders_with(root: &Path, file: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                todo.push(path);
            } else if path.file_name().is_some_and(|n| n == file) {
                found.push(dir.clone());
            }
        }
    }
    found.sort();
    found
}

/// The recorded cases of the commands that answer about a cluster: what each is asked with, and the file of its cluster.
pub fn recorded_cases() -> Vec<(Vec<String>, String)> {
    let mut cases = Vec::new();
    for command in ["status", "drain-plan", "why-pending"] {
        for dir in folders_with(&here("cases").join(command), "case.json") {
            let case = read_json(&dir.join("case.json"));
            let args = case["args"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
            cases.push((args.collect(), dir.join("cluster.json").display().to_string()));
        }
    }
    assert!(!cases.is_empty());
    cases
}

/// Reads a JSON file.
pub fn read_json(path: &Path) -> Value {
    let text = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
