//! The pools of devices that a node reaches. Mirrors `GatherPools` and `buildPool` of
//! `structured/internal/incubating/pools_incubating.go`.

use super::ids::{Counters, Entry, PoolId, SliceId};
use super::inventory::{Inventory, Slice};
use super::pool::Pool;
use crate::snapshot::node::Node;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The pools that a node reaches, in the order in which they are tried. The error says of which nothing can be told.
///
/// # Errors
/// A pool uses something that is not evaluated here.
pub fn gather(inventory: &Inventory, node: &Node) -> Result<Vec<Arc<Pool>>, String> {
    let mut by_pool: BTreeMap<PoolId, Vec<SliceId>> = BTreeMap::new();
    for (number, slice) in inventory.slices_for(&node.meta.name) {
        if !is_relevant(inventory, slice, node) {
            continue;
        }
        let list = by_pool.entry(slice.pool).or_default();
        let known = list.first().and_then(|s| inventory.slice(*s)).map(|s| s.generation);
        match known {
            Some(known) if slice.generation < known => continue,
            Some(known) if slice.generation > known => list.clear(),
            _ => {}
        }
        list.push(number);
    }
    let mut pools = Vec::with_capacity(by_pool.len());
    for (id, mut slices) in by_pool {
        if let Some(doubt) = inventory.pool(id).and_then(|p| p.doubt) {
            return Err(doubt.to_owned());
        }
        slices.sort_unstable();
        if let Some(whole) = whole(inventory, id, &slices) {
            pools.push(inventory.pool_from(id, slices, |slices| build(inventory, id, slices, whole)));
        }
    }
    // The order of driver and name; pools with binding conditions come after all others.
    pools.sort_by_key(|p| p.binding);
    Ok(pools)
}

/// Whether a slice matters to a node.
fn is_relevant(inventory: &Inventory, slice: &Slice, node: &Node) -> bool {
    let features = inventory.features;
    let declares = !slice.counters.is_empty();
    if !features.partitionable && (slice.per_device || declares) {
        return false;
    }
    if declares && features.minor < 37 {
        return true;
    }
    match &slice.place {
        Some(place) => place.reaches(node),
        None if slice.per_device => slice
            .devices
            .clone()
            .filter_map(|d| inventory.device(d))
            .any(|d| d.place.as_ref().is_some_and(|p| p.reaches(node))),
        None => false,
    }
}

/// How much of a pool is there.
#[derive(Clone, Copy)]
enum Whole {
    /// What the node reaches is all of it.
    Reached,
    /// All of it is there, a part of it elsewhere.
    WithOthers,
    /// A slice is missing.
    No,
}

/// Whether a pool is complete; `None` where it is being replaced by a newer generation, which the node does not reach.
fn whole(inventory: &Inventory, id: PoolId, slices: &[SliceId]) -> Option<Whole> {
    let first = slices.first().and_then(|s| inventory.slice(*s))?;
    let is_all = |n: usize| i64::try_from(n).is_ok_and(|n| n == first.slices_of_pool);
    if is_all(slices.len()) {
        return Some(Whole::Reached);
    }
    let all = inventory.pool(id)?.slices.iter().filter_map(|s| inventory.slice(*s));
    let mut same = 0;
    for other in all {
        if other.generation > first.generation {
            return None;
        }
        same += usize::from(other.generation == first.generation);
    }
    Some(if is_all(same) { Whole::WithOthers } else { Whole::No })
}

fn build(inventory: &Inventory, id: PoolId, slices: &[SliceId], whole: Whole) -> Pool {
    let mut pool = Pool {
        id,
        incomplete: false,
        invalid: false,
        devices: Vec::new(),
        elsewhere: Vec::new(),
        counters: BTreeMap::new(),
        binding: false,
    };
    let others: Vec<SliceId> = match whole {
        Whole::No => {
            pool.incomplete = true;
            return pool;
        }
        Whole::Reached => Vec::new(),
        Whole::WithOthers => {
            let generation = slices.first().and_then(|s| inventory.slice(*s)).map(|s| s.generation);
            let all = inventory.pool(id).map(|p| &*p.slices).unwrap_or_default().iter();
            let current = |s: &&SliceId| inventory.slice(**s).map(|s| s.generation) == generation;
            all.filter(current).filter(|s| !slices.contains(s)).copied().collect()
        }
    };
    let partitionable = inventory.features.partitionable;
    let declares = |s: &Slice| partitionable && !s.counters.is_empty();
    let mut declaring: Vec<&Slice> = Vec::new();
    for (list, reached) in [(slices, true), (&others, false)] {
        for slice in list.iter().filter_map(|s| inventory.slice(*s)) {
            if declares(slice) {
                // Up to 1.36 such a slice is looked at from every node.
                declaring.push(slice);
            } else if reached {
                pool.devices.extend(slice.devices.clone());
            } else {
                pool.elsewhere.extend(slice.devices.clone());
            }
        }
    }
    pool.invalid = !names_differ(inventory, &pool.devices);
    for (name, counters) in declaring.into_iter().flat_map(|s| &s.counters) {
        pool.invalid |= pool.counters.insert(name.clone(), counters.clone()).is_some();
    }
    if partitionable {
        let all = pool.devices.iter().chain(&pool.elsewhere);
        pool.invalid |= !all.clone().all(|d| counters_are_declared(inventory, *d, &pool.counters));
    }
    let published = |d: &Entry| inventory.published(inventory.device(*d)?);
    pool.binding = pool.devices.iter().filter_map(published).any(|d| !d.binding_conditions.is_empty());
    if pool.invalid {
        pool.devices.clear();
        pool.elsewhere.clear();
        // Upstream asks an invalid pool, which then has no devices.
        pool.binding = false;
    }
    pool
}

/// Mirrors `validateDeviceNames`.
fn names_differ(inventory: &Inventory, devices: &[Entry]) -> bool {
    let mut seen = HashSet::with_capacity(devices.len());
    devices.iter().filter_map(|d| inventory.device(*d)).all(|d| seen.insert(d.id))
}

/// Mirrors `validateDeviceCounterConsumption`.
fn counters_are_declared(inventory: &Inventory, device: Entry, sets: &BTreeMap<String, Counters>) -> bool {
    let Some(device) = inventory.device(device) else { return true };
    device.consumes.iter().all(|(set, counters)| {
        let declared = sets.get(set);
        counters.iter().all(|(name, _)| declared.is_some_and(|d| d.iter().any(|(n, _)| n == name)))
            && declared.is_some()
    })
}
