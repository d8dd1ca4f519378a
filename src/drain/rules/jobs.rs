//! Jobs: when they make a new pod, and two pods of one index at once.

use super::RuleContext;
use crate::cure::Remedy;
use crate::drain::controllers::OnEviction;
use crate::drain::note::Note;
use crate::finding::{Code, Ref, Severity};
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::{Detail, Workload};
use std::sync::Arc;

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let Some(job) = rule.snapshot.controller_of(&rule.pod.meta).filter(|_| !rule.pod.is_finished()) else { return };
    let Detail::Job(detail) = &job.detail else { return };
    let (spec, status) = &**detail;
    let path = job.meta.path();
    notes.extend(twin(rule, job));
    if !rule.is_running() {
        return;
    }
    let on_eviction = rule.context.controllers.of(rule.pod).map_or(OnEviction::Nothing, |c| c.on_eviction(rule.pod));
    let why = match on_eviction {
        OnEviction::FailsByPolicy => Some("its podFailurePolicy says so of disruptions (FailJob)".to_owned()),
        OnEviction::FailsByLimit(limit) => {
            let failed = status.failed.unwrap_or_default();
            Some(format!("it counts as failed, and {failed} of backoffLimit {limit} are used up"))
        }
        OnEviction::FailsIndex(None) => Some("its podFailurePolicy says so of disruptions (FailIndex)".to_owned()),
        OnEviction::FailsIndex(Some(limit)) => {
            Some(format!("it counts as failed, and all of backoffLimitPerIndex {limit} are used up for the index"))
        }
        OnEviction::Nothing => None,
    };
    if let Some(why) = why {
        // What fails makes no new pod.
        let what = match on_eviction {
            OnEviction::FailsIndex(_) => format!("an index of Job {path} fails for good"),
            _ => format!("Job {path} fails"),
        };
        let text = format!("{what} when this pod is evicted: {why}");
        notes.push(Note::new(Code::Downtime, text).about([Ref::workload(job)]));
        return;
    }
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
    if let Some(queue) = job.meta.labels.get(QUEUE).filter(|_| !spec.replaces_after_failed()) {
        let text = format!(
            "Job {path} makes the new pod at once: queue {queue} (Kueue) uses more than its quota until the old pod has ended, for \
             up to {} s",
            rule.grace()
        );
        notes.push(Note::new(Code::Quota, text).about([Ref::workload(job)]).severity(Severity::Info));
    }
}

/// The label by which a workload asks Kueue for room.
const QUEUE: &str = "kueue.x-k8s.io/queue-name";

/// The label that names the index of a pod of an Indexed Job.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// Whether another pod of the same index runs at this moment.
fn twin(rule: &RuleContext<'_>, job: &Workload) -> Option<Note> {
    let index = |p: &Pod| p.meta.labels.get(INDEX).or_else(|| p.meta.annotations.get(INDEX)).cloned();
    let own = index(rule.pod)?;
    let siblings = rule.snapshot.pods_of(job.meta.uid.as_ref()?);
    let is_twin = |p: &&Arc<Pod>| {
        p.meta.name != rule.pod.meta.name && p.node.is_some() && !p.is_finished() && index(p).as_ref() == Some(&own)
    };
    let twin = siblings.filter(is_twin).find(|p| p.is_terminating() != rule.pod.is_terminating())?;
    let (old, new) = if rule.pod.is_terminating() { (rule.pod, twin) } else { (twin, rule.pod) };
    let left = old.grace_left(rule.snapshot.now).unwrap_or_default();
    let text = format!(
        "two pods of index {own} of Job {} run at this moment: {}, which is being deleted and has up to {left} s left, and {}, \
         which replaces it",
        job.meta.path(),
        old.meta.name,
        new.meta.name
    );
    Some(Note::new(Code::IndexOverlap, text).about([Ref::workload(job), Ref::pod(twin)]))
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
    const AGAIN: (&str, &str) = (r#", "annotations": {"batch.kubernetes.io/job-index-failure-count": "1"}"#, "");
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
        let index = &[(Drainability::Drains, "an index of Job a/j fails for good when this pod is evicted: ")][..];
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
            ("an index may fail once", r#""completionMode": "Indexed", "backoffLimitPerIndex": 1"#, 0, ALIVE, &[]),
            ("an index has failed once", r#""completionMode": "Indexed", "backoffLimitPerIndex": 1"#, 0, AGAIN, index),
            ("an index may not fail", r#""completionMode": "Indexed", "backoffLimitPerIndex": 0"#, 0, ALIVE, index),
            ("disruptions fail the index", &rule(&[("FailIndex", "DisruptionTarget")]), 0, ALIVE, index),
        ] {
            assert_notes(title, &met(Code::Downtime, spec, failed, pod), want);
        }
    }

    #[test]
    fn two_pods_of_an_index_at_once_are_told() {
        let labelled =
            |index: &str| format!(r#", "labels": {{"batch.kubernetes.io/job-completion-index": "{index}"}}"#);
        let leaving = |index: &str| format!(r#"{}, "deletionTimestamp": "2026-01-01T00:00:10Z""#, labelled(index));
        let told =
            &[(Drainability::Drains, "two pods of index 3 of Job a/j run at this moment: q, which is being deleted")];
        let own =
            &[(Drainability::Drains, "of Job a/j run at this moment: p, which is being deleted and has up to 10 s")];
        for (title, p, q, want) in [
            ("the old one is being deleted", labelled("3"), leaving("3"), &told[..]),
            ("it is the old one", leaving("3"), labelled("3"), &own[..]),
            ("another index", labelled("3"), leaving("4"), &[]),
            ("nothing is being deleted", labelled("3"), labelled("3"), &[]),
            ("no index", String::new(), leaving("3"), &[]),
        ] {
            let mut c = Cluster::new();
            ["n", "m"].iter().for_each(|n| c.node(n, "{}"));
            // Failed: the rule that tells of later pairs says nothing.
            let spec = r#"{"completionMode": "Indexed", "podReplacementPolicy": "Failed"}"#;
            c.add("batch/v1", "Job", "a", "j", spec);
            let owner = owned_by("batch/v1", "Job", "j");
            c.pod_of("a", "p", "n", &format!("{owner}{p}"), "", "");
            c.pod_of("a", "q", "m", &format!("{owner}{q}"), "", "");
            assert_notes(title, &c.met(Code::IndexOverlap, &DrainOptions::default()), want);
        }
    }

    #[test]
    fn a_queue_s_quota_is_overshot_by_early_replacements() {
        let told = &[(Drainability::Drains, "queue team-a (Kueue) uses more than its quota")];
        for (title, labels, spec, want) in [
            ("in a queue", r#", "labels": {"kueue.x-k8s.io/queue-name": "team-a"}"#, "{}", &told[..]),
            (
                "the new pod waits for the old one",
                r#", "labels": {"kueue.x-k8s.io/queue-name": "team-a"}"#,
                r#"{"podReplacementPolicy": "Failed"}"#,
                &[],
            ),
            ("in no queue", "", "{}", &[]),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            c.object(&format!(
                r#"{{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"name": "j", "namespace": "a", "uid": "a-Job-j"{labels}}},
                    "spec": {spec}}}"#
            ));
            c.pod_of("a", "p", "n", &owned_by("batch/v1", "Job", "j"), "", "");
            assert_notes(title, &c.met(Code::Quota, &DrainOptions::default()), want);
        }
    }
}
