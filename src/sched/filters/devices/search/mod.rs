//! The search for devices that meet all claims of a pod on one node. Mirrors `Allocator.Allocate`, `allocateOne` and
//! `allocateDevice` of `structured/internal/incubating/allocator_incubating.go`: one device after the other, in the order
//! of pools, going back where a choice does not work out; the first solution counts.

mod device;
mod prepare;
mod take;

use super::capacity::Amounts;
use super::constraint::Constraint;
use super::counters::Ledger;
use super::ids::{DeviceId, Entry};
use super::inventory::Inventory;
use super::pool::Pool;
use super::request::{Claim, Wanted};
use super::taken::Taken;
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
            ("v1.36.3", include_str!("../../../../../tests/tables/devices-1.36.jsonl")),
            ("v1.37.2", include_str!("../../../../../tests/tables/devices-1.37.jsonl")),
        ] {
            for (at, line) in recorded.lines().enumerate() {
                let row: Value = serde_json::from_str(line).unwrap();
                assert_eq!(json!(said(&row, version)), row["want"], "{version}, line {}", at + 1);
            }
        }
    }
}
