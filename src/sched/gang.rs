//! Pods that are scheduled together or not at all: those of a PodGroup with the policy `gang`.

use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Str};
use std::sync::Arc;

/// Pods that are scheduled together or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Gang {
    namespace: Option<Str>,
    /// Their PodGroup.
    pub group: Str,
    /// `minCount`.
    pub wanted: i64,
}

impl Gang {
    /// The gang of a pod; `None` where its PodGroup does not exist, or is none.
    pub fn of(pod: &Pod, snapshot: &Snapshot) -> Option<Self> {
        let group = pod.spec.pod_group.clone()?;
        let found = snapshot.pod_groups.named(pod.meta.ns(), &group)?;
        let wanted = found.spec.scheduling_policy.gang.as_ref()?.min_count;
        Some(Self { namespace: pod.meta.namespace.clone(), group, wanted })
    }

    /// Whether a pod is one of them.
    pub fn has(&self, pod: &Pod) -> bool {
        pod.spec.pod_group.as_ref() == Some(&self.group) && pod.meta.namespace == self.namespace
    }

    /// Those of them that have not ended.
    pub fn pods<'a>(&'a self, snapshot: &'a Snapshot) -> impl Iterator<Item = &'a Arc<Pod>> {
        let all = snapshot.pods.in_namespace(self.namespace.as_deref().unwrap_or_default());
        all.iter().filter(|p| self.has(p) && !p.is_finished())
    }
}
