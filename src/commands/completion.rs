//! `completion SHELL`: prints the script that makes a shell complete the program.

use crate::answer::Answer;
use crate::cli::CompletionArgs;
use crate::complete::script;
use crate::error::Result;
use crate::plugin::Plugin;

/// Runs the command.
pub fn run(args: &CompletionArgs) -> Result<Answer> {
    Ok(Answer::new(script(args.shell, Plugin::Pdb)))
}
