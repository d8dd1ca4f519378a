//! The command line: what a user can type, and what kubectl calls it. No file here knows what becomes of it.

mod check;
mod completion;
mod drain_plan;
mod explain;
mod global;
mod man;
mod schema;
#[cfg(feature = "live")]
mod snapshot;
mod status;
mod watch;
mod why_pending;

pub use check::{CheckArgs, Level};
pub use completion::{CompletionArgs, Shell};
pub use drain_plan::{DrainFlags, DrainPlanArgs};
pub use explain::ExplainArgs;
pub use global::{Color, Global};
pub use man::ManArgs;
pub use schema::SchemaArgs;
#[cfg(feature = "live")]
pub use snapshot::SnapshotArgs;
pub use status::StatusArgs;
pub use watch::WatchArgs;
pub use why_pending::WhyPendingArgs;

use clap::{Parser, Subcommand};

const AFTER_HELP: &str = "\
Examples:
  kubectl pdb status -A                       how many evictions each allows
  kubectl pdb drain-plan n1                   what kubectl drain n1 will meet
  kubectl pdb why-pending web-0 -n shop       why a pod is not running
  kubectl pdb check -f deploy/                what manifests would do
  kubectl pdb snapshot > cluster.json         what these read, as a file ...
  kubectl pdb status -A --from cluster.json   ... to answer from, anywhere

Exit status: 0 answered; 1 could not answer, bad usage included; 2 a node is blocked (drain-plan), a finding is at or above --fail-on (check), or, with \
--exit-code, a budget is never, unhealthy or broken (status) or a pod stays Pending (why-pending); 3 nothing of that is known, \
and something is unknown.";

/// What kubectl drain, the eviction endpoint and the scheduler will say, before they say it.
#[derive(Debug, Parser)]
#[command(name = "kubectl-pdb", bin_name = "kubectl pdb", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = AFTER_HELP)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Flags that every command takes.
    #[command(flatten)]
    pub global: Global,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// How many pods of each PodDisruptionBudget can be evicted now, and if none, whether waiting helps
    ///
    /// The numbers are worked out from the live pods, as the disruption controller
    /// does, and held against those that it last wrote. The verdict on a budget:
    ///
    ///   allows     an eviction is allowed now
    ///   waits      none is allowed now; one is once pods are Ready
    ///   unhealthy  none is allowed until broken pods are repaired
    ///   never      none is ever allowed with the present rule and scale
    ///   unused     it selects no pods: it protects and blocks nothing
    ///   broken     it cannot be used as written
    ///   unknown    it could not be judged; never shown as good
    #[command(alias = "st", verbatim_doc_comment)]
    Status(StatusArgs),
    /// What kubectl drain will meet on a node: which pods are evicted, wait, or block it without end
    ///
    /// It plays kubectl drain with the flags given to its end, with the pods that
    /// start again elsewhere. Nothing is cordoned or evicted. The verdict on a node:
    ///
    ///   drains    every pod is evicted at the first try
    ///   waits     every pod is evicted, some of them only after a while
    ///   blocked   a pod is never evicted: the drain hangs, or ends with an error
    ///   forced    it ends, by deleting pods past a budget (--by ACTOR)
    ///   unknown   it could not be judged; never shown as good
    ///
    /// With nodes or a selector the verdicts are on that one command, which cordons
    /// all its nodes first. Without, each node is judged alone. Nodes of one round
    /// can be drained at the same time; each round follows the one before.
    #[command(alias = "plan", verbatim_doc_comment)]
    DrainPlan(DrainPlanArgs),
    /// Why a pod is not running: what refuses it on every node, and why preemption does not help
    ///
    /// The pod is put through the filters and the preemption of kube-scheduler, as
    /// of the cluster's version, on the nodes as they are now.
    ///
    /// What a scheduler's profile adds to the defaults (added affinity, disabled
    /// plugins, extenders) cannot be seen from the API and is not judged.
    #[command(alias = "why", verbatim_doc_comment)]
    WhyPending(WhyPendingArgs),
    /// What manifests would do, before they are applied: budgets that can never allow an eviction, and more
    ///
    /// Workloads are taken as their controllers would run them: as many pods as are
    /// asked for, or as few as an autoscaler keeps, each Ready. The rules, codes and
    /// verdicts are those of `status`. What is a template still is told as such.
    #[command(verbatim_doc_comment)]
    Check(CheckArgs),
    /// Write what the other commands read of a cluster into a file, to be attached to a ticket
    #[cfg(feature = "live")]
    Snapshot(SnapshotArgs),
    /// What a code, a verdict or a stage means, and what to do about it
    Explain(ExplainArgs),
    /// The JSON Schema of what -o json writes
    Schema(SchemaArgs),
    /// The script that makes a shell, or kubectl, complete commands, flags and names
    Completion(CompletionArgs),
    /// The flags of every command that choose the cluster and the user, as kubectl has them
    #[command(after_help = "\
Examples:
  kubectl pdb options                          the flags, and what each means
  kubectl pdb status -A --context prod         a flag of them in use

Exit status: 0 printed.")]
    Options,
    /// Manual pages
    #[command(hide = true)]
    Man(ManArgs),
}
