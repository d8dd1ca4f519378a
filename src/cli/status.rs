//! Flags of `status`.

use super::WatchArgs;
use crate::finding::ignore::Ignore;
use crate::finding::words;
use crate::snapshot::selector::LabelSelector;
use clap::Args;

/// Flags of `status`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  kubectl pdb status -A                       every budget of the cluster
  kubectl pdb status web -n shop              one: its sum, its pods, its fixes
  kubectl pdb status web -n shop --wait=10m   returns when it allows an eviction
  kubectl pdb status -A --exit-code           2: never, unhealthy, broken
  kubectl pdb status -A -o html > page.html   a page to hand on
  kubectl pdb status -A --from cluster.json   from a file, not from a cluster

Exit status: 0 answered; 1 could not answer; with --exit-code also 2 (never, unhealthy or broken) and 3 (unknown).")]
pub struct StatusArgs {
    /// The budgets (NAME, pdb/NAME or pdb NAME), or the workloads whose budgets are meant (deployment/NAME); without any, all of the namespace
    #[arg(value_name = "NAME|TYPE/NAME")]
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
    /// Only budgets with these verdicts, such as never,broken
    #[arg(long, value_name = "VERDICT", value_delimiter = ',', value_parser = verdict)]
    pub verdict: Vec<String>,
    /// Sort by a field of -o json, such as .disruptionsAllowed
    #[arg(long, value_name = "FIELD")]
    pub sort_by: Option<String>,
    /// Do not count budgets with this leading code as problems; can be repeated
    #[arg(long, value_name = "CODE[:NAMESPACE/NAME]", value_parser = Ignore::parse)]
    pub ignore: Vec<Ignore>,
    /// End with 2 when some budget is never, unhealthy or broken, with 3 when some is unknown
    #[arg(long)]
    pub exit_code: bool,
    /// How often.
    #[command(flatten)]
    pub repeat: WatchArgs,
}

fn verdict(text: &str) -> Result<String, String> {
    let known = || words::WORDS.iter().filter(|w| w.command == "status").map(|w| w.word);
    match known().find(|word| *word == text) {
        Some(word) => Ok(word.to_owned()),
        None => Err(format!("the verdicts are {}", known().collect::<Vec<_>>().join(", "))),
    }
}
