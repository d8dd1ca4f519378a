//! What makes pods: Deployments, ReplicaSets, StatefulSets, Jobs …, and custom owners, in one shape.

use super::intern::{Interner, Map, Str};
use super::meta::Meta;
use super::read_pod::{PodShapes, Template};
use super::selector::LabelSelector;
use crate::wire::{apps, core};

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
    DaemonSet(Box<apps::DaemonSetStatus>),
    ReplicationController(Box<core::ReplicationControllerStatus>),
    Job(Box<(apps::JobSpec, apps::JobStatus)>),
    CronJob,
    /// Any other owner; its body is in [`Custom`](super::custom::Custom).
    Custom,
}

impl Workload {
    /// `Kind/namespace/name`, as `objects` of a finding names it.
    pub fn object(&self) -> String {
        format!("{}/{}", self.kind, self.meta.path())
    }

    /// How many pods are wanted, where that is known.
    pub fn replicas(&self) -> Option<i32> {
        match self.scale {
            Scale::Replicas(n) => Some(n),
            Scale::NoScale | Scale::Unknown => None,
        }
    }
}

/// Reads workloads. Errors name the field that cannot be read.
pub struct WorkloadReader<'a> {
    /// Strings seen so far.
    pub interner: &'a mut Interner,
    /// Templates seen so far.
    pub shapes: &'a mut PodShapes,
}

impl WorkloadReader<'_> {
    fn make(
        &mut self,
        (group, version, kind): (&str, &str, &str),
        metadata: Option<crate::wire::meta::ObjectMeta>,
        scale: Scale,
        selector: Option<&crate::wire::meta::LabelSelector>,
        template: Option<crate::wire::pod::PodTemplateSpec>,
        detail: Detail,
    ) -> Result<Workload, String> {
        let i = &mut *self.interner;
        Ok(Workload {
            meta: Meta::read(metadata, i),
            group: i.str(group),
            version: i.str(version),
            kind: i.str(kind),
            scale,
            selector: LabelSelector::read(selector, i),
            template: template.map(|t| self.shapes.template(t, i)).transpose()?,
            detail,
        })
    }

    /// A Deployment.
    pub fn deployment(&mut self, w: apps::Deployment) -> Result<Workload, String> {
        let mut spec = w.spec.unwrap_or_default();
        let (template, selector) = (spec.template.take(), spec.selector.take());
        let scale = Scale::Replicas(spec.replicas.unwrap_or(1));
        let detail = Detail::Deployment(Box::new((spec, w.status.unwrap_or_default())));
        self.make(("apps", "v1", "Deployment"), w.metadata, scale, selector.as_ref(), template, detail)
    }

    /// A ReplicaSet.
    pub fn replica_set(&mut self, w: apps::ReplicaSet) -> Result<Workload, String> {
        let spec = w.spec.unwrap_or_default();
        let scale = Scale::Replicas(spec.replicas.unwrap_or(1));
        let detail = Detail::ReplicaSet(Box::new(w.status.unwrap_or_default()));
        self.make(("apps", "v1", "ReplicaSet"), w.metadata, scale, spec.selector.as_ref(), spec.template, detail)
    }

    /// A StatefulSet.
    pub fn stateful_set(&mut self, w: apps::StatefulSet) -> Result<Workload, String> {
        let mut spec = w.spec.unwrap_or_default();
        let (template, selector) = (spec.template.take(), spec.selector.take());
        let scale = Scale::Replicas(spec.replicas.unwrap_or(1));
        let detail = Detail::StatefulSet(Box::new((spec, w.status.unwrap_or_default())));
        self.make(("apps", "v1", "StatefulSet"), w.metadata, scale, selector.as_ref(), template, detail)
    }

    /// A DaemonSet.
    pub fn daemon_set(&mut self, w: apps::DaemonSet) -> Result<Workload, String> {
        let spec = w.spec.unwrap_or_default();
        let detail = Detail::DaemonSet(Box::new(w.status.unwrap_or_default()));
        self.make(
            ("apps", "v1", "DaemonSet"),
            w.metadata,
            Scale::NoScale,
            spec.selector.as_ref(),
            spec.template,
            detail,
        )
    }

    /// A ReplicationController.
    pub fn replication_controller(&mut self, w: core::ReplicationController) -> Result<Workload, String> {
        let spec = w.spec.unwrap_or_default();
        let scale = Scale::Replicas(spec.replicas.unwrap_or(1));
        let detail = Detail::ReplicationController(Box::new(w.status.unwrap_or_default()));
        let selector: Map = self.interner.map(&spec.selector);
        let mut made =
            self.make(("", "v1", "ReplicationController"), w.metadata, scale, None, spec.template, detail)?;
        made.selector = LabelSelector::from_map(&selector);
        Ok(made)
    }

    /// A Job.
    pub fn job(&mut self, w: apps::Job) -> Result<Workload, String> {
        let mut spec = w.spec.unwrap_or_default();
        let (template, selector) = (spec.template.take(), spec.selector.take());
        let detail = Detail::Job(Box::new((spec, w.status.unwrap_or_default())));
        self.make(("batch", "v1", "Job"), w.metadata, Scale::NoScale, selector.as_ref(), template, detail)
    }

    /// A CronJob.
    pub fn cron_job(&mut self, w: apps::CronJob) -> Result<Workload, String> {
        self.make(("batch", "v1", "CronJob"), w.metadata, Scale::NoScale, None, None, Detail::CronJob)
    }
}
