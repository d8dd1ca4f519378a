//! What the pod itself says: its recorded condition and events, and whether they are still true.

use super::context::Context;
use super::facts::{count, some};
use crate::cure::Remedy;
use crate::finding::{Code, Finding};
use crate::snapshot::age::age;
use crate::snapshot::pod::{Pod, Truth};
use crate::snapshot::{Snapshot, Str};

/// The scheduler's recorded words.
pub fn condition(pod: &Pod) -> Option<&str> {
    let condition = pod.condition("PodScheduled").filter(|c| c.status != Truth::True && !c.message.is_empty());
    condition.map(|c| &*c.message)
}

/// The first sentence of a scheduler's message: what the filters say, without what preemption says.
fn first_sentence(message: &str) -> &str {
    match message.split_once(". ") {
        Some((first, _)) => &message[..=first.len()],
        None => message,
    }
}

/// The recorded words, where they are not what the scheduler would write now.
pub fn stale(pod: &Pod, message: &str, snapshot: &Snapshot) -> Option<Finding> {
    let recorded = condition(pod)?;
    if recorded == message || recorded == first_sentence(message) {
        return None;
    }
    let since = pod.condition("PodScheduled").and_then(|c| c.since);
    let ago = since.map(|t| format!(" ({} ago)", age(t, snapshot.now))).unwrap_or_default();
    let now = if message.is_empty() { "it would fit" } else { "the scheduler would say something else" };
    let text = format!("what is recorded{ago} speaks of an earlier state, in which {recorded:?} held; now {now}");
    Some(Finding::new(Code::StaleCondition, text))
}

/// The scheduler tries every waiting pod again within this many seconds. Mirrors
/// `DefaultPodMaxInUnschedulablePodsDuration` of `pkg/scheduler/backend/queue`.
const RETRIED: i64 = 300;

/// Whether the scheduler is recorded to have refused the pod for longer than it leaves a pod untried.
pub fn refused_for_long(pod: &Pod, snapshot: &Snapshot) -> bool {
    let since = pod.condition("PodScheduled").filter(|c| c.status != Truth::True).and_then(|c| c.since);
    since.is_some_and(|t| snapshot.now.duration_since(t).as_secs() > RETRIED)
}

/// Whether the scheduler has said anything about the pod.
fn was_seen(pod: &Pod, snapshot: &Snapshot) -> bool {
    pod.condition("PodScheduled").is_some()
        || snapshot.events_about("Pod", pod.meta.ns(), &pod.meta.name).next().is_some()
}

/// The name of kube-scheduler's default profile.
pub const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// A pod without a node is given this long, in seconds, before it is wondered at that no scheduler has looked at it.
const PATIENCE: i64 = 60;

/// Which scheduler the pod waits for, where that is not kube-scheduler, or where none seems to run.
pub fn scheduler(pod: &Pod, cx: &Context<'_>) -> Option<Finding> {
    let (snapshot, kubectl) = (cx.snapshot, &cx.kubectl);
    let name = &*pod.spec.scheduler_name;
    let seen = was_seen(pod, snapshot);
    let age = pod.meta.creation_timestamp.map_or(0, |t| snapshot.now.duration_since(t).as_secs());
    if name == DEFAULT_SCHEDULER {
        let message = "no scheduler has looked at it: it has no condition and no event. Does kube-scheduler run?";
        let known = snapshot.coverage.has(crate::snapshot::Kind::Event);
        return (!seen && known && age > PATIENCE).then(|| Finding::new(Code::NoScheduler, message));
    }
    let runs = |p: &&std::sync::Arc<Pod>| p.node.is_some() && *p.spec.scheduler_name == *name;
    if seen || snapshot.pods.iter().any(|p| runs(&p)) {
        let message = format!(
            "it is looked after by scheduler {name}, not by kube-scheduler: what that one says counts{}",
            gang(pod, snapshot)
        );
        let read = Remedy::advice(format!("read the events that scheduler {name} writes, and its log"))
            .command(kubectl.line(pod.meta.ns(), &["describe", "pod", &pod.meta.name]));
        return Some(Finding::new(Code::OtherScheduler, message).remedy(read));
    }
    let near = snapshot.pods.iter().filter(|p| p.meta.name.contains(name)).map(|p| p.meta.path());
    let near: Vec<String> = near.take(3).collect();
    let near = if near.is_empty() { String::new() } else { format!(" (there is {})", some(near)) };
    let message =
        format!("the pod names scheduler {name}, and nothing of that name has looked at it or at any other pod{near}");
    let text = format!("start scheduler {name}, or correct schedulerName (kube-scheduler is {DEFAULT_SCHEDULER})");
    Some(Finding::new(Code::NoScheduler, message).remedy(Remedy::advice(text)))
}

/// Marks by which other schedulers know the pods that they place together, on a pod as label or annotation: Volcano's
/// (`volcano.sh/apis`, `KubeGroupNameAnnotationKey` and `VolcanoGroupNameAnnotationKey`), and coscheduling's of
/// `sigs.k8s.io/scheduler-plugins` (`PodGroupLabel`).
const GANG_MARKS: [&str; 3] =
    ["scheduling.x-k8s.io/pod-group", "scheduling.volcano.sh/group-name", "scheduling.k8s.io/group-name"];

fn gang_of(pod: &Pod) -> Option<(&'static str, Str)> {
    let marked = |m: &&'static str| pod.meta.labels.get(m).or_else(|| pod.meta.annotations.get(m)).cloned();
    GANG_MARKS.iter().find_map(|m| Some((*m, marked(m)?)))
}

/// The group of pods that is placed together, and how many of them there are.
fn gang(pod: &Pod, snapshot: &Snapshot) -> String {
    let Some((mark, group)) = gang_of(pod) else { return String::new() };
    let pods = snapshot.pods.in_namespace(pod.meta.ns()).iter().filter(|p| !p.is_finished());
    let pods: Vec<bool> =
        pods.filter(|p| gang_of(p).is_some_and(|(_, g)| g == group)).map(|p| p.node.is_some()).collect();
    let placed = pods.iter().filter(|p| **p).count();
    let are = if pods.len() == 1 { "exists" } else { "exist" };
    format!(
        "; it belongs to group {group} ({mark}), whose pods that scheduler places together or not at all: {} {are}, {placed} of \
         them with a node",
        count(pods.len(), "pod")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_ends_in_its_period() {
        for (message, want) in [
            ("0/1 nodes are available: 1 Too many pods. preemption: x.", "0/1 nodes are available: 1 Too many pods."),
            ("0/1 nodes are available: 1 Too many pods.", "0/1 nodes are available: 1 Too many pods."),
            ("", ""),
        ] {
            assert_eq!(first_sentence(message), want);
        }
    }
}
