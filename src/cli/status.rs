//! Flags of `status`.

use super::WatchArgs;
use crate::snapshot::selector::LabelSelector;
use clap::Args;

/// Flags of `status`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  kubectl pdb status -A                       every budget of the cluster
  kubectl pdb status web -n shop              one: its sum, its pods, its cures
  kubectl pdb status web -n shop --wait=10m   returns when it lets a pod go
  kubectl pdb status -A --exit-code           2: never, unhealthy, broken
  kubectl pdb status -A -o html > page.html   a page to hand on
  kubectl pdb status -A --from cluster.json   from a file, not from a cluster

Exit status: 0 answered; 1 could not answer; with --exit-code also 2 (never, unhealthy or broken) and 3 (unknown).")]
pub struct StatusArgs {
    /// The budgets to look at; without any, all of the namespace
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Look at all namespaces
    #[arg(long, short = 'A')]
    pub all_namespaces: bool,
    /// Only budgets with these labels
    #[arg(long, short = 'l', value_name = "SELECTOR", value_parser = LabelSelector::parse)]
    pub selector: Option<LabelSelector>,
    /// A row for every budget, however many there are
    #[arg(long)]
    pub all: bool,
    /// End with 2 when some budget is never, unhealthy or broken, with 3 when some is unknown
    #[arg(long)]
    pub exit_code: bool,
    /// How often.
    #[command(flatten)]
    pub repeat: WatchArgs,
}
