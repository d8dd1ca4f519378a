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
    /// Why there is no message although no node takes the pod.
    pub silence: Option<Silence>,
}

/// Why the scheduler's message is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// The scheduler does not look at the pod.
    NotEnqueued,
    /// What it would say is not known.
    Unknown,
}

/// Runs filters and preemption for a pod.
pub fn schedule(state: &State, pod: &Arc<Pod>) -> (Scheduling, Diagnosis) {
    let mut cycle = Cycle::new(state, pod);
    let diagnosis = cycle.diagnose();
    let preemption = cycle.preempt(&diagnosis);
    let mut known: HashMap<Vec<Status>, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    // Most nodes refuse as the one before them does.
    let mut last = 0;
    for node in state.nodes().iter().filter(|n| diagnosis.fits.binary_search(&n.id).is_err()) {
        let refusals = cycle.explain(node);
        if groups.get(last).is_none_or(|g| g.refusals != refusals) {
            last = *known.entry(refusals.clone()).or_insert(groups.len());
        }
        match groups.get_mut(last) {
            Some(group) => group.nodes.push(node.id),
            None => groups.push(Group { refusals, nodes: vec![node.id] }),
        }
    }
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
        silence: if diagnosis.is_unknown() {
            Some(Silence::Unknown)
        } else {
            diagnosis.not_enqueued().map(|_| Silence::NotEnqueued)
        },
    };
    (scheduling, diagnosis)
}
