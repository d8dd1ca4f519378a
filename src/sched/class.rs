//! Namespaces and label sets: what pod affinity and spreading tell pods apart by.

use crate::snapshot::pod::Pod;
use crate::snapshot::{Map, Str};

/// A namespace and a label set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Class {
    /// The namespace.
    pub namespace: Str,
    /// The labels.
    pub labels: Map,
}

impl Class {
    /// That of a pod.
    pub fn of(pod: &Pod) -> Self {
        let namespace = pod.meta.namespace.clone().unwrap_or_else(|| Str::from(""));
        Self { namespace, labels: pod.meta.labels.clone() }
    }
}
