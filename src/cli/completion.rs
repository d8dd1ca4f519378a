//! Flags of `completion`.

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
    pub shell: Shell,
}

/// Whom a completion script is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// bash
    Bash,
    /// fish
    Fish,
    /// PowerShell
    Powershell,
    /// zsh
    Zsh,
    /// kubectl's own completion of plugins: to be saved as kubectl_complete-pdb in a folder of $PATH
    Kubectl,
}
