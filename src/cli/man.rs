//! Flags of `man`.

use clap::Args;
use std::path::PathBuf;

/// Flags of `man`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  kubectl pdb man | man -l -               the page of the program
  kubectl pdb man status | man -l -        that of a command
  kubectl pdb man --dir ~/.local/share/man/man1

Exit status: 0 written; 1 there is no such command, or the folder cannot be written to.")]
pub struct ManArgs {
    /// The command whose page is printed
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub command: Option<String>,
    /// Write all pages into this folder instead
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
