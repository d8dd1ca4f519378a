//! What the controllers have in common: what they look at, and what they find.

use crate::cure::{Change, Cure, Remedy};
use crate::finding::{Code, Finding, Ref};
use crate::pending::admission;
use crate::pending::context::Context;
use crate::pending::facts;
use crate::shell::Kubectl;
use crate::snapshot::age::age;
use crate::snapshot::pod::{Pod, PodStatus};
use crate::snapshot::read_pod::Template;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Kind, Snapshot};
use std::sync::Arc;

/// What a workload wants and has.
#[derive(Debug, Clone, Default)]
pub struct WorkloadStatus {
    /// How many pods it wants at the moment; `None` where nothing tells.
    pub desired: Option<usize>,
    /// How many of its pods are there, neither ended nor being deleted.
    pub current: usize,
    /// How many of these are Ready.
    pub ready: usize,
    /// How many are still to be made.
    pub missing: usize,
    /// What keeps them from being made, and why none are wanted.
    pub findings: Vec<Finding>,
}

impl WorkloadStatus {
    /// That of a workload that has these pods and wants so many, without what it lacks.
    pub(super) fn having(pods: &[&Arc<Pod>], wanted: usize) -> Self {
        let there: Vec<_> = pods.iter().filter(|p| p.is_active()).collect();
        let ready = there.iter().filter(|p| p.is_ready()).count();
        Self { desired: Some(wanted), current: there.len(), ready, ..Self::default() }
    }
}

/// A workload, and what its controller looks at.
pub(super) struct Controller<'a> {
    pub workload: &'a Arc<Workload>,
    pub snapshot: &'a Snapshot,
    pub kubectl: &'a Kubectl,
    pub cx: &'a Context<'a>,
}

/// A count of the API as a count; nothing below 0.
pub(super) fn count(n: Option<i32>) -> usize {
    n.and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

impl<'a> Controller<'a> {
    /// Of a workload.
    pub fn new(workload: &'a Arc<Workload>, cx: &'a Context<'a>) -> Self {
        Self { workload, snapshot: cx.snapshot, kubectl: &cx.kubectl, cx }
    }

    /// `Deployment shop/web`.
    pub fn name(&self) -> String {
        format!("{} {}", self.workload.kind, self.workload.meta.path())
    }

    /// The workload's own pods.
    pub fn pods(&self) -> Vec<&'a Arc<Pod>> {
        self.snapshot.pods_controlled_by(self.workload)
    }

    /// `kubectl WORDS KIND/NAME -n NAMESPACE`.
    pub fn line(&self, words: &[&str]) -> String {
        let name = self.workload.resource_name();
        let args: Vec<&str> = words.iter().copied().chain([&*name]).collect();
        self.kubectl.line(self.workload.meta.ns(), &args)
    }

    /// How many pods it wants, as its spec says.
    pub fn replicas(&self) -> usize {
        count(self.workload.replicas())
    }

    /// A finding about the workload.
    pub fn finding(&self, code: Code, message: impl Into<String>) -> Finding {
        Finding::new(code, message).about([Ref::workload(self.workload)])
    }

    /// What speaks against a new pod: that its namespace is being deleted, what the API server is recorded to have said,
    /// and what it would say.
    pub fn refused(&self) -> Vec<Finding> {
        let pod = self.workload.template.as_ref().map(|t| pod_of(self.workload, t));
        admission::refused(self.workload, pod.as_ref(), self.cx)
    }

    /// The controller has not looked at the spec as it is now.
    pub fn behind(&self, observed: Option<i64>, what: &str) -> Option<Finding> {
        let (now, seen) = (self.workload.meta.generation, observed.unwrap_or_default());
        (seen < now).then(|| {
            let message = format!(
                "the controller of {} has not processed its present spec (observedGeneration {seen}, generation {now}){what}",
                self.name()
            );
            self.finding(Code::ControllerBehind, message).remedy(controllers(self.kubectl))
        })
    }

    /// The last resort for a pod whose kubelet does not say that it ended.
    pub fn force_delete(&self, pod: &Arc<Pod>) -> Remedy {
        let text = format!(
            "delete pod {} without waiting for its kubelet, once it is certain that its containers no longer run",
            pod.meta.path()
        );
        Cure::from(Change::ForceDeletePod(pod.clone())).text(text).untried(self.snapshot)
    }

    /// Nothing that is read explains why pods are not made.
    pub fn unexplained(&self, found: &WorkloadStatus) -> Finding {
        let meta = &self.workload.meta;
        let wanted = found.desired.map(|n| format!("wants {}, ", pods_in_words(n))).unwrap_or_default();
        let unread = if self.snapshot.coverage.has(Kind::Event) { "" } else { " (events were not read)" };
        let since = meta.creation_timestamp.map(|t| format!(", made {} ago,", age(t, self.snapshot.now)));
        let message = format!(
            "{}{} {wanted}{} there, {} not created, and no refusal is recorded{unread}",
            self.name(),
            since.unwrap_or_default(),
            is_are(found.current),
            is_are(found.missing),
        );
        self.finding(Code::MissingPods, message).remedy(
            Remedy::advice(format!("read what the controller of {} reports", self.name()))
                .command(self.kubectl.line(meta.ns(), &["describe", &self.workload.resource_name()])),
        )
    }
}

/// `1 is`, `3 are`.
pub(super) fn is_are(n: usize) -> String {
    format!("{n} {}", if n == 1 { "is" } else { "are" })
}

/// `1 pod`, `3 pods`.
pub(super) fn pods_in_words(n: usize) -> String {
    facts::count(n, "pod")
}

/// Whether the controller manager runs is not in the API of every cluster.
pub(super) fn controllers(kubectl: &Kubectl) -> Remedy {
    Remedy::advice("check that kube-controller-manager runs and is not far behind (a managed control plane shows its health elsewhere)").command(kubectl.line("kube-system", &["get", "lease", "kube-controller-manager", "-o", "yaml"]))
}

/// A pod as the workload would make it.
pub fn pod_of(workload: &Workload, template: &Template) -> Pod {
    let mut meta = template.meta.clone();
    meta.namespace.clone_from(&workload.meta.namespace);
    meta.name = format!("{}-new", workload.meta.name).into();
    Pod {
        meta,
        spec: template.spec.clone(),
        volumes: template.volumes.clone(),
        node: template.node.clone(),
        status: PodStatus::default(),
    }
}
