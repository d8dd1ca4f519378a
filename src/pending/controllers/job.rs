//! Jobs. Mirrors `syncJob` and `manageJob` of `pkg/controller/job/job_controller.go`, `firstPendingIndexes` and
//! `calculateFailedIndexes` of `indexed_job_utils.go`, and `getRemainingTime` of `backoff_utils.go`.

use super::controller::{Controller, WorkloadStatus, count, is_are, pods_in_words};
use super::indexes::Indexes;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::lists::some;
use crate::pending::kueue;
use crate::snapshot::age::{age, duration_words};
use crate::snapshot::pod::{ContainerState, Pod};
use crate::wire::apps::{JobSpec, JobStatus};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Who looks after a Job that names nobody. Mirrors `JobControllerName`.
const OWN_CONTROLLER: &str = "kubernetes.io/job-controller";

pub(super) fn sync(c: &Controller<'_>, spec: &JobSpec, status: &JobStatus) -> WorkloadStatus {
    let pods = c.pods();
    if let Some(end) = ended(c, status) {
        let mut found = WorkloadStatus::having(&pods, 0);
        found.findings.push(end);
        found.findings.extend(failed_indexes(c, status));
        return found;
    }
    let active: Vec<&Arc<Pod>> = pods.iter().filter(|p| p.is_active()).copied().collect();
    let wanted = wanted(spec, status, active.len());
    let mut found = WorkloadStatus::having(&pods, wanted);
    let ending: Vec<&Arc<Pod>> = pods.iter().filter(|p| p.is_terminating() && !p.is_finished()).copied().collect();
    found.missing = wanted.saturating_sub(active.len());
    if let Some(completions) = spec.completions.filter(|_| is_indexed(spec)) {
        found.missing = found.missing.min(open_indexes(status, completions, &active));
    }
    if spec.suspend {
        found.findings.push(suspended(c));
        return found;
    }
    if let Some(other) = spec.managed_by.as_deref().filter(|m| *m != OWN_CONTROLLER) {
        let message = format!("{} is looked after by {other} (spec.managedBy), not by the Job controller", c.name());
        found.findings.push(c.finding(Code::MissingPods, message));
        found.missing = 0;
        return found;
    }
    found.findings.extend(failed_indexes(c, status));
    found.findings.extend(twice(c, spec, &pods));
    found.findings.extend(over_parallelism(c, spec, &active, &ending));
    if found.missing > 0 {
        let blocked = found.findings.len();
        if replaces_only_ended(spec) && !ending.is_empty() {
            found.findings.push(replacement(c, &ending));
        } else {
            found.findings.extend(c.refused());
        }
        if found.findings.len() == blocked {
            found.findings.extend(backoff(c, spec, &pods));
        }
        if found.findings.len() == blocked {
            found.findings.push(c.unexplained(&found));
        }
    }
    found
}

/// How many pods are to run at the moment.
fn wanted(spec: &JobSpec, status: &JobStatus, active: usize) -> usize {
    let parallelism = count(Some(spec.parallelism.unwrap_or(1)));
    match spec.completions {
        Some(n) => count(Some(n)).saturating_sub(count(status.succeeded)).min(parallelism),
        // A work queue: once a pod has succeeded no more are made.
        None if count(status.succeeded) > 0 => active,
        None => parallelism,
    }
}

fn is_indexed(spec: &JobSpec) -> bool {
    spec.completion_mode.as_deref() == Some("Indexed")
}

/// With a pod failure policy only `Failed` is allowed, and it is the default.
fn replaces_only_ended(spec: &JobSpec) -> bool {
    spec.pod_replacement_policy.as_deref() == Some("Failed")
        || (spec.pod_replacement_policy.is_none() && spec.pod_failure_policy.is_some())
}

/// How many indexes are neither done, nor failed for good, nor at work.
fn open_indexes(status: &JobStatus, completions: i32, active: &[&Arc<Pod>]) -> usize {
    let all = u32::try_from(completions).unwrap_or(0);
    let done = Indexes::read(&status.completed_indexes, all);
    let failed = Indexes::read(status.failed_indexes.as_deref().unwrap_or_default(), all);
    let closed = Indexes::new(done.into_iter().chain(&failed).collect());
    let closed = closed.and(active.iter().filter_map(|p| index(p)).filter(|i| *i < all));
    (all as usize).saturating_sub(closed.len())
}

/// The completion index of a pod. Mirrors `getCompletionIndex`, which reads the annotation of the same name.
fn index(pod: &Pod) -> Option<u32> {
    pod.meta.labels.get("batch.kubernetes.io/job-completion-index")?.parse().ok()
}

/// Why the Job makes no more pods: it has ended, or is about to.
fn ended(c: &Controller<'_>, status: &JobStatus) -> Option<Finding> {
    let holds = |kind: &str| status.conditions.iter().find(|k| k.type_ == kind && k.status == "True");
    let since = |k: &crate::wire::apps::JobCondition| {
        let at = k.last_transition_time.and_then(crate::wire::time::Time::timestamp);
        at.map(|t| format!(" {} ago", age(t, c.snapshot.now))).unwrap_or_default()
    };
    let said = |k: &crate::wire::apps::JobCondition| match (&*k.reason, &*k.message) {
        ("", "") => String::new(),
        (reason, "") => format!(" ({reason})"),
        (reason, message) => format!(" ({reason}: {message})"),
    };
    if let Some(k) = holds("Failed") {
        let message = format!("{} has failed{}{}: a failed Job makes no more pods", c.name(), since(k), said(k));
        let mut finding = c.finding(Code::JobFailed, message);
        finding.remedies.push(
            Remedy::advice(format!(
                "read why its pods failed, correct that, and make {} anew: a failed Job is not restarted",
                c.name()
            ))
            .command(c.line(&["describe"])),
        );
        return Some(finding);
    }
    if let Some(k) = holds("FailureTarget") {
        let message = format!("{} is about to fail{}{}: it makes no more pods", c.name(), since(k), said(k));
        return Some(c.finding(Code::JobFailed, message));
    }
    let k = holds("Complete").or_else(|| holds("SuccessCriteriaMet"))?;
    let policy = if k.reason == "SuccessPolicy" { " by its successPolicy" } else { "" };
    let message = format!("{} is complete{policy}{}{}: it makes no more pods", c.name(), since(k), said(k));
    Some(c.finding(Code::Completed, message))
}

fn suspended(c: &Controller<'_>) -> Finding {
    if let Some(held) = kueue::of_workload(c.workload, c.cx) {
        let message = format!("{} is suspended by Kueue: {}", c.name(), held.text);
        let mut finding = c.finding(Code::Gated, message).about(held.objects);
        finding.remedies = held.remedies;
        finding.no_remedy = held.no_remedy;
        return finding;
    }
    let above = c.snapshot.controller_of(&c.workload.meta);
    let who = above.map(|w| format!(" ({} {} owns it)", w.kind, w.meta.name)).unwrap_or_default();
    let message = format!("{} is suspended{who} (spec.suspend): it makes no pods until it is resumed", c.name());
    let mut finding = c.finding(Code::Gated, message);
    if above.is_none() {
        let patch = |to: &str| {
            let spec = format!("{{\"spec\":{{\"suspend\":{to}}}}}");
            c.kubectl.line(c.workload.meta.ns(), &["patch", "job", &c.workload.meta.name, "--type=merge", "-p", &spec])
        };
        finding.remedies.push(
            Remedy::advice(format!("resume {}", c.name()))
                .command(patch("false"))
                .undo(patch("true"))
                .risk("whoever suspended the Job did so for a reason"),
        );
    }
    finding
}

fn failed_indexes(c: &Controller<'_>, status: &JobStatus) -> Option<Finding> {
    let failed = status.failed_indexes.as_deref().filter(|f| !f.is_empty())?;
    let word = if failed.contains([',', '-']) { "indexes" } else { "index" };
    let message = format!(
        "{word} {failed} of {} failed for good (backoffLimitPerIndex): no more pods are made for {}",
        c.name(),
        if word == "index" { "that index" } else { "these indexes" }
    );
    Some(c.finding(Code::IndexFailed, message))
}

/// Two pods of one index at work at the same time.
fn twice(c: &Controller<'_>, spec: &JobSpec, pods: &[&Arc<Pod>]) -> Option<Finding> {
    if !is_indexed(spec) {
        return None;
    }
    let mut by_index: BTreeMap<u32, Vec<&Arc<Pod>>> = BTreeMap::new();
    for p in pods.iter().filter(|p| !p.is_finished() && p.node.is_some()) {
        by_index.entry(index(p)?).or_default().push(p);
    }
    let double: Vec<(u32, Vec<&Arc<Pod>>)> = by_index.into_iter().filter(|(_, p)| p.len() > 1).collect();
    if double.is_empty() {
        return None;
    }
    let words = double.iter().map(|(i, pods)| {
        let names =
            pods.iter().map(|p| format!("{}{}", p.meta.name, if p.is_terminating() { " (being deleted)" } else { "" }));
        format!("index {i} by {}", names.collect::<Vec<_>>().join(" and "))
    });
    let message = format!(
        "two pods of one index are on nodes at once: {} (podReplacementPolicy TerminatingOrFailed makes the replacement before \
         the old pod has ended; Failed would wait)",
        some(words, 3)
    );
    let objects = double.iter().flat_map(|(_, pods)| pods.iter().map(|p| Ref::pod(p)));
    Some(c.finding(Code::IndexOverlap, message).about(objects.take(10)))
}

/// More pods than parallelism while old ones end.
fn over_parallelism(c: &Controller<'_>, spec: &JobSpec, active: &[&Arc<Pod>], ending: &[&Arc<Pod>]) -> Option<Finding> {
    let parallelism = count(Some(spec.parallelism.unwrap_or(1)));
    let now = active.len() + ending.len();
    if ending.is_empty() || now <= parallelism {
        return None;
    }
    let longest = ending.iter().filter_map(|p| p.meta.deletion_timestamp).max()?;
    let left = longest.duration_since(c.snapshot.now).as_secs();
    let until = if left > 0 {
        format!("at most {} more", duration_words(left))
    } else {
        format!("{} past its grace period", age(longest, c.snapshot.now))
    };
    let names = some(ending.iter().map(|p| p.meta.name.clone()), 3);
    let message = format!(
        "{} has {} where parallelism is {parallelism}: {} being deleted ({names}, {until}), and the replacements were made at \
         once (podReplacementPolicy TerminatingOrFailed)",
        c.name(),
        pods_in_words(now),
        is_are(ending.len())
    );
    Some(c.finding(Code::OverParallelism, message).about(ending.iter().take(10).map(|p| Ref::pod(p))))
}

/// A Job that makes a new pod only when the old one has ended.
fn replacement(c: &Controller<'_>, ending: &[&Arc<Pod>]) -> Finding {
    let snapshot = c.snapshot;
    let mut remedies = Vec::new();
    let words = ending.iter().map(|p| {
        let node = p.node.as_ref().and_then(|n| snapshot.nodes.named("", n));
        match (node, p.meta.deletion_timestamp) {
            (Some(n), _) if !n.is_ready() => {
                remedies.push(c.force_delete(p));
                format!(
                    "{} on node {}, whose kubelet does not answer and so does not report that the pod ended",
                    p.meta.name, n.meta.name
                )
            }
            (_, Some(t)) if t > snapshot.now => {
                let left = duration_words(t.duration_since(snapshot.now).as_secs());
                format!("{}, which has up to {left} left to end", p.meta.name)
            }
            (_, Some(t)) => format!("{}, which should have ended {} ago", p.meta.name, age(t, snapshot.now)),
            (_, None) => p.meta.name.to_string(),
        }
    });
    let words: Vec<String> = words.collect();
    let message = format!(
        "{} makes a new pod only once the old pod has ended (podReplacementPolicy Failed): it waits for {}",
        c.name(),
        some(words, 3)
    );
    let mut finding = c.finding(Code::ReplacementPolicy, message).about(ending.iter().map(|p| Ref::pod(p)));
    finding.remedies = remedies;
    finding
}

/// The first wait after a failure, and the longest, in seconds. Mirrors `DefaultJobPodFailureBackOff` and
/// `MaxJobPodFailureBackOff`.
const FIRST_WAIT: i64 = 10;
const LONGEST_WAIT: i64 = 600;

/// How long a Job waits after its pods failed before it makes the next one.
fn backoff(c: &Controller<'_>, spec: &JobSpec, pods: &[&Arc<Pod>]) -> Option<Finding> {
    if spec.backoff_limit_per_index.is_some() {
        return None;
    }
    let failed: Vec<&&Arc<Pod>> =
        pods.iter().filter(|p| p.status.phase == crate::snapshot::pod::Phase::Failed).collect();
    let last = failed.iter().filter_map(|p| finished(p)).max()?;
    let doublings = u32::try_from(failed.len().saturating_sub(1)).unwrap_or(u32::MAX).min(10);
    let wait = (FIRST_WAIT << doublings).min(LONGEST_WAIT);
    let left = wait - c.snapshot.now.duration_since(last).as_secs();
    (left > 0).then(|| {
        let message = format!(
            "{} makes its next pod in at most {}: it waits longer after each of its {} failed pods",
            c.name(),
            duration_words(left),
            failed.len()
        );
        c.finding(Code::MissingPods, message).severity(crate::finding::Severity::Info)
    })
}

/// When the last container of a pod ended.
fn finished(pod: &Pod) -> Option<jiff::Timestamp> {
    let ends = pod.status.containers.iter().filter_map(|c| match &c.state {
        ContainerState::Terminated(t) => t.finished,
        _ => None,
    });
    ends.max()
}
