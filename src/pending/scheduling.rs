//! What the scheduler makes of a pod in the present state.

use crate::finding::Finding;
use crate::sched::cycle::Cycle;
use crate::sched::message::message;
use crate::sched::{Diagnosis, NodeId, Preemption, State, Status};
use crate::snapshot::pod::Pod;
use std::collections::HashMap;
use std::sync::Arc;

/// Nodes against which the same things speak.
#[derive(Debug, Clone)]
pub struct Group {
    /// What speaks against them, the scheduler's first refusal first.
    pub refusals: Vec<Status>,
    /// The nodes, by number.
    pub nodes: Vec<NodeId>,
}

/// What the scheduler makes of a pod.
#[derive(Debug, Clone)]
pub struct Scheduling {
    /// The pod.
    pub pod: Arc<Pod>,
    /// What it would write into the condition; empty where the pod fits.
    pub message: String,
    /// Nodes that take the pod.
    pub fits: Vec<NodeId>,
    /// All other nodes, the largest group first.
    pub groups: Vec<Group>,
    /// The refusal of the pod before nodes were looked at.
    pub rejection: Option<Status>,
    /// What preemption would do.
    pub preemption: Preemption,
    /// Why preemption does not help.
    pub why: Vec<Finding>,
}

/// Runs filters and preemption for a pod.
pub fn schedule(state: &State, pod: &Arc<Pod>) -> (Scheduling, Diagnosis) {
    let mut cycle = Cycle::new(state, pod);
    let diagnosis = cycle.diagnose();
    let preemption = cycle.preempt(&diagnosis);
    let mut groups: HashMap<Vec<Status>, Vec<NodeId>> = HashMap::new();
    for node in state.nodes().iter().filter(|n| diagnosis.fits.binary_search(&n.id).is_err()) {
        groups.entry(cycle.explain(node)).or_default().push(node.id);
    }
    let mut groups: Vec<Group> = groups.into_iter().map(|(refusals, nodes)| Group { refusals, nodes }).collect();
    groups.sort_by_key(|g| (std::cmp::Reverse(g.nodes.len()), g.nodes.first().copied()));
    let message = if diagnosis.fits.is_empty() { message(&diagnosis, &preemption) } else { String::new() };
    let scheduling = Scheduling {
        pod: pod.clone(),
        message,
        fits: diagnosis.fits.clone(),
        groups,
        rejection: diagnosis.rejection.clone(),
        preemption,
        why: Vec::new(),
    };
    (scheduling, diagnosis)
}
