//! What makes pods: Deployments, ReplicaSets, StatefulSets, Jobs …, and custom owners, in one shape.

use super::intern::Str;
use super::keep::{Keep, Reader};
use super::kinds::Kind;
use super::meta::Meta;
use super::read_pod::Template;
use super::selector::LabelSelector;
use super::table::Keyed;
use crate::wire::meta::{self, ObjectMeta};
use crate::wire::pod::PodTemplateSpec;
use crate::wire::{apps, core};
use jiff::Timestamp;

/// A controller of pods, or the owner of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// Names, labels, owner, age.
    pub meta: Meta,
    /// Its API group, empty for the core group.
    pub group: Str,
    /// Its API version, without its group.
    pub version: Str,
    /// Its kind.
    pub kind: Str,
    /// How many pods it wants, as far as the disruption controller can ask.
    pub scale: Scale,
    /// Which pods it looks after.
    pub selector: LabelSelector,
    /// What it makes them from; `None` for a custom owner.
    pub template: Option<Template>,
    /// What only its kind has.
    pub detail: Detail,
}

/// The `scale` of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// So many pods are wanted.
    Replicas(i32),
    /// The kind has no scale (a Job, a custom kind without the subresource): a sync that needs it fails.
    NoScale,
    /// It may have one, and the input does not tell.
    Unknown,
}

/// What only one kind of workload has, as the API writes it.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub enum Detail {
    Deployment(Box<(apps::DeploymentSpec, apps::DeploymentStatus)>),
    ReplicaSet(Box<apps::ReplicaSetStatus>),
    StatefulSet(Box<(apps::StatefulSetSpec, apps::StatefulSetStatus)>),
    DaemonSet(Box<(apps::DaemonSetSpec, apps::DaemonSetStatus)>),
    ReplicationController(Box<core::ReplicationControllerStatus>),
    Job(Box<(apps::JobSpec, apps::JobStatus)>),
    CronJob(Box<(apps::CronJobSpec, apps::CronJobStatus)>),
    /// Any other owner; its body is in [`Custom`](super::custom::Custom).
    Custom,
}

impl Keyed for Workload {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn group_kind(&self) -> Option<(&str, &str)> {
        Some((&self.group, &self.kind))
    }
}

impl Workload {
    /// `Kind/namespace/name`, as `objects` of a finding names it.
    pub fn object(&self) -> String {
        format!("{}/{}", self.kind, self.meta.path())
    }

    /// `deployment.apps/web`, `replicationcontroller/web`: how kubectl names it on a command line.
    pub fn resource_name(&self) -> String {
        let kind = self.kind.to_lowercase();
        match &*self.group {
            "" => format!("{kind}/{}", self.meta.name),
            group => format!("{kind}.{group}/{}", self.meta.name),
        }
    }

    /// How many pods are wanted, where that is known.
    pub fn replicas(&self) -> Option<i32> {
        match self.scale {
            Scale::Replicas(n) => Some(n),
            Scale::NoScale | Scale::Unknown => None,
        }
    }
}

/// What only some kinds have.
impl Workload {
    /// The spec and status of a Job.
    pub fn job(&self) -> Option<(&apps::JobSpec, &apps::JobStatus)> {
        match &self.detail {
            Detail::Job(job) => Some((&job.0, &job.1)),
            _ => None,
        }
    }

    /// How many pods it has at a time, once it has all it wants; `None` where that is not known.
    pub fn wanted_pods(&self) -> Option<i64> {
        match &self.detail {
            Detail::Job(job) => Some(job.0.wanted_pods(&job.1)),
            _ => self.replicas().map(i64::from),
        }
    }

    /// What a ReplicaSet or a ReplicationController reports of pods that it cannot create (`ReplicaFailure`).
    pub fn replica_failure(&self) -> Option<&str> {
        let failure = |kind: &str, status: &str| kind == "ReplicaFailure" && status == "True";
        match &self.detail {
            Detail::ReplicaSet(s) => {
                s.conditions.iter().find(|c| failure(&c.type_, &c.status)).map(|c| c.message.as_str())
            }
            Detail::ReplicationController(s) => {
                s.conditions.iter().find(|c| failure(&c.type_, &c.status)).map(|c| c.message.as_str())
            }
            _ => None,
        }
    }
}

impl apps::JobSpec {
    /// Whether a new pod is made only when the old one has ended: by `podReplacementPolicy`, whose default depends on
    /// whether there is a pod failure policy.
    pub fn replaces_after_failed(&self) -> bool {
        match self.pod_replacement_policy.as_deref() {
            Some(policy) => policy == "Failed",
            None => self.pod_failure_policy.is_some(),
        }
    }

    /// How many pods run at a time. Mirrors `manageJob` of `pkg/controller/job/job_controller.go`.
    pub fn wanted_pods(&self, status: &apps::JobStatus) -> i64 {
        if self.suspend {
            return 0;
        }
        let parallel = i64::from(self.parallelism.unwrap_or(1));
        let succeeded = i64::from(status.succeeded.unwrap_or_default());
        let wanted = match self.completions {
            Some(completions) => (i64::from(completions) - succeeded).min(parallel),
            // A work queue: once one has found it empty, no new ones are made.
            None if succeeded > 0 => 0,
            None => parallel,
        };
        wanted.max(0)
    }
}

impl apps::StatefulSetSpec {
    /// Whether pods are made one after the other, each once all lower ones are Ready (OrderedReady, the default).
    pub fn is_ordered(&self) -> bool {
        self.pod_management_policy != "Parallel"
    }

    /// Whether its controller leaves it to others to delete pods of a former revision.
    pub fn is_on_delete(&self) -> bool {
        self.update_strategy.as_ref().is_some_and(|u| u.type_ == "OnDelete")
    }

    /// Pods of lower ordinals than this stay at the former revision.
    pub fn partition(&self) -> i32 {
        let rolling = self.update_strategy.as_ref().and_then(|u| u.rolling_update.as_ref());
        rolling.and_then(|r| r.partition).unwrap_or_default()
    }

    /// The first ordinal.
    pub fn first_ordinal(&self) -> i32 {
        self.ordinals.as_ref().and_then(|o| o.start).unwrap_or_default()
    }
}

impl apps::DaemonSetSpec {
    /// Whether its controller leaves it to others to delete pods of a former revision.
    pub fn is_on_delete(&self) -> bool {
        self.update_strategy.as_ref().is_some_and(|u| u.type_ == "OnDelete")
    }
}

impl apps::JobStatus {
    /// When the Job ended: with the condition Complete or Failed.
    pub fn ended(&self) -> Option<Timestamp> {
        let ends = |kind: &str| matches!(kind, "Complete" | "Failed");
        let condition = self.conditions.iter().find(|c| ends(&c.type_) && c.status == "True")?;
        condition.last_transition_time.and_then(crate::wire::time::Time::timestamp)
    }
}

/// What all kinds of workloads have.
struct Common {
    metadata: Option<ObjectMeta>,
    scale: Scale,
    selector: LabelSelector,
    template: Option<PodTemplateSpec>,
}

impl Reader {
    fn workload(&mut self, kind: Kind, common: Common, detail: Detail) -> Result<Workload, String> {
        let info = kind.info();
        Ok(Workload {
            meta: Meta::read(common.metadata, &mut self.interner),
            group: self.interner.str(info.group),
            version: self.interner.str(info.version),
            kind: self.interner.str(info.name),
            scale: common.scale,
            selector: common.selector,
            template: common.template.map(|t| self.template(t)).transpose()?,
            detail,
        })
    }

    fn selector(&mut self, wire: Option<&meta::LabelSelector>) -> LabelSelector {
        LabelSelector::read(wire, &mut self.interner)
    }
}

/// Where no count is set, the API means one. The API server refuses a workload without a spec, so that a file which has
/// one was cut: it does not tell.
fn replicas<T>(spec: Option<&T>, count: impl FnOnce(&T) -> Option<i32>) -> Scale {
    spec.map_or(Scale::Unknown, |spec| Scale::Replicas(count(spec).unwrap_or(1)))
}

impl Keep for apps::Deployment {
    type Kept = Workload;

    fn keep(self, reader: &mut Reader) -> Result<Workload, String> {
        let scale = replicas(self.spec.as_ref(), |s| s.replicas);
        let mut spec = self.spec.unwrap_or_default();
        let template = spec.template.take();
        let selector = reader.selector(spec.selector.take().as_ref());
        let common = Common { metadata: self.metadata, scale, selector, template };
        let detail = Detail::Deployment(Box::new((spec, self.status.unwrap_or_default())));
        reader.workload(Kind::Deployment, common, detail)
    }
}

impl Keep for apps::ReplicaSet {
    type Kept = Workload;

    fn keep(self, reader: &mut Reader) -> Result<Workload, String> {
        let scale = replicas(self.spec.as_ref(), |s| s.replicas);
        let spec = self.spec.unwrap_or_default();
        let selector = reader.selector(spec.selector.as_ref());
        let common = Common { metadata: self.metadata, scale, selector, template: spec.template };
        reader.workload(Kind::ReplicaSet, common, Detail::ReplicaSet(Box::new(self.status.unwrap_or_default())))
    }
}

impl Keep for apps::StatefulSet {
    type Kept = Workload;

    fn keep(self, reader: &mut Reader) -> Result<Workload, String> {
        let scale = replicas(self.spec.as_ref(), |s| s.replicas);
        let mut spec = self.spec.unwrap_or_default();
        let template = spec.template.take();
        let selector = reader.selector(spec.selector.take().as_ref());
        let common = Common { metadata: self.metadata, scale, selector, template };
        let detail = Detail::StatefulSet(Box::new((spec, self.status.unwrap_or_default())));
        reader.workload(Kind::StatefulSet, common, detail)
    }
}

impl Keep for apps::DaemonSet {
    type Kept = Workload;

    fn keep(self, reader: &mut Reader) -> Result<Workload, String> {
        let mut spec = self.spec.unwrap_or_default();
        let template = spec.template.take();
        let selector = reader.selector(spec.selector.take().as_ref());
        let common = Common { metadata: self.metadata, scale: Scale::NoScale, selector, template };
        reader.workload(Kind::DaemonSet, common, Detail::DaemonSet(Box::new((spec, self.status.unwrap_or_default()))))
    }
}

impl Keep for core::ReplicationController {
    type Kept = Workload;

    fn keep(self, reader: &mut Reader) -> Result<Workload, String> {
        let scale = replicas(self.spec.as_ref(), |s| s.replicas);
        let spec = self.spec.unwrap_or_default();
        let selector = LabelSelector::from_map(&reader.interner.map(&spec.selector));
        let common = Common { metadata: self.metadata, scale, selector, template: spec.template };
        let detail = Detail::ReplicationController(Box::new(self.status.unwrap_or_default()));
        reader.workload(Kind::ReplicationController, common, detail)
    }
}

impl Keep for apps::Job {
    type Kept = Workload;

    fn keep(self, reader: &mut Reader) -> Result<Workload, String> {
        let mut spec = self.spec.unwrap_or_default();
        let template = spec.template.take();
        let selector = reader.selector(spec.selector.take().as_ref());
        let common = Common { metadata: self.metadata, scale: Scale::NoScale, selector, template };
        let detail = Detail::Job(Box::new((spec, self.status.unwrap_or_default())));
        reader.workload(Kind::Job, common, detail)
    }
}

impl Keep for apps::CronJob {
    type Kept = Workload;

    fn keep(self, reader: &mut Reader) -> Result<Workload, String> {
        let selector = LabelSelector::Nothing;
        let mut spec = self.spec.unwrap_or_default();
        let template = spec.job_template.as_mut().and_then(|t| t.spec.as_mut()).and_then(|job| job.template.take());
        let common = Common { metadata: self.metadata, scale: Scale::NoScale, selector, template };
        reader.workload(Kind::CronJob, common, Detail::CronJob(Box::new((spec, self.status.unwrap_or_default()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Map;
    use crate::testing::{cluster, object};
    use serde_json::json;

    /// As the finders of the disruption controller see it: who has a scale, and that no count is one.
    #[test]
    fn the_scale_of_each_kind() {
        for (api, kind, spec, want) in [
            ("apps/v1", "Deployment", json!({}), Scale::Replicas(1)),
            ("apps/v1", "Deployment", json!({"replicas": 0}), Scale::Replicas(0)),
            ("apps/v1", "ReplicaSet", json!({"replicas": 3}), Scale::Replicas(3)),
            ("apps/v1", "StatefulSet", json!({"replicas": 2}), Scale::Replicas(2)),
            ("v1", "ReplicationController", json!({}), Scale::Replicas(1)),
            ("apps/v1", "DaemonSet", json!({}), Scale::NoScale),
            ("batch/v1", "Job", json!({"parallelism": 4}), Scale::NoScale),
            ("batch/v1", "CronJob", json!({}), Scale::NoScale),
        ] {
            let snapshot = cluster().add(object(api, kind, "a/x").spec(spec.clone())).snapshot();
            let workload = snapshot.workload(kind, "a", "x").unwrap();
            assert_eq!(workload.scale, want, "{kind} {spec}");
            let replicas = if let Scale::Replicas(n) = want { Some(n) } else { None };
            assert_eq!(workload.replicas(), replicas);
        }
    }

    /// The API server refuses each of them (`spec.selector: Required value`).
    #[test]
    fn a_workload_without_a_spec_does_not_tell_its_scale() {
        for (api, kind) in [
            ("apps/v1", "Deployment"),
            ("apps/v1", "ReplicaSet"),
            ("apps/v1", "StatefulSet"),
            ("v1", "ReplicationController"),
        ] {
            let snapshot = cluster().add(object(api, kind, "a/x")).snapshot();
            assert_eq!(snapshot.workload(kind, "a", "x").map(|w| w.scale), Some(Scale::Unknown), "{kind}");
        }
    }

    #[test]
    fn a_replication_controller_selects_by_a_plain_map() {
        let rc = object("v1", "ReplicationController", "a/x").spec(json!({"selector": {"app": "web"}}));
        let snapshot = cluster().add(rc).snapshot();
        let labels = |value: &str| -> Map { [(Str::from("app"), Str::from(value))].into_iter().collect() };
        let selector = &snapshot.workloads[0].selector;
        assert!(selector.matches(&labels("web")) && !selector.matches(&labels("db")));
    }
}
