//! Workloads that are down while their pods are replaced.

use crate::drain::context::DrainContext;
use crate::drain::node_pod::NodePod;
use crate::drain::note::Note;
use crate::finding::{Code, Ref};
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// Whether a workload without a budget has all its Ready pods on the nodes that are drained.
pub fn downtime(context: &DrainContext<'_>, p: &NodePod, drained: &[Str]) -> Option<Note> {
    if !p.budgets.is_empty() || p.pod.is_finished() || !p.pod.is_ready() {
        return None;
    }
    let top = context.snapshot.top_controller_of(&p.pod.meta)?;
    if matches!(&*top.kind, "Job" | "CronJob" | "DaemonSet") {
        return None;
    }
    let elsewhere =
        |p: &Arc<Pod>| p.is_ready() && !p.is_terminating() && p.node.as_ref().is_some_and(|n| !drained.contains(n));
    if context.siblings(&p.pod).any(elsewhere) {
        return None;
    }
    let n = context.siblings(&p.pod).filter(|p| p.is_ready()).count();
    let whose = if n == 1 { "its only pod leaves".to_owned() } else { format!("all its {n} pods leave") };
    let text = format!(
        "{} {} is down until new pods are Ready: {whose}, and no budget protects it",
        top.kind,
        top.meta.path()
    );
    Some(Note::new(Code::Downtime, text).about([Ref::workload(top)]))
}
