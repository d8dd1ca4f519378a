//! StatefulSets. Mirrors `updateStatefulSet` of `pkg/controller/statefulset/stateful_set_control.go`.

use super::controller::{Controller, WorkloadStatus};
use crate::finding::{Code, Finding, Ref};
use crate::snapshot::age::{age, duration_words};
use crate::snapshot::pod::Pod;
use crate::snapshot::pod_state::why_not_ready;
use crate::snapshot::{Kind, PersistentVolumeClaim};
use crate::wire::apps::{StatefulSetSpec, StatefulSetStatus};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn sync(c: &Controller<'_>, spec: &StatefulSetSpec, status: &StatefulSetStatus) -> WorkloadStatus {
    let start = i64::from(spec.first_ordinal());
    let end = start + i64::from(c.workload.replicas().unwrap_or(0).max(0));
    let pods = c.pods();
    let by_ordinal: BTreeMap<i64, &Arc<Pod>> =
        pods.iter().filter_map(|p| Some((ordinal(c, p)?, *p))).filter(|(o, _)| (start..end).contains(o)).collect();
    let mut found = WorkloadStatus::having(&by_ordinal.values().copied().collect::<Vec<_>>(), c.replicas());
    found.missing = c.replicas().saturating_sub(found.current);
    // The first place without a pod that stays: only that one is looked at under OrderedReady.
    let vacant = (start..end).find(|o| by_ordinal.get(o).is_none_or(|p| !p.is_active()));
    let Some(first) = vacant else { return found };
    let before = by_ordinal.range(start..first).map(|(_, p)| *p);
    let minimum = i64::from(spec.min_ready_seconds.unwrap_or(0));
    if let Some(held) = before.filter(|_| spec.is_ordered()).find_map(|p| Some((p, not_available(c, p, minimum)?))) {
        found.findings.push(waits(c, first, held));
    } else if let Some(p) = by_ordinal.get(&first) {
        found.findings.push(waits(c, first, (p, leaving(c, p))));
    } else if let Some(claim) = leaving_claim(c, spec, first) {
        let message = format!(
            "claim {} of {} is being deleted; {} is made once that is done",
            claim.meta.name,
            c.name(),
            name(c, first)
        );
        let object = Ref::of(Kind::PersistentVolumeClaim, &claim.meta);
        found.findings.push(c.finding(Code::VolumeDeleted, message).about([object]));
    } else {
        found.findings = c.refused();
        if found.findings.is_empty() {
            found.findings.extend(c.behind(status.observed_generation, ""));
        }
    }
    found
}

fn name(c: &Controller<'_>, ordinal: i64) -> String {
    format!("{}-{ordinal}", c.workload.meta.name)
}

/// The number at the end of a pod's name. Mirrors `getParentNameAndOrdinal`.
fn ordinal(c: &Controller<'_>, pod: &Pod) -> Option<i64> {
    let (parent, number) = pod.meta.name.rsplit_once('-')?;
    (parent == &*c.workload.meta.name).then(|| number.parse::<i64>().ok()).flatten()
}

/// Why the pod of a lower ordinal does not let the next one be made. Mirrors `isRunningAndAvailable`.
fn not_available(c: &Controller<'_>, pod: &Pod, minimum: i64) -> Option<String> {
    if pod.is_terminating() {
        return Some(leaving(c, pod));
    }
    if !pod.is_ready() {
        let why = why_not_ready(c.snapshot, pod).map(|w| format!(": {}", w.text)).unwrap_or_default();
        return Some(format!("is not Ready{why}"));
    }
    let since = pod.condition("Ready").and_then(|c| c.since)?;
    let left = minimum - c.snapshot.now.duration_since(since).as_secs();
    (left > 0).then(|| format!("has to be Ready for {} more (minReadySeconds {minimum})", duration_words(left)))
}

fn leaving(c: &Controller<'_>, pod: &Pod) -> String {
    let now = c.snapshot.now;
    match pod.meta.deletion_timestamp {
        Some(t) if t > now => {
            format!(
                "is being deleted, at most {} of its grace period left",
                duration_words(t.duration_since(now).as_secs())
            )
        }
        Some(t) => format!("is being deleted, {} past its grace period", age(t, now)),
        None => format!("has ended ({})", pod.status.phase.as_str()),
    }
}

fn waits(c: &Controller<'_>, ordinal: i64, (pod, why): (&Arc<Pod>, String)) -> Finding {
    let next = name(c, ordinal);
    let message = if *pod.meta.name == *next {
        format!("{} {why}; its replacement is made only once the old pod has ended", pod.meta.path())
    } else {
        format!(
            "{next} is made after {}, in order (podManagementPolicy OrderedReady): {} {why}",
            pod.meta.name, pod.meta.name
        )
    };
    let mut finding = c.finding(Code::Ordered, message).about([Ref::pod(pod)]);
    if !pod.is_active() && pod.meta.deletion_timestamp.is_some_and(|t| t < c.snapshot.now) {
        finding.remedies.push(c.force_delete(pod));
    }
    finding
}

/// A claim of the pod's that is being deleted. Mirrors `PodClaimIsStale`.
fn leaving_claim<'a>(c: &Controller<'a>, spec: &StatefulSetSpec, ordinal: i64) -> Option<&'a PersistentVolumeClaim> {
    let claims = &c.snapshot.persistent_volume_claims;
    let template = |t: &crate::wire::volume::PersistentVolumeClaim| t.metadata.as_ref().map(|m| m.name.clone());
    let names = spec.volume_claim_templates.iter().filter_map(template).map(|t| format!("{t}-{}", name(c, ordinal)));
    names.filter_map(|n| claims.named(c.workload.meta.ns(), &n)).find(|c| c.meta.is_terminating()).map(|c| &**c)
}
