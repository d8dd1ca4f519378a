//! What is known before the search begins: how many devices each request needs, and what constrains them. Mirrors
//! `validateDeviceRequest`.

use super::{At, Halt, Known, MOST_DEVICES, Search};
use crate::sched::filters::devices::capacity;
use crate::sched::filters::devices::constraint::Constraint;
use crate::sched::filters::devices::inventory::{Device, PoolInfo};
use crate::sched::filters::devices::request::{Claim, Wanted};

impl<'a> Search<'a> {
    /// How many devices each request needs, and what constrains them.
    pub(super) fn prepare(&mut self) -> Result<(), Halt> {
        let since_37 = self.inventory.features.minor >= 37;
        for (claim_at, claim) in self.claims.iter().enumerate() {
            let mut least = 0usize;
            let mut of_claim = Vec::with_capacity(claim.requests.len());
            for (request_at, request) in claim.requests.iter().enumerate() {
                let mut known = Vec::with_capacity(request.alternatives.len());
                for (sub, wanted) in request.alternatives.iter().enumerate() {
                    let at = At { claim: claim_at, request: request_at, sub, device: 0 };
                    known.push(self.know(at, claim, wanted)?);
                }
                let fewest = known.iter().map(|k| k.count).min().unwrap_or(usize::MAX);
                if since_37 && fewest > MOST_DEVICES - least.min(MOST_DEVICES) {
                    return Err(Halt::Fatal(format!(
                        "claim {}, request {}: adding {fewest} devices exceeds the claim limit of {MOST_DEVICES}, with \
                         {least} already accounted for",
                        claim.path, request.name
                    )));
                }
                least = least.saturating_add(fewest);
                of_claim.push(known);
            }
            if least > MOST_DEVICES {
                return Err(Halt::Fatal(format!(
                    "claim {}: number of requested devices {least} exceeds the claim limit of {MOST_DEVICES}",
                    claim.path
                )));
            }
            let mut constraints = Vec::with_capacity(claim.constraints.len());
            for (at, constraint) in claim.constraints.iter().enumerate() {
                let Some(constraint) = Constraint::new(constraint, self.inventory.features) else {
                    let words = "empty constraint (unsupported constraint type?)";
                    return Err(Halt::Fatal(format!("claim {}, constraint #{at}: {words}", claim.path)));
                };
                constraints.push(constraint);
            }
            self.known.push(of_claim);
            self.constraints.push(constraints);
        }
        Ok(())
    }

    /// Mirrors `validateDeviceRequest`.
    fn know(&mut self, at: At, claim: &Claim, wanted: &'a Wanted) -> Result<Known<'a>, Halt> {
        let mut known = Known { wanted, count: 0, all: Vec::new() };
        if let Some(count) = wanted.count {
            known.count = usize::try_from(count).unwrap_or_default();
            return Ok(known);
        }
        let pools = self.pools.clone();
        for (pool_at, pool) in pools.iter().enumerate() {
            if pool.incomplete || pool.invalid {
                let state = if pool.incomplete { "being updated" } else { "invalid" };
                let path = self.inventory.pool(pool.id).map(PoolInfo::path).unwrap_or_default();
                return Err(Halt::Fatal(format!(
                    "claim {}, request {}: asks for all devices, but resource pool {path} is currently {state}",
                    claim.path, wanted.name
                )));
            }
            for entry in &pool.devices {
                let Some(device) = self.inventory.device(*entry) else { continue };
                self.charge()?;
                if self.selectable(at, claim, wanted, *entry, device)? && self.all_counts(claim, wanted, device)? {
                    known.all.push((*entry, pool_at));
                }
            }
        }
        known.count = known.all.len();
        Ok(known)
    }

    /// Whether a device that matches counts among all devices: up to 1.36 not where too little is left of it, since 1.37
    /// only where it never has enough.
    fn all_counts(&self, claim: &Claim, wanted: &Wanted, device: &Device) -> Result<bool, Halt> {
        if !self.inventory.features.consumable {
            return Ok(true);
        }
        match self.consumed(claim, wanted, device)? {
            None => Ok(false),
            Some(taken) if self.inventory.features.minor >= 37 => {
                Ok(capacity::fits(&taken, &device.capacity, [None; 2]))
            }
            Some(taken) => Ok(self.has_room(&taken, device)),
        }
    }
}
