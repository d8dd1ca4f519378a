//! Deployments. Mirrors `syncDeployment` of `pkg/controller/deployment/deployment_controller.go`, `sync.go` and
//! `recreate.go`: the pods are made by its ReplicaSets, and their number by the Deployment.

use super::controller::{self, Controller, WorkloadStatus, is_are, pod_of, pods_in_words};
use super::replicas;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::lists::some;
use crate::pending::admission::with_defaults;
use crate::quota::Usage;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::{Detail, Workload};
use crate::wire::apps::{DeploymentSpec, DeploymentStatus};
use serde_json::json;
use std::sync::Arc;

pub(super) fn sync(c: &Controller<'_>, spec: &DeploymentSpec, status: &DeploymentStatus) -> WorkloadStatus {
    let wanted = c.replicas();
    let sets = c.snapshot.workloads_controlled_by(c.workload);
    let pods: Vec<&Arc<Pod>> = sets.iter().flat_map(|set| c.snapshot.pods_controlled_by(set)).collect();
    let mut found = WorkloadStatus::having(&pods, wanted);
    // During a rollout the ReplicaSets together want more pods than the Deployment does.
    let by_sets: usize = sets.iter().map(|set| controller::count(set.replicas())).sum();
    for set in &sets {
        let of_set = replicas::sync(&Controller::new(set, c.cx), observed(set));
        found.missing += of_set.missing;
        found.findings.extend(of_set.findings);
    }
    found.missing = found.missing.max(wanted.saturating_sub(found.current));
    if found.missing == 0 {
        return found;
    }
    let old = pods.iter().find(|p| p.is_active()).copied();
    for f in found.findings.iter_mut().filter(|f| f.code == Code::Quota) {
        f.remedies.extend(surge(c, old, found.current));
    }
    if by_sets < wanted {
        let why = lagging(c, spec, status, &sets, &pods, by_sets);
        found.findings.splice(0..0, why);
    }
    found
}

fn observed(set: &Workload) -> Option<i64> {
    match &set.detail {
        Detail::ReplicaSet(status) => status.observed_generation,
        _ => None,
    }
}

/// Why its ReplicaSets want fewer pods than it does.
fn lagging(
    c: &Controller<'_>,
    spec: &DeploymentSpec,
    status: &DeploymentStatus,
    sets: &[&Arc<Workload>],
    pods: &[&Arc<Pod>],
    by_sets: usize,
) -> Vec<Finding> {
    let wanted = c.replicas();
    if sets.is_empty() {
        let refused = c.refused();
        if !refused.is_empty() {
            return refused;
        }
    }
    if sets.is_empty() && spec.paused {
        let message = format!("{} is paused (spec.paused), and a paused Deployment makes no ReplicaSet", c.name());
        return vec![
            c.finding(Code::Gated, message).remedy(
                Remedy::advice(format!("resume {}", c.name()))
                    .command(c.line(&["rollout", "resume"]))
                    .undo(c.line(&["rollout", "pause"]))
                    .risk("changes of the template made while it was paused are rolled out"),
            ),
        ];
    }
    let what = format!(": it wants {}, its ReplicaSets together want {by_sets}", pods_in_words(wanted));
    if let Some(behind) = c.behind(status.observed_generation, &what) {
        return vec![behind];
    }
    let recreates = spec.strategy.as_ref().is_some_and(|s| s.type_ == "Recreate");
    let old: Vec<&&Arc<Pod>> = pods.iter().filter(|p| !p.is_finished()).collect();
    if recreates && !old.is_empty() {
        let names = some(old.iter().map(|p| p.meta.name.clone()), 3);
        let ending = old.iter().filter(|p| !p.is_active()).count();
        let message = format!(
            "{} replaces its pods only after every old pod has ended (strategy Recreate): it waits for {names} ({} being deleted)",
            c.name(),
            is_are(ending)
        );
        return vec![c.finding(Code::Ordered, message).about(old.iter().take(10).map(|p| Ref::pod(p)))];
    }
    let message = format!("the ReplicaSets of {} want {by_sets} of its {}", c.name(), pods_in_words(wanted));
    vec![c.finding(Code::ControllerBehind, message).remedy(controller::controllers(c.kubectl))]
}

/// Where the extra pod of a rollout does not fit a quota, an old one can be deleted first.
fn surge(c: &Controller<'_>, old: Option<&Arc<Pod>>, there: usize) -> Option<Remedy> {
    let (old, template) = (old?, c.workload.template.as_ref()?);
    if there < c.replicas() {
        return None;
    }
    let patch =
        json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}});
    let text = format!(
        "set maxSurge 0 and maxUnavailable 1 on {}, so that an old pod is deleted before its replacement is made",
        c.name()
    );
    let args = ["patch", "deployment", &c.workload.meta.name, "--type=merge", "-p", &patch.to_string()];
    let fits_then = || {
        let mut usage = Usage::default();
        usage.release(c.snapshot, old);
        usage.refuses(c.snapshot, &with_defaults(&pod_of(c.workload, template), c.snapshot)).is_none()
    };
    Remedy::advice(text)
        .command(c.kubectl.line(c.workload.meta.ns(), &args))
        .risk("one pod fewer serves during the rollout")
        .tried(fits_then)
}
