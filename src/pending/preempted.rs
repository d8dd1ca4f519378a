//! Who preempted a pod, or the pod that it replaces: what the scheduler's own events say.

use crate::finding::{Code, Finding, Ref};
use crate::snapshot::Snapshot;
use crate::snapshot::age::age;
use crate::snapshot::event::Event;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// The newest preemption of the pod, or of one that the same controller made before it and that is not there any more.
/// Mirrors what `prepareCandidate` of `pkg/scheduler/framework/preemption` writes: "Preempted by pod UID on node NODE".
pub fn finding(pod: &Pod, snapshot: &Snapshot) -> Option<Finding> {
    let events = snapshot.events.in_namespace(pod.meta.ns()).iter();
    let newest =
        events.filter(|e| &*e.reason == "Preempted" && victim_counts(pod, e, snapshot)).max_by_key(|e| e.last_seen)?;
    let (taker, node) = taker(newest)?;
    let by = preemptor(newest, taker, snapshot);
    let who = by.map_or_else(|| format!("pod {taker}"), |p| format!("{} (priority {})", p.meta.path(), p.priority()));
    let ago = newest.last_seen.map(|t| format!(" {} ago", age(t, snapshot.now))).unwrap_or_default();
    let on = if node.is_empty() { String::new() } else { format!(" on node {node}") };
    let message = if newest.name == pod.meta.name {
        format!("the scheduler preempted {}{on} for {who}{ago}", pod.meta.name)
    } else {
        format!(
            "this pod (priority {}) replaces {}, which the scheduler preempted{on} for {who}{ago}",
            pod.priority(),
            newest.name
        )
    };
    Some(Finding::new(Code::PreemptedBy, message).about(by.map(|p| Ref::pod(p))))
}

/// Whether the pod that an event is about is this one, or one that it replaces.
fn victim_counts(pod: &Pod, event: &Event, snapshot: &Snapshot) -> bool {
    if event.name == pod.meta.name {
        // A StatefulSet gives its replacement the same name.
        return true;
    }
    let Some(owner) = &pod.meta.controller else { return false };
    let random = |name: &str| name.strip_prefix(&*owner.name)?.strip_prefix('-').map(str::len);
    let made = |name: &str| random(name) == Some(RANDOM);
    // Of several replacements each is told of the same victims: which replaces which is written nowhere.
    let gone = snapshot.pods.named(pod.meta.ns(), &event.name).is_none_or(|p| p.is_terminating() || p.is_finished());
    let before =
        pod.meta.creation_timestamp.zip(event.last_seen).is_none_or(|(made, seen)| seen.duration_since(made) <= SLACK);
    made(&event.name) && made(&pod.meta.name) && gone && before
}

/// What `generateName` adds. Mirrors `randomLength` of `apiserver/pkg/storage/names`.
const RANDOM: usize = 5;

/// Seconds by which clocks, and the writing of an event, may differ.
const SLACK: jiff::SignedDuration = jiff::SignedDuration::from_secs(5);

/// The uid, or the name, of the pod that got the room, and the node.
fn taker(event: &Event) -> Option<(&str, &str)> {
    let rest = event.message.strip_prefix("Preempted by ")?;
    let rest = rest.strip_prefix("pod ").or_else(|| rest.strip_prefix("a pod")).unwrap_or(rest);
    let (who, node) = rest.split_once(" on node ").unwrap_or((rest, ""));
    Some((who.trim(), node.trim()))
}

fn preemptor<'a>(event: &Event, taker: &str, snapshot: &'a Snapshot) -> Option<&'a Arc<Pod>> {
    let named = |path: &str| path.split_once('/').and_then(|(ns, name)| snapshot.pods.named(ns, name));
    let known = event.related.as_deref().and_then(named).or_else(|| named(taker));
    known.or_else(|| snapshot.pods.iter().find(|p| p.meta.uid.as_deref() == Some(taker)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Object, cluster, find, object, pod};
    use serde_json::json;

    #[test]
    fn the_preemptor_of_a_predecessor_is_named() {
        let event = |about: &str, words: &str| {
            object("v1", "Event", "a/e")
                .with(json!({"involvedObject": {"kind": "Pod", "namespace": "a", "name": about},
                "reason": "Preempted", "message": words, "eventTime": "2026-01-01T11:50:00.000000Z"}))
        };
        let related = |e: Object| e.with(json!({"related": {"kind": "Pod", "namespace": "b", "name": "big"}}));
        let waits = |name: &str, owner: &str| {
            pod(&format!("a/{name}")).created("2026-01-01T11:50:02Z").owned_by("batch/v1", &format!("Job/{owner}"))
        };
        let uid = "Preempted by pod b-Pod-big on node n1";
        let big = || pod("b/big").on("n1").spec(json!({"priority": 100}));
        let old = |name: &str| waits(name, "nightly").on("n1");
        for (title, objects, pod, want) in [
            (
                "by uid",
                vec![waits("nightly-9zqwm", "nightly"), event("nightly-4hd2k", uid)],
                "nightly-9zqwm",
                Some(
                    "replaces nightly-4hd2k, which the scheduler preempted on node n1 for b/big (priority 100) 10 min ago",
                ),
            ),
            (
                "by the related object",
                vec![
                    waits("nightly-9zqwm", "nightly"),
                    related(event("nightly-4hd2k", "Preempted by pod x on node n1")),
                ],
                "nightly-9zqwm",
                Some("for b/big (priority 100)"),
            ),
            (
                "by name, as older schedulers wrote it",
                vec![waits("nightly-9zqwm", "nightly"), event("nightly-4hd2k", "Preempted by b/big on node n1")],
                "nightly-9zqwm",
                Some("for b/big (priority 100)"),
            ),
            (
                "a StatefulSet's pod has the name of its predecessor",
                vec![waits("db-0", "db"), event("db-0", uid)],
                "db-0",
                Some("the scheduler preempted db-0 on node n1 for b/big"),
            ),
            (
                "the victim is still there",
                vec![waits("nightly-9zqwm", "nightly"), old("nightly-4hd2k"), event("nightly-4hd2k", uid)],
                "nightly-9zqwm",
                None,
            ),
            (
                "another Job's",
                vec![waits("nightly-9zqwm", "nightly"), event("nightly-other-4hd2k", uid)],
                "nightly-9zqwm",
                None,
            ),
            (
                "made at the end of time",
                vec![waits("nightly-9zqwm", "nightly").created("9999-12-30T22:00:00Z"), event("nightly-4hd2k", uid)],
                "nightly-9zqwm",
                Some("replaces nightly-4hd2k"),
            ),
            ("nothing was preempted", vec![waits("nightly-9zqwm", "nightly")], "nightly-9zqwm", None),
        ] {
            let snapshot = cluster().add(big()).all(objects).snapshot();
            let found = finding(&find(&snapshot, &format!("a/{pod}")), &snapshot);
            match (want, found) {
                (None, None) => {}
                (Some(words), Some(f)) => assert!(f.message.contains(words), "{title}: {}", f.message),
                (want, found) => panic!("{title}: {want:?}, {found:?}"),
            }
        }
    }
}
