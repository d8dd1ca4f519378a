//! Starts the executable in an environment of its own.

use std::process::{Command, Stdio};

/// What a run left behind.
#[derive(Debug)]
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    /// The exit status; -1 for a signal.
    pub status: i32,
}

/// Runs `kubectl-pdb` with these arguments and nothing of the machine's environment.
pub fn run(args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-pdb"))
        .args(args)
        .env_clear()
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code().unwrap_or(-1),
    }
}
