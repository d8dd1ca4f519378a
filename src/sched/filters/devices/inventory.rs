//! The devices that ResourceSlices publish, read once for a snapshot: with the taints of DeviceTaintRules, and with what
//! selectors say of them kept. Mirrors what `resourceslice/tracker` and `structured/internal/*/pools_*.go` make of
//! slices.

use super::capacity::Capacity;
use super::features::Features;
use super::ids::{Counters, DeviceId, Entry, ExpressionId, PoolId, SliceId, amount, id};
use super::pool::Pool;
use super::selectors;
use crate::cel::{Error, Program, Value};
use crate::snapshot::Snapshot;
use crate::snapshot::intern::Interner;
use crate::snapshot::node::Node;
use crate::snapshot::object::Object;
use crate::snapshot::selector::NodeSelector;
use crate::wire::resource as wire;
use foldhash::HashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// From which nodes something can be reached. Mirrors `NodeMatches`.
#[derive(Debug, Clone)]
pub enum Place {
    /// The node of this name.
    Node(String),
    /// Nodes with such labels.
    Selected(NodeSelector),
    /// All nodes.
    Everywhere,
}

impl Place {
    fn read(node: &str, all: Option<bool>, selector: Option<&crate::wire::node::NodeSelector>) -> Option<Self> {
        if !node.is_empty() {
            Some(Self::Node(node.to_owned()))
        } else if all == Some(true) {
            Some(Self::Everywhere)
        } else {
            selector.map(|s| Self::Selected(NodeSelector::read(s, &mut Interner::default())))
        }
    }

    /// Whether a node reaches it.
    pub fn reaches(&self, node: &Node) -> bool {
        match self {
            Self::Node(name) => *name == *node.meta.name,
            Self::Selected(s) => s.matches(&node.meta.name, &node.meta.labels),
            Self::Everywhere => true,
        }
    }
}

/// A device as a slice publishes it.
#[derive(Debug)]
pub struct Device {
    /// Its number by name.
    pub id: DeviceId,
    /// The slice, and its position there.
    pub slice: SliceId,
    at: usize,
    /// Where it can be reached, in a slice whose devices have places of their own.
    pub place: Option<Place>,
    /// Its taints, and those that DeviceTaintRules set on it.
    pub taints: Vec<wire::DeviceTaint>,
    /// What it has of which.
    pub capacity: Vec<(String, Capacity)>,
    /// What it takes of which counter set.
    pub consumes: Vec<(String, Counters)>,
    /// Whether several claims can share it.
    pub multiple: bool,
}

/// A slice of a pool.
#[derive(Debug)]
pub struct Slice {
    object: Arc<Object<wire::ResourceSlice>>,
    /// Its pool.
    pub pool: PoolId,
    /// The pool's generation when it was written.
    pub generation: i64,
    /// Of how many slices the pool consists.
    pub slices_of_pool: i64,
    /// From where all its devices are reached; `None` where each has its own place.
    pub place: Option<Place>,
    /// Whether its devices have places of their own.
    pub per_device: bool,
    /// Its devices.
    pub devices: std::ops::Range<Entry>,
    /// The counter sets that it declares.
    pub counters: Vec<(String, Counters)>,
}

impl Slice {
    fn spec(&self) -> Option<&wire::ResourceSliceSpec> {
        self.object.body.spec.as_ref()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.object.meta.name
    }
}

/// Slices of one driver and pool, of any generation.
#[derive(Debug)]
pub struct PoolInfo {
    /// The driver.
    pub driver: String,
    /// The pool.
    pub name: String,
    /// Its slices, in order of their names.
    pub slices: Vec<SliceId>,
    /// Why nothing can be told of it.
    pub doubt: Option<&'static str>,
}

impl PoolInfo {
    /// `driver/pool`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.driver, self.name)
    }
}

/// What an expression says of a device.
pub type Match = Result<bool, Error>;

/// The devices of a snapshot.
#[derive(Debug)]
pub struct Inventory {
    /// What the scheduler does about devices.
    pub features: Features,
    devices: Vec<Device>,
    slices: Vec<Slice>,
    /// Pools, in order of driver and name.
    pools: Vec<PoolInfo>,
    ids: HashMap<(String, String, String), DeviceId>,
    on_node: HashMap<String, Vec<SliceId>>,
    shared: Vec<SliceId>,
    memo: Mutex<Memo>,
}

/// What was computed of it so far.
#[derive(Debug, Default)]
struct Memo {
    expressions: HashMap<String, ExpressionId>,
    programs: Vec<Result<Program, Error>>,
    matches: HashMap<(ExpressionId, Entry), Match>,
    variables: HashMap<Entry, Result<Value, String>>,
    /// Steps left for all evaluations together.
    steps: u64,
    pools: HashMap<(PoolId, Vec<SliceId>), Arc<Pool>>,
}

/// So many steps one evaluation may take; upstream's limit of cost is of this size (`CELSelectorExpressionMaxCost`).
const STEPS: u64 = 1_000_000;
/// So many steps all evaluations of a snapshot may take: some seconds.
const ALL_STEPS: u64 = 200_000_000;

fn counters(wire: &BTreeMap<String, wire::Counter>) -> Counters {
    wire.iter().map(|(name, c)| (name.clone(), amount(c.value.as_ref()))).collect()
}

impl Inventory {
    /// Reads the slices of a snapshot.
    pub fn new(snapshot: &Snapshot) -> Self {
        let features = Features::of(snapshot.minor());
        let memo = Mutex::new(Memo { steps: ALL_STEPS, ..Memo::default() });
        let mut all = Self {
            features,
            devices: Vec::new(),
            slices: Vec::new(),
            pools: pools_of(snapshot),
            ids: HashMap::default(),
            on_node: HashMap::default(),
            shared: Vec::new(),
            memo,
        };
        for object in snapshot.resource_slices.iter() {
            all.add(object, snapshot);
        }
        all
    }

    fn add(&mut self, object: &Arc<Object<wire::ResourceSlice>>, snapshot: &Snapshot) {
        let Some(spec) = &object.body.spec else { return };
        let pool = spec.pool.clone().unwrap_or_default();
        let key = |p: &PoolInfo| (p.driver.as_str(), p.name.as_str()).cmp(&(&*spec.driver, &*pool.name));
        let Ok(at) = self.pools.binary_search_by(key) else { return };
        let (number, pool_id) = (id(self.slices.len()), id(at));
        let per_device = spec.per_device_node_selection == Some(true);
        let first = id(self.devices.len());
        for (at, device) in spec.devices.iter().enumerate() {
            let name = (spec.driver.clone(), pool.name.clone(), device.name.clone());
            let next = id(self.ids.len());
            let mut taints = device.taints.clone();
            if self.features.taint_rules {
                taints.extend(rules_for(snapshot, &spec.driver, &pool.name, &device.name));
            }
            self.devices.push(Device {
                id: *self.ids.entry(name).or_insert(next),
                slice: number,
                at,
                place: if per_device {
                    Place::read(&device.node_name, device.all_nodes, device.node_selector.as_ref())
                } else {
                    None
                },
                taints,
                capacity: device.capacity.iter().map(|(n, c)| (n.clone(), Capacity::read(c))).collect(),
                consumes: device
                    .consumes_counters
                    .iter()
                    .map(|c| (c.counter_set.clone(), counters(&c.counters)))
                    .collect(),
                multiple: device.allow_multiple_allocations == Some(true),
            });
        }
        let declares = !spec.shared_counters.is_empty();
        // Up to 1.36 slices with counters are looked at on every node.
        if spec.node_name.is_empty() || (declares && self.features.minor < 37) {
            self.shared.push(number);
        } else {
            self.on_node.entry(spec.node_name.clone()).or_default().push(number);
        }
        if let Some(info) = self.pools.get_mut(at) {
            info.slices.push(number);
            let grouped = |d: &wire::Device| d.consumes_counters.iter().any(|c| !c.compatibility_groups.is_empty());
            if spec.devices.iter().any(grouped) {
                info.doubt = Some("compatibility groups of devices (an alpha feature)");
            }
        }
        self.slices.push(Slice {
            object: object.clone(),
            pool: pool_id,
            generation: pool.generation.unwrap_or_default(),
            slices_of_pool: pool.resource_slice_count.unwrap_or_default(),
            place: Place::read(&spec.node_name, spec.all_nodes, spec.node_selector.as_ref()),
            per_device,
            devices: first..id(self.devices.len()),
            counters: spec.shared_counters.iter().map(|c| (c.name.clone(), counters(&c.counters))).collect(),
        });
    }

    /// A device.
    pub fn device(&self, entry: Entry) -> Option<&Device> {
        self.devices.get(entry as usize)
    }

    /// A device as it is published.
    pub fn published(&self, device: &Device) -> Option<&wire::Device> {
        self.slice(device.slice)?.spec()?.devices.get(device.at)
    }

    /// A slice.
    pub fn slice(&self, slice: SliceId) -> Option<&Slice> {
        self.slices.get(slice as usize)
    }

    /// A pool.
    pub fn pool(&self, pool: PoolId) -> Option<&PoolInfo> {
        self.pools.get(pool as usize)
    }

    /// Whether there is no slice at all.
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// The number of a device by its names.
    pub fn id_of(&self, driver: &str, pool: &str, device: &str) -> Option<DeviceId> {
        self.ids.get(&(driver.to_owned(), pool.to_owned(), device.to_owned())).copied()
    }

    /// Whether a node reaches a device of a slice that it reaches. In a slice whose devices have their own places, a device
    /// without one is nowhere.
    pub fn reaches(&self, node: &Node, device: &Device) -> bool {
        let per_device = self.slice(device.slice).is_some_and(|s| s.per_device);
        !per_device || device.place.as_ref().is_some_and(|p| p.reaches(node))
    }

    /// The pool of a device.
    pub fn pool_of(&self, device: &Device) -> Option<&PoolInfo> {
        self.pool(self.slice(device.slice)?.pool)
    }

    /// `driver/pool/device`.
    pub fn path(&self, device: &Device) -> String {
        let pool = self.pool_of(device).map(PoolInfo::path).unwrap_or_default();
        format!("{pool}/{}", self.published(device).map_or("", |d| &d.name))
    }

    /// The slices that a node might reach: its own, then those of more nodes than one.
    pub fn slices_for<'a>(&'a self, node: &str) -> impl Iterator<Item = (SliceId, &'a Slice)> {
        let own = self.on_node.get(node).map(|l| &**l).unwrap_or_default();
        own.iter().chain(&self.shared).filter_map(|s| Some((*s, self.slice(*s)?)))
    }

    /// A pool made of some slices, the same one for the same slices.
    pub(super) fn pool_from(
        &self,
        pool: PoolId,
        slices: Vec<SliceId>,
        build: impl FnOnce(&[SliceId]) -> Pool,
    ) -> Arc<Pool> {
        let Ok(mut memo) = self.memo.lock() else { return Arc::new(build(&slices)) };
        if let Some(known) = memo.pools.get(&(pool, slices.clone())) {
            return known.clone();
        }
        let built = Arc::new(build(&slices));
        memo.pools.insert((pool, slices), built.clone());
        built
    }

    /// The number of an expression.
    pub fn expression(&self, text: &str) -> ExpressionId {
        let Ok(mut memo) = self.memo.lock() else { return ExpressionId::MAX };
        if let Some(known) = memo.expressions.get(text) {
            return *known;
        }
        let number = id(memo.programs.len());
        memo.programs.push(Program::parse(text));
        memo.expressions.insert(text.to_owned(), number);
        number
    }

    /// What an expression says of a device. Mirrors `CompilationResult.DeviceMatches`.
    ///
    /// # Errors
    /// It fails, or is not evaluated here.
    pub fn matches(&self, expression: ExpressionId, entry: Entry) -> Match {
        let Ok(mut memo) = self.memo.lock() else { return Err(Error::TooCostly) };
        if let Some(known) = memo.matches.get(&(expression, entry)) {
            return known.clone();
        }
        let result = self.evaluate(&mut memo, expression, entry);
        memo.matches.insert((expression, entry), result.clone());
        result
    }

    fn evaluate(&self, memo: &mut Memo, expression: ExpressionId, entry: Entry) -> Match {
        let program = memo.programs.get(expression as usize).ok_or(Error::TooCostly)?.as_ref().map_err(Clone::clone)?;
        let device = self.device(entry).ok_or(Error::TooCostly)?;
        let driver = self.pool_of(device).map_or("", |p| &p.driver);
        let published = self.published(device).ok_or(Error::TooCostly)?;
        let variable = memo.variables.entry(entry).or_insert_with(|| selectors::variable(driver, published));
        let variable = variable.as_ref().map_err(|words| Error::Failed(words.clone()))?;
        let granted = memo.steps.min(STEPS);
        let mut left = granted;
        let result = selectors::matches(program, variable, &mut left);
        memo.steps -= granted - left;
        result
    }
}

/// The pools that slices name, in order.
fn pools_of(snapshot: &Snapshot) -> Vec<PoolInfo> {
    let specs = snapshot.resource_slices.iter().filter_map(|s| s.body.spec.as_ref());
    let names = specs.map(|s| (s.driver.clone(), s.pool.as_ref().map(|p| p.name.clone()).unwrap_or_default()));
    let mut names: Vec<(String, String)> = names.collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|(driver, name)| PoolInfo { driver, name, slices: Vec::new(), doubt: None }).collect()
}

/// The taints that rules set on a device. Mirrors `Tracker.applyPatches`.
fn rules_for<'a>(
    snapshot: &'a Snapshot,
    driver: &'a str,
    pool: &'a str,
    device: &'a str,
) -> impl Iterator<Item = wire::DeviceTaint> + 'a {
    snapshot.device_taint_rules.iter().filter_map(move |rule| {
        let spec = rule.body.spec.as_ref()?;
        let selector = spec.device_selector.as_ref()?;
        let is = |wanted: &Option<String>, actual: &str| wanted.as_deref().is_none_or(|w| w == actual);
        let selected = is(&selector.driver, driver) && is(&selector.pool, pool) && is(&selector.device, device);
        if selected { spec.taint.clone() } else { None }
    })
}
