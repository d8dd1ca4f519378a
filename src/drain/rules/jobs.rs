//! Jobs: when they make a new pod, and two pods of one index at once.

use super::RuleContext;
use crate::cure::Remedy;
use crate::drain::controllers::OnEviction;
use crate::drain::note::Note;
use crate::finding::{Code, Ref};
use crate::snapshot::workload::Detail;

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let Some(job) = rule.snapshot.controller_of(&rule.pod.meta).filter(|_| rule.is_running()) else { return };
    let Detail::Job(detail) = &job.detail else { return };
    let (spec, status) = &**detail;
    let path = job.meta.path();
    if spec.replaces_after_failed() {
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
            rule.grace()
        );
        let remedy = Remedy::advice(format!(
            "set podReplacementPolicy: Failed on Job {path} when it is made (the field cannot be changed later)"
        ));
        notes.push(Note::new(Code::IndexOverlap, text).about([Ref::workload(job)]).remedy(remedy));
    }
    let why = match rule.context.controllers.of(rule.pod).map(|c| c.on_eviction) {
        Some(OnEviction::FailsByPolicy) => "its podFailurePolicy says so of disruptions (FailJob)".to_owned(),
        Some(OnEviction::FailsByLimit(limit)) => {
            let failed = status.failed.unwrap_or_default();
            format!("it counts as failed, and {failed} of backoffLimit {limit} are used up")
        }
        Some(OnEviction::Nothing) | None => return,
    };
    let text = format!("Job {path} fails when this pod is evicted: {why}");
    notes.push(Note::new(Code::Downtime, text).about([Ref::workload(job)]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes, owned_by};

    fn met(code: Code, spec: &str, failed: i32, (meta, status): (&str, &str)) -> Vec<Note> {
        let mut c = Cluster::new();
        c.node("n", "{}");
        c.object(&format!(
            r#"{{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "j", "namespace": "a", "uid": "a-Job-j"}},
                "spec": {{{spec}}}, "status": {{"failed": {failed}}}}}"#
        ));
        let owner = owned_by("batch/v1", "Job", "j");
        c.pod_of("a", "p", "n", &format!("{owner}{meta}"), r#""terminationGracePeriodSeconds": 45"#, status);
        c.met(code, &DrainOptions::default())
    }

    const ALIVE: (&str, &str) = ("", "");
    const LEAVING: (&str, &str) = (r#", "deletionTimestamp": "2026-01-01T00:00:10Z""#, "");
    const DONE: (&str, &str) = ("", r#""phase": "Succeeded""#);

    #[test]
    fn jobs_make_new_pods_by_their_policy() {
        // After the defaults of `batch/v1`: Failed with a podFailurePolicy, else TerminatingOrFailed.
        let indexed = r#""completionMode": "Indexed""#;
        let either = format!(r#"{indexed}, "podReplacementPolicy": "TerminatingOrFailed""#);
        let failed = format!(r#"{indexed}, "podReplacementPolicy": "Failed""#);
        let rules = format!(r#"{indexed}, "podFailurePolicy": {{"rules": []}}"#);
        let overlap = &[(Drainability::Drains, "for up to 45 s there are two workers of one index")][..];
        let ordered = &[(Drainability::Drains, "only when the old one has ended (podReplacementPolicy: Failed)")][..];
        let by_rules = &[(Drainability::Drains, "only when the old one has ended (it has a podFailurePolicy)")][..];
        for (title, spec, pod, overlaps, waits) in [
            ("indexed, by default", indexed, ALIVE, overlap, &[][..]),
            ("indexed, as it terminates", &*either, ALIVE, overlap, &[]),
            ("indexed, once it has ended", &*failed, ALIVE, &[], ordered),
            ("indexed, with a failure policy", &*rules, ALIVE, &[], by_rules),
            ("not indexed", "", ALIVE, &[], &[]),
            ("not indexed, once it has ended", r#""podReplacementPolicy": "Failed""#, ALIVE, &[], ordered),
            ("it has ended", indexed, DONE, &[], &[]),
            ("it is being deleted", indexed, LEAVING, &[], &[]),
        ] {
            assert_notes(title, &met(Code::IndexOverlap, spec, 0, pod), overlaps);
            assert_notes(title, &met(Code::Ordered, spec, 0, pod), waits);
        }
    }

    #[test]
    fn an_eviction_may_fail_a_job() {
        // A Job fails with more failures than backoffLimit, and an eviction is one, unless a rule says otherwise.
        let rule = |rules: &[(&str, &str)]| {
            let on = |on: &str| match on {
                "exit" => r#""onExitCodes": {"operator": "In", "values": [42]}"#.to_owned(),
                "no target" => r#""onPodConditions": [{"type": "DisruptionTarget", "status": "False"}]"#.to_owned(),
                kind => format!(r#""onPodConditions": [{{"type": "{kind}", "status": "True"}}]"#),
            };
            let rules: Vec<String> =
                rules.iter().map(|(action, of)| format!(r#"{{"action": "{action}", {}}}"#, on(of))).collect();
            format!(r#""backoffLimit": 2, "podFailurePolicy": {{"rules": [{}]}}"#, rules.join(", "))
        };
        let limit = r#""backoffLimit": 2"#;
        let used_up = &[(
            Drainability::Drains,
            "Job a/j fails when this pod is evicted: it counts as failed, and 2 of backoffLimit 2",
        )][..];
        let by_rule =
            &[(Drainability::Drains, "Job a/j fails when this pod is evicted: its podFailurePolicy says so")][..];
        for (title, spec, failed, pod, want) in [
            ("one is left", limit, 1, ALIVE, &[][..]),
            ("none is left", limit, 2, ALIVE, used_up),
            ("no limit is told", "", 9, ALIVE, &[]),
            ("disruptions do not count", &*rule(&[("Ignore", "DisruptionTarget")]), 2, ALIVE, &[]),
            ("disruptions count", &rule(&[("Count", "DisruptionTarget")]), 2, ALIVE, used_up),
            ("disruptions fail it", &rule(&[("FailJob", "DisruptionTarget")]), 0, ALIVE, by_rule),
            ("another condition fails it", &rule(&[("FailJob", "ConfigIssue")]), 0, ALIVE, &[]),
            ("another condition does not count", &rule(&[("Ignore", "ConfigIssue")]), 2, ALIVE, used_up),
            ("the condition is to be absent", &rule(&[("Ignore", "no target")]), 2, ALIVE, used_up),
            ("exit codes decide first", &rule(&[("FailJob", "exit"), ("FailJob", "DisruptionTarget")]), 2, ALIVE, &[]),
            ("the first that matches", &rule(&[("Ignore", "DisruptionTarget"), ("FailJob", "exit")]), 2, ALIVE, &[]),
            ("it has ended", limit, 2, DONE, &[]),
            ("it is being deleted", limit, 2, LEAVING, &[]),
        ] {
            assert_notes(title, &met(Code::Downtime, spec, failed, pod), want);
        }
    }
}
