//! What a drainer sees as it looks at a pod.

use super::options::DrainOptions;
use crate::snapshot::Snapshot;

/// What a drainer sees as it looks at a pod.
pub struct View<'a> {
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// The flags of the drain.
    pub options: &'a DrainOptions,
}

impl<'a> View<'a> {
    /// That of a drain of this cluster with these flags.
    pub fn new(snapshot: &'a Snapshot, options: &'a DrainOptions) -> Self {
        Self { snapshot, options }
    }
}
