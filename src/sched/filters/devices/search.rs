//! The search for devices that meet all claims of a pod on one node. Mirrors `Allocator.Allocate`, `allocateOne` and
//! `allocateDevice` of `structured/internal/incubating/allocator_incubating.go`: one device after the other, in the order
//! of pools, going back where a choice does not work out; the first solution counts.

use super::capacity::{self, Amounts};
use super::constraint::Constraint;
use super::counters::Ledger;
use super::ids::{DeviceId, Entry};
use super::inventory::{Device, Inventory, PoolInfo};
use super::pool::Pool;
use super::request::{Claim, Selector, Wanted};
use super::taken::Taken;
use crate::cel::Error;
use crate::snapshot::node::Node;
use foldhash::HashMap;
use std::sync::Arc;

/// The largest number of devices of one claim (`AllocationResultsMaxSize`).
pub const MOST_DEVICES: usize = 32;
/// A search among more claims is not tried: it would go as deep as there are devices.
const MOST_CLAIMS: usize = 32;

/// What came of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Devices for each claim, in order.
    Found(Vec<Vec<Chosen>>),
    /// There are none.
    None,
    /// The node's pools contradict themselves; upstream's words.
    Invalid(String),
    /// The attempt to schedule the pod ends with this error, whatever other nodes have; upstream's words.
    Fatal(String),
    /// It is not known; what is not evaluated.
    Unknown(String),
}

/// A device chosen for a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// `request` or `request/subrequest`.
    pub request: String,
    /// The device.
    pub entry: Entry,
    /// Whether it is only for its administrator.
    pub admin: bool,
    /// What is taken of a device that claims share.
    pub share: Option<Amounts>,
}

/// Why a branch of the search ends.
enum Halt {
    /// The claim would have too many devices.
    TooMany,
    Fatal(String),
    Unknown(String),
}

type Step = Result<bool, Halt>;

/// What is known of a request on the node.
struct Known<'a> {
    wanted: &'a Wanted,
    count: usize,
    /// All devices that match, where all are asked for, with the position of their pool.
    all: Vec<(Entry, usize)>,
}

/// One device of one request, or of one of its subrequests.
#[derive(Clone, Copy)]
struct At {
    claim: usize,
    request: usize,
    sub: usize,
    device: usize,
}

/// What was changed for one device, to be taken back.
#[derive(Default)]
struct Undo {
    counters: bool,
    constraints: usize,
    marked: bool,
    share: Option<Option<Amounts>>,
    result: bool,
}

/// A search on one node.
pub struct Search<'a> {
    inventory: &'a Inventory,
    taken: &'a Taken,
    node: &'a Node,
    claims: &'a [Claim],
    pools: Vec<Arc<Pool>>,
    known: Vec<Vec<Vec<Known<'a>>>>,
    /// Whether a device matches a request: its claim, its number there, that of the subrequest.
    matching: HashMap<(usize, usize, usize, Entry), bool>,
    constraints: Vec<Vec<Constraint<'a>>>,
    ledger: Ledger,
    /// For which claims a device is being chosen.
    allocating: HashMap<DeviceId, Vec<usize>>,
    /// What is being taken of devices that claims share.
    shares: HashMap<DeviceId, Amounts>,
    chosen: Vec<Vec<Chosen>>,
    steps: &'a mut u64,
}

/// Searches devices for claims on a node. Each device that is looked at is taken from `steps`.
pub fn search(inventory: &Inventory, taken: &Taken, node: &Node, claims: &[Claim], steps: &mut u64) -> Outcome {
    let pools = match super::pools::gather(inventory, node) {
        Ok(pools) => pools,
        Err(doubt) => return Outcome::Unknown(doubt),
    };
    if claims.len() > MOST_CLAIMS {
        return Outcome::Unknown(format!("{} claims of one pod", claims.len()));
    }
    let mut search = Search {
        inventory,
        taken,
        node,
        claims,
        pools,
        known: Vec::with_capacity(claims.len()),
        matching: HashMap::default(),
        constraints: Vec::with_capacity(claims.len()),
        ledger: Ledger::default(),
        allocating: HashMap::default(),
        shares: HashMap::default(),
        chosen: vec![Vec::new(); claims.len()],
        steps,
    };
    let start = At { claim: 0, request: 0, sub: 0, device: 0 };
    match search.prepare().and_then(|()| search.allocate(start, false, (0, 0))) {
        Ok(true) => Outcome::Found(search.chosen),
        Ok(false) if search.pools.iter().any(|p| p.invalid) => {
            Outcome::Invalid("invalid resource pools were encountered".to_owned())
        }
        Ok(false) => Outcome::None,
        Err(Halt::TooMany) => Outcome::Fatal("allocation max size exceeded".to_owned()),
        Err(Halt::Fatal(words)) => Outcome::Fatal(words),
        Err(Halt::Unknown(what)) => Outcome::Unknown(what),
    }
}

impl<'a> Search<'a> {
    /// How many devices each request needs, and what constrains them.
    fn prepare(&mut self) -> Result<(), Halt> {
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

    /// What a request takes of a device's capacity.
    fn consumed(&self, claim: &Claim, wanted: &Wanted, device: &Device) -> Result<Option<Amounts>, Halt> {
        capacity::consumed(wanted.capacity.as_ref(), &device.capacity, self.inventory.features).map_err(|e| {
            let name = self.inventory.published(device).map_or("", |d| &d.name);
            Halt::Fatal(format!(
                "claim {}, request {}: checking capacity for device {name}: {e}",
                claim.path, wanted.name
            ))
        })
    }

    fn has_room(&self, taken: &Amounts, device: &Device) -> bool {
        let used = [self.taken.capacity.get(&device.id), self.shares.get(&device.id)];
        capacity::fits(taken, &device.capacity, used)
    }

    /// Whether a device matches a request and its class, and is in reach. Mirrors `isSelectable` and `selectorsMatch`.
    fn selectable(&mut self, at: At, claim: &Claim, wanted: &Wanted, entry: Entry, device: &Device) -> Step {
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

    fn charge(&mut self) -> Result<(), Halt> {
        match self.steps.checked_sub(1) {
            Some(left) => {
                *self.steps = left;
                Ok(())
            }
            None => Err(Halt::Unknown(
                "a search among so many devices (the scheduler gives up after 10 s on a node)".into(),
            )),
        }
    }

    /// Chooses the device at a position, and all that come after it. `from` is where the search begins: pool and device.
    fn allocate(&mut self, at: At, in_sub: bool, from: (usize, usize)) -> Step {
        self.charge()?;
        let Some(claim) = self.claims.get(at.claim) else { return Ok(true) };
        let Some(request) = claim.requests.get(at.request) else {
            let next = At { claim: at.claim + 1, request: 0, sub: 0, device: 0 };
            return match self.allocate(next, false, (0, 0)) {
                // Other choices for claims before may leave room for fewer devices here.
                Err(Halt::TooMany) => Ok(false),
                other => other,
            };
        };
        if !in_sub && request.prioritised {
            return self.first_available(at, request.alternatives.len());
        }
        let Some(known) = self.known(at) else { return Ok(false) };
        let (wanted, count, all) = (known.wanted, known.count, known.all.get(at.device).copied());
        if wanted.count.is_none() && count == 0 {
            return Ok(false);
        }
        if at.device >= count {
            let next = At { request: at.request + 1, sub: 0, device: 0, ..at };
            return self.allocate(next, false, (0, 0));
        }
        let have = self.chosen.get(at.claim).map_or(0, Vec::len);
        if have + count - at.device > MOST_DEVICES {
            return Err(Halt::TooMany);
        }
        let next = At { device: at.device + 1, ..at };
        if wanted.count.is_none() {
            let Some((entry, pool)) = all else { return Ok(false) };
            let Some(undo) = self.take(at, entry, pool, true)? else { return Ok(false) };
            let done = self.allocate(next, in_sub, (0, 0));
            if !matches!(done, Ok(true)) {
                self.give_back(at, entry, pool, undo);
            }
            return done;
        }
        for pool_at in from.0..self.pools.len() {
            let Some(pool) = self.pools.get(pool_at).cloned() else { break };
            if pool.incomplete || pool.invalid {
                continue;
            }
            let first = if pool_at == from.0 { from.1 } else { 0 };
            for (device_at, entry) in pool.devices.iter().enumerate().skip(first) {
                self.charge()?;
                if !self.is_candidate(at, claim, *entry)? {
                    continue;
                }
                let Some(undo) = self.take(at, *entry, pool_at, false)? else { continue };
                let done = self.allocate(next, in_sub, (pool_at, device_at + 1));
                if matches!(done, Ok(true)) {
                    return done;
                }
                self.give_back(at, *entry, pool_at, undo);
                done?;
            }
        }
        Ok(false)
    }

    fn known(&self, at: At) -> Option<&Known<'a>> {
        self.known.get(at.claim)?.get(at.request)?.get(at.sub)
    }

    /// One alternative after the other.
    fn first_available(&mut self, at: At, alternatives: usize) -> Step {
        let mut too_many = true;
        for sub in 0..alternatives {
            match self.allocate(At { sub, ..at }, true, (0, 0)) {
                Err(Halt::TooMany) => {}
                Ok(false) => too_many = false,
                other => return other,
            }
        }
        if too_many { Err(Halt::TooMany) } else { Ok(false) }
    }

    /// Whether a device can be tried: not in use, matching, with enough left of it.
    fn is_candidate(&mut self, at: At, claim: &Claim, entry: Entry) -> Step {
        let Some(device) = self.inventory.device(entry) else { return Ok(false) };
        let Some(wanted) = self.known(at).map(|k| k.wanted) else { return Ok(false) };
        if if wanted.admin { self.is_chosen(at, device.id) } else { self.is_in_use(device.id) } {
            return Ok(false);
        }
        if !self.selectable(at, claim, wanted, entry, device)? {
            return Ok(false);
        }
        if !self.inventory.features.consumable {
            return Ok(true);
        }
        Ok(self.consumed(claim, wanted, device)?.is_some_and(|taken| self.has_room(&taken, device)))
    }

    /// Whether the claim has chosen the device already.
    fn is_chosen(&self, at: At, device: DeviceId) -> bool {
        self.allocating.get(&device).is_some_and(|claims| claims.contains(&at.claim))
    }

    fn is_in_use(&self, device: DeviceId) -> bool {
        self.taken.alone.contains(&device) || self.allocating.get(&device).is_some_and(|claims| !claims.is_empty())
    }

    /// Whether claims have a share of a device, so that its counters are taken already.
    fn is_shared(&self, device: DeviceId) -> bool {
        self.taken.capacity.contains_key(&device)
            || (self.inventory.features.minor >= 37 && self.taken.shared.contains(&device))
            || self.shares.contains_key(&device)
    }

    /// Takes a device, if that is possible beside what is chosen already. Mirrors `allocateDevice`.
    fn take(&mut self, at: At, entry: Entry, pool_at: usize, must: bool) -> Result<Option<Undo>, Halt> {
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
    fn give_back(&mut self, at: At, entry: Entry, pool_at: usize, undo: Undo) {
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

#[cfg(test)]
mod tests {
    use super::super::request::Refused;
    use super::*;
    use crate::sched::devices::Devices;
    use crate::sched::testing::cluster_of;
    use crate::wire::resource::ResourceClaim;
    use serde_json::{Value, json};

    fn said(row: &Value, version: &str) -> Vec<String> {
        let lists = ["Slices", "Classes", "Taken", "Nodes"];
        let objects: Vec<Value> = lists.iter().flat_map(|l| row[l].as_array().cloned().unwrap_or_default()).collect();
        let snapshot = cluster_of(&objects, version);
        let Devices { inventory, taken } = Devices::new(&snapshot);
        let claims: Vec<ResourceClaim> = serde_json::from_value(row["Claims"].clone()).unwrap();
        let read = |c: &ResourceClaim| {
            let meta = c.metadata.clone().unwrap();
            let path = format!("{}/{}", meta.namespace, meta.name);
            Claim::read(path, c.spec.as_ref().unwrap().devices.as_ref().unwrap(), &inventory, &snapshot)
        };
        let claims: Result<Vec<Claim>, Refused> = claims.iter().map(read).collect();
        let nodes = row["Nodes"].as_array().unwrap();
        let names = nodes.iter().map(|n| n["metadata"]["name"].as_str().unwrap());
        names
            .map(|name| {
                let claims = match &claims {
                    Ok(claims) => claims,
                    Err(Refused::Fatal(words)) => return format!("error: {words}"),
                    Err(Refused::Unknown(what)) => return format!("unknown: {what}"),
                };
                let mut steps = 1_000_000;
                match search(&inventory, &taken, snapshot.nodes.named("", name).unwrap(), claims, &mut steps) {
                    Outcome::Found(all) => {
                        let of = |c: &Chosen| {
                            let path = inventory.path(inventory.device(c.entry).unwrap());
                            let share = c.share.as_ref().map(|s| {
                                format!(" {:?}", s.iter().map(|(n, q)| format!("{n}={q}")).collect::<Vec<_>>())
                            });
                            format!("{}={path}{}", c.request, share.unwrap_or_default())
                        };
                        format!("{:?}", all.iter().map(|c| c.iter().map(of).collect::<Vec<_>>()).collect::<Vec<_>>())
                    }
                    Outcome::None => "none".to_owned(),
                    Outcome::Invalid(words) => format!("node: {words}"),
                    Outcome::Fatal(words) => format!("error: {words}"),
                    Outcome::Unknown(what) => format!("unknown: {what}"),
                }
            })
            .collect()
    }

    #[test]
    fn devices_are_chosen_as_upstream() {
        // Random worlds, with what `structured.NewAllocator(…).Allocate` answered for each node.
        for (version, recorded) in [
            ("v1.36.3", include_str!("../../../../tests/tables/devices-1.36.jsonl")),
            ("v1.37.2", include_str!("../../../../tests/tables/devices-1.37.jsonl")),
        ] {
            for (at, line) in recorded.lines().enumerate() {
                let row: Value = serde_json::from_str(line).unwrap();
                assert_eq!(json!(said(&row, version)), row["want"], "{version}, line {}", at + 1);
            }
        }
    }
}
