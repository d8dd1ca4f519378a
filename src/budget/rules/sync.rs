//! `sync-failed` and `not-judged`: the disruption controller, or this tool, cannot tell how many pods to expect. Mirrors
//! `failSafe`: the controller then allows nothing and keeps its older numbers.

use super::cause::{Cause, NONE, UNKNOWN};
use crate::budget::context::{Basis, BudgetContext};
use crate::budget::expected::NoScale;
use crate::budget::faulty::leaving;
use crate::budget::numbers::SyncError;
use crate::budget::verdict::Verdict;
use crate::finding::{Code, Finding, Ref};
use crate::snapshot::age::duration_words;
use crate::snapshot::meta::OwnerRef;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let error = b.failure.as_ref()?;
    // A rule that the API server refuses reaches no controller: that is `invalid-budget`.
    if matches!(error, SyncError::BadRule(_) | SyncError::BadSelector) && b.budget.fault.is_some() {
        return None;
    }
    Some(match b.sync_fails() {
        true => Cause::new(Verdict::Broken, failed(b, error)),
        false => Cause::new(Verdict::Unknown, unknown(b, error)),
    })
}

fn failed(b: &BudgetContext<'_>, error: &SyncError) -> Finding {
    let about = |message: String, pod: &Arc<Pod>, owner: &OwnerRef| {
        b.finding(Code::SyncFailed, message, [pod]).about([Ref::owner(pod.meta.ns(), owner)])
    };
    match error {
        SyncError::Scale(NoScale::Fails { pod, owner, message }) => {
            let whose = match b.basis {
                Basis::Present => format!("pod {} of {} {}", pod.meta.name, owner.kind, owner.name),
                Basis::Spec => format!("the pods of {}", made_by(b, pod, owner)),
            };
            let message = format!("{NONE}: the controller cannot count {whose} ({message}){}", end(b));
            about(message, pod, owner)
        }
        SyncError::Scale(NoScale::Unknown { pod, owner }) => {
            let words = b.budget.condition().map(|c| c.message.to_string()).unwrap_or_default();
            let message = format!(
                "{NONE}: the controller reports that it cannot sync the budget ({words}); pod {} belongs to {} {}{}",
                pod.meta.name,
                owner.kind,
                owner.name,
                end(b)
            );
            about(message, pod, owner)
        }
        SyncError::BadRule(words) => {
            let message = format!("{NONE}: the controller cannot use {}: {words}", b.budget.rule);
            b.finding(Code::SyncFailed, message, [])
        }
        SyncError::BadSelector => {
            b.finding(Code::SyncFailed, format!("{NONE}: the controller cannot use the selector"), [])
        }
    }
}

/// The owner of a pod as a manifest has it: a CronJob in place of its Job.
fn made_by(b: &BudgetContext<'_>, pod: &Pod, owner: &OwnerRef) -> String {
    let above = b.snapshot.controller_of(&pod.meta).and_then(|w| w.meta.controller.as_ref());
    let written = above.unwrap_or(owner);
    format!("{} {}", written.kind, written.name)
}

/// When and why it ends by itself, where it does.
fn end(b: &BudgetContext<'_>) -> String {
    let Some((pods, seconds)) = leaving(b) else { return String::new() };
    let whose = match &pods[..] {
        [pod] => format!("pod {} is removed", pod.meta.name),
        pods => format!("{} pods are removed", pods.len()),
    };
    let why = if pods.iter().all(|p| p.is_terminating()) { "terminating" } else { "ended, and then removed" };
    format!(". This ends by itself once {whose} ({why}; at most {})", duration_words(seconds))
}

fn unknown(b: &BudgetContext<'_>, error: &SyncError) -> Finding {
    let SyncError::Scale(NoScale::Unknown { pod, owner }) = error else { return failed(b, error) };
    let message = format!(
        "{UNKNOWN}: {} {}, the owner of pod {}, or its scale could not be read; the numbers are the reported ones",
        owner.kind, owner.name, pod.meta.name
    );
    b.finding(Code::NotJudged, message, [pod]).about([Ref::owner(pod.meta.ns(), owner)])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Row, table};
    use super::*;
    use crate::testing::{budget, cluster, deployment, object, pod};
    use serde_json::json;

    #[test]
    fn an_owner_without_a_scale_ends_the_sync() {
        // After TestJobKind… of upstream's disruption tests: maxUnavailable and percentages need every owner's scale.
        let over = |rule: serde_json::Value| cluster().add(budget("a/b").selects("app=x").spec(rule));
        let of_job = || pod("a/j-0").label("app", "x").on("n").ready().owned_by("batch/v1", "Job/j");
        let max = json!({"maxUnavailable": 1});
        let job = |more: serde_json::Value| object("batch/v1", "Job", "a/j").with(more);
        let fails = "no eviction is allowed: the controller cannot count pod j-0 of Job j (jobs.batch does not implement the \
                     scale subresource)";
        let ends = |tail: &str| format!("{fails}. This ends by itself once {tail}");
        let done = json!({"spec": {"ttlSecondsAfterFinished": 600}, "status": {"completionTime": "2026-01-01T11:58:00Z",
            "conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": "2026-01-01T11:58:00Z"}]}});
        let orphan = || pod("a/w-0").label("app", "x").on("n").owned_by("apps/v1", "ReplicaSet/w");
        let other_set = || object("apps/v1", "ReplicaSet", "a/other");
        let rows: Vec<Row<'_, String>> = vec![
            ("a Job's pod", over(max.clone()).add(job(json!({}))).add(of_job()), Some((Verdict::Broken, fails.into()))),
            ("an integer minAvailable counts pods", over(json!({"minAvailable": 1})).add(job(json!({}))).add(of_job()), None),
            (
                "it terminates, and its Job has ended",
                over(max.clone()).add(job(done.clone())).add(of_job().deleted("2026-01-01T12:50:00Z", 3600)),
                Some((Verdict::Broken, ends("pod j-0 is removed (terminating; at most 50 min)"))),
            ),
            (
                "it terminates, and its Job makes another one",
                over(max.clone()).add(job(json!({}))).add(of_job().deleted("2026-01-01T12:50:00Z", 3600)),
                Some((Verdict::Broken, fails.into())),
            ),
            (
                "it terminates, and its ReplicaSet is gone",
                over(max.clone()).add(other_set()).add(orphan().deleted("2026-01-01T12:50:00Z", 3600)),
                Some((
                    Verdict::Broken,
                    "no eviction is allowed: the controller cannot count pod w-0 of ReplicaSet w (found no controllers \
                     for pod \"w-0\"). This ends by itself once pod w-0 is removed (terminating; at most 50 min)"
                        .into(),
                )),
            ),
            (
                "its Job has ended, and is removed after a while",
                over(max.clone()).add(job(done.clone())).add(of_job().ended("Succeeded")),
                Some((Verdict::Broken, ends("pod j-0 is removed (ended, and then removed; at most 8 min)"))),
            ),
            (
                "another one stays",
                over(max.clone())
                    .add(job(done.clone()))
                    .add(of_job().deleted("2026-01-01T12:50:00Z", 3600))
                    .add(pod("a/j-1").label("app", "x").on("n").ready().owned_by("batch/v1", "Job/j")),
                Some((Verdict::Broken, fails.into())),
            ),
            (
                "it terminates and its grace period is over",
                over(max.clone()).add(job(done.clone())).add(of_job().deleted("2026-01-01T11:00:00Z", 30)),
                Some((Verdict::Broken, fails.into())),
            ),
            (
                "a finalizer holds it",
                over(max.clone()).add(job(done)).add(
                    of_job().deleted("2026-01-01T12:50:00Z", 3600).with(json!({"metadata": {"finalizers": ["x/y"]}})),
                ),
                Some((Verdict::Broken, fails.into())),
            ),
            (
                "the owner is gone",
                over(max.clone()).add(other_set()).add(orphan()),
                Some((
                    Verdict::Broken,
                    "no eviction is allowed: the controller cannot count pod w-0 of ReplicaSet w (found no controllers \
                     for pod \"w-0\")"
                        .into(),
                )),
            ),
            (
                "the owner is not in the input",
                over(max.clone()).add(orphan()),
                Some((
                    Verdict::Unknown,
                    "the expected number of pods is not known: ReplicaSet w, the owner of pod w-0, or its scale could \
                     not be read; the numbers are the reported ones"
                        .into(),
                )),
            ),
            ("a Deployment's pods", over(max).add(deployment("a/x").on(&["n"])), None),
            (
                "half is no percentage: the API server refuses it, so no controller sees it",
                over(json!({"maxUnavailable": "half"})).add(deployment("a/x").on(&["n"])),
                None,
            ),
        ];
        table(find, rows);
    }
}
