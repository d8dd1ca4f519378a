//! `explain CODE`: what a finding code means, from the table that the JSON uses.

use crate::cli::Answer;
use crate::error::{Failure, Result};
use crate::finding::{Code, Severity};
use clap::Args;

/// Flags of `explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// The code, such as zero-by-rule; without it, all of them
    pub code: Option<String>,
}

/// Runs the command.
pub fn run(args: &ExplainArgs) -> Result<Answer> {
    let line = |c: Code| {
        let severity = match c.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        };
        format!("{c} ({severity})\n  {}\n", c.explanation())
    };
    match &args.code {
        None => Ok(Answer::new(Code::ALL.iter().copied().map(line).collect())),
        Some(word) => {
            match Code::parse(word) {
                Some(code) => Ok(Answer::new(line(code))),
                None => Err(Failure::usage(format!("there is no finding code {word:?}"))
                    .hint("kubectl pdb explain lists them all")),
            }
        }
    }
}
