//! The devices of a state: which there are, and which claims have them. Read from the snapshot once, when a pod first
//! asks for some.

use super::filters::devices::inventory::Inventory;
use super::filters::devices::taken::Taken;
use crate::snapshot::Snapshot;

/// The devices of a state.
#[derive(Debug)]
pub struct Devices {
    /// Those that there are.
    pub inventory: Inventory,
    /// Those that claims have.
    pub taken: Taken,
}

impl Devices {
    /// The devices of a snapshot.
    pub fn new(snapshot: &Snapshot) -> Self {
        let inventory = Inventory::new(snapshot);
        let mut taken = Taken::default();
        for claim in snapshot.resource_claims.iter() {
            if let Some(allocation) = claim.allocation() {
                taken.add(allocation, &inventory);
            }
        }
        Self { inventory, taken }
    }
}
