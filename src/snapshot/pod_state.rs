//! Why a pod is not Ready, and whether time alone may change that. Every command asks it.

use super::Snapshot;
use super::pod::{Container, ContainerState, ContainerStatus, Phase, Pod, Truth};
use jiff::SignedDuration;

/// Whether a pod that is not Ready may become so without anybody doing anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prospect {
    /// It is starting: nothing says that it will not end well.
    Starting,
    /// It waits for the scheduler, whose answer this does not know.
    Unscheduled,
    /// It is being deleted.
    Terminating,
    /// It will not become Ready as things are.
    Stuck,
}

/// Why a pod is not Ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReady {
    /// Whether time may cure it.
    pub prospect: Prospect,
    /// A word where the kubelet or the API has one: `CrashLoopBackOff`, `ImagePullBackOff`, `Unschedulable` …
    pub word: String,
    /// The cause, as the part of a sentence that follows the pod's name and a colon.
    pub text: String,
}

impl NotReady {
    fn new(prospect: Prospect, word: &str, text: impl Into<String>) -> Option<Self> {
        Some(Self { prospect, word: word.to_owned(), text: text.into() })
    }
}

/// How long a readiness gate without a condition is given before it is taken that nobody will set it.
const GATE_PATIENCE: SignedDuration = SignedDuration::from_mins(5);

/// How often a container must have been started again before one that has just ended is taken to crash.
const CRASHES: i32 = 2;

/// Why the pod is not Ready; `None` for a Ready one that is not being deleted.
pub fn why_not_ready(snapshot: &Snapshot, pod: &Pod) -> Option<NotReady> {
    if pod.is_terminating() {
        return NotReady::new(Prospect::Terminating, "Terminating", "it is being deleted");
    }
    if pod.is_finished() {
        let word = pod.status.reason.as_deref().unwrap_or(pod.status.phase.as_str());
        return NotReady::new(Prospect::Stuck, word, format!("it has ended ({word})"));
    }
    if pod.is_ready() {
        return None;
    }
    let Some(node) = &pod.node else { return without_node(pod) };
    if let Some(node) = snapshot.nodes.named("", node).filter(|n| !n.is_ready()) {
        let text = format!("its node {} is not Ready", node.meta.name);
        return NotReady::new(Prospect::Stuck, "NodeNotReady", text);
    }
    containers(pod).or_else(|| readiness_gates(snapshot, pod)).or_else(|| {
        let condition = pod.condition("Ready").filter(|c| !c.reason.is_empty());
        let word = condition.map_or("Starting", |c| &*c.reason);
        NotReady::new(Prospect::Starting, word, "it is starting")
    })
}

fn without_node(pod: &Pod) -> Option<NotReady> {
    if !pod.spec.scheduling_gates.is_empty() {
        let gates = pod.spec.scheduling_gates.join(", ");
        return NotReady::new(Prospect::Stuck, "SchedulingGated", format!("scheduling gates hold it: {gates}"));
    }
    match pod.condition("PodScheduled") {
        Some(c) if c.status == Truth::False => NotReady::new(Prospect::Unscheduled, &c.reason, "it has no node yet"),
        _ => NotReady::new(Prospect::Unscheduled, "Pending", "it has no node yet"),
    }
}

/// What the first container that is not as it should be says; init containers run first.
fn containers(pod: &Pod) -> Option<NotReady> {
    let init = pod.status.init_containers.iter().map(|s| (s, pod.spec.init_containers.as_ref(), true));
    let main = pod.status.containers.iter().map(|s| (s, pod.spec.containers.as_ref(), false));
    let mut starting = None;
    for (status, specs, is_init) in init.chain(main) {
        let spec = specs.iter().find(|c| c.name == status.name);
        let found = container(pod, status, spec, is_init);
        match found.as_ref().map(|f| f.prospect) {
            Some(Prospect::Stuck) => return found,
            Some(_) => starting = starting.or(found),
            None => {}
        }
    }
    if starting.is_none() && pod.status.containers.is_empty() && pod.status.phase == Phase::Pending {
        return NotReady::new(Prospect::Starting, "Pending", "its kubelet has not started it yet");
    }
    starting
}

fn container(pod: &Pod, status: &ContainerStatus, spec: Option<&Container>, is_init: bool) -> Option<NotReady> {
    let name = &status.name;
    match &status.state {
        ContainerState::Waiting { reason, .. } if matches!(&**reason, "" | "ContainerCreating" | "PodInitializing") => {
            let word = if reason.is_empty() { "ContainerCreating" } else { reason };
            NotReady::new(Prospect::Starting, word, format!("container {name} is starting ({word})"))
        }
        ContainerState::Waiting { reason, message } => {
            let text = if message.is_empty() { reason.to_string() } else { format!("{reason}, {message}") };
            NotReady::new(Prospect::Stuck, reason, format!("container {name}: {text}"))
        }
        ContainerState::Terminated(t) if t.exit_code == 0 && is_init => None,
        ContainerState::Terminated(t) => {
            let again = &*pod.spec.restart_policy == "Always" || is_init && &*pod.spec.restart_policy == "OnFailure";
            let prospect = if again && status.restarts < CRASHES { Prospect::Starting } else { Prospect::Stuck };
            NotReady::new(prospect, &t.reason, format!("container {name} ended with exit code {}", t.exit_code))
        }
        ContainerState::Running(_) if status.ready => None,
        // A running init container that is no sidecar holds the others back, which say PodInitializing.
        ContainerState::Running(_) if is_init => {
            let waits = status.started == Some(false) && spec.is_some_and(|s| s.sidecar);
            let what = if waits { "has not passed its startup probe" } else { "still runs" };
            NotReady::new(Prospect::Starting, "PodInitializing", format!("init container {name} {what}"))
        }
        ContainerState::Running(_) => match spec {
            Some(s) if s.has_startup_probe && status.started != Some(true) => NotReady::new(
                Prospect::Starting,
                "StartupProbe",
                format!("container {name} has not passed its startup probe yet"),
            ),
            Some(s) if !s.has_readiness_probe && !s.has_startup_probe => NotReady::new(
                Prospect::Stuck,
                "NotReady",
                format!("container {name} runs and is not ready, although it has no probe that could fail"),
            ),
            _ => NotReady::new(
                Prospect::Starting,
                "ReadinessProbe",
                format!("container {name} does not pass its readiness probe"),
            ),
        },
        ContainerState::Unknown => {
            NotReady::new(Prospect::Starting, "ContainerCreating", format!("container {name} has not started yet"))
        }
    }
}

/// Gates that are not True while the containers are ready.
fn readiness_gates(snapshot: &Snapshot, pod: &Pod) -> Option<NotReady> {
    let unset = pod.spec.readiness_gates.iter().find(|g| pod.condition(g).is_none_or(|c| c.status != Truth::True))?;
    let since = pod.condition("ContainersReady").and_then(|c| c.since);
    let patient = since.is_none_or(|t| snapshot.now.duration_since(t) < GATE_PATIENCE);
    match pod.condition(unset) {
        None if !patient => NotReady::new(
            Prospect::Stuck,
            "ReadinessGate",
            format!("nobody has set its readiness gate {unset}, although its containers have been ready for a while"),
        ),
        condition => {
            let state = if condition.is_some() { "not True" } else { "not set" };
            NotReady::new(Prospect::Starting, "ReadinessGate", format!("its readiness gate {unset} is {state} yet"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Source;
    use crate::snapshot::builder::Builder;
    use crate::snapshot::kinds::Kind;
    use crate::wire::item::Item;

    fn judge(status: &str, spec: &str) -> Option<(Prospect, String)> {
        let mut b = Builder::default();
        let pod = format!(
            r#"{{"metadata": {{"name": "p", "namespace": "a"}},
                "spec": {{"nodeName": "n", "restartPolicy": "Always", {spec}}}, "status": {{{status}}}}}"#
        );
        b.add(Kind::Pod, Item::Json(pod.as_bytes())).expect("a pod");
        let s = b.finish(Source::default(), "2026-01-01T01:00:00Z".parse().ok());
        why_not_ready(&s, &s.pods[0]).map(|n| (n.prospect, n.word))
    }

    #[test]
    fn tells_starting_from_stuck() {
        let plain = r#""containers": [{"name": "c"}]"#;
        let probed = r#""containers": [{"name": "c", "readinessProbe": {}}]"#;
        let slow = r#""containers": [{"name": "c", "startupProbe": {}}]"#;
        let gated = r#""containers": [{"name": "c"}], "readinessGates": [{"conditionType": "lb"}]"#;
        let state = |state: &str| {
            format!(r#""phase": "Running", "containerStatuses": [{{"name": "c", "state": {{{state}}}}}]"#)
        };
        let ready = |more: &str| {
            format!(
                r#""phase": "Running", "containerStatuses": [{{"name": "c", "ready": true, "state": {{"running": {{}}}}}}],
                   "conditions": [{{"type": "Ready", "status": "False"}},
                   {{"type": "ContainersReady", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}}{more}]"#
            )
        };
        for (status, spec, want) in [
            (r#""phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]"#.into(), plain, None),
            (state(r#""waiting": {"reason": "CrashLoopBackOff"}"#), plain, Some((Prospect::Stuck, "CrashLoopBackOff"))),
            (state(r#""waiting": {"reason": "ImagePullBackOff"}"#), plain, Some((Prospect::Stuck, "ImagePullBackOff"))),
            (
                state(r#""waiting": {"reason": "ContainerCreating"}"#),
                plain,
                Some((Prospect::Starting, "ContainerCreating")),
            ),
            (
                state(r#""waiting": {"reason": "PodInitializing"}"#),
                plain,
                Some((Prospect::Starting, "PodInitializing")),
            ),
            (state(r#""running": {}"#), probed, Some((Prospect::Starting, "ReadinessProbe"))),
            (state(r#""running": {}"#), slow, Some((Prospect::Starting, "StartupProbe"))),
            (state(r#""running": {}"#), plain, Some((Prospect::Stuck, "NotReady"))),
            (ready(""), gated, Some((Prospect::Stuck, "ReadinessGate"))),
            (ready(r#", {"type": "lb", "status": "False"}"#), gated, Some((Prospect::Starting, "ReadinessGate"))),
            (r#""phase": "Failed", "reason": "Evicted""#.into(), plain, Some((Prospect::Stuck, "Evicted"))),
            (r#""phase": "Pending""#.into(), plain, Some((Prospect::Starting, "Pending"))),
        ] {
            assert_eq!(judge(&status, spec), want.map(|(p, w)| (p, w.to_owned())), "{status}");
        }
    }
}
