//! A node that is held for a pod: its victims, and what came in between.

use super::facts::{Facts, some};
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::sched::cycle::Cycle;
use crate::sched::node::NodeInfo;
use crate::sched::preempt::terminating_by_preemption;
use crate::snapshot::age::{age, duration_words};
use crate::snapshot::pod::Pod;
use jiff::SignedDuration;
use std::sync::Arc;

/// How long past its deadline a victim is given before it is called stuck.
const PATIENCE: SignedDuration = SignedDuration::from_secs(30);

/// The victims on their way out on the node held for the pod.
fn leaving<'a>(f: &Facts<'a>, node: &'a NodeInfo) -> Vec<&'a Arc<Pod>> {
    let lower = node.pods.iter().filter(|s| s.priority < f.pod().priority());
    lower.map(|s| &s.info.pod).filter(|p| terminating_by_preemption(p)).collect()
}

/// Why the pod waits although a node is held for it: victims that are still ending, and such as never will.
pub fn waiting(f: &Facts<'_>) -> Vec<Finding> {
    let name = f.pod().status.nominated_node.as_deref().unwrap_or_default();
    let Some(node) = f.state.node_named(name) else { return Vec::new() };
    let victims = leaving(f, node);
    let now = f.snapshot().now;
    let overdue = |p: &&&Arc<Pod>| p.meta.deletion_timestamp.is_some_and(|t| now.duration_since(t) > PATIENCE);
    let stuck: Vec<&Arc<Pod>> = victims.iter().filter(|p| overdue(p) || !node.node.is_ready()).copied().collect();
    if stuck.is_empty() {
        let longest = victims.iter().filter_map(|p| p.meta.deletion_timestamp).max();
        let left = longest.map(|t| t.duration_since(now).as_secs().max(0));
        let left = left.map(|s| format!(", at most {} more", duration_words(s))).unwrap_or_default();
        let message = format!(
            "node {name} is held for it while {} to end{left}",
            some(victims.iter().map(|p| p.meta.path())) + if victims.len() == 1 { " has" } else { " have" }
        );
        return vec![Finding::new(Code::NominatedWaits, message).about(victims.iter().map(|p| Ref::pod(p)))];
    }
    let said = |p: &Arc<Pod>| {
        let since =
            p.meta.deletion_timestamp.filter(|t| *t < now).map(|t| format!(", {} past its grace period", age(t, now)));
        let finalizers = if p.meta.finalizers.is_empty() {
            String::new()
        } else {
            format!(", held by finalizer {}", p.meta.finalizers.join(", "))
        };
        format!("{}{}{finalizers}", p.meta.path(), since.unwrap_or_default())
    };
    let kubelet = if node.node.is_ready() {
        format!("although node {name} reports Ready")
    } else {
        format!("as the kubelet of node {name} does not answer")
    };
    let message = format!(
        "node {name} is held for it, and its victim does not end, {kubelet}: {}; the scheduler waits for it",
        some(stuck.iter().map(|p| said(p)))
    );
    let mut finding = Finding::new(Code::VictimStuck, message).about(stuck.iter().map(|p| Ref::pod(p)));
    for p in stuck.iter().take(2).filter(|p| p.meta.finalizers.is_empty()) {
        let text = format!("delete pod {} by force, once it is sure that it no longer runs", p.meta.path());
        let args = ["delete", "pod", &p.meta.name, "--grace-period=0", "--force"];
        finding.remedies.push(
            Remedy::advice(text)
                .command(f.kubectl.line(p.meta.ns(), &args))
                .risk("a container that still runs keeps running, and can use the same data as its successor"),
        );
    }
    vec![finding]
}

/// A nomination that does not lead anywhere: the node cannot take the pod, or another pod took the room.
pub fn stale(f: &Facts<'_>) -> Option<Finding> {
    let name = f.pod().status.nominated_node.as_ref()?;
    let Some(node) = f.state.node_named(name) else {
        let message = format!("node {name} was held for it and does not exist any more");
        return Some(Finding::new(Code::NominationStale, message).about([Ref::node(name)]));
    };
    let refusal = f.diagnosis.refusal(node.id)?;
    if !refusal.resolvable {
        let why: Vec<String> = refusal.reasons.iter().map(|r| r.text().into_owned()).collect();
        let message = format!("node {name} is held for it and has no room for it any more: {}", why.join(", "));
        return Some(Finding::new(Code::NominationStale, message).about([Ref::node(name)]));
    }
    if !leaving(f, node).is_empty() {
        return None;
    }
    // Nothing is on its way out, and it still does not fit: what came after the nomination has the room.
    let since = f.pod().condition("PodScheduled").and_then(|c| c.since).or(f.pod().meta.creation_timestamp)?;
    let came_later = |p: &&Arc<Pod>| {
        let start = p.status.started.or(p.meta.creation_timestamp);
        start.is_some_and(|t| t >= since) && (p.priority() >= f.pod().priority() || other_scheduler(f, p))
    };
    let takers: Vec<&Arc<Pod>> = node.pods.iter().map(|s| &s.info.pod).filter(came_later).collect();
    let words = |p: &Arc<Pod>| {
        if other_scheduler(f, p) {
            format!("{} (placed by {})", p.meta.path(), p.spec.scheduler_name)
        } else {
            format!("{} (priority {})", p.meta.path(), p.priority())
        }
    };
    (!takers.is_empty()).then(|| {
        let message =
            format!("node {name} was held for it, and the room was taken by {}", some(takers.iter().map(|p| words(p))));
        Finding::new(Code::RoomRetaken, message).about(takers.iter().map(|p| Ref::pod(p)))
    })
}

fn other_scheduler(f: &Facts<'_>, p: &Pod) -> bool {
    p.spec.scheduler_name != f.pod().spec.scheduler_name
}

/// Nodes that would take the pod but are held for pods of equal or higher priority.
pub fn of_others(f: &Facts<'_>) -> Option<Finding> {
    let mut cycle = Cycle::new(f.state, f.pod());
    let held: Vec<(&Arc<NodeInfo>, Vec<Arc<Pod>>)> =
        f.state.nodes().iter().filter_map(|n| Some((n, cycle.held_for_others(n)?))).collect();
    if held.is_empty() {
        return None;
    }
    let words = held.iter().map(|(n, pods)| format!("{} for {}", n.name(), some(pods.iter().map(|p| p.meta.path()))));
    let message = format!("room that would be enough is held for pods of equal or higher priority: {}", some(words));
    let objects = held.iter().flat_map(|(_, pods)| pods.iter().map(|p| Ref::pod(p)));
    Some(Finding::new(Code::PriorityOfOthers, message).about(objects))
}
