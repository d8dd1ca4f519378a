//! What every explanation of one run shares: the snapshot, command lines, and the components that others wait for.

use super::components::Components;
use crate::shell::Kubectl;
use crate::snapshot::Snapshot;

/// What every explanation of one run shares.
pub struct Context<'a> {
    /// The snapshot.
    pub snapshot: &'a Snapshot,
    /// Writes command lines.
    pub kubectl: Kubectl,
    /// Finds components by the names that their pods bear.
    pub components: Components<'a>,
}

impl<'a> Context<'a> {
    /// For a snapshot.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self { snapshot, kubectl: Kubectl::of(snapshot), components: Components::new(snapshot) }
    }
}
