//! Why a pod is not Ready, and whether time cures that. The one place that says so: every command asks it.
//!
//! A pod is said to stay as it is only on evidence: a container that ends again and again, an image that cannot be
//! pulled, a probe that has failed past its threshold, a readiness gate that nobody sets, a node that has not answered
//! for long. A container that has only just started, or that no probe has failed, may still become Ready. What
//! `minReadySeconds` asks for is no part of it: the disruption controller looks at the Ready condition alone
//! (`IsPodReady` in `countHealthyPods`).

mod containers;
mod not_ready;

pub use not_ready::{NotReady, Prospect};

use super::age::age;
use super::coverage::ReadOutcome;
use super::pod::{Pod, Truth};
use super::{Kind, Snapshot};
use jiff::SignedDuration;
use not_ready::UNSCHEDULABLE;

/// A node that is not Ready for so long is taken not to come back by itself: as long as pods tolerate it that do not
/// say otherwise (`plugin/pkg/admission/defaulttolerationseconds`).
const NODE_PATIENCE: SignedDuration = SignedDuration::from_secs(300);

/// How long a readiness gate without a condition is given before it is taken that nobody will set it.
const GATE_PATIENCE: SignedDuration = SignedDuration::from_mins(5);

/// Why the pod is not Ready; `None` for a Ready one that is not being deleted.
pub fn why_not_ready(snapshot: &Snapshot, pod: &Pod) -> Option<NotReady> {
    if pod.is_terminating() {
        return Some(NotReady::new(Prospect::Terminating, "Terminating", "terminating"));
    }
    if pod.is_finished() {
        let word = pod.status.reason.as_deref().unwrap_or(pod.status.phase.as_str());
        return Some(NotReady::new(Prospect::Stuck, word, format!("ended ({word})")));
    }
    if pod.is_ready() {
        return None;
    }
    let found = match &pod.node {
        None => without_node(pod),
        Some(node) => node_at_fault(snapshot, node)
            .or_else(|| containers::why(snapshot.now, pod))
            .or_else(|| readiness_gate(snapshot, pod))
            .unwrap_or_else(|| {
                let word = pod.condition("Ready").map(|c| &*c.reason).filter(|r| !r.is_empty());
                NotReady::new(Prospect::Starting, word.unwrap_or("Starting"), "starting")
            }),
    };
    Some(found)
}

fn without_node(pod: &Pod) -> NotReady {
    if !pod.spec.scheduling_gates.is_empty() {
        let gates = pod.spec.scheduling_gates.join(", ");
        return NotReady::new(Prospect::Stuck, "SchedulingGated", format!("held by scheduling gates {gates}"));
    }
    if let Some(node) = &pod.status.nominated_node {
        return NotReady::new(Prospect::Unscheduled, "Nominated", format!("node {node} is nominated for the pod"));
    }
    match pod.condition("PodScheduled") {
        Some(c) if c.status == Truth::False && &*c.reason == UNSCHEDULABLE => {
            // The scheduler's first sentence; the one about preemption follows it.
            let first = c.message.split(". ").next().unwrap_or_default().trim_end_matches('.');
            let text = if first.is_empty() { "unschedulable".to_owned() } else { format!("unschedulable ({first})") };
            NotReady::new(Prospect::Unscheduled, UNSCHEDULABLE, text)
        }
        Some(c) if c.status == Truth::False && !c.reason.is_empty() => {
            NotReady::new(Prospect::Unscheduled, &c.reason, "no node yet")
        }
        _ => NotReady::new(Prospect::Unscheduled, "Pending", "no node yet"),
    }
}

/// Why nothing on a node changes: it does not answer, or is gone. `None` for a Ready one.
pub fn node_at_fault(snapshot: &Snapshot, name: &str) -> Option<NotReady> {
    let Some(node) = snapshot.nodes.named("", name) else {
        let gone = *snapshot.coverage.of(Kind::Node) == ReadOutcome::Read;
        let text = || format!("node {name} does not exist; the pod garbage collector deletes the pod");
        return gone.then(|| NotReady::new(Prospect::Terminating, "NodeLost", text()));
    };
    let condition = node.condition("Ready").filter(|_| !node.is_ready())?;
    let state = if condition.status == Truth::Unknown { "does not answer" } else { "is not Ready" };
    let (prospect, since) = match condition.since {
        Some(since) if snapshot.now.duration_since(since) < NODE_PATIENCE => (Prospect::Starting, Some(since)),
        since => (Prospect::Stuck, since),
    };
    let since = since.map(|t| format!(" (for {})", age(t, snapshot.now))).unwrap_or_default();
    Some(NotReady::new(prospect, "NodeNotReady", format!("node {name} {state}{since}")))
}

/// A gate that is not True while the containers are ready.
fn readiness_gate(snapshot: &Snapshot, pod: &Pod) -> Option<NotReady> {
    let gate = pod.spec.readiness_gates.iter().find(|g| pod.condition(g).is_none_or(|c| c.status != Truth::True))?;
    let found = |prospect, text| Some(NotReady::new(prospect, "ReadinessGate", text));
    if pod.condition(gate).is_some() {
        return found(Prospect::Starting, format!("readiness gate {gate} is not True"));
    }
    let since = pod.condition("ContainersReady").and_then(|c| c.since);
    match since.filter(|t| snapshot.now.duration_since(*t) >= GATE_PATIENCE) {
        None => found(Prospect::Starting, format!("readiness gate {gate} is not set yet")),
        Some(since) => {
            let ready = age(since, snapshot.now);
            found(Prospect::Stuck, format!("nobody sets readiness gate {gate} (containers ready for {ready})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{NOW, Object, cluster, find, node, pod};
    use serde_json::{Value, json};

    /// What is said of a pod on node `n`, or without one: prospect, word, text.
    fn of(pod: Object, nodes: &[Object]) -> Option<(Prospect, String, String)> {
        let snapshot = cluster().all(nodes.to_vec()).add(pod).snapshot();
        why_not_ready(&snapshot, &find(&snapshot, "a/p")).map(|n| (n.prospect, n.word, n.text))
    }

    fn want(prospect: Prospect, word: &str, text: &str) -> Option<(Prospect, String, String)> {
        Some((prospect, word.to_owned(), text.to_owned()))
    }

    #[test]
    fn the_pod_itself_comes_first() {
        let on = || pod("a/p").on("n");
        for (pod, expected) in [
            (on().ready(), None),
            (on().ready().deleted(NOW, 30), want(Prospect::Terminating, "Terminating", "terminating")),
            (on().ended("Failed"), want(Prospect::Stuck, "Failed", "ended (Failed)")),
            (
                on().ended("Failed").status(json!({"reason": "Evicted"})),
                want(Prospect::Stuck, "Evicted", "ended (Evicted)"),
            ),
            (on(), want(Prospect::Starting, "Starting", "starting")),
            // Ready for less than a Deployment's minReadySeconds is Ready.
            (
                on().status(json!({"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": NOW}]})),
                None,
            ),
        ] {
            assert_eq!(of(pod, &[node("n")]), expected);
        }
    }

    #[test]
    fn a_pod_without_a_node_waits_for_the_scheduler() {
        let scheduled = |reason: &str, message: &str| {
            pod("a/p").status(json!({"conditions": [
                {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}]}))
        };
        let full = "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes \
                    are available: 3 No preemption victims found for incoming pod.";
        for (pod, expected, lasts) in [
            (pod("a/p"), want(Prospect::Unscheduled, "Pending", "no node yet"), false),
            (
                scheduled("Unschedulable", full),
                want(
                    Prospect::Unscheduled,
                    "Unschedulable",
                    "unschedulable (0/3 nodes are available: 3 Insufficient cpu)",
                ),
                true,
            ),
            (scheduled("Unschedulable", ""), want(Prospect::Unscheduled, "Unschedulable", "unschedulable"), true),
            // A victim was found: room is being made.
            (
                scheduled("Unschedulable", full).status(json!({"nominatedNodeName": "m"})),
                want(Prospect::Unscheduled, "Nominated", "node m is nominated for the pod"),
                false,
            ),
            (
                scheduled("SchedulerError", "no connection"),
                want(Prospect::Unscheduled, "SchedulerError", "no node yet"),
                false,
            ),
            (
                scheduled("SchedulingGated", "").spec(json!({"schedulingGates": [{"name": "example.com/quota"}]})),
                want(Prospect::Stuck, "SchedulingGated", "held by scheduling gates example.com/quota"),
                true,
            ),
        ] {
            let snapshot = cluster().add(pod).snapshot();
            let found = why_not_ready(&snapshot, &find(&snapshot, "a/p"));
            assert_eq!(found.as_ref().map(NotReady::lasts), Some(lasts), "{found:?}");
            assert_eq!(found.map(|n| (n.prospect, n.word, n.text)), expected);
        }
    }

    #[test]
    fn a_node_is_given_as_long_as_its_pods_tolerate_it() {
        let at = |status: &str, since: Value| {
            node("n").status(json!({"conditions": [{"type": "Ready", "status": status, "lastTransitionTime": since}]}))
        };
        let pod = || pod("a/p").on("n").condition("Ready", "False", "");
        for (node, expected) in [
            (at("True", Value::Null), want(Prospect::Starting, "Starting", "starting")),
            (
                at("False", json!("2026-01-01T11:59:20Z")),
                want(Prospect::Starting, "NodeNotReady", "node n is not Ready (for 40 s)"),
            ),
            (
                at("Unknown", json!("2026-01-01T11:55:00Z")),
                want(Prospect::Stuck, "NodeNotReady", "node n does not answer (for 5 min)"),
            ),
            (at("Unknown", Value::Null), want(Prospect::Stuck, "NodeNotReady", "node n does not answer")),
        ] {
            assert_eq!(of(pod(), &[node]), expected);
        }
        let gone = "node n does not exist; the pod garbage collector deletes the pod";
        assert_eq!(of(pod(), &[node("m")]), want(Prospect::Terminating, "NodeLost", gone));
        assert_eq!(of(pod(), &[]), want(Prospect::Starting, "Starting", "starting"), "nodes were not read");
    }

    #[test]
    fn readiness_gates_hold_a_pod_whose_containers_are_ready() {
        // Conditions beside Ready: ContainersReady since a time, the gate.
        let gated = |since: &str, gate: Option<&str>| {
            let mut conditions = vec![
                json!({"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady"}),
                json!({"type": "ContainersReady", "status": "True", "lastTransitionTime": since}),
            ];
            conditions.extend(gate.map(|status| json!({"type": "lb", "status": status})));
            pod("a/p").on("n").spec(json!({"readinessGates": [{"conditionType": "lb"}]})).status(json!({
                "conditions": conditions,
                "containerStatuses": [{"name": "c", "ready": true, "state": {"running": {}}}]}))
        };
        let (long_ago, just_now) = ("2026-01-01T11:00:00Z", "2026-01-01T11:59:00Z");
        for (since, gate, expected) in [
            (just_now, None, want(Prospect::Starting, "ReadinessGate", "readiness gate lb is not set yet")),
            (
                long_ago,
                None,
                want(Prospect::Stuck, "ReadinessGate", "nobody sets readiness gate lb (containers ready for 60 min)"),
            ),
            (long_ago, Some("False"), want(Prospect::Starting, "ReadinessGate", "readiness gate lb is not True")),
            (long_ago, Some("True"), want(Prospect::Starting, "ReadinessGatesNotReady", "starting")),
        ] {
            assert_eq!(of(gated(since, gate), &[node("n")]), expected);
        }
    }
}
