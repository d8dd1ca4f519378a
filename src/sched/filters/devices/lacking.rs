//! What a request lacks on a node: how far the devices in reach come, test by test, and where too few are left. For
//! people; the scheduler says no more than that it cannot allocate all claims.

use super::capacity::{self, Amounts};
use super::counters::{self, Sets};
use super::ids::{Entry, PoolId};
use super::inventory::{Device, Inventory, PoolInfo};
use super::pool::Pool;
use super::request::{Request, Selector, Wanted};
use super::taken::Taken;
use crate::snapshot::node::Node;
use crate::snapshot::quantity::Quantity;
use crate::wire::resource as wire;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The first thing that too few devices have. In the order of the tests: a later one is nearer to a fit.
#[derive(Debug, Clone, PartialEq)]
pub enum Lack {
    /// The node reaches no device at all.
    Devices,
    /// A pool is being written, or contradicts itself; nothing is allocated from it.
    Pool(String),
    /// This expression.
    Match(Selector),
    /// Tolerated taints.
    Toleration(wire::DeviceTaint),
    /// So much of a capacity: its name, what is asked for, and the most that a device has free and has at all.
    Capacity(String, Quantity, Quantity, Quantity),
    /// So much of a shared counter: the set, the counter, what the device takes, what is left.
    Counter(String, String, Quantity, Quantity),
    /// Nobody who has it.
    Free,
    /// Something is missing only beside the pod's other requests: constraints, or the same devices twice.
    Together,
}

impl Lack {
    /// How near to a fit it is.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Devices => 0,
            Self::Pool(_) => 1,
            Self::Match(s) => {
                if s.of_class {
                    2
                } else {
                    3
                }
            }
            Self::Toleration(_) => 4,
            Self::Capacity(..) | Self::Counter(..) => 5,
            Self::Free => 6,
            Self::Together => 7,
        }
    }
}

/// What a request lacks on a node.
#[derive(Debug, Clone)]
pub struct Lacking {
    /// What it is.
    pub lack: Lack,
    /// How many devices are asked for.
    pub wanted: usize,
    /// The devices that came as far as the test where too few were left.
    pub candidates: Vec<Entry>,
    /// Those of them that passed it.
    pub passed: Vec<Entry>,
}

/// What the best alternative of a request lacks on a node, were it the only one.
pub fn lacking(inventory: &Inventory, taken: &Taken, node: &Node, request: &Request) -> Option<Lacking> {
    let pools = super::pools::gather(inventory, node).ok()?;
    let all = request.alternatives.iter().filter_map(|w| of_wanted(inventory, taken, node, &pools, w));
    all.max_by_key(|l| (l.lack.rank(), l.passed.len()))
}

fn of_wanted(
    inventory: &Inventory,
    taken: &Taken,
    node: &Node,
    pools: &[Arc<Pool>],
    wanted: &Wanted,
) -> Option<Lacking> {
    let in_reach = |(entry, _): &(Entry, &Pool)| inventory.device(*entry).is_some_and(|d| inventory.reaches(node, d));
    let usable = pools.iter().filter(|p| !p.incomplete && !p.invalid);
    let reached: Vec<(Entry, &Pool)> =
        usable.flat_map(|p| p.devices.iter().map(move |d| (*d, &**p))).filter(in_reach).collect();
    let need = wanted.count.map_or(1, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let entries = |l: &[(Entry, &Pool)]| l.iter().map(|(e, _)| *e).collect::<Vec<_>>();
    let short = |lack: Lack, before: &[(Entry, &Pool)], after: &[(Entry, &Pool)]| {
        Some(Lacking { lack, wanted: need, candidates: entries(before), passed: entries(after) })
    };
    if reached.len() < need
        && let Some(pool) = pools.iter().find(|p| p.incomplete || p.invalid)
    {
        let name = inventory.pool(pool.id).map(PoolInfo::path).unwrap_or_default();
        return short(Lack::Pool(name), &[], &reached);
    }
    if reached.len() < need {
        return short(Lack::Devices, &[], &reached);
    }
    let mut left = reached;
    // The lack, and the devices before and after each test.
    for selector in &wanted.selectors {
        let after: Vec<_> =
            left.iter().filter(|(e, _)| inventory.matches(selector.expression, *e).is_ok_and(|m| m)).copied().collect();
        if after.len() < need {
            return short(Lack::Match(selector.clone()), &left, &after);
        }
        left = after;
    }
    let device = |e: &Entry| inventory.device(*e);
    let tolerated = |(e, _): &(Entry, &Pool)| {
        !inventory.features.taints || device(e).is_some_and(|d| wanted.untolerated(&d.taints).is_none())
    };
    let after: Vec<_> = left.iter().filter(|d| tolerated(d)).copied().collect();
    // Of all devices each must do.
    let all = |n: usize, of: usize| if wanted.count.is_some() { n >= need } else { n == of };
    if !all(after.len(), left.len()) {
        let tainted = left.iter().find(|d| !tolerated(d)).and_then(|(e, _)| device(e));
        let taint = tainted.and_then(|d| wanted.untolerated(&d.taints));
        return short(Lack::Toleration(taint.cloned().unwrap_or_default()), &left, &after);
    }
    left = after;
    let in_use = |d: &Device| !wanted.admin && taken.alone.contains(&d.id);
    if inventory.features.consumable {
        let room = |(e, _): &(Entry, &Pool)| device(e).is_some_and(|d| shortage(d, taken, wanted, inventory).is_none());
        let after: Vec<_> = left.iter().filter(|d| room(d)).copied().collect();
        if !all(after.len(), left.len()) {
            let short_of = |(e, _): &(Entry, &Pool)| shortage(device(e)?, taken, wanted, inventory);
            let least = left.iter().filter_map(short_of).max_by_key(|(_, _, free, _)| *free);
            if let Some((name, asked, free, has)) = least {
                return short(Lack::Capacity(name, asked, free, has), &left, &after);
            }
        }
        left = after;
    }
    let free: Vec<_> = left.iter().filter(|(e, _)| device(e).is_some_and(|d| !in_use(d))).copied().collect();
    let mut left_in: BTreeMap<PoolId, Sets> = BTreeMap::new();
    let mut counted = |(e, pool): &(Entry, &Pool)| {
        let device = device(e).filter(|d| !d.consumes.is_empty())?;
        counter(device, left_in.entry(pool.id).or_insert_with(|| counters::available(pool, inventory, taken)))
    };
    let after: Vec<_> = free.iter().filter(|d| counted(d).is_none()).copied().collect();
    if !all(after.len(), left.len()) {
        if free.len() >= need
            && let Some((set, name, takes, left_of)) = free.iter().find_map(&mut counted)
        {
            return short(Lack::Counter(set, name, takes, left_of), &free, &after);
        }
        return short(Lack::Free, &left, &free);
    }
    short(Lack::Together, &after, &after)
}

/// A capacity of which a device has too little left: its name, what is asked for, what is free, what there is.
fn shortage(
    device: &Device,
    taken: &Taken,
    wanted: &Wanted,
    inventory: &Inventory,
) -> Option<(String, Quantity, Quantity, Quantity)> {
    let asked = wanted.capacity.as_ref();
    let none = Amounts::new();
    let used = taken.capacity.get(&device.id).unwrap_or(&none);
    let Ok(Some(takes)) = capacity::consumed(asked, &device.capacity, inventory.features) else {
        // The device has not all of it, or does not give such an amount.
        let (name, q) =
            asked?.iter().find(|(n, _)| !device.capacity.iter().any(|(c, _)| c == *n)).or(asked?.iter().next())?;
        let has = device.capacity.iter().find(|(c, _)| c == name).map(|(_, c)| c.value).unwrap_or_default();
        let used = used.get(name).copied().unwrap_or_default();
        return Some((name.clone(), super::ids::amount(Some(q)), has - used, has));
    };
    device.capacity.iter().find_map(|(name, c)| {
        let (takes, used) = (takes.get(name).copied()?, used.get(name).copied().unwrap_or_default());
        (used + takes > c.value).then(|| (name.clone(), takes, c.value - used, c.value))
    })
}

/// A counter of which too little is left for a device: the set, the counter, what it takes, what is left.
fn counter(device: &Device, available: &Sets) -> Option<(String, String, Quantity, Quantity)> {
    device.consumes.iter().find_map(|(set, counters)| {
        let left = available.get(set)?;
        counters.iter().find_map(|(name, takes)| {
            let left = *left.get(name)?;
            (left < *takes).then(|| (set.clone(), name.clone(), *takes, left))
        })
    })
}
