//! Flags of `drain-plan`.

use super::WatchArgs;
use crate::drain::actor::Actor;
use crate::drain::options::After;
use crate::duration;
use crate::snapshot::selector::LabelSelector;
use clap::Args;
use std::time::Duration;

/// Flags of `drain-plan`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  kubectl pdb drain-plan                        every node alone, and the order
  kubectl pdb drain-plan n1                     what is evicted, blocks; fixes
  kubectl pdb drain-plan n1 n2                  in one command; a better order
  kubectl pdb drain-plan -l pool=a --parallel 2 --after gone   a pool over time
  kubectl pdb drain-plan n1 --ignore-daemonsets   with the flags of a drain
  kubectl pdb drain-plan n1 --by eks            what an EKS update does
  kubectl pdb drain-plan n1 -w                  what a running drain hangs on
  kubectl pdb drain-plan -o html > page.html    a page to hand on
  kubectl pdb drain-plan --from cluster.json    from a file, not from a cluster

Exit status: 0 every node drains or waits; 1 could not answer; 2 some node is blocked or forced; 3 some node is unknown.")]
pub struct DrainPlanArgs {
    /// The nodes to drain, in this order (NAME, node/NAME or node NAME); without any, every node, each judged alone
    #[arg(value_name = "NODE")]
    pub nodes: Vec<String>,
    /// Who drains; each drains a node in its own way (docs/actors.md)
    #[arg(long, value_enum, value_name = "ACTOR")]
    pub by: Option<Actor>,
    /// When the actor passes budgets, where it can be set to do so
    #[arg(long, value_parser = duration::parse, value_name = "DURATION")]
    pub force_after: Option<Duration>,
    /// So many nodes at a time, and when each is drained
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub parallel: Option<u16>,
    /// So many nodes like these are added before
    #[arg(long, default_value_t = 0, hide_default_value = true, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub surge: u16,
    /// Exit status 0 although pods are deleted past a budget
    #[arg(long)]
    pub accept_forced: bool,
    /// The nodes with these labels
    #[arg(long, short = 'l', value_name = "SELECTOR", value_parser = LabelSelector::parse)]
    pub selector: Option<LabelSelector>,
    /// A row for every node, however many there are
    #[arg(long)]
    pub all: bool,
    /// Print only nodes with these verdicts, such as blocked,unknown
    #[arg(long, value_name = "VERDICT", value_delimiter = ',', value_parser = ["blocked", "unknown", "waits", "drains", "forced", "kept"])]
    pub verdict: Vec<String>,
    /// Sort by a field of -o json, such as .estimate.seconds
    #[arg(long, value_name = "FIELD")]
    pub sort_by: Option<String>,
    /// What becomes of the nodes of a round before the next round begins
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub after: After,
    /// How often.
    #[command(flatten)]
    pub repeat: WatchArgs,
    /// The flags of kubectl drain.
    #[command(flatten)]
    pub drain: DrainFlags,
}

/// The flags of `kubectl drain`, with its own meaning.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Flags of kubectl drain")]
pub struct DrainFlags {
    /// Go on although pods have no controller
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, hide_default_value = true, hide_possible_values = true, default_missing_value = "true", action = clap::ArgAction::Set, value_name = "true|false")]
    pub force: bool,
    /// Go on although there are DaemonSet pods, which stay
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, hide_default_value = true, hide_possible_values = true, default_missing_value = "true", action = clap::ArgAction::Set, value_name = "true|false")]
    pub ignore_daemonsets: bool,
    /// Go on although pods have scratch data (emptyDir) that is lost
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, hide_default_value = true, hide_possible_values = true, default_missing_value = "true", action = clap::ArgAction::Set, value_name = "true|false")]
    pub delete_emptydir_data: bool,
    /// Seconds that each pod gets to end; negative: its own grace period
    #[arg(long, default_value_t = -1, allow_negative_numbers = true, value_name = "SECONDS")]
    pub grace_period: i64,
    /// How long to wait before giving up; 0 waits without end
    #[arg(long, value_parser = duration::parse, default_value = "0s", value_name = "DURATION")]
    pub timeout: Duration,
    /// Only pods with these labels
    #[arg(long, default_value = "", hide_default_value = true, value_name = "SELECTOR")]
    pub pod_selector: String,
    /// Delete pods instead of evicting them, past every budget
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, hide_default_value = true, hide_possible_values = true, default_missing_value = "true", action = clap::ArgAction::Set, value_name = "true|false")]
    pub disable_eviction: bool,
    /// Do not wait for pods whose deletion is overdue by more than so many seconds; 0 waits
    #[arg(long, default_value_t = 0, value_name = "SECONDS")]
    pub skip_wait_for_delete_timeout: i64,
    /// Put into the command that is printed, and of no other effect
    #[arg(long, value_name = "N")]
    pub chunk_size: Option<i64>,
    /// Put into the command that is printed, and of no other effect
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "unchanged", value_name = "none|client|server")]
    pub dry_run: Option<String>,
}
