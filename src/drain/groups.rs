//! Groups of pods that restart as one: what the eviction of one of them makes of the others.

use super::context::DrainContext;
use super::controllers::OnEviction;
use crate::finding::Ref;
use crate::lists::{count, some};
use crate::snapshot::Str;
use crate::snapshot::pod::{Phase, Pod};
use crate::snapshot::workload::Workload;
use crate::wire::groups::{JobSet, LifecyclePolicy};
use std::sync::Arc;

/// What a controller does with other pods once one is being deleted.
#[derive(Debug)]
pub struct Restart {
    /// The others, which it deletes past every budget.
    pub others: Vec<Arc<Pod>>,
    /// Whether the input says so; else it only may be.
    pub certain: bool,
    /// In words, without the others.
    pub what: String,
    /// The controller.
    pub by: Ref,
}

impl Restart {
    /// The whole sentence.
    pub fn sentence(&self) -> String {
        if self.others.is_empty() {
            return self.what.clone();
        }
        let names: Vec<&str> = self.others.iter().map(|p| &*p.meta.name).collect();
        let mut nodes: Vec<&str> = self.others.iter().filter_map(|p| p.node.as_deref()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let on = if nodes.is_empty() { String::new() } else { format!(" on {}", some(nodes.iter().copied(), 3)) };
        let are = if names.len() == 1 { "is" } else { "are" };
        let pods = count(names.len(), "other pod");
        format!(
            "{}; {pods} of the group{on} {are} deleted past every budget: {}",
            self.what,
            some(names.iter().copied(), 3)
        )
    }
}

/// What follows from the eviction of a pod for the group that it is of.
pub fn restart(context: &DrainContext<'_>, pod: &Arc<Pod>) -> Option<Restart> {
    if pod.is_finished() {
        return None;
    }
    leader_worker_set(context, pod).or_else(|| job_set(context, pod)).or_else(|| volcano(context, pod))
}

const LWS: &str = "leaderworkerset.sigs.k8s.io/name";
const LWS_GROUP: &str = "leaderworkerset.sigs.k8s.io/group-index";

/// Once a pod of a group is being deleted, its leader is deleted, and all others with the leader. Mirrors
/// `handleRestartPolicy` of `pkg/controllers/pod_controller.go` of sigs.k8s.io/lws; the API's default is
/// RecreateGroupOnPodRestart.
fn leader_worker_set(context: &DrainContext<'_>, pod: &Arc<Pod>) -> Option<Restart> {
    let (name, group) = (pod.meta.labels.get(LWS)?, pod.meta.labels.get(LWS_GROUP)?);
    let set = context.snapshot.leader_worker_sets.named(pod.meta.ns(), name);
    let policy = set.and_then(|s| s.spec.leader_worker_template.restart_policy.as_deref());
    let policy = policy.unwrap_or("RecreateGroupOnPodRestart");
    let of_group = |p: &Pod| p.meta.labels.get(LWS) == Some(name) && p.meta.labels.get(LWS_GROUP) == Some(group);
    let others = others(context, pod, of_group);
    let started = || others.iter().chain([pod]).all(|p| p.status.phase != Phase::Pending);
    let as_one = policy == "RecreateGroupOnPodRestart" || policy == "RecreateGroupAfterStart" && started();
    if !as_one {
        return None;
    }
    let path = format!("{}/{name}", pod.meta.ns());
    let what = match set {
        Some(_) => {
            format!("evicting it restarts group {group} of LeaderWorkerSet {path} as a whole (restartPolicy {policy})")
        }
        None => format!(
            "evicting it restarts group {group} of LeaderWorkerSet {path} as a whole, unless its restartPolicy is None (it is not in \
             the input)"
        ),
    };
    let by = Ref::new("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", pod.meta.ns(), name);
    Some(Restart { others, certain: set.is_some(), what, by })
}

const JOB_SET: &str = "jobset.sigs.k8s.io/jobset-name";
const REPLICATED_JOB: &str = "jobset.sigs.k8s.io/replicatedjob-name";

/// A Job that fails makes its JobSet restart all of them, or fail. Mirrors `executeFailurePolicy` of
/// `pkg/controllers/failure_policy.go` of sigs.k8s.io/jobset.
fn job_set(context: &DrainContext<'_>, pod: &Arc<Pod>) -> Option<Restart> {
    let name = pod.meta.labels.get(JOB_SET)?;
    let job = context.snapshot.controller_of(&pod.meta)?;
    let reason = match context.controllers.of(pod)?.on_eviction(pod) {
        OnEviction::FailsByPolicy => "PodFailurePolicy",
        OnEviction::FailsByLimit(_) => "BackoffLimitExceeded",
        OnEviction::Nothing | OnEviction::FailsIndex(_) => return None,
    };
    let path = format!("{}/{name}", pod.meta.ns());
    let fails = format!("evicting it fails Job {}", job.meta.path());
    let set = context.snapshot.job_sets.named(pod.meta.ns(), name);
    let follows = set.map_or(Follows::Unknown, |set| follows(set, job, reason));
    let what = match follows {
        Follows::Unknown => {
            format!(
                "{fails}; what JobSet {path} makes of that is not known, as the JobSet is not in the input (its failurePolicy)"
            )
        }
        Follows::NoPolicy => format!("{fails}, and JobSet {path} with it, as it has no failurePolicy"),
        Follows::Fails => format!("{fails}, and JobSet {path} with it (failurePolicy FailJobSet)"),
        Follows::UsedUp(max) => format!("{fails}, and JobSet {path} with it, as its maxRestarts ({max}) are used up"),
        Follows::Restarts { nth, max } => {
            format!("{fails}, and JobSet {path} makes all its Jobs anew (restart {nth} of at most {max})")
        }
        Follows::RestartsWithoutLimit => {
            format!("{fails}, and JobSet {path} makes all its Jobs anew, as often as that happens")
        }
        Follows::RecreatesJob => format!("{fails}, and JobSet {path} makes this Job anew (failurePolicy RecreateJob)"),
    };
    let others = match follows {
        Follows::Unknown => Vec::new(),
        Follows::RecreatesJob => {
            let owner = pod.meta.controller.as_ref();
            others(context, pod, |p| p.meta.controller.as_ref() == owner)
        }
        _ => others(context, pod, |p| p.meta.labels.get(JOB_SET) == Some(name)),
    };
    let by = Ref::new("jobset.x-k8s.io/v1alpha2", "JobSet", pod.meta.ns(), name);
    Some(Restart { others, certain: set.is_some(), what, by })
}

/// What follows for a JobSet from one failed Job.
#[derive(Clone, Copy, PartialEq)]
enum Follows {
    Unknown,
    NoPolicy,
    Fails,
    UsedUp(i64),
    Restarts { nth: i64, max: i64 },
    RestartsWithoutLimit,
    RecreatesJob,
}

fn follows(set: &JobSet, job: &Workload, reason: &str) -> Follows {
    let Some(policy) = &set.spec.failure_policy else { return Follows::NoPolicy };
    let replicated = job.meta.labels.get(REPLICATED_JOB);
    let applies = policy.rules.iter().find(|rule| {
        let for_reason =
            rule.on_job_failure_reasons.is_empty() || rule.on_job_failure_reasons.iter().any(|r| r == reason);
        let targets = &rule.target_replicated_jobs;
        for_reason && replicated.is_some_and(|name| targets.is_empty() || targets.iter().any(|t| **t == **name))
    });
    let used = set.status.restarts_count_towards_max;
    match applies.map_or("RestartJobSet", |rule| &*rule.action) {
        "FailJobSet" => Follows::Fails,
        "RestartJobSetAndIgnoreMaxRestarts" => Follows::RestartsWithoutLimit,
        "RecreateJob" => Follows::RecreatesJob,
        _ if used >= policy.max_restarts => Follows::UsedUp(policy.max_restarts),
        _ => Follows::Restarts { nth: used + 1, max: policy.max_restarts },
    }
}

const VOLCANO_TASK: &str = "volcano.sh/task-spec";

/// The policies of a task come before those of its Job; without one for the event the Job makes just the pod anew. Mirrors
/// `applyPolicies` of `pkg/controllers/job/job_controller_util.go` of volcano.sh/volcano.
fn volcano(context: &DrainContext<'_>, pod: &Arc<Pod>) -> Option<Restart> {
    let owner = pod.meta.controller.as_ref().filter(|o| &*o.kind == "Job" && &*o.group == "batch.volcano.sh")?;
    let path = format!("{}/{}", pod.meta.ns(), owner.name);
    let by = Ref::owner(pod.meta.ns(), owner);
    let Some(job) = context.snapshot.volcano_jobs.named(pod.meta.ns(), &owner.name) else {
        let what = format!(
            "whether evicting it restarts Volcano Job {path} as a whole is not known, as the Job is not in the input (its policies for \
             the event PodEvicted)"
        );
        return Some(Restart { others: Vec::new(), certain: false, what, by });
    };
    let task = pod.meta.labels.get(VOLCANO_TASK).or_else(|| pod.meta.annotations.get(VOLCANO_TASK)).cloned();
    let of_task = job.spec.tasks.iter().find(|t| task.as_deref() == Some(t.name.as_str())).map(|t| &t.policies[..]);
    let action = [of_task.unwrap_or_default(), &job.spec.policies[..]].into_iter().find_map(on_eviction)?;
    let of_job = |p: &Pod| p.meta.controller.as_ref() == Some(owner);
    let label = |p: &Pod| p.meta.labels.get(VOLCANO_TASK).or_else(|| p.meta.annotations.get(VOLCANO_TASK)).cloned();
    let (others, what) = match action {
        "RestartJob" => (others(context, pod, of_job), "restarts it as a whole"),
        "RestartTask" => (others(context, pod, |p| of_job(p) && label(p) == task), "restarts all pods of its task"),
        "AbortJob" => (others(context, pod, of_job), "aborts it"),
        "TerminateJob" => (others(context, pod, of_job), "terminates it"),
        "CompleteJob" => (others(context, pod, of_job), "completes it"),
        _ => return None,
    };
    let what =
        format!("evicting it makes Volcano act on Job {path}: it {what} (policy {action} for the event PodEvicted)");
    Some(Restart { others, certain: true, what, by })
}

fn on_eviction(policies: &[LifecyclePolicy]) -> Option<&str> {
    let is_it = |event: &str| event == "PodEvicted" || event == "*";
    let policy = policies.iter().find(|p| is_it(&p.event) || p.events.iter().any(|e| is_it(e)))?;
    Some(&policy.action)
}

/// The live pods of a group but this one.
fn others(context: &DrainContext<'_>, pod: &Arc<Pod>, of_group: impl Fn(&Pod) -> bool) -> Vec<Arc<Pod>> {
    let name: &Str = &pod.meta.name;
    let all = context.snapshot.pods.in_namespace(pod.meta.ns()).iter();
    all.filter(|p| p.meta.name != *name && p.is_active() && of_group(p)).cloned().collect()
}
