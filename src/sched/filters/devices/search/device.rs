//! What a request finds of one device: whether it matches, and how much is taken of it.

use super::{At, Halt, Search, Step};
use crate::cel::Error;
use crate::sched::filters::devices::capacity::{self, Amounts};
use crate::sched::filters::devices::ids::Entry;
use crate::sched::filters::devices::inventory::Device;
use crate::sched::filters::devices::request::{Claim, Selector, Wanted};

impl Search<'_> {
    /// What a request takes of a device's capacity.
    pub(super) fn consumed(&self, claim: &Claim, wanted: &Wanted, device: &Device) -> Result<Option<Amounts>, Halt> {
        capacity::consumed(wanted.capacity.as_ref(), &device.capacity, self.inventory.features).map_err(|e| {
            let name = self.inventory.published(device).map_or("", |d| &d.name);
            Halt::Fatal(format!(
                "claim {}, request {}: checking capacity for device {name}: {e}",
                claim.path, wanted.name
            ))
        })
    }

    pub(super) fn has_room(&self, taken: &Amounts, device: &Device) -> bool {
        let used = [self.taken.capacity.get(&device.id), self.shares.get(&device.id)];
        capacity::fits(taken, &device.capacity, used)
    }

    /// Whether a device matches a request and its class, and is in reach. Mirrors `isSelectable` and `selectorsMatch`.
    pub(super) fn selectable(&mut self, at: At, claim: &Claim, wanted: &Wanted, entry: Entry, device: &Device) -> Step {
        let inventory = self.inventory;
        let published = inventory.published(device);
        if !inventory.features.binding && published.is_some_and(|d| !d.binding_conditions.is_empty()) {
            return Ok(false);
        }
        let key = (at.claim, at.request, at.sub, entry);
        if let Some(known) = self.matching.get(&key) {
            return Ok(*known);
        }
        let mut selectable = true;
        for s in &wanted.selectors {
            match inventory.matches(s.expression, entry) {
                Ok(true) => {}
                Ok(false) => {
                    selectable = false;
                    break;
                }
                Err(e) => return Err(self.failed(s, &e, claim, wanted, device)),
            }
        }
        selectable = selectable && inventory.reaches(self.node, device);
        self.matching.insert(key, selectable);
        Ok(selectable)
    }

    /// What the failure of a selector means. Upstream gives up the attempt, whatever other nodes have.
    fn failed(&self, s: &Selector, e: &Error, claim: &Claim, wanted: &Wanted, device: &Device) -> Halt {
        let of = if s.of_class { format!("class {}", wanted.class) } else { format!("claim {}", claim.path) };
        let Error::Failed(words) = e else { return Halt::Unknown(format!("selector {:?} of {of}: {e}", s.text)) };
        let (mut on, mut hint) = (String::new(), "");
        if self.inventory.features.minor >= 37 {
            on = format!(" on device {}", self.inventory.path(device));
            if words.contains("no such key:") {
                hint = ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() \
                        for optional fields";
            }
        }
        Halt::Fatal(format!("{of}: selector #{}{on}: CEL runtime error: {words}{hint}", s.at))
    }
}
