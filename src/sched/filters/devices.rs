//! What devices nodes have and which are taken. Mirrors the idea of `dynamic-resource-allocation/structured`, not all
//! of it: of the CEL selectors only a comparison of the driver's name is understood, any other is taken as met; device
//! attributes, constraints between devices, shared counters and tolerations of device taints are not in a snapshot.

use crate::snapshot::Snapshot;
use crate::snapshot::intern::Interner;
use crate::snapshot::node::Node;
use crate::snapshot::object::Object;
use crate::snapshot::selector::NodeSelector;
use crate::wire::resource::{DeviceSelector, ResourceClaim, ResourceSlice};
use std::collections::{HashMap, HashSet};

/// Devices wanted of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Alternatives, the preferred one first.
    alternatives: Vec<Choice>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    class: String,
    /// `None` for all that match.
    count: Option<usize>,
    drivers: Vec<String>,
    admin: bool,
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
                alternatives.push(choice);
            }
            for sub in &r.first_available {
                let request = format!("{}/{}", r.name, sub.name);
                let mut choice = Choice::new(&sub.device_class_name, &request, &sub.selectors, snapshot)?;
                choice.count = count(&sub.allocation_mode, sub.count);
                alternatives.push(choice);
            }
            wanted.push(Self { alternatives });
        }
        Ok(wanted)
    }

    /// An extended resource that a class offers.
    pub fn extended(class: &str, n: i64) -> Self {
        let count = Some(usize::try_from(n).unwrap_or(usize::MAX));
        Self { alternatives: vec![Choice { class: class.to_owned(), count, drivers: Vec::new(), admin: false }] }
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
        Ok(Self { class: class.to_owned(), count: Some(1), drivers, admin: false })
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

/// Some slices of devices and from where they can be reached.
struct Pool {
    place: Place,
    devices: Vec<Device>,
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
        let current = snapshot.resource_slices.iter().filter(|s| {
            let (key, generation) = pool_key(s);
            newest.get(&key).is_none_or(|n| *n == generation)
        });
        let class_drivers = snapshot.device_classes.iter().map(|c| {
            let selectors = c.body.spec.as_ref().map(|s| &*s.selectors).unwrap_or_default();
            (c.meta.name.to_string(), selectors.iter().filter_map(driver_of).collect())
        });
        let allocated = snapshot.resource_claims.iter().filter_map(|c| {
            let devices = c.status.as_ref()?.allocation.as_ref()?.devices.as_ref()?;
            Some(devices.results.iter().map(|r| (r.driver.clone(), r.pool.clone(), r.device.clone())))
        });
        Self {
            pools: current.filter_map(|s| pool(s)).collect(),
            taken: allocated.flatten().collect(),
            class_drivers: class_drivers.collect(),
        }
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
        let matches = |d: &&Device| of_class.iter().chain(&choice.drivers).all(|driver| *driver == d.0);
        let there: Vec<&Device> =
            self.pools.iter().filter(|p| p.place.reaches(node)).flat_map(|p| &p.devices).filter(matches).collect();
        let free = |d: &&Device| choice.admin || (!self.taken.contains(*d) && !used.contains(*d));
        match choice.count {
            Some(n) => {
                let picked: Vec<&Device> = there.into_iter().filter(free).take(n).collect();
                (picked.len() == n).then_some(picked)
            }
            None => (!there.is_empty() && there.iter().all(free)).then_some(there),
        }
    }
}

fn pool_key(slice: &ResourceSlice) -> ((String, String), i64) {
    let spec = slice.spec.as_ref();
    let pool = spec.and_then(|s| s.pool.as_ref());
    let key = (spec.map(|s| s.driver.clone()).unwrap_or_default(), pool.map(|p| p.name.clone()).unwrap_or_default());
    (key, pool.and_then(|p| p.generation).unwrap_or_default())
}

/// Slices of an older generation of a pool are out of date.
fn newest_generations(snapshot: &Snapshot) -> HashMap<(String, String), i64> {
    let mut newest = HashMap::new();
    for slice in snapshot.resource_slices.iter() {
        let (key, generation) = pool_key(slice);
        newest.entry(key).and_modify(|n: &mut i64| *n = (*n).max(generation)).or_insert(generation);
    }
    newest
}

fn pool(slice: &ResourceSlice) -> Option<Pool> {
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
    let pool = spec.pool.as_ref().map(|p| p.name.clone()).unwrap_or_default();
    let usable = spec.devices.iter().filter(|d| d.taints.iter().all(|t| !t.effect.starts_with("No")));
    let devices = usable.map(|d| (spec.driver.clone(), pool.clone(), d.name.clone())).collect();
    Some(Pool { place, devices })
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
    use crate::wire::resource::CELDeviceSelector;

    #[test]
    fn drivers_are_read_from_simple_expressions() {
        for (expression, want) in [
            ("device.driver == 'gpu.example.com'", Some("gpu.example.com")),
            ("device.driver==\"gpu.example.com\" && true", Some("gpu.example.com")),
            ("device.attributes['x'].model == 'a'", None),
            ("device.driver != 'gpu.example.com'", None),
        ] {
            let selector = DeviceSelector { cel: Some(CELDeviceSelector { expression: expression.into() }) };
            assert_eq!(driver_of(&selector).as_deref(), want, "{expression}");
        }
    }
}
