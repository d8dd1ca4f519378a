//! `disruption-in-progress`: pods were evicted or are terminating, and are not replaced yet. `buildDisruptedPodMap`
//! keeps a pod that was granted to an eviction for two minutes.

use super::cause::Cause;
use crate::budget::context::{BudgetContext, CoveredPod, is_or_are, names};
use crate::budget::numbers::is_disrupted;
use crate::budget::verdict::Verdict;
use crate::finding::Code;
use crate::snapshot::age::age;
use crate::snapshot::pod::Pod;
use crate::snapshot::pod_state::node_at_fault;
use std::sync::Arc;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let leaving = |p: &&CoveredPod| {
        !p.pod.is_finished() && (p.pod.is_terminating() || is_disrupted(&p.pod, &b.budget, b.snapshot.now))
    };
    let pods: Vec<&Arc<Pod>> = b.pods.iter().filter(leaving).map(|p| &p.pod).collect();
    if pods.is_empty() || !b.is_short() {
        return None;
    }
    let hanging = b.hanging().next().filter(|_| b.ideal.allowed_in_time(&b.budget) == 0);
    let past = hanging.and_then(|p| Some((p, p.meta.deletion_timestamp?)));
    let (verdict, message) = match past {
        Some((pod, end)) => (
            Verdict::Unhealthy,
            format!(
                "{} is still terminating, {} past its grace period{}",
                pod.meta.name,
                age(end, b.snapshot.now),
                silent(b, pod).map(|node| format!(": {node}")).unwrap_or_default()
            ),
        ),
        None => {
            let what = if pods.iter().all(|p| p.is_terminating()) { "terminating" } else { "being evicted" };
            let message =
                format!("{} {} {what} and not replaced yet", names(pods.iter().copied()), is_or_are(pods.len()));
            (Verdict::Waits, message)
        }
    };
    Some(Cause::new(verdict, b.finding(Code::DisruptionInProgress, message, pods)))
}

/// What is wrong with the pod's node, where that is why the deletion does not end.
fn silent(b: &BudgetContext<'_>, pod: &Pod) -> Option<String> {
    node_at_fault(b.snapshot, pod.node.as_deref()?).map(|fault| fault.text)
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::testing::{Object, Workload, budget, cluster, deployment, node, stateful_set};
    use serde_json::json;

    #[test]
    fn evicted_pods_are_told_until_they_are_replaced() {
        // After TestPDBNotExist… and TestDisruptedPods…: an entry counts for two minutes.
        let three = ["n", "n", "n"];
        let web = || deployment("a/web").on(&three);
        let of = |budget: Object, w: Workload| cluster().add(budget.selects("app=web").max_unavailable(1)).add(w);
        let ends = |at: &'static str| move |n: usize, p: Object| if n == 0 { p.deleted(at, 30) } else { p };
        let listed = |at: &str| budget("a/b").status(json!({"disruptedPods": {"web-1-0": at}}));
        let set = |at: &'static str| stateful_set("a/web").on(&three).pods(ends(at));
        table(
            find,
            vec![
                ("none", of(budget("a/b"), web()), None),
                (
                    "one terminates",
                    of(budget("a/b"), web().pods(ends("2026-01-01T12:00:10Z"))),
                    Some((Verdict::Waits, "web-1-0 is terminating and not replaced yet")),
                ),
                (
                    "one was granted to an eviction a minute ago",
                    of(listed("2026-01-01T11:59:00Z"), web()),
                    Some((Verdict::Waits, "web-1-0 is being evicted and not replaced yet")),
                ),
                ("one was three minutes ago", of(listed("2026-01-01T11:57:00Z"), web()), None),
                (
                    "a StatefulSet's does not end, so that no new one is made",
                    of(budget("a/b"), set("2026-01-01T11:40:00Z")),
                    Some((Verdict::Unhealthy, "web-0 is still terminating, 20 min past its grace period")),
                ),
                (
                    "a StatefulSet's does not end, as its node does not answer",
                    of(budget("a/b"), set("2026-01-01T11:40:00Z")).add(node("n").condition(
                        "Ready",
                        "Unknown",
                        "NodeStatusUnknown",
                    )),
                    Some((
                        Verdict::Unhealthy,
                        "web-0 is still terminating, 20 min past its grace period: node n does not answer",
                    )),
                ),
                (
                    "a Deployment's does not end, and a new one is made all the same",
                    of(budget("a/b"), web().pods(ends("2026-01-01T11:40:00Z"))),
                    Some((Verdict::Waits, "web-1-0 is terminating and not replaced yet")),
                ),
            ],
        );
    }
}
