//! CronJobs. Mirrors `syncCronJob` of `pkg/controller/cronjob/cronjob_controllerv2.go`, but for the schedule itself: when
//! the next Job is due is not computed.

use super::controller::{Controller, WorkloadStatus, count};
use crate::cure::Remedy;
use crate::finding::{Code, Severity};
use crate::lists::some;
use crate::snapshot::age::age;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::{Detail, Workload};
use crate::wire::apps::{CronJobSpec, CronJobStatus};
use std::sync::Arc;

/// Reasons of events that say why no Job was made.
const REASONS: [&str; 8] = [
    "FailedCreate",
    "MissSchedule",
    "TooManyMissedTimes",
    "UnparseableSchedule",
    "UnParseableCronJobSchedule",
    "InvalidSchedule",
    "UnknownTimeZone",
    "JobAlreadyActive",
];

pub(super) fn sync(c: &Controller<'_>, spec: &CronJobSpec, status: &CronJobStatus) -> WorkloadStatus {
    let jobs = c.snapshot.workloads_controlled_by(c.workload);
    let pods: Vec<&Arc<Pod>> = jobs.iter().flat_map(|j| c.snapshot.pods_controlled_by(j)).collect();
    let there = pods.iter().filter(|p| p.is_active()).count();
    let ready = pods.iter().filter(|p| p.is_active() && p.is_ready()).count();
    let mut found = WorkloadStatus { current: there, ready, ..WorkloadStatus::default() };
    let running: Vec<&&Arc<Workload>> = jobs.iter().filter(|j| !has_ended(j)).collect();
    let last = status.last_schedule_time.and_then(crate::wire::time::Time::timestamp);
    let last = last.map_or_else(
        || "has not made a Job yet".to_owned(),
        |t| format!("made its last Job {} ago", age(t, c.snapshot.now)),
    );
    let active = match running.is_empty() {
        true => "no Job of it is active".to_owned(),
        false => format!("active: {}", some(running.iter().map(|j| j.meta.name.clone()), 3)),
    };
    if spec.suspend {
        let message = format!("{} is suspended (spec.suspend): it makes no Jobs; it {last}, {active}", c.name());
        let patch = |to: &str| {
            let spec = format!("{{\"spec\":{{\"suspend\":{to}}}}}");
            c.kubectl
                .line(c.workload.meta.ns(), &["patch", "cronjob", &c.workload.meta.name, "--type=merge", "-p", &spec])
        };
        found.findings.push(
            c.finding(Code::Gated, message).severity(Severity::Info).remedy(
                Remedy::advice(format!("resume {}", c.name()))
                    .command(patch("false"))
                    .undo(patch("true"))
                    .risk("runs that were missed within startingDeadlineSeconds start at once"),
            ),
        );
        return found;
    }
    let events = c.snapshot.events_about("CronJob", c.workload.meta.ns(), &c.workload.meta.name);
    let newest = events.filter(|e| REASONS.contains(&&*e.reason)).max_by_key(|e| e.last_seen);
    // What was reported before the last Job was made has been overcome.
    let made = jobs.iter().filter_map(|j| j.meta.creation_timestamp).max();
    let newest = newest.filter(|e| e.last_seen.is_none_or(|seen| made.is_none_or(|m| m < seen)));
    if let Some(event) = newest {
        let ago = event.last_seen.map(|t| format!(" ({} ago)", age(t, c.snapshot.now))).unwrap_or_default();
        if event.reason.starts_with("FailedCreate") {
            found.missing =
                spec.job_template.as_ref().and_then(|t| t.spec.as_ref()).map_or(1, |s| {
                    count(Some(s.parallelism.unwrap_or(1))).min(count(s.completions.or(Some(i32::MAX))))
                });
            found.findings = c.refused();
        } else {
            let code = if event.warning { Code::MissingPods } else { Code::Ordered };
            let message = format!("{} made no Job{ago}: {} ({})", c.name(), event.message, event.reason);
            found.findings.push(c.finding(code, message));
        }
    }
    if found.findings.is_empty() {
        let forbids = spec.concurrency_policy == "Forbid" && !running.is_empty();
        let wait = if forbids { "; the next one waits until none is active (concurrencyPolicy Forbid)" } else { "" };
        // The documentation of CronJobs warns of less than ten seconds: the controller can come too late for each time.
        let deadline = match spec.starting_deadline_seconds {
            Some(n @ 0..10) => format!(
                "; startingDeadlineSeconds {n} skips each Job that is not made within {n} s of its time: fewer than 10 s can \
                 skip every Job"
            ),
            _ => String::new(),
        };
        let message = format!("{} (schedule {:?}) {last}; {active}{wait}{deadline}", c.name(), spec.schedule);
        found.findings.push(c.finding(Code::Running, message));
    }
    found
}

fn has_ended(job: &Workload) -> bool {
    let Detail::Job(d) = &job.detail else { return false };
    d.1.conditions.iter().any(|c| matches!(&*c.type_, "Complete" | "Failed") && c.status == "True")
}
