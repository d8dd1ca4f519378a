//! Jobs: when they make a new pod, and two pods of one index at once.

use super::Look;
use crate::drain::note::Note;
use crate::drain::owners::replaces_after_failed;
use crate::finding::{Code, Ref, Remedy};
use crate::snapshot::workload::Detail;

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let Some(job) = look.snapshot.controller_of(&look.pod.meta).filter(|_| look.is_running()) else { return };
    let Detail::Job(detail) = &job.detail else { return };
    let (spec, status) = &**detail;
    let path = job.meta.path();
    if replaces_after_failed(spec) {
        let why = if spec.pod_replacement_policy.is_some() {
            "podReplacementPolicy: Failed"
        } else {
            "it has a podFailurePolicy"
        };
        let text = format!("Job {path} makes a new pod only when the old one has ended ({why})");
        notes.push(Note::new(Code::Ordered, text).about([Ref::workload(job)]));
    } else if spec.completion_mode.as_deref() == Some("Indexed") {
        let text = format!(
            "Indexed Job {path} starts the new pod while the old one of the same index still runs (podReplacementPolicy \
             TerminatingOrFailed): for up to {} s there are two workers of one index",
            look.options.grace(look.pod)
        );
        let remedy = Remedy {
            text: format!(
                "set podReplacementPolicy: Failed on Job {path} when it is made (the field cannot be changed later)"
            ),
            ..Remedy::default()
        };
        notes.push(Note::new(Code::IndexOverlap, text).about([Ref::workload(job)]).remedy(remedy));
    }
    // A deleted pod counts as failed, unless a rule of the failure policy leaves disruptions out.
    let ignores = spec.pod_failure_policy.as_ref().is_some_and(|p| p.rules.iter().any(|r| r.action == "Ignore"));
    let failed = status.failed.unwrap_or_default();
    let limit = spec.backoff_limit.unwrap_or(6);
    if !ignores && failed >= limit && spec.backoff_limit.is_some() {
        let text = format!(
            "Job {path} fails when this pod is evicted: it counts as failed, and {failed} of backoffLimit {limit} are used up"
        );
        notes.push(Note::new(Code::Downtime, text).about([Ref::workload(job)]));
    }
}
