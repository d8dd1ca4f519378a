//! What makes the pod that replaces an evicted one: when, how many, how quickly it starts, and whether its pods become
//! Ready at all today.

use crate::snapshot::pod::{Container, ContainerState, Pod, Truth};
use crate::snapshot::pod_state::{Prospect, why_not_ready};
use crate::snapshot::workload::{Detail, Workload};
use crate::snapshot::{Snapshot, Str};
use crate::wire::apps::{JobSpec, JobStatus, PodFailurePolicyRule};
use jiff::Timestamp;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// When an owner makes a new pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Makes {
    /// As soon as the old one is being deleted: a ReplicaSet, a Job under TerminatingOrFailed.
    AtOnce,
    /// Once the old one is gone: a Job under Failed, an owner of a custom kind.
    AfterGone,
    /// Once the old one is gone, under the same name: a StatefulSet under Parallel.
    SameName,
    /// The same, and only while all lower ordinals are Ready: a StatefulSet under OrderedReady.
    InOrder,
    /// Never: it is not in the input though it should be, or it wants no more pods.
    Never,
}

/// A controller of pods, as far as a plan needs it.
#[derive(Debug, Clone)]
pub struct Controller {
    /// The workload; `None` where it is not in the input.
    pub workload: Option<Arc<Workload>>,
    /// When it makes a new pod.
    pub makes: Makes,
    /// How many pods it wants at a time; `None` keeps their number as it is.
    pub wanted: Option<i64>,
    /// How many live pods it has: neither finished nor terminating.
    pub live: i64,
    /// Seconds from being scheduled to being Ready, as its pods took, or as its probes allow; `None` where neither tells.
    pub startup: Option<Startup>,
    /// Why new pods of it do not become Ready today, naming a pod; `None` where nothing says so.
    pub never_ready: Option<String>,
    /// What the controller reports of pods that it cannot create.
    pub create_failure: Option<String>,
}

/// How long a new pod takes to be Ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Startup {
    /// So many seconds, in the middle of what its pods took.
    Observed(i64),
    /// So many seconds at the least, by its probes.
    Probes(i64),
}

/// Taken for the time that a pod takes to start its containers where nothing tells, in seconds.
pub const STARTUP_GUESS: i64 = 10;

impl Controller {
    /// What the eviction of one of its pods makes of a Job.
    pub fn on_eviction(&self, pod: &Pod) -> OnEviction {
        let job = self.workload.as_deref().and_then(Workload::job);
        job.map_or(OnEviction::Nothing, |(spec, status)| on_eviction(spec, status, pod))
    }

    /// Seconds from being scheduled to being Ready.
    pub fn seconds_to_ready(&self) -> i64 {
        match self.startup {
            Some(Startup::Observed(seconds)) => seconds,
            Some(Startup::Probes(seconds)) => STARTUP_GUESS + seconds,
            None => STARTUP_GUESS,
        }
    }
}

/// All controllers that have pods; each is looked at once it is asked for.
pub struct Controllers<'a> {
    snapshot: &'a Snapshot,
    known: RefCell<HashMap<Str, Rc<Controller>>>,
}

impl<'a> Controllers<'a> {
    /// Knows nothing yet.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self { snapshot, known: RefCell::default() }
    }

    /// The controller of a pod.
    pub fn of(&self, pod: &Pod) -> Option<Rc<Controller>> {
        let key = controller_key(pod)?;
        if let Some(known) = self.known.borrow().get(&key) {
            return Some(known.clone());
        }
        let made = Rc::new(Controller::new(self.snapshot, &pods_of(self.snapshot, pod)));
        self.known.borrow_mut().insert(key, made.clone());
        Some(made)
    }
}

/// What tells a pod's controller from all others: its uid, or where a file has lost it, its name.
pub fn controller_key(pod: &Pod) -> Option<Str> {
    let owner = pod.meta.controller.as_ref()?;
    let named = || format!("{}/{}/{}", pod.meta.ns(), owner.kind, owner.name).into();
    Some(if owner.uid.is_empty() { named() } else { owner.uid.clone() })
}

/// The pods of a pod's controller, itself among them where it is in the snapshot.
pub fn pods_of<'a>(snapshot: &'a Snapshot, pod: &Pod) -> Vec<&'a Arc<Pod>> {
    let Some(owner) = &pod.meta.controller else { return Vec::new() };
    if !owner.uid.is_empty() {
        return snapshot.pods_of(&owner.uid).collect();
    }
    let same = |p: &&Arc<Pod>| p.meta.controller.as_ref() == Some(owner);
    snapshot.pods.in_namespace(pod.meta.ns()).iter().filter(same).collect()
}

impl Controller {
    fn new(snapshot: &Snapshot, pods: &[&Arc<Pod>]) -> Self {
        let live = pods.iter().filter(|p| p.is_active()).count();
        let workload = pods.first().and_then(|p| snapshot.controller_of(&p.meta)).cloned();
        let kind = pods.first().and_then(|p| p.meta.controller.as_ref()).map_or("", |o| &*o.kind);
        let w = workload.as_deref();
        Self {
            makes: makes(w, kind),
            wanted: w.and_then(Workload::wanted_pods),
            live: i64::try_from(live).unwrap_or(i64::MAX),
            startup: observed(pods).map(Startup::Observed).or_else(|| probed(pods).map(Startup::Probes)),
            never_ready: never_ready(snapshot, w, pods),
            create_failure: w.and_then(Workload::replica_failure).map(str::to_owned),
            workload,
        }
    }
}

/// Why new pods of a Deployment do not become Ready today, whichever of its ReplicaSets makes them; `None` where nothing says
/// so. Its template is that of its newest pods.
pub fn rollout_never_ready(snapshot: &Snapshot, pods: &[&Arc<Pod>]) -> Option<String> {
    never_ready(snapshot, None, pods)
}

fn makes(workload: Option<&Workload>, kind: &str) -> Makes {
    match workload.map(|w| &w.detail) {
        Some(Detail::Deployment(_) | Detail::ReplicaSet(_) | Detail::ReplicationController(_)) => Makes::AtOnce,
        Some(Detail::StatefulSet(s)) if s.0.is_ordered() => Makes::InOrder,
        Some(Detail::StatefulSet(_)) => Makes::SameName,
        Some(Detail::Job(j)) if j.0.replaces_after_failed() => Makes::AfterGone,
        Some(Detail::Job(_)) => Makes::AtOnce,
        Some(Detail::Custom) => Makes::AfterGone,
        // A DaemonSet makes its pods for nodes; one that is evicted is finished, or its DaemonSet is lost.
        Some(Detail::DaemonSet(_) | Detail::CronJob(_)) => Makes::Never,
        None => match kind {
            "ReplicaSet" | "ReplicationController" | "Job" => Makes::AtOnce,
            "StatefulSet" => Makes::SameName,
            "DaemonSet" | "Node" => Makes::Never,
            _ => Makes::AfterGone,
        },
    }
}

/// What an eviction makes of a Job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnEviction {
    /// Nothing that ends it.
    Nothing,
    /// It fails, as its podFailurePolicy says so of disruptions.
    FailsByPolicy,
    /// It fails: so many failures use up as many of its backoffLimit.
    FailsByLimit(i32),
    /// The index of the pod fails for good: by its podFailurePolicy, or as so many failures use up its backoffLimitPerIndex.
    FailsIndex(Option<i32>),
}

/// The annotation with how often pods of the index have failed before.
const INDEX_FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";

/// The first rule that matches decides; an eviction leaves the condition DisruptionTarget. Mirrors
/// `matchPodFailurePolicy` of `pkg/controller/job/pod_failure_policy.go`, and `isIndexFailed` of `indexed_job_utils.go`.
fn on_eviction(spec: &JobSpec, status: &JobStatus, pod: &Pod) -> OnEviction {
    let on_exit_codes = |r: &PodFailurePolicyRule| r.on_pod_conditions.is_empty();
    let on_target = |r: &PodFailurePolicyRule| {
        r.on_pod_conditions.iter().any(|c| c.type_ == "DisruptionTarget" && c.status == "True")
    };
    let mut rules = spec.pod_failure_policy.iter().flat_map(|p| &p.rules);
    match rules.find(|r| on_exit_codes(r) || on_target(r)) {
        // It depends on how the containers end.
        Some(rule) if on_exit_codes(rule) => return OnEviction::Nothing,
        Some(rule) if rule.action == "FailJob" => return OnEviction::FailsByPolicy,
        Some(rule) if rule.action == "FailIndex" => return OnEviction::FailsIndex(None),
        Some(rule) if rule.action != "Count" => return OnEviction::Nothing,
        Some(_) | None => {}
    }
    if let Some(limit) = spec.backoff_limit_per_index {
        let failed = pod.meta.annotations.get(INDEX_FAILURES).and_then(|n| n.parse().ok()).unwrap_or(0);
        return if failed >= limit { OnEviction::FailsIndex(Some(limit)) } else { OnEviction::Nothing };
    }
    let failed = status.failed.unwrap_or_default();
    match spec.backoff_limit {
        Some(limit) if failed >= limit => OnEviction::FailsByLimit(limit),
        _ => OnEviction::Nothing,
    }
}

/// The middle of what its pods took from being scheduled to being Ready. Pods whose containers were started again tell
/// nothing, as their Ready condition speaks of a later time.
fn observed(pods: &[&Arc<Pod>]) -> Option<i64> {
    let took = |p: &&&Arc<Pod>| -> Option<i64> {
        let ready = p.condition("Ready").filter(|c| c.status == Truth::True)?.since?;
        let from = p.condition("PodScheduled").and_then(|c| c.since).or(p.status.started)?;
        let again = p.status.containers.iter().any(|c| c.restarts > 0);
        let seconds = ready.duration_since(from).as_secs();
        (!again && (0..3600).contains(&seconds)).then_some(seconds)
    };
    let mut all: Vec<i64> = pods.iter().filter_map(|p| took(&p)).collect();
    all.sort_unstable();
    // Times are whole seconds: what took less than one took some time all the same.
    all.get(all.len() / 2).map(|s| (*s).max(1))
}

/// How long the probes of its pods take to succeed at the least, all containers started together.
fn probed(pods: &[&Arc<Pod>]) -> Option<i64> {
    let earliest = |c: &Container| {
        let started = c.startup_probe.map_or(0, |p| p.soonest_success());
        c.readiness_probe.map_or(started, |p| started.max(p.soonest_success()))
    };
    let spec = &pods.first()?.spec;
    let seconds = spec.containers.iter().map(earliest).max().unwrap_or_default();
    (seconds > 0).then_some(seconds)
}

/// Whether pods made today become Ready: the newest ones are stuck while older ones are Ready, or none is Ready and some
/// are stuck. An ordinal of a StatefulSet speaks for others only under the revision that new pods get.
fn never_ready(snapshot: &Snapshot, workload: Option<&Workload>, pods: &[&Arc<Pod>]) -> Option<String> {
    let revision = match workload.map(|w| &w.detail) {
        Some(Detail::StatefulSet(s)) if s.1.update_revision != s.1.current_revision => Some(&*s.1.update_revision),
        Some(Detail::StatefulSet(_)) => return None,
        _ => None,
    };
    let counts = |p: &&&Arc<Pod>| {
        !p.is_terminating()
            && !p.is_finished()
            && revision.is_none_or(|r| p.meta.labels.get("controller-revision-hash").is_some_and(|l| **l == *r))
    };
    let live: Vec<&&Arc<Pod>> = pods.iter().filter(counts).collect();
    let newest_ready: Option<Timestamp> =
        live.iter().filter(|p| p.is_ready()).filter_map(|p| p.meta.creation_timestamp).max();
    let any_ready = live.iter().any(|p| p.is_ready());
    let newer =
        |p: &Pod| !any_ready || newest_ready.zip(p.meta.creation_timestamp).is_some_and(|(ready, this)| this > ready);
    live.iter().filter(|p| !p.is_ready() && newer(p) && waits_in_vain(p)).find_map(|p| {
        let why = why_not_ready(snapshot, p).filter(|w| w.prospect == Prospect::Stuck)?;
        Some(format!("{} is not Ready ({})", p.meta.name, why.text))
    })
}

/// Whether the pod's own containers, rather than its node, keep it from being Ready.
fn waits_in_vain(pod: &Pod) -> bool {
    let all = || pod.status.init_containers.iter().chain(&pod.status.containers);
    pod.node.is_some() && all().any(|c| !c.ready && !matches!(c.state, ContainerState::Unknown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::testing::{Cluster, owned_by};

    /// The controller of pod `a/p`.
    fn controller(c: &Cluster) -> Controller {
        let snapshot = c.snapshot();
        let pod = snapshot.pods.named("a", "p").expect("pod a/p");
        (*Controllers::new(&snapshot).of(pod).expect("its controller")).clone()
    }

    fn object(api_version: &str, kind: &str, spec: &str, status: &str) -> String {
        format!(
            r#"{{"apiVersion": "{api_version}", "kind": "{kind}", "metadata": {{"name": "w", "namespace": "a", "uid": "a-{kind}-w"}},
                "spec": {{{spec}}}, "status": {{{status}}}}}"#
        )
    }

    #[test]
    fn owners_make_new_pods_in_their_own_way() {
        // After the controllers: a ReplicaSet counts no pod that is being deleted, a StatefulSet needs the name, a Job
        // heeds podReplacementPolicy. Of a Job: what is still to be done, at most `parallelism` at a time.
        let (apps, batch, custom) = ("apps/v1", "batch/v1", "x.io/v1");
        let wants = |n: i64| Some(n);
        let parallel = r#""podManagementPolicy": "Parallel""#;
        let (replaced, rules) = (r#""podReplacementPolicy": "Failed""#, r#""podFailurePolicy": {"rules": []}"#);
        let either = r#""podReplacementPolicy": "TerminatingOrFailed""#;
        let (five, queue) = (r#""parallelism": 3, "completions": 5"#, r#""parallelism": 3"#);
        let suspended = r#""parallelism": 3, "completions": 5, "suspend": true"#;
        let done = |n: u8| format!(r#""succeeded": {n}"#);
        for (title, api, kind, there, makes, wanted) in [
            ("a ReplicaSet", apps, "ReplicaSet", Some((r#""replicas": 3"#, "")), Makes::AtOnce, wants(3)),
            ("without a number", apps, "ReplicaSet", Some(("", "")), Makes::AtOnce, wants(1)),
            (
                "a ReplicationController",
                "v1",
                "ReplicationController",
                Some((r#""replicas": 2"#, "")),
                Makes::AtOnce,
                wants(2),
            ),
            ("a set", apps, "StatefulSet", Some((r#""replicas": 3"#, "")), Makes::InOrder, wants(3)),
            ("a set in any order", apps, "StatefulSet", Some((parallel, "")), Makes::SameName, wants(1)),
            ("a Job", batch, "Job", Some((five, "")), Makes::AtOnce, wants(3)),
            ("a Job, almost done", batch, "Job", Some((five, &*done(4))), Makes::AtOnce, wants(1)),
            ("a Job, done", batch, "Job", Some((five, &done(5))), Makes::AtOnce, wants(0)),
            ("a Job that is suspended", batch, "Job", Some((suspended, "")), Makes::AtOnce, wants(0)),
            ("a work queue", batch, "Job", Some((queue, "")), Makes::AtOnce, wants(3)),
            ("a work queue that is empty", batch, "Job", Some((queue, &done(1))), Makes::AtOnce, wants(0)),
            ("a Job, as they terminate", batch, "Job", Some((either, "")), Makes::AtOnce, wants(1)),
            ("a Job, once they have ended", batch, "Job", Some((replaced, "")), Makes::AfterGone, wants(1)),
            ("a Job with a failure policy", batch, "Job", Some((rules, "")), Makes::AfterGone, wants(1)),
            ("a DaemonSet", apps, "DaemonSet", Some(("", "")), Makes::Never, None),
            ("a ReplicaSet that is not there", apps, "ReplicaSet", None, Makes::AtOnce, None),
            ("a Job that is not there", batch, "Job", None, Makes::AtOnce, None),
            ("a set that is not there", apps, "StatefulSet", None, Makes::SameName, None),
            ("a DaemonSet that is not there", apps, "DaemonSet", None, Makes::Never, None),
            ("a node", "v1", "Node", None, Makes::Never, None),
            ("another kind", custom, "Engine", Some(("", "")), Makes::AfterGone, None),
            ("another kind that is not there", custom, "Engine", None, Makes::AfterGone, None),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            if let Some((spec, status)) = there {
                c.object(&object(api, kind, spec, status));
            }
            let meta = owned_by(api, kind, "w");
            c.pod_of("a", "p", "n", &meta, "", "");
            c.pod_of("a", "done", "n", &meta, "", r#""phase": "Succeeded""#);
            let going = format!(r#"{meta}, "deletionTimestamp": "2026-01-01T00:00:10Z""#);
            c.pod_of("a", "going", "n", &going, "", "");
            let owner = controller(&c);
            assert_eq!((owner.makes, owner.wanted, owner.live), (makes, wanted, 1), "{title}");
        }
    }

    #[test]
    fn start_up_is_the_middle_of_what_pods_took() {
        let at =
            |seconds: i64| format!("2026-01-01T{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let status = |scheduled: bool, ready: &str, took: i64, restarts: u8| {
            let from = at(0);
            let scheduled = if scheduled {
                format!(r#"{{"type": "PodScheduled", "status": "True", "lastTransitionTime": "{from}"}}, "#)
            } else {
                String::new()
            };
            format!(
                r#""startTime": "{from}", "conditions": [{scheduled}{{"type": "Ready", "status": "{ready}", "lastTransitionTime": "{}"}}],
                   "containerStatuses": [{{"name": "c", "restartCount": {restarts}}}]"#,
                at(took)
            )
        };
        let ready = |took: i64| status(true, "True", took, 0);
        for (title, pods, want) in [
            ("one", vec![ready(7)], Some(7)),
            ("the middle of three", vec![ready(30), ready(5), ready(7)], Some(7)),
            ("the longer of two", vec![ready(4), ready(8)], Some(8)),
            ("less than a second", vec![ready(0)], Some(1)),
            ("almost an hour", vec![ready(3599)], Some(3599)),
            ("a day later, or so", vec![ready(3600)], None),
            ("since it was started", vec![status(false, "True", 9, 0)], Some(9)),
            ("not Ready", vec![status(true, "False", 7, 0)], None),
            ("started again", vec![status(true, "True", 7, 1), ready(3)], Some(3)),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            for (i, status) in pods.iter().enumerate() {
                let name = if i == 0 { "p".to_owned() } else { format!("p{i}") };
                c.pod_of("a", &name, "n", &owned_by("apps/v1", "ReplicaSet", "w"), "", status);
            }
            assert_eq!(controller(&c).startup, want.map(Startup::Observed), "{title}");
        }
    }

    #[test]
    fn new_pods_that_cannot_become_ready_are_known_by_the_newest() {
        // Pods in the order in which they were made; the name of the one that speaks for new ones.
        let state = |ready: bool, state: &str| {
            let is = if ready { "True" } else { "False" };
            format!(
                r#""conditions": [{{"type": "Ready", "status": "{is}"}}],
                   "containerStatuses": [{{"name": "c", "ready": {ready}, "state": {{{state}}}}}]"#
            )
        };
        let good = state(true, r#""running": {}"#);
        let crashes = state(false, r#""waiting": {"reason": "CrashLoopBackOff"}"#);
        let starts = state(false, r#""waiting": {"reason": "ContainerCreating"}"#);
        let gone = crashes.clone() + r#", "phase": "Failed""#;
        let ready = r#""conditions": [{"type": "Ready", "status": "False"}]"#.to_owned();
        let (same, rolls) = (
            r#""currentRevision": "v1", "updateRevision": "v1""#,
            r#""currentRevision": "v1", "updateRevision": "v2""#,
        );
        for (title, kind, status, pods, want) in [
            ("the newest crashes", "ReplicaSet", "", vec![("v1", &good), ("v1", &crashes)], Some("p1")),
            ("an older one crashes", "ReplicaSet", "", vec![("v1", &crashes), ("v1", &good)], None),
            ("all crash", "ReplicaSet", "", vec![("v1", &crashes), ("v1", &crashes)], Some("p")),
            ("the newest starts", "ReplicaSet", "", vec![("v1", &good), ("v1", &starts)], None),
            ("the newest has ended", "ReplicaSet", "", vec![("v1", &good), ("v1", &gone)], None),
            ("its containers say nothing", "ReplicaSet", "", vec![("v1", &good), ("v1", &ready)], None),
            ("an ordinal of one revision", "StatefulSet", same, vec![("v1", &good), ("v1", &crashes)], None),
            ("an ordinal of the new revision", "StatefulSet", rolls, vec![("v1", &good), ("v2", &crashes)], Some("p1")),
            ("an ordinal of the old revision", "StatefulSet", rolls, vec![("v2", &good), ("v1", &crashes)], None),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            c.object(&object("apps/v1", kind, "", status));
            for (i, (revision, status)) in pods.iter().enumerate() {
                let name = if i == 0 { "p".to_owned() } else { format!("p{i}") };
                let meta = format!(
                    r#""labels": {{"controller-revision-hash": "{revision}"}}, "creationTimestamp": "2025-12-31T00:00:0{i}Z", {}"#,
                    owned_by("apps/v1", kind, "w")
                );
                c.pod_of("a", &name, "n", &meta, "", status);
            }
            let why = controller(&c).never_ready;
            let who = why.as_deref().and_then(|w| w.split_once(" is not Ready (")).map(|(who, _)| who);
            assert_eq!(who, want, "{title}: {why:?}");
        }
    }

    #[test]
    fn an_owner_tells_why_it_cannot_create_pods() {
        let (failure, other) = ("ReplicaFailure", "Other");
        for (api, kind, of, status, want) in [
            ("apps/v1", "ReplicaSet", failure, "True", Some("exceeded quota")),
            ("v1", "ReplicationController", failure, "True", Some("exceeded quota")),
            ("apps/v1", "ReplicaSet", failure, "False", None),
            ("apps/v1", "ReplicaSet", other, "True", None),
            ("apps/v1", "StatefulSet", failure, "True", None),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            let conditions =
                format!(r#""conditions": [{{"type": "{of}", "status": "{status}", "message": "exceeded quota"}}]"#);
            c.object(&object(api, kind, "", &conditions));
            c.pod_of("a", "p", "n", &owned_by(api, kind, "w"), "", "");
            assert_eq!(controller(&c).create_failure.as_deref(), want, "{kind} {of} {status}");
        }
    }
}
