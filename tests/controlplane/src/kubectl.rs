//! The real kubectl, against one control plane.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::plane::Plane;
use crate::process::Process;

/// A line that takes longer than this is ended.
const PATIENCE: Duration = Duration::from_secs(120);

/// kubectl with its kubeconfig. Cheap to clone.
#[derive(Clone)]
pub struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
    folder: PathBuf,
}

/// What a command printed, and how it ended.
#[derive(Debug, Clone)]
pub struct Said {
    /// The command.
    pub line: String,
    /// The exit status; none where it was ended because it took too long.
    pub exit: Option<i32>,
    /// Standard output and standard error.
    pub output: String,
}

impl Said {
    /// As it is written into a case.
    pub fn to_json(&self) -> Value {
        json!({"line": self.line, "exit": self.exit, "output": self.output})
    }
}

impl Kubectl {
    /// The one of this control plane.
    pub fn of(plane: &Plane) -> Self {
        Self { program: plane.components.kubectl(), kubeconfig: plane.kubeconfig(), folder: plane.folder().to_owned() }
    }

    /// Runs it to its end and gives all that it said.
    pub fn run(&self, args: &[String]) -> Result<String> {
        let mut command = Command::new(&self.program);
        let output = self.at_home(&mut command).args(args).stdin(Stdio::null()).output().context("run kubectl")?;
        Ok(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
    }

    /// Runs a line as a person would paste it into a shell.
    pub fn shell(&self, name: &str, line: &str) -> Result<Said> {
        let mut running = self.start(name, line)?;
        let start = Instant::now();
        loop {
            if let Some(exit) = running.exit()? {
                return Ok(running.said(Some(exit)));
            }
            if start.elapsed() > PATIENCE {
                return Ok(running.said(None));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Starts a line as a person would paste it into a shell. The name must be new: its output is kept under it.
    pub fn start(&self, name: &str, line: &str) -> Result<Running> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = self.program.parent().map(Path::to_owned).into_iter();
        let path = std::env::join_paths(own.chain(std::env::split_paths(&path))).context("a PATH")?;
        // `exec` would do for one command; a line may hold several.
        let args = ["-c".to_owned(), line.to_owned()];
        let environment =
            [("PATH", Path::new(&path)), ("KUBECONFIG", &self.kubeconfig), ("KUBECACHEDIR", &self.folder)];
        let process = Process::start_with(name, Path::new("sh"), &args, &environment, &self.folder)?;
        Ok(Running { line: line.to_owned(), process })
    }

    fn at_home<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("KUBECONFIG", &self.kubeconfig).env("KUBECACHEDIR", &self.folder)
    }
}

/// A line that runs. It is ended when dropped.
pub struct Running {
    line: String,
    process: Process,
}

impl Running {
    /// The exit status, once it has ended.
    pub fn exit(&mut self) -> Result<Option<i32>> {
        Ok(self.process.ended()?.map(|status| status.code().unwrap_or(-1)))
    }

    /// What it has printed so far.
    pub fn output(&self) -> String {
        self.process.log()
    }

    /// Ends it where it has not ended, and gives what it said.
    pub fn said(self, exit: Option<i32>) -> Said {
        Said { line: self.line.clone(), exit, output: self.output() }
    }
}
