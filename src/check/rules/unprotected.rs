//! `downtime` and `no-budget`: workloads that a drain can take down as a whole.

use crate::check::context::WorkloadContext;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::snapshot::workload::Scale;

/// One replica without a budget: every drain of its node takes it down.
pub(super) fn single(w: &WorkloadContext<'_>) -> Option<Finding> {
    if w.budgets > 0 || !serves(w) || w.workload.scale != Scale::Replicas(1) {
        return None;
    }
    let (kind, path) = (&w.workload.kind, w.workload.meta.path());
    let message = format!(
        "{kind} {path} has 1 replica and no budget: a drain of its node makes it unavailable until a new pod is Ready"
    );
    Some(Finding::new(Code::Downtime, message).severity(Severity::Info).about([Ref::workload(w.workload)]))
}

/// Several replicas without a budget: a drain of several nodes can take all of them.
pub(super) fn several(w: &WorkloadContext<'_>) -> Option<Finding> {
    let Scale::Replicas(n @ 2..) = w.workload.scale else { return None };
    if !w.require_budgets || w.budgets > 0 || !serves(w) {
        return None;
    }
    let (kind, path) = (&w.workload.kind, w.workload.meta.path());
    let message =
        format!("{kind} {path} has {n} replicas and no budget: nothing keeps drains from evicting all of them at once");
    let remedy =
        Remedy::advice("create a PodDisruptionBudget with maxUnavailable: 1 that selects the labels of its pods");
    Some(Finding::new(Code::NoBudget, message).about([Ref::workload(w.workload)]).remedy(remedy))
}

/// Whether it is meant to run on: neither a Job nor a DaemonSet, whose pods a drain leaves alone.
fn serves(w: &WorkloadContext<'_>) -> bool {
    matches!(
        &*w.workload.kind,
        "Deployment" | "StatefulSet" | "ReplicaSet" | "ReplicationController" | "Rollout" | "CloneSet"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Selection;
    use crate::testing::{Cluster, Workload, budget, cluster, deployment, workload};
    use serde_json::json;

    #[test]
    fn workloads_without_a_budget() {
        let made = |w: Workload, n: usize| {
            w.spec(json!({"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}}})).replicas(n)
        };
        let web = |n: usize| made(deployment("a/web"), n);
        let over = |c: Cluster| c.add(budget("a/b").selects("app=web").max_unavailable(1));
        let job =
            || workload("batch/v1", "Job", "a/web").spec(json!({"template": {"spec": {"restartPolicy": "Never"}}}));
        for (title, cluster, require, want) in [
            ("one replica", cluster().add(web(1)), false, &[Code::Downtime][..]),
            ("one replica under a budget", over(cluster().add(web(1))), true, &[]),
            ("several, and none asked for", cluster().add(web(3)), false, &[]),
            ("several", cluster().add(web(3)), true, &[Code::NoBudget]),
            ("several under a budget", over(cluster().add(web(3))), true, &[]),
            ("a Job ends", cluster().add(job()), true, &[]),
        ] {
            let snapshot = cluster.snapshot();
            let selection = Selection::new(&snapshot);
            let name = snapshot.workloads.iter().find(|w| w.meta.controller.is_none()).unwrap();
            let context = WorkloadContext::new(&snapshot, &selection, name, require);
            let found: Vec<Code> =
                super::super::RULES.iter().filter_map(|rule| rule(&context)).map(|f| f.code).collect();
            assert_eq!(found, want, "{title}");
        }
    }
}
