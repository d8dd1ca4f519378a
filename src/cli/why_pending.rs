//! Flags of `why-pending`.

use clap::Args;

/// Flags of `why-pending`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  kubectl pdb why-pending -A                    all that waits, by owner, cause
  kubectl pdb why-pending web-6d5f9c-zzk        one pod: every node, every cause
  kubectl pdb why-pending deployment/web        why a workload lacks pods
  kubectl pdb why-pending -f web.yaml --replicas 20   how many of 20 would fit
  kubectl pdb why-pending -A --exit-code        2 if a pod stays Pending
  kubectl pdb why-pending -A -o html > p.html   a page to hand on
  kubectl pdb why-pending -A --from cluster.json   from a file, not a cluster

Exit status: 0 answered; 1 could not answer; with --exit-code also 2 (some pod stays Pending).")]
pub struct WhyPendingArgs {
    /// Pods by name, or workloads as TYPE/NAME; with none, everything that is not running
    #[arg(value_name = "POD|TYPE/NAME")]
    pub names: Vec<String>,
    /// Look at all namespaces
    #[arg(long, short = 'A')]
    pub all_namespaces: bool,
    /// Pods that run and are not Ready, too
    #[arg(long, conflicts_with = "filename")]
    pub not_ready: bool,
    /// A row for each owner and cause, however many there are
    #[arg(long)]
    pub all: bool,
    /// Only pods with such labels
    #[arg(long, short = 'l', value_name = "SELECTOR")]
    pub selector: Option<String>,
    /// Manifests of pods or workloads that do not exist yet: how many would fit, what stops the next; - is standard input
    #[arg(long, short = 'f', value_name = "FILE|-", conflicts_with_all = ["names", "selector"])]
    pub filename: Vec<String>,
    /// How many pods of each manifest, instead of what it states
    #[arg(long, value_name = "N", requires = "filename")]
    pub replicas: Option<usize>,
    /// End with status 2 when a pod stays Pending with neither a node nor preemption to help
    #[arg(long)]
    pub exit_code: bool,
}
