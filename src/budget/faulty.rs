//! Pods that make a budget's sync fail, and whether they leave by themselves.

use super::context::BudgetContext;
use super::expected::expected;
use crate::snapshot::Snapshot;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::{Detail, Workload};
use jiff::Timestamp;
use std::sync::Arc;

/// The pods for which an owner's scale is missing.
pub fn faulty<'b>(b: &'b BudgetContext<'_>) -> impl Iterator<Item = &'b Arc<Pod>> {
    let pods = b.scope.pods.iter().map(|(pod, _)| pod);
    pods.filter(|pod| expected(b.snapshot, std::iter::once(*pod)).is_err())
}

/// All pods that make the sync fail, and the seconds until the last of them is gone, where all of them leave by
/// themselves: terminating, or of a Job that is removed some time after it has ended.
pub fn leaving<'b>(b: &'b BudgetContext<'_>) -> Option<(Vec<&'b Arc<Pod>>, i64)> {
    let pods: Vec<&Arc<Pod>> = faulty(b).collect();
    let last = pods.iter().map(|pod| seconds_left(b.snapshot, pod)).collect::<Option<Vec<i64>>>()?.into_iter().max()?;
    Some((pods, last))
}

/// `None` for a pod that stays, that is made again, or that nobody can tell.
fn seconds_left(snapshot: &Snapshot, pod: &Pod) -> Option<i64> {
    let owner = snapshot.controller_of(&pod.meta);
    let ended = owner.and_then(|w| finished(w));
    if let Some(end) = pod.meta.deletion_timestamp {
        let left = end.duration_since(snapshot.now).as_secs();
        let made_again = owner.is_some_and(|w| !w.meta.is_terminating() && ended.is_none());
        return (left >= 0 && pod.meta.finalizers.is_empty() && !made_again).then_some(left);
    }
    let (since, ttl) = ended.filter(|_| pod.is_finished())?;
    Some((ttl? - snapshot.now.duration_since(since).as_secs()).max(0))
}

/// Since when a Job has ended, and after how many seconds it is removed then. Mirrors `timeLeft` of
/// `pkg/controller/ttlafterfinished`.
fn finished(owner: &Workload) -> Option<(Timestamp, Option<i64>)> {
    let Detail::Job(job) = &owner.detail else { return None };
    let mut conditions = job.1.conditions.iter();
    let ended = conditions.find(|c| matches!(&*c.type_, "Complete" | "Failed") && c.status == "True")?;
    Some((ended.last_transition_time?.timestamp()?, job.0.ttl_seconds_after_finished.map(i64::from)))
}
