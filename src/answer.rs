//! What a command answers, and how that is written.

use crate::cli::Global;
use crate::error::Failure;
use crate::render::style::{Tone, paint, safe, safe_lines};
use crate::render::{Output, Screen};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// What a command prints, and how the program ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// For standard output, with colours; the writer takes them out where they do not belong.
    pub text: String,
    /// For standard error: warnings, one a line.
    pub warnings: Vec<String>,
    /// For standard error: what was looked at where nothing was found.
    pub nothing: Option<String>,
    /// The exit status.
    pub status: u8,
}

impl Answer {
    /// An answer that ends well.
    pub fn new(text: String) -> Self {
        Self { text, warnings: Vec::new(), nothing: None, status: 0 }
    }
}

impl Global {
    /// The output asked for.
    pub fn output(&self) -> Output {
        self.output.clone().unwrap_or_default()
    }

    /// How and how wide to write.
    pub fn screen(&self) -> Screen {
        let number = |name: &str| std::env::var(name).ok().and_then(|c| c.parse().ok());
        let terminal = || {
            let size = || terminal_size::terminal_size().map(|(w, _)| usize::from(w.0));
            if io::stdout().is_terminal() { number("COLUMNS").or_else(size) } else { None }
        };
        // What is piped is never cut, whatever COLUMNS says; the tests ask for a width of their own.
        let width = number("KUBECTL_PDB_WIDTH").or_else(terminal);
        Screen { format: self.output().format, width, no_headers: self.no_headers }
    }
}

/// Writes an answer and gives the program's exit status. A reader that has gone (`| head`) is no fault.
pub fn print(answer: &Answer) -> ExitCode {
    let mut err = anstream::stderr().lock();
    for warning in &answer.warnings {
        let _ = writeln!(err, "{} {}", paint("warning:", Tone::Waiting), safe(warning));
    }
    if let Some(nothing) = &answer.nothing {
        let _ = writeln!(err, "{}", safe(nothing));
    }
    let mut out = anstream::stdout().lock();
    match out.write_all(safe_lines(&answer.text).as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(err, "error: the answer cannot be written: {e}");
            ExitCode::from(1)
        }
        _ => ExitCode::from(answer.status),
    }
}

/// Says what went wrong and what to do, and gives the exit status.
pub fn print_failure(failure: &Failure) -> ExitCode {
    let mut err = anstream::stderr().lock();
    let _ = writeln!(err, "{} {}", paint("error:", Tone::Bad), safe_lines(&failure.to_string()));
    if let Some(hint) = &failure.hint {
        let _ = writeln!(err, "{} {}", paint("hint:", Tone::Strong), safe_lines(hint));
    }
    ExitCode::from(1)
}
