//! A pod that is asked about although it has started: what it is, and the command that tells more.

use super::context::Context;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::snapshot::age::age;
use crate::snapshot::pod::{ContainerState, ContainerStatus, Phase, Pod, Terminated, Truth};
use crate::snapshot::pod_state::why_not_ready;

/// How a pod that has started is; `None` for one that is just starting.
pub fn finding(pod: &Pod, cx: &Context<'_>) -> Option<Finding> {
    let found = match pod.status.phase {
        Phase::Succeeded => Finding::new(Code::Running, format!("the pod has ended well (Succeeded){}", on(pod))),
        Phase::Failed => failed(pod, cx),
        _ if pod.is_ready() => ready(pod, cx),
        Phase::Running => not_ready(pod, cx),
        _ => return crashing(pod).map(|_| not_ready(pod, cx)),
    };
    Some(found.about([Ref::pod(pod)]))
}

/// A resize in place that the kubelet has not done. Mirrors `pkg/kubelet/allocation`: the conditions PodResizePending and
/// PodResizeInProgress.
pub fn resize(pod: &Pod) -> Option<Finding> {
    let told = |kind: &str| pod.condition(kind).filter(|c| c.status == Truth::True);
    let node = pod.node.as_deref().unwrap_or_default();
    let (code, words, said) = if let Some(c) = told("PodResizePending") {
        match &*c.reason {
            "Infeasible" => (
                Code::Insufficient,
                format!(
                    "the kubelet of node {node} refuses its resize for good (Infeasible): the pod runs on as it was"
                ),
                &c.message,
            ),
            _ => (
                Code::Insufficient,
                format!(
                    "its resize waits for room on node {node} ({}): the kubelet tries again when pods there end, and the \
                     scheduler counts the larger request already",
                    if c.reason.is_empty() { "Deferred" } else { &c.reason }
                ),
                &c.message,
            ),
        }
    } else {
        let c = told("PodResizeInProgress").filter(|c| &*c.reason == "Error")?;
        (Code::Running, format!("the kubelet of node {node} cannot carry out its resize (Error)"), &c.message)
    };
    let said = if said.is_empty() { String::new() } else { format!("; it says: {said}") };
    Some(Finding::new(code, format!("{words}{said}")).severity(Severity::Warning).about([Ref::pod(pod)]))
}

fn on(pod: &Pod) -> String {
    pod.node.as_ref().map(|n| format!(" on node {n}")).unwrap_or_default()
}

fn ready(pod: &Pod, cx: &Context<'_>) -> Finding {
    let since = pod.condition("Ready").and_then(|c| c.since);
    let since = since.map(|t| format!(" for {}", age(t, cx.snapshot.now))).unwrap_or_default();
    let restarts: i32 = pod.status.containers.iter().map(|c| c.restarts).sum();
    let restarts = match restarts {
        0 => String::new(),
        1 => "; its containers were restarted once".to_owned(),
        n => format!("; its containers were restarted {n} times"),
    };
    Finding::new(
        Code::Running,
        format!("the pod is not Pending: it runs{} and has been Ready{since}{restarts}", on(pod)),
    )
}

/// The container that keeps ending, and how it ended last.
fn crashing(pod: &Pod) -> Option<(&ContainerStatus, Option<&Terminated>)> {
    let each = pod.status.containers.iter().filter_map(|c| match &c.state {
        ContainerState::Waiting { reason, .. } if &**reason == "CrashLoopBackOff" => Some((c, c.last.as_ref())),
        ContainerState::Terminated(t) if t.exit_code != 0 => Some((c, Some(t))),
        _ => None,
    });
    each.max_by_key(|(c, _)| c.restarts)
}

fn logs(pod: &Pod, container: &str, before: bool, cx: &Context<'_>) -> Remedy {
    let mut args = vec!["logs", &*pod.meta.name, "-c", container];
    let text = if before {
        args.push("--previous");
        format!("read what container {container} wrote before it ended")
    } else {
        format!("read what container {container} writes")
    };
    Remedy::advice(text).command(cx.kubectl.line(pod.meta.ns(), &args))
}

fn ended(t: &Terminated) -> String {
    match (&*t.reason, t.exit_code) {
        ("OOMKilled", _) => "killed for using more memory than its limit (OOMKilled)".to_owned(),
        ("", code) => format!("exit code {code}"),
        (reason, code) => format!("exit code {code}, {reason}"),
    }
}

fn not_ready(pod: &Pod, cx: &Context<'_>) -> Finding {
    if let Some((container, last)) = crashing(pod) {
        let how = last.map(|t| format!(", last with {}", ended(t))).unwrap_or_default();
        let message = format!(
            "the pod is not Pending: it has its node{} and is not Ready, as container {} ends again and again ({} restarts{how})",
            on(pod).replace(" on node", ""),
            container.name,
            container.restarts
        );
        return Finding::new(Code::UnhealthyPods, message).remedy(logs(
            pod,
            &container.name,
            container.restarts > 0,
            cx,
        ));
    }
    let why = why_not_ready(cx.snapshot, pod).map(|w| format!(": {}", w.text)).unwrap_or_default();
    let message = format!("the pod is not Pending: it runs{} and is not Ready{why}", on(pod));
    let unready = pod.status.containers.iter().find(|c| !c.ready);
    let describe = Remedy::advice("read its conditions and events")
        .command(cx.kubectl.line(pod.meta.ns(), &["describe", "pod", &pod.meta.name]));
    let mut found = Finding::new(Code::UnhealthyPods, message).remedy(describe);
    found.remedies.extend(unready.map(|c| logs(pod, &c.name, false, cx)));
    found
}

fn failed(pod: &Pod, cx: &Context<'_>) -> Finding {
    let reason = pod.status.reason.as_deref().unwrap_or("Failed");
    let said = pod.status.message.as_deref().map(|m| format!(": {}", m.trim_end_matches('.'))).unwrap_or_default();
    let broken = crashing(pod);
    let how =
        broken.and_then(|(c, t)| Some(format!("; container {} ended with {}", c.name, ended(t?)))).unwrap_or_default();
    let mut found = Finding::new(
        Code::UnhealthyPods,
        format!("the pod has ended{} ({reason}){said}{how}; this pod does not run again", on(pod)),
    );
    found.remedies.extend(broken.map(|(c, _)| logs(pod, &c.name, false, cx)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, find, node, pod};
    use serde_json::{Value, json};

    #[test]
    fn a_pod_that_has_started_is_told_with_the_next_command() {
        let runs = || pod("a/p").on("n1");
        let container = |state: Value| {
            json!({"containerStatuses": [{"name": "c", "ready": false, "restartCount": 9,
            "state": state, "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}]})
        };
        let crash = container(json!({"waiting": {"reason": "CrashLoopBackOff"}}));
        let oom = crash.clone();
        let oom = crate::testing::merged(
            oom,
            json!({"containerStatuses": [{"name": "c", "ready": false, "restartCount": 9,
            "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]}),
        );
        let rows = [
            ("Ready", runs().ready(), Some((Code::Running, "it runs on node n1 and has been Ready", ""))),
            (
                "a crash loop",
                runs().condition("Ready", "False", "").status(crash),
                Some((
                    Code::UnhealthyPods,
                    "container c ends again and again (9 restarts, last with exit code 1, Error)",
                    "kubectl logs p -c c --previous -n a",
                )),
            ),
            (
                "out of memory",
                runs().condition("Ready", "False", "").status(oom),
                Some((
                    Code::UnhealthyPods,
                    "killed for using more memory than its limit (OOMKilled)",
                    "kubectl logs p -c c --previous -n a",
                )),
            ),
            (
                "not Ready",
                runs().condition("Ready", "False", "").status(container(json!({"running": {}}))),
                Some((Code::UnhealthyPods, "it runs on node n1 and is not Ready", "kubectl describe pod p -n a")),
            ),
            ("ended well", runs().ended("Succeeded"), Some((Code::Running, "the pod has ended well (Succeeded)", ""))),
            (
                "ended badly",
                runs().status(
                    json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}),
                ),
                Some((Code::UnhealthyPods, "(Evicted): The node was low on resource: memory; this pod", "")),
            ),
            ("starting", runs().status(json!({"phase": "Pending"})), None),
        ];
        for (title, object, want) in rows {
            let snapshot = cluster().add(node("n1")).add(object).snapshot();
            let found = finding(&find(&snapshot, "a/p"), &Context::new(&snapshot));
            match (want, found) {
                (None, None) => {}
                (Some((code, words, command)), Some(f)) => {
                    assert_eq!(f.code, code, "{title}");
                    assert!(f.message.contains(words), "{title}: {}", f.message);
                    let first = f.remedies.first().and_then(|r| r.commands().first()).map_or("", |c| c);
                    assert_eq!(first, command, "{title}");
                }
                (want, found) => panic!("{title}: {want:?}, {found:?}"),
            }
        }
    }
}
