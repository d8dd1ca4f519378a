//! What makes the pod that replaces an evicted one: when, how many, how quickly it starts, and whether its pods become
//! Ready at all today.

use crate::snapshot::pod::{ContainerState, Pod, Truth};
use crate::snapshot::pod_state::{Prospect, why_not_ready};
use crate::snapshot::workload::{Detail, Workload};
use crate::snapshot::{Snapshot, Str};
use crate::wire::apps::JobSpec;
use jiff::Timestamp;
use std::collections::HashMap;
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
pub struct Owner {
    /// The workload; `None` where it is not in the input.
    pub workload: Option<Arc<Workload>>,
    /// When it makes a new pod.
    pub makes: Makes,
    /// How many pods it wants at a time; `None` keeps their number as it is.
    pub wanted: Option<i64>,
    /// How many live pods it has: neither finished nor terminating.
    pub live: i64,
    /// Seconds from being scheduled to being Ready, as its pods took; `None` where none tells.
    pub startup: Option<i64>,
    /// Why new pods of it do not become Ready today, naming a pod; `None` where nothing says so.
    pub never_ready: Option<String>,
    /// What the owner reports of pods that it cannot create.
    pub create_failure: Option<String>,
}

/// Taken for the time that a pod takes to become Ready where nothing tells.
pub const STARTUP_GUESS: i64 = 10;

/// All controllers that have pods, by uid.
#[derive(Debug, Default)]
pub struct Owners(HashMap<Str, Owner>);

impl Owners {
    /// Looks at every controller that has pods.
    pub fn new(snapshot: &Snapshot) -> Self {
        let mut pods: HashMap<Str, Vec<&Arc<Pod>>> = HashMap::new();
        for pod in snapshot.pods.iter() {
            if let Some(owner) = &pod.meta.controller {
                pods.entry(owner.uid.clone()).or_default().push(pod);
            }
        }
        Self(pods.into_iter().map(|(uid, pods)| (uid, Owner::new(snapshot, &pods))).collect())
    }

    /// The controller of a pod.
    pub fn of(&self, pod: &Pod) -> Option<&Owner> {
        self.0.get(&pod.meta.controller.as_ref()?.uid)
    }
}

impl Owner {
    fn new(snapshot: &Snapshot, pods: &[&Arc<Pod>]) -> Self {
        let live = pods.iter().filter(|p| !p.is_finished() && !p.is_terminating()).count();
        let workload = pods.first().and_then(|p| snapshot.controller_of(&p.meta)).cloned();
        let kind = pods.first().and_then(|p| p.meta.controller.as_ref()).map_or("", |o| &*o.kind);
        Self {
            makes: makes(workload.as_deref(), kind),
            wanted: workload.as_deref().and_then(wanted),
            live: i64::try_from(live).unwrap_or(i64::MAX),
            startup: startup(pods),
            never_ready: never_ready(snapshot, workload.as_deref(), pods),
            create_failure: workload.as_deref().and_then(create_failure),
            workload,
        }
    }
}

fn makes(workload: Option<&Workload>, kind: &str) -> Makes {
    match workload.map(|w| &w.detail) {
        Some(Detail::Deployment(_) | Detail::ReplicaSet(_) | Detail::ReplicationController(_)) => Makes::AtOnce,
        Some(Detail::StatefulSet(s)) if s.0.pod_management_policy == "Parallel" => Makes::SameName,
        Some(Detail::StatefulSet(_)) => Makes::InOrder,
        Some(Detail::Job(j)) if replaces_after_failed(&j.0) => Makes::AfterGone,
        Some(Detail::Job(_)) => Makes::AtOnce,
        Some(Detail::Custom) => Makes::AfterGone,
        // A DaemonSet makes its pods for nodes; one that is evicted is finished, or its DaemonSet is lost.
        Some(Detail::DaemonSet(_) | Detail::CronJob) => Makes::Never,
        None => match kind {
            "ReplicaSet" | "ReplicationController" | "Job" => Makes::AtOnce,
            "StatefulSet" => Makes::SameName,
            "DaemonSet" | "Node" => Makes::Never,
            _ => Makes::AfterGone,
        },
    }
}

/// Whether a Job makes a new pod only when the old one has ended: by its policy, whose default depends on whether there
/// is a pod failure policy.
pub fn replaces_after_failed(job: &JobSpec) -> bool {
    match job.pod_replacement_policy.as_deref() {
        Some(policy) => policy == "Failed",
        None => job.pod_failure_policy.is_some(),
    }
}

fn wanted(workload: &Workload) -> Option<i64> {
    match &workload.detail {
        Detail::Job(j) => {
            let (spec, status) = &**j;
            if spec.suspend {
                return Some(0);
            }
            let parallel = i64::from(spec.parallelism.unwrap_or(1));
            let left = spec.completions.map(|c| i64::from(c) - i64::from(status.succeeded.unwrap_or_default()));
            Some(left.map_or(parallel, |left| left.min(parallel)).max(0))
        }
        _ => workload.replicas().map(i64::from),
    }
}

/// The middle of what its pods took from being scheduled to being Ready. Pods whose containers were started again tell
/// nothing, as their Ready condition speaks of a later time.
fn startup(pods: &[&Arc<Pod>]) -> Option<i64> {
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
    let newest_ready: Option<Timestamp> = live.iter().filter(|p| p.is_ready()).filter_map(|p| p.meta.created).max();
    let any_ready = live.iter().any(|p| p.is_ready());
    let newer = |p: &Pod| !any_ready || newest_ready.zip(p.meta.created).is_some_and(|(ready, this)| this > ready);
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

fn create_failure(workload: &Workload) -> Option<String> {
    match &workload.detail {
        Detail::ReplicaSet(s) => {
            s.conditions.iter().find(|c| c.type_ == "ReplicaFailure" && c.status == "True").map(|c| c.message.clone())
        }
        Detail::ReplicationController(s) => {
            s.conditions.iter().find(|c| c.type_ == "ReplicaFailure" && c.status == "True").map(|c| c.message.clone())
        }
        _ => None,
    }
}
