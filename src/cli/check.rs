//! Flags of `check`.

use crate::finding::Severity;
use crate::finding::ignore::Ignore;
use clap::{Args, ValueEnum, ValueHint};

/// Flags of `check`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  kubectl pdb check -f deploy/                  every manifest below a folder
  helm template . | kubectl pdb check -f -      what a chart makes
  kubectl pdb check -f deploy/ -o github        annotations on a pull request
  kubectl pdb check -f deploy/ -o sarif > pdb.sarif
  kubectl pdb check -f deploy/ --ignore quorum:shop/db
  kubectl pdb check -f deploy/ --from cluster.json  what they change there
  kubectl pdb check -f deploy/ --cluster            what they change, live

On an object itself the annotation kubectl-pdb/ignore names codes that are\nleft out, and why: \"zero-by-rule,quorum a singleton by design\", or \"*\".

Exit status: 0 nothing at or above --fail-on; 2 findings at or above it; 1 could not answer; 3 none of these, and \
something was not judged (a template that was not rendered).")]
pub struct CheckArgs {
    /// A manifest file, a folder with all below it, or - (standard input); can be repeated [default: what --from reads]
    #[arg(long = "filename", short = 'f', value_name = "FILE|DIR|-", value_hint = ValueHint::AnyPath)]
    pub files: Vec<String>,
    /// Say what the manifests change in a cluster: that of the present context, or of this kubeconfig cluster
    #[cfg(feature = "live")]
    #[arg(long, num_args = 0..=1, default_missing_value = "", value_name = "NAME")]
    pub cluster: Option<String>,
    /// Tell only findings of this severity or a worse one
    #[arg(long, value_enum, default_value_t = Level::Info, value_name = "SEVERITY")]
    pub severity: Level,
    /// End with 2 when there is a finding of this severity or a worse one
    #[arg(long, value_enum, default_value_t = Level::Error, value_name = "SEVERITY")]
    pub fail_on: Level,
    /// Leave out findings of a code, of all objects or of one; can be repeated
    #[arg(long, value_name = "CODE[:NAMESPACE/NAME]", value_parser = Ignore::parse)]
    pub ignore: Vec<Ignore>,
    /// A file with one CODE[:NAMESPACE/NAME] a line to ignore; can be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ignore_file: Vec<String>,
    /// Tell workloads of several replicas that no budget covers
    #[arg(long)]
    pub require_budgets: bool,
}

/// A severity, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Something is blocked or broken
    Error,
    /// Something will or might fail
    Warning,
    /// Good to know
    Info,
}

impl Level {
    /// Whether a finding of this severity is as bad or worse.
    pub fn takes(self, severity: Severity) -> bool {
        let level = match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Info => Severity::Info,
        };
        // The worst comes first.
        severity <= level
    }
}
