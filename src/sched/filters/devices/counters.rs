//! Counters that the devices of a pool share, as partitions of one card do. Mirrors `checkAvailableCounters` and
//! `deallocateCountersForDevice` of `allocator_incubating.go`.

use super::ids::Counters;
use super::inventory::{Device, Inventory};
use super::pool::Pool;
use super::taken::Taken;
use crate::snapshot::quantity::Quantity;
use std::collections::{BTreeMap, HashMap};

/// Amounts by counter set and counter.
pub type Sets = BTreeMap<String, BTreeMap<String, Quantity>>;

/// What is left of counters, and what the devices chosen so far take of them.
#[derive(Debug, Default)]
pub struct Ledger {
    available: HashMap<String, Sets>,
    consumed: HashMap<String, Sets>,
}

/// Up to 1.36 pools of one name share what is reckoned, of whatever driver.
fn key(pool: &Pool, inventory: &Inventory) -> String {
    let Some(info) = inventory.pool(pool.id) else { return String::new() };
    if inventory.features.minor >= 37 { info.path() } else { info.name.clone() }
}

/// What is left of a pool's counters beside the devices that claims have; below nothing where they have too much.
pub fn available(pool: &Pool, inventory: &Inventory, taken: &Taken) -> Sets {
    let amounts = |c: &Counters| c.iter().cloned().collect::<BTreeMap<_, _>>();
    let mut sets: Sets = pool.counters.iter().map(|(name, c)| (name.clone(), amounts(c))).collect();
    let all = pool.devices.iter().chain(&pool.elsewhere).filter_map(|d| inventory.device(*d));
    for device in all.filter(|d| taken.has(d.id)) {
        for (set, counters) in &device.consumes {
            let Some(set) = sets.get_mut(set) else { continue };
            for (name, n) in counters {
                if let Some(left) = set.get_mut(name) {
                    *left = *left - *n;
                }
            }
        }
    }
    sets
}

impl Ledger {
    /// Reserves what a device takes, if the counters of its pool suffice.
    pub fn reserve(&mut self, device: &Device, pool: &Pool, inventory: &Inventory, taken: &Taken) -> bool {
        let key = key(pool, inventory);
        let available = self.available.entry(key.clone()).or_insert_with(|| available(pool, inventory, taken));
        let consumed = self.consumed.entry(key).or_default();
        count(consumed, device, |sum, n| sum + n);
        let used = |set: &str, name: &str| consumed.get(set).and_then(|s| s.get(name)).copied().unwrap_or_default();
        let suffices = |(set, counters): (&String, &BTreeMap<String, Quantity>)| {
            counters.iter().all(|(name, left)| *left >= used(set, name))
        };
        let ok = available.iter().all(suffices);
        if !ok {
            count(consumed, device, |sum, n| sum - n);
        }
        ok
    }

    /// Gives back what was reserved for a device.
    pub fn release(&mut self, device: &Device, pool: &Pool, inventory: &Inventory) {
        if let Some(consumed) = self.consumed.get_mut(&key(pool, inventory)) {
            count(consumed, device, |sum, n| sum - n);
        }
    }
}

fn count(sets: &mut Sets, device: &Device, sum: impl Fn(Quantity, Quantity) -> Quantity) {
    for (set, counters) in &device.consumes {
        let set = sets.entry(set.clone()).or_default();
        for (name, n) in counters {
            let total = set.entry(name.clone()).or_default();
            *total = sum(*total, *n);
        }
    }
}
