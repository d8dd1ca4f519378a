//! The product under test, asked from outside: its executable, a snapshot file, its JSON.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The executable.
#[derive(Debug, Clone)]
pub struct Product(PathBuf);

/// What it answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The document; null when it printed none.
    pub document: Value,
    /// The exit status; -1 when it was killed.
    pub exit: i32,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Product {
    /// The executable at `path`, else the one that cargo built beside this program.
    pub fn find(path: Option<PathBuf>) -> Result<Self> {
        let beside = || -> Option<PathBuf> { Some(std::env::current_exe().ok()?.parent()?.join("kubectl-pdb")) };
        let path = path.or_else(beside).context("where is the product?")?;
        if !path.exists() {
            bail!("{} is not there: run `cargo build` first, or name it with --product", path.display());
        }
        Ok(Self(path))
    }

    /// Asks a question about a snapshot file.
    pub fn ask(&self, args: &[&str], file: &Path) -> Result<Answer> {
        let mut all = args.to_vec();
        let file = file.to_string_lossy();
        all.extend(["-o", "json", "--from", &file]);
        self.run(&all, &[("KUBECONFIG", "/dev/null")])
    }

    /// Runs it as given.
    pub fn run(&self, args: &[&str], environment: &[(&str, &str)]) -> Result<Answer> {
        let mut command = Command::new(&self.0);
        command.args(args).envs(environment.iter().copied()).stdin(Stdio::null());
        let output = command.output().with_context(|| format!("run {}", self.0.display()))?;
        Ok(Answer {
            document: serde_json::from_slice(&output.stdout).unwrap_or(Value::Null),
            exit: output.status.code().unwrap_or(-1),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}
