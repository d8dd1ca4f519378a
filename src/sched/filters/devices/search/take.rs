//! Takes a device for a request, and takes that back. Mirrors `allocateDevice` and `rollbackDevice`.

use super::{At, Chosen, Halt, Search, Step};
use crate::sched::filters::devices::capacity::Amounts;
use crate::sched::filters::devices::ids::{DeviceId, Entry};

/// What was changed for one device, to be taken back.
#[derive(Default)]
pub(super) struct Undo {
    counters: bool,
    constraints: usize,
    marked: bool,
    share: Option<Option<Amounts>>,
    result: bool,
}

impl Search<'_> {
    /// Whether the claim has chosen the device already.
    pub(super) fn is_chosen(&self, at: At, device: DeviceId) -> bool {
        self.allocating.get(&device).is_some_and(|claims| claims.contains(&at.claim))
    }

    pub(super) fn is_in_use(&self, device: DeviceId) -> bool {
        self.taken.alone.contains(&device) || self.allocating.get(&device).is_some_and(|claims| !claims.is_empty())
    }

    /// Whether claims have a share of a device, so that its counters are taken already.
    fn is_shared(&self, device: DeviceId) -> bool {
        self.taken.capacity.contains_key(&device)
            || (self.inventory.features.minor >= 37 && self.taken.shared.contains(&device))
            || self.shares.contains_key(&device)
    }

    /// Takes a device, if that is possible beside what is chosen already. Mirrors `allocateDevice`.
    pub(super) fn take(&mut self, at: At, entry: Entry, pool_at: usize, must: bool) -> Result<Option<Undo>, Halt> {
        let mut undo = Undo::default();
        match self.try_take(at, entry, pool_at, must, &mut undo) {
            Ok(true) => Ok(Some(undo)),
            other => {
                self.give_back(at, entry, pool_at, undo);
                other.map(|_| None)
            }
        }
    }

    fn try_take(&mut self, at: At, entry: Entry, pool_at: usize, must: bool, undo: &mut Undo) -> Step {
        let (inventory, features) = (self.inventory, self.inventory.features);
        let Some(claim) = self.claims.get(at.claim) else { return Ok(false) };
        let Some(request) = claim.requests.get(at.request) else { return Ok(false) };
        let Some(wanted) = request.alternatives.get(at.sub) else { return Ok(false) };
        let (Some(device), Some(pool)) = (inventory.device(entry), self.pools.get(pool_at).cloned()) else {
            return Ok(false);
        };
        let multiple = features.consumable && device.multiple;
        if (!multiple && wanted.admin && self.is_chosen(at, device.id)) || (!wanted.admin && self.is_in_use(device.id))
        {
            return Ok(false);
        }
        if !features.partitionable && !device.consumes.is_empty() {
            return Ok(false);
        }
        let counted = multiple && self.is_shared(device.id);
        if !device.consumes.is_empty() && !counted {
            if !self.ledger.reserve(device, &pool, inventory, self.taken) {
                return Ok(false);
            }
            undo.counters = true;
        }
        if features.taints && wanted.untolerated(&device.taints).is_some() {
            return Ok(false);
        }
        let driver = inventory.pool(pool.id).map_or("", |p| &p.driver);
        let Some(published) = inventory.published(device) else { return Ok(false) };
        let sub = request.sub_name(wanted);
        for constraint in self.constraints.get_mut(at.claim).into_iter().flatten() {
            if !constraint.add(&request.name, sub, driver, published).map_err(Halt::Unknown)? {
                if must {
                    return Err(Halt::Fatal(format!(
                        "claim {}, request {}: cannot add device {} because a claim constraint would not be satisfied",
                        claim.path,
                        wanted.name,
                        inventory.path(device)
                    )));
                }
                return Ok(false);
            }
            undo.constraints += 1;
        }
        if !multiple {
            self.allocating.entry(device.id).or_default().push(at.claim);
            undo.marked = true;
        }
        let mut share = None;
        if features.consumable {
            let Some(taken) = self.consumed(claim, wanted, device)? else { return Ok(false) };
            if !self.has_room(&taken, device) {
                return Ok(false);
            }
            if multiple {
                undo.share = Some(self.shares.get(&device.id).cloned());
                let sum = self.shares.entry(device.id).or_default();
                for (name, n) in &taken {
                    let sum = sum.entry(name.clone()).or_default();
                    *sum = *sum + *n;
                }
                share = Some(taken);
            }
        }
        let name = if request.prioritised { format!("{}/{}", request.name, wanted.name) } else { request.name.clone() };
        if let Some(chosen) = self.chosen.get_mut(at.claim) {
            chosen.push(Chosen { request: name, entry, admin: wanted.admin, share });
            undo.result = true;
        }
        Ok(true)
    }

    /// Takes back what was changed for a device. Mirrors `rollbackDevice`.
    pub(super) fn give_back(&mut self, at: At, entry: Entry, pool_at: usize, undo: Undo) {
        let Some(device) = self.inventory.device(entry) else { return };
        if undo.result {
            self.chosen.get_mut(at.claim).map(Vec::pop);
        }
        match undo.share {
            Some(Some(before)) => {
                self.shares.insert(device.id, before);
            }
            Some(None) => {
                self.shares.remove(&device.id);
            }
            None => {}
        }
        if undo.marked
            && let Some(claims) = self.allocating.get_mut(&device.id)
        {
            claims.pop();
        }
        let request = self.claims.get(at.claim).and_then(|c| c.requests.get(at.request));
        if let Some(request) = request {
            let sub = request.alternatives.get(at.sub).map_or("", |wanted| request.sub_name(wanted));
            let constraints = self.constraints.get_mut(at.claim).into_iter().flatten();
            let constraints: Vec<_> = constraints.take(undo.constraints).collect();
            constraints.into_iter().rev().for_each(|c| c.remove(&request.name, sub));
        }
        if undo.counters
            && let Some(pool) = self.pools.get(pool_at)
        {
            self.ledger.release(device, pool, self.inventory);
        }
    }
}
