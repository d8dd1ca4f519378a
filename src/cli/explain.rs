//! Flags of `explain`.

use clap::Args;

/// Flags of `explain`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  kubectl pdb explain zero-by-rule     what it means, an example, the fix
  kubectl pdb explain unhealthy        a verdict or a stage, the next step
  kubectl pdb explain                  all of them
  kubectl pdb explain -o json          the same for a program

Exit status: 0 answered; 1 there is no such word.")]
pub struct ExplainArgs {
    /// The codes, verdicts or stages, such as zero-by-rule; without any, all of them
    #[arg(value_name = "CODE|VERDICT|STAGE")]
    pub codes: Vec<String>,
}
