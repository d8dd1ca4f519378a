//! Whether the pods of a node fit elsewhere. Mirrors `findPlaceFor` (`simulator/cluster.go`): the scheduler's filters one pod
//! after the other, without preemption; the node itself is tainted and stays a domain of spread.

use super::Keeps;
use crate::sched::State;
use crate::sched::cycle::Cycle;
use crate::snapshot::Str;
use crate::snapshot::node::{Node, Taint};
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// The taint that the autoscaler sets on a node that it takes away.
pub const TO_BE_DELETED: &str = "ToBeDeletedByClusterAutoscaler";

/// The pods that have no place once a node is taken away: the first one, as the autoscaler stops there.
pub fn nowhere(node: &str, pods: &[Arc<Pod>], state: &State) -> Option<Keeps> {
    let mut without = state.clone();
    for pod in pods {
        without.remove(pod);
    }
    without.change_node(node, taint);
    for pod in pods {
        let mut looking = (**pod).clone();
        looking.node = None;
        let looking = Arc::new(looking);
        let found = {
            let mut cycle = Cycle::new(&without, &looking);
            cycle.first_fit().and_then(|id| without.node(id)).map(|n| n.name().clone())
        };
        let Some(found) = found else {
            let said = without.refusal(&looking);
            // What preemption would do is of no account here.
            let said = said.split(" no new claims to deallocate, preemption:").next().unwrap_or_default();
            let said = said.split(" preemption:").next().unwrap_or_default();
            return Some(Keeps::Nowhere(pod.meta.path().into(), said.trim().to_owned()));
        };
        without.bind(&looking, &found);
    }
    None
}

/// Whether a new node like one that is there would take a pod.
pub fn takes_new(like: &Arc<Node>, pod: &Arc<Pod>, state: &State) -> bool {
    let mut with = state.clone();
    let name: Str = format!("{}-new", like.meta.name).into();
    let mut node = (**like).clone();
    node.meta.name = name.clone();
    node.unschedulable = false;
    node.taints = node.taints.iter().filter(|t| !is_passing(t)).cloned().collect();
    let id = with.add_node(&Arc::new(node));
    with.change_node(&name, |n| set_host(n, &name));
    let Some(new) = with.node(id).cloned() else { return false };
    Cycle::new(&with, pod).takes(&new)
}

fn taint(node: &mut Node) {
    let taint = Taint { key: TO_BE_DELETED.into(), value: "".into(), effect: "NoSchedule".into(), since: None };
    node.taints = node.taints.iter().cloned().chain([taint]).collect();
}

/// Taints that a new node does not have.
fn is_passing(taint: &Taint) -> bool {
    taint.key.starts_with("node.kubernetes.io/")
        || [TO_BE_DELETED, "DeletionCandidateOfClusterAutoscaler"].contains(&&*taint.key)
}

fn set_host(node: &mut Node, name: &Str) {
    let labels = node.meta.labels.iter().map(|(k, v)| {
        let value = if &**k == "kubernetes.io/hostname" { name.clone() } else { v.clone() };
        (k.clone(), value)
    });
    node.meta.labels = labels.collect();
}
