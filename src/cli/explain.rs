//! Flags of `explain`.

use clap::Args;

/// Flags of `explain`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  kubectl pdb explain zero-by-rule     what it means, an example, the cure
  kubectl pdb explain                  all codes
  kubectl pdb explain -o json          the same for a program

Exit status: 0 answered; 1 there is no such code.")]
pub struct ExplainArgs {
    /// The codes, such as zero-by-rule; without any, all of them
    #[arg(value_name = "CODE")]
    pub codes: Vec<String>,
}
