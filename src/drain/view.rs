//! What a drainer sees as it looks at a pod.

use super::machines::Machines;
use super::options::DrainOptions;
use crate::snapshot::Snapshot;
use std::cell::OnceCell;

/// What a drainer sees as it looks at a pod.
pub struct View<'a> {
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// The flags of the drain.
    pub options: &'a DrainOptions,
    /// Cluster API's Machines, once somebody asks.
    machines: OnceCell<Machines>,
}

impl<'a> View<'a> {
    /// That of a drain of this cluster with these flags.
    pub fn new(snapshot: &'a Snapshot, options: &'a DrainOptions) -> Self {
        Self { snapshot, options, machines: OnceCell::new() }
    }

    /// Cluster API's Machines, and its rules for draining them.
    pub fn machines(&self) -> &Machines {
        self.machines.get_or_init(|| Machines::new(self.snapshot))
    }
}
