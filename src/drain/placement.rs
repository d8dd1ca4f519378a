//! Where a new pod goes: the scheduler's filters, then the fullest reason of its scores, then preemption.

use crate::sched::node::NodeInfo;
use crate::sched::preemption::PreemptionOutcome;
use crate::sched::{Diagnosis, State, message};
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// What the scheduler does with a pod.
#[derive(Debug, Clone)]
pub enum Placed {
    /// It fits.
    On(Str),
    /// It fits once these pods are taken away.
    Preempting {
        /// The node.
        node: Str,
        /// The pods that are taken away.
        victims: Vec<Arc<Pod>>,
    },
    /// No node takes it.
    Nowhere,
}

/// Looks for a node: the one that suits best, or with `any` the first that takes the pod. The state is left as it is.
pub fn place(state: &State, pod: &Arc<Pod>, any: bool) -> Placed {
    let diagnosis = state.diagnose(pod);
    let mut fits = diagnosis.fits.iter().filter_map(|id| state.node(*id));
    let chosen = if any { fits.next() } else { fits.max_by_key(|node| score(node, pod)) };
    if let Some(node) = chosen {
        return Placed::On(node.name().clone());
    }
    preempting(state, pod, &diagnosis).unwrap_or(Placed::Nowhere)
}

fn preempting(state: &State, pod: &Arc<Pod>, diagnosis: &Diagnosis) -> Option<Placed> {
    let preemption = state.preempt(pod, diagnosis);
    let chosen = preemption.chosen.filter(|_| preemption.outcome == PreemptionOutcome::Found)?;
    let node = state.node(chosen.node)?.name().clone();
    Some(Placed::Preempting { node, victims: chosen.victims.iter().map(|v| v.pod.clone()).collect() })
}

/// What kube-scheduler would write into the pod's condition now; empty where the pod fits.
pub fn refusal(state: &State, pod: &Arc<Pod>) -> String {
    let diagnosis = state.diagnose(pod);
    if !diagnosis.fits.is_empty() {
        return String::new();
    }
    let preemption = state.preempt(pod, &diagnosis);
    message::message(&diagnosis, &preemption)
}

/// The first sentence of that, for a pod that fits nowhere.
pub fn first_refusal(state: &State, pod: &Arc<Pod>) -> String {
    message::first_sentence(&state.diagnose(pod))
}

/// The first sentence of the scheduler's words: what refuses the pod, without what preemption adds.
pub fn first_sentence(words: &str) -> &str {
    words.split_once(". ").map_or(words.trim_end_matches('.'), |(first, _)| first)
}

/// How well a node suits, as the default scores would have it for most pods: few pods of the same controller first
/// (PodTopologySpread's defaults), then much room (LeastAllocated).
fn score(node: &NodeInfo, pod: &Pod) -> (std::cmp::Reverse<usize>, i64) {
    let owner = pod.meta.controller.as_ref().map(|o| &o.uid);
    let sibling =
        |s: &&crate::sched::node::Slot| owner.is_some() && s.info.pod.meta.controller.as_ref().map(|o| &o.uid) == owner;
    let free = |requested: i64, allocatable: i64| {
        allocatable.saturating_sub(requested).saturating_mul(100).checked_div(allocatable).unwrap_or_default()
    };
    let cpu = free(node.requested.cpu, node.allocatable.cpu);
    let memory = free(node.requested.memory / 1024, node.allocatable.memory / 1024);
    (std::cmp::Reverse(node.pods.iter().filter(sibling).count()), cpu + memory)
}
