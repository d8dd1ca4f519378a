//! Pods that the scheduler cannot tell apart: what holds for one of them holds for all.

use crate::snapshot::pod::{Pod, PodSpec, Volume, VolumeSource};
use crate::snapshot::{Map, Str};
use std::sync::Arc;

/// What tells pods apart for the scheduler: template, volumes, namespace, labels, owner. Templates and volumes are known
/// by where they are kept, so it means something only while a pod that has them is kept, too.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Kin {
    spec: *const PodSpec,
    volumes: *const Vec<Volume>,
    namespace: Option<Str>,
    labels: Map,
    controller: Option<Str>,
}

impl Kin {
    /// That of a pod; `None` for one that is like no other: a node is held for it, or claims are made for it alone.
    pub fn of(pod: &Pod) -> Option<Self> {
        let own_claims = !pod.spec.resource_claims.is_empty()
            || pod.volumes.iter().any(|v| matches!(v.source, VolumeSource::Ephemeral { .. }));
        if own_claims || pod.status.nominated_node.is_some() {
            return None;
        }
        Some(Self {
            spec: Arc::as_ptr(&pod.spec),
            volumes: Arc::as_ptr(&pod.volumes),
            namespace: pod.meta.namespace.clone(),
            labels: pod.meta.labels.clone(),
            controller: pod.meta.controller.as_ref().map(|o| o.uid.clone()),
        })
    }
}
