//! The pod that replaces an evicted one: the same without its node and its past.

use crate::snapshot::Str;
use crate::snapshot::meta::Meta;
use crate::snapshot::pod::{Condition, Phase, Pod, PodStatus, Truth};
use jiff::Timestamp;
use std::sync::Arc;

/// A pod not created yet that is like `old`. A StatefulSet's keeps its name, and so its claims. `node` is set where the
/// owner's template names one: such a pod never meets the scheduler.
pub fn successor(old: &Pod, name: Str, node: Option<Str>, now: Timestamp) -> Arc<Pod> {
    Arc::new(Pod {
        meta: Meta {
            name,
            uid: None,
            created: Some(now),
            deleted: None,
            deletion_grace: None,
            finalizers: Box::default(),
            ..old.meta.clone()
        },
        spec: old.spec.clone(),
        volumes: old.volumes.clone(),
        node,
        status: PodStatus { phase: Phase::Pending, ..PodStatus::default() },
    })
}

/// The name of the n-th pod that a plan makes in the place of `old`: unlike that of any pod that exists.
pub fn new_name(old: &Pod, n: usize) -> Str {
    format!("{}+{n}", old.meta.name).into()
}

/// The ordinal of a StatefulSet's pod. Mirrors `getParentNameAndOrdinal`.
pub fn ordinal(pod: &Pod) -> Option<i32> {
    pod.meta.name.rsplit_once('-').and_then(|(_, n)| n.parse().ok())
}

/// The same pod, Ready.
pub fn ready(pod: &Pod, now: Timestamp) -> Arc<Pod> {
    let condition = Condition {
        kind: "Ready".into(),
        status: Truth::True,
        since: Some(now),
        reason: "".into(),
        message: "".into(),
    };
    let status = PodStatus { phase: Phase::Running, conditions: Box::new([condition]), ..pod.status.clone() };
    Arc::new(Pod { status, ..pod.clone() })
}
