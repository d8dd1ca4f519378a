//! Which devices claims have. Mirrors `foreachAllocatedDevice` (`plugins/dynamicresources/allocateddevices.go`) and
//! `structured.AllocatedState`.

use super::capacity::Amounts;
use super::ids::{DeviceId, amount};
use super::inventory::Inventory;
use crate::wire::resource::{AllocationResult, DeviceRequestAllocationResult};
use foldhash::{HashMap, HashSet};

/// Which devices claims have.
#[derive(Debug, Clone, Default)]
pub struct Taken {
    /// Devices that are one claim's alone.
    pub alone: HashSet<DeviceId>,
    /// Devices of which claims have a share.
    pub shared: HashSet<DeviceId>,
    /// What the shares add up to.
    pub capacity: HashMap<DeviceId, Amounts>,
}

impl Taken {
    /// Adds the devices of an allocation. Who has a device as its administrator takes it from nobody.
    pub fn add(&mut self, allocation: &AllocationResult, inventory: &Inventory) {
        for result in results(allocation) {
            let Some(device) = inventory.id_of(&result.driver, &result.pool, &result.device) else { continue };
            if result.share_id.is_none() || !inventory.features.consumable {
                self.alone.insert(device);
                continue;
            }
            self.shared.insert(device);
            if !result.consumed_capacity.is_empty() {
                let sum = self.capacity.entry(device).or_default();
                for (name, q) in &result.consumed_capacity {
                    let sum = sum.entry(name.clone()).or_default();
                    *sum = *sum + amount(Some(q));
                }
            }
        }
    }

    /// Whether claims have the device, or a share of it. Mirrors `internal.IsDeviceAllocated`.
    pub fn has(&self, device: DeviceId) -> bool {
        self.alone.contains(&device) || self.shared.contains(&device) || self.capacity.contains_key(&device)
    }
}

/// The devices of an allocation that it takes from others.
pub fn results(allocation: &AllocationResult) -> impl Iterator<Item = &DeviceRequestAllocationResult> {
    allocation.devices.iter().flat_map(|d| &d.results).filter(|r| !r.admin_access)
}
