//! Child processes that never outlive this program.
//!
//! Three nets: `Drop` kills a child when its owner goes, a signal handler kills all of them on ctrl-C, and
//! `setpriv --pdeathsig` (where util-linux is installed) makes the kernel kill them should this program be killed.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{LazyLock, Mutex};

use anyhow::{Context, Result};

/// What must go when the program is interrupted.
#[derive(Default)]
struct Leftovers {
    processes: BTreeSet<u32>,
    folders: BTreeSet<PathBuf>,
}

static LEFTOVERS: LazyLock<Mutex<Leftovers>> = LazyLock::new(Mutex::default);

fn leftovers() -> std::sync::MutexGuard<'static, Leftovers> {
    LEFTOVERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// From now on ctrl-C (and SIGTERM, SIGHUP) ends every child and removes every temporary folder before the program ends.
pub fn clean_up_on_signals() -> Result<()> {
    ctrlc::set_handler(|| {
        let left = leftovers();
        for pid in &left.processes {
            // The handler holds no `Child`; kill(1) reaches the process and its group without unsafe code.
            let _ = Command::new("kill").args(["-KILL", "--", &format!("-{pid}")]).status();
        }
        for folder in &left.folders {
            let _ = std::fs::remove_dir_all(folder);
        }
        std::process::exit(130);
    })
    .context("set the signal handler")
}

/// A temporary folder that goes with its owner, and on ctrl-C.
#[derive(Debug)]
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// A new folder, whose name says what it is for.
    pub fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("controlplane-").tempdir().context("make a temporary folder")?;
        leftovers().folders.insert(folder.path().to_owned());
        Ok(Self(folder))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        leftovers().folders.remove(self.0.path());
    }
}

/// A running component, killed when dropped. Its output goes to a log file.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `program` with `args`, with its output in `<logs>/<name>.log`.
    ///
    /// Call it from a thread that lives as long as the process: the kernel's parent-death signal is that of the thread.
    pub fn start(name: &str, program: &Path, args: &[String], logs: &Path) -> Result<Self> {
        Self::start_with(name, program, args, &[], logs)
    }

    /// The same, with environment variables.
    pub fn start_with(
        name: &str,
        program: &Path,
        args: &[String],
        environment: &[(&str, &Path)],
        logs: &Path,
    ) -> Result<Self> {
        let log = logs.join(format!("{name}.log"));
        let out = File::options().create(true).append(true).open(&log).context("open a log file")?;
        let err = out.try_clone().context("open a log file")?;
        let mut command = guarded(program);
        command
            .args(args)
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .process_group(0);
        let child = command.spawn().with_context(|| format!("start {}", program.display()))?;
        leftovers().processes.insert(child.id());
        Ok(Self { name: name.to_owned(), child, log })
    }

    /// How it ended, when it has.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().with_context(|| format!("ask after {}", self.name))
    }

    /// All that it has printed so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Its name and the last lines of its log, for an error message.
    pub fn last_words(&self) -> String {
        let text = self.log();
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines.len().saturating_sub(12);
        format!("{}:\n{}", self.name, lines.get(tail..).unwrap_or_default().join("\n"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its group: a shell has children of its own.
        let group = format!("-{}", self.child.id());
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        leftovers().processes.remove(&self.child.id());
    }
}

/// A command whose process the kernel kills when the thread that starts it ends.
fn guarded(program: &Path) -> Command {
    static SETPRIV: LazyLock<bool> = LazyLock::new(|| {
        Command::new("setpriv").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    });
    if *SETPRIV {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}
