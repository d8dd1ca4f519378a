//! `completion SHELL`: prints the script that makes a shell complete the program.

use crate::cli::Answer;
use crate::complete::{Shell, script};
use crate::error::Result;
use crate::plugin::Plugin;
use clap::Args;

/// Flags of `completion`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  kubectl pdb completion kubectl > ~/bin/kubectl_complete-pdb
  chmod +x ~/bin/kubectl_complete-pdb      for kubectl pdb st<TAB>: ~/bin is on
                                           $PATH, and kubectl itself completes
  source <(kubectl pdb completion bash)    for kubectl-pdb st<TAB> in this shell

Exit status: 0 printed; 1 there is no such shell.")]
pub struct CompletionArgs {
    /// What the script is for
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs the command.
pub fn run(args: &CompletionArgs) -> Result<Answer> {
    Ok(Answer::new(script(args.shell, Plugin::Pdb)))
}
