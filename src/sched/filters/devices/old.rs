//! What devices nodes have and which are taken. Mirrors the idea of `dynamic-resource-allocation/structured`, not all
//! of it: of the CEL selectors only a comparison of the driver's name is understood, any other is taken as met; device
//! attributes, constraints between devices, shared counters and devices with a place of their own are not in a snapshot.

use crate::snapshot::Snapshot;
use crate::snapshot::intern::Interner;
use crate::snapshot::node::Node;
use crate::snapshot::object::Object;
use crate::snapshot::selector::NodeSelector;
use crate::wire::resource as wire;
use crate::wire::resource::{DeviceSelector, DeviceTaint, DeviceToleration, ResourceClaim, ResourceSlice};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// Devices wanted of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// Alternatives, the preferred one first.
    alternatives: Vec<Choice>,
}

#[derive(Debug, Clone, PartialEq)]
struct Choice {
    class: String,
    /// `None` for all that match.
    count: Option<usize>,
    drivers: Vec<String>,
    admin: bool,
    tolerations: Vec<DeviceToleration>,
}

impl Wanted {
    /// What a claim asks for; the error is upstream's.
    pub fn of_claim(claim: &Object<ResourceClaim>, snapshot: &Snapshot) -> Result<Vec<Self>, String> {
        let devices = claim.spec.as_ref().and_then(|s| s.devices.as_ref());
        let mut wanted = Vec::new();
        for r in devices.map(|d| &*d.requests).unwrap_or_default() {
            let mut alternatives = Vec::new();
            if let Some(e) = &r.exactly {
                let mut choice = Choice::new(&e.device_class_name, &r.name, &e.selectors, snapshot)?;
                choice.count = count(&e.allocation_mode, e.count);
                choice.admin = e.admin_access;
                choice.tolerations.clone_from(&e.tolerations);
                alternatives.push(choice);
            }
            for sub in &r.first_available {
                let request = format!("{}/{}", r.name, sub.name);
                let mut choice = Choice::new(&sub.device_class_name, &request, &sub.selectors, snapshot)?;
                choice.count = count(&sub.allocation_mode, sub.count);
                choice.tolerations.clone_from(&sub.tolerations);
                alternatives.push(choice);
            }
            wanted.push(Self { alternatives });
        }
        Ok(wanted)
    }

    /// An extended resource that a class offers.
    pub fn extended(class: &str, n: i64) -> Self {
        let count = Some(usize::try_from(n).unwrap_or(usize::MAX));
        let class = class.to_owned();
        let choice = Choice { class, count, drivers: Vec::new(), admin: false, tolerations: Vec::new() };
        Self { alternatives: vec![choice] }
    }
}

fn count(mode: &str, n: Option<i64>) -> Option<usize> {
    (mode != "All").then(|| n.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0).unwrap_or(1))
}

impl Choice {
    fn new(class: &str, request: &str, selectors: &[DeviceSelector], snapshot: &Snapshot) -> Result<Self, String> {
        if snapshot.device_classes.named("", class).is_none() {
            return Err(format!("request {request}: device class {class} does not exist"));
        }
        let drivers = selectors.iter().filter_map(driver_of).collect();
        Ok(Self { class: class.to_owned(), count: Some(1), drivers, admin: false, tolerations: Vec::new() })
    }

    /// Mirrors `taintPreventsAllocation`.
    fn tolerates(&self, device: &Offered) -> bool {
        let hard = device.taints.iter().filter(|t| matches!(&*t.effect, "NoSchedule" | "NoExecute"));
        hard.into_iter().all(|taint| self.tolerations.iter().any(|t| tolerates_taint(t, taint)))
    }
}

/// Mirrors `resourceclaim.ToleratesTaint`.
fn tolerates_taint(t: &DeviceToleration, taint: &DeviceTaint) -> bool {
    (t.effect.is_empty() || t.effect == taint.effect)
        && (t.key.is_empty() || t.key == taint.key)
        && match &*t.operator {
            "" | "Equal" => t.value == taint.value,
            "Exists" => true,
            _ => false,
        }
}

/// The driver that a selector insists on.
fn driver_of(selector: &DeviceSelector) -> Option<String> {
    let expression = &selector.cel.as_ref()?.expression;
    let (_, after) = expression.split_once("device.driver")?;
    let after = after.trim_start().strip_prefix("==")?.trim_start();
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    Some(after.get(1..)?.split(quote).next()?.to_owned())
}

/// A device: its driver, its pool and its name within the pool.
type Device = (String, String, String);

/// A device with its taints.
struct Offered {
    device: Device,
    taints: Vec<DeviceTaint>,
}

/// Some slices of devices and from where they can be reached.
struct Pool {
    place: Place,
    devices: Vec<Offered>,
    /// All slices of the pool are there; nothing is taken from one that is being written.
    complete: bool,
}

enum Place {
    Node(String),
    Selected(NodeSelector),
    Everywhere,
}

/// All devices, and which are taken.
pub struct Devices {
    pools: Vec<Pool>,
    taken: HashSet<Device>,
    class_drivers: HashMap<String, Vec<String>>,
}

impl Devices {
    /// The devices of a snapshot.
    pub fn new(snapshot: &Snapshot) -> Self {
        let newest = newest_generations(snapshot);
        let current = snapshot.resource_slices.iter().filter_map(|s| {
            let (key, generation) = pool_key(s);
            let (_, slices) = newest.get(&key).filter(|(n, _)| *n == generation)?;
            pool(s, *slices, snapshot.minor() >= TAINTS_SINCE)
        });
        let class_drivers = snapshot.device_classes.iter().map(|c| {
            let selectors = c.body.spec.as_ref().map(|s| &*s.selectors).unwrap_or_default();
            (c.meta.name.to_string(), selectors.iter().filter_map(driver_of).collect())
        });
        let allocated = snapshot.resource_claims.iter().filter_map(|c| {
            let devices = c.status.as_ref()?.allocation.as_ref()?.devices.as_ref()?;
            // Who has a device as its administrator takes it from nobody.
            let results = devices.results.iter().filter(|r| !r.admin_access);
            Some(results.map(|r| (r.driver.clone(), r.pool.clone(), r.device.clone())))
        });
        Self { pools: current.collect(), taken: allocated.flatten().collect(), class_drivers: class_drivers.collect() }
    }

    /// Whether all that is wanted can be had on a node. Requests are served in turn, without going back.
    pub fn can_allocate(&self, node: &Node, wanted: &[Wanted]) -> bool {
        let mut used: HashSet<&Device> = HashSet::new();
        wanted.iter().all(|w| {
            w.alternatives.iter().any(|choice| match self.pick(node, choice, &used) {
                Some(devices) => {
                    if !choice.admin {
                        used.extend(devices);
                    }
                    true
                }
                None => false,
            })
        })
    }

    fn pick<'a>(&'a self, node: &Node, choice: &Choice, used: &HashSet<&Device>) -> Option<Vec<&'a Device>> {
        let of_class = self.class_drivers.get(&choice.class).map(|d| &**d).unwrap_or_default();
        let matches = |d: &&Offered| of_class.iter().chain(&choice.drivers).all(|driver| *driver == d.device.0);
        let reachable = || self.pools.iter().filter(|p| p.place.reaches(node));
        let devices = reachable().filter(|p| p.complete).flat_map(|p| &p.devices);
        let there: Vec<&Offered> = devices.filter(matches).collect();
        let free = |d: &&Offered| {
            let unused = !self.taken.contains(&d.device) && !used.contains(&d.device);
            (choice.admin || unused) && choice.tolerates(d)
        };
        let picked = |d: &'a Offered| &d.device;
        match choice.count {
            Some(n) => {
                let picked: Vec<&Device> = there.into_iter().filter(free).take(n).map(picked).collect();
                (picked.len() == n).then_some(picked)
            }
            None => {
                let all = reachable().all(|p| p.complete) && !there.is_empty() && there.iter().all(free);
                all.then(|| there.into_iter().map(picked).collect())
            }
        }
    }
}

/// Device taints count by default since this minor version.
const TAINTS_SINCE: u32 = 36;

fn pool_key(slice: &ResourceSlice) -> ((String, String), i64) {
    let spec = slice.spec.as_ref();
    let pool = spec.and_then(|s| s.pool.as_ref());
    let key = (spec.map(|s| s.driver.clone()).unwrap_or_default(), pool.map(|p| p.name.clone()).unwrap_or_default());
    (key, pool.and_then(|p| p.generation).unwrap_or_default())
}

/// The newest generation of each pool, and how many slices there are of it. Slices of an older one are out of date.
fn newest_generations(snapshot: &Snapshot) -> HashMap<(String, String), (i64, i64)> {
    let mut newest = HashMap::new();
    for slice in snapshot.resource_slices.iter() {
        let (key, generation) = pool_key(slice);
        let (known, slices) = newest.entry(key).or_insert((generation, 0));
        match generation.cmp(known) {
            Ordering::Less => {}
            Ordering::Equal => *slices += 1,
            Ordering::Greater => (*known, *slices) = (generation, 1),
        }
    }
    newest
}

/// A slice as a part of its pool, of which there are so many slices.
fn pool(slice: &ResourceSlice, slices: i64, with_taints: bool) -> Option<Pool> {
    let spec = slice.spec.as_ref()?;
    let place = if !spec.node_name.is_empty() {
        Place::Node(spec.node_name.clone())
    } else if let Some(s) = &spec.node_selector {
        Place::Selected(NodeSelector::read(s, &mut Interner::default()))
    } else if spec.all_nodes == Some(true) {
        Place::Everywhere
    } else {
        return None;
    };
    let pool = spec.pool.clone().unwrap_or_default();
    let offered = |d: &wire::Device| Offered {
        device: (spec.driver.clone(), pool.name.clone(), d.name.clone()),
        taints: if with_taints { d.taints.clone() } else { Vec::new() },
    };
    let complete = pool.resource_slice_count.is_none_or(|n| n == slices);
    Some(Pool { place, devices: spec.devices.iter().map(offered).collect(), complete })
}

impl Place {
    fn reaches(&self, node: &Node) -> bool {
        match self {
            Self::Node(name) => *name == *node.meta.name,
            Self::Selected(s) => s.matches(&node.meta.name, &node.meta.labels),
            Self::Everywhere => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::resource::CelDeviceSelector;

    #[test]
    fn drivers_are_read_from_simple_expressions() {
        for (expression, want) in [
            ("device.driver == 'gpu.example.com'", Some("gpu.example.com")),
            ("device.driver==\"gpu.example.com\" && true", Some("gpu.example.com")),
            ("device.attributes['x'].model == 'a'", None),
            ("device.driver != 'gpu.example.com'", None),
        ] {
            let selector = DeviceSelector { cel: Some(CelDeviceSelector { expression: expression.into() }) };
            assert_eq!(driver_of(&selector).as_deref(), want, "{expression}");
        }
    }
}
