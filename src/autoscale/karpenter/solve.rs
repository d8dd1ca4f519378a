//! Where a batch of pods would go: to nodes that are there, or to new ones. Mirrors `Scheduler.Solve` and what it calls
//! (`provisioning/scheduling/{scheduler,nodeclaim,queue}.go`).

use super::daemons::asked;
use super::fleet::Host;
use super::labels::{HOSTNAME, Provider};
use super::ports;
use super::relax::relax;
use super::requirement::Requirement;
use super::requirements::{Mismatch, Requirements, of_pod};
use super::taints::untolerated;
use super::template::{NoType, Options, Over, Template, fits};
use super::topology::{Topology, Unsatisfiable};
use super::volumes;
use crate::sched::State;
use crate::sched::resources::Sums;
use crate::snapshot::Str;
use crate::snapshot::node::Taint;
use crate::snapshot::pod::{HostPort, Pod};
use crate::snapshot::quantity::Quantity;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Why a pool gives a pod no node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It has as many nodes as it may have.
    Nodes,
    /// Every instance type would go past these limits.
    Limits(Vec<Over>),
    /// The pod does not tolerate a taint.
    Taint(Taint),
    /// The pod's labels and the pool's do not go together.
    Labels(Box<Mismatch>),
    /// The pod's volumes and the pool do not go together.
    Volumes(Box<Mismatch>),
    /// A rule about other pods leaves no place.
    Others(Unsatisfiable),
    /// No instance type suffices.
    Types(NoType),
}

/// Where a pod would go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Onto a node that is there: its number among the hosts.
    Existing(usize),
    /// Onto a new node: its number among the new ones.
    New(usize),
    /// Nowhere: what each pool says, in the order in which they are tried.
    Nowhere(Vec<(Str, Refusal)>),
}

/// A node that would be made.
#[derive(Debug, Clone)]
pub struct NewNode {
    /// The number of its template.
    pub template: usize,
    /// What its labels will be.
    pub requirements: Requirements,
    /// What it may be made of.
    pub options: Options,
    /// What its pods ask together.
    pub asked: Sums,
    /// Its pods, by their numbers in the batch.
    pub pods: Vec<usize>,
    host: Str,
    ports: Vec<HostPort>,
}

/// What is looked through for places.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    /// The scheduler's view, without the pods of the batch.
    pub state: &'a State,
    /// What new nodes can be made of, in the order in which pools are tried.
    pub templates: &'a [Template],
    /// The nodes that are there.
    pub hosts: &'a [Host],
    /// Whose rules are followed.
    pub provider: Provider,
    /// Whether some pool has a taint of the effect `PreferNoSchedule`.
    pub tolerate: bool,
}

/// What is different while nodes come and go.
#[derive(Debug, Clone, Default)]
pub struct Moving {
    /// Hosts that are taken away.
    pub excluded: BTreeSet<usize>,
    /// Hosts that take no pod of these nodes, for some pods came or went there just now.
    pub resting: BTreeSet<usize>,
    /// The pods of these nodes, by their numbers in the batch.
    pub pods: BTreeSet<usize>,
    /// Whether new nodes count towards a limit on their number: not within one batch upstream, but once they are there.
    pub counted: bool,
}

/// A look for places.
pub struct Solve<'a> {
    ground: Ground<'a>,
    topology: Topology<'a>,
    moving: Moving,
    /// What pods put there have taken of hosts, and what is known of their labels since.
    changed: BTreeMap<usize, Changed>,
    /// What the limits of each template's pool leave.
    limits: Vec<Sums>,
    new: Vec<NewNode>,
    /// In which new nodes are tried: those with fewest pods first.
    order: Vec<usize>,
}

#[derive(Debug, Clone)]
struct Changed {
    free: Sums,
    requirements: Requirements,
    ports: Vec<HostPort>,
}

/// What is asked for a pod, as far as its wishes have been given up.
struct Asking {
    number: usize,
    pod: Arc<Pod>,
    requests: Sums,
    all: Requirements,
    required: Requirements,
    volumes: Vec<Requirements>,
}

impl Asking {
    fn new(number: usize, pod: Arc<Pod>, ground: &Ground<'_>) -> Self {
        let snapshot = ground.state.snapshot();
        Self {
            number,
            requests: asked(&pod, ground.state.minor()),
            all: of_pod(&pod.spec, true, ground.provider),
            required: of_pod(&pod.spec, false, ground.provider),
            volumes: volumes::alternatives(&pod, snapshot, ground.provider),
            pod,
        }
    }

    /// The same with one wish less; `None` where there is none to give up.
    fn relaxed(&self, ground: &Ground<'_>) -> Option<Self> {
        let mut pod = self.pod.clone();
        let spec = Arc::make_mut(&mut Arc::make_mut(&mut pod).spec);
        relax(spec, ground.tolerate).then(|| Self {
            number: self.number,
            requests: self.requests.clone(),
            all: of_pod(&pod.spec, true, ground.provider),
            required: of_pod(&pod.spec, false, ground.provider),
            volumes: self.volumes.clone(),
            pod,
        })
    }

    /// The combinations of places that the pod's volumes allow; there is always one.
    fn alternatives(&self) -> impl Iterator<Item = Option<&Requirements>> {
        let none = self.volumes.is_empty().then_some(None);
        none.into_iter().chain(self.volumes.iter().map(Some))
    }
}

/// What came of a look for places.
#[derive(Debug)]
pub struct Solution {
    /// Where each pod of the batch would go, in the order given.
    pub places: Vec<Place>,
    /// The new nodes.
    pub new: Vec<NewNode>,
}

impl<'a> Solve<'a> {
    /// A look for places. Pods of the batch must not be in the state.
    pub fn new(ground: Ground<'a>, topology: Topology<'a>, moving: Moving) -> Self {
        let limits = ground.templates.iter().map(|t| {
            let mut left: Sums = t.pool.limits.iter().cloned().collect();
            left.take_all(&t.unseen);
            let of_pool =
                |(at, h): &(usize, &Host)| h.pool.as_ref() == Some(t.pool.name()) && !moving.excluded.contains(at);
            for (_, host) in ground.hosts.iter().enumerate().filter(of_pool) {
                left.take_all(&host.capacity);
            }
            left
        });
        let limits = limits.collect();
        Self { limits, ground, topology, moving, changed: BTreeMap::new(), new: Vec::new(), order: Vec::new() }
    }

    /// Finds places for a batch.
    pub fn solve(mut self, pods: &[Arc<Pod>]) -> Solution {
        let asking: Vec<Asking> =
            pods.iter().enumerate().map(|(n, p)| Asking::new(n, p.clone(), &self.ground)).collect();
        asking.iter().for_each(|a| self.topology.update(a.number, &a.pod));
        let mut queue: Vec<&Asking> = asking.iter().collect();
        queue.sort_by(|a, b| largest_first(a, b));
        let mut queue: VecDeque<&Asking> = queue.into();
        let mut places: Vec<Place> = pods.iter().map(|_| Place::Nowhere(Vec::new())).collect();
        let mut last_length: BTreeMap<usize, usize> = BTreeMap::new();
        while let Some(asking) = queue.front().copied() {
            // Once round without a place for anybody, it ends.
            if last_length.get(&asking.number) == Some(&queue.len()) {
                break;
            }
            queue.pop_front();
            let place = self.place(asking);
            if let Place::Nowhere(_) = place {
                self.topology.update(asking.number, &asking.pod);
                queue.push_back(asking);
                last_length.insert(asking.number, queue.len());
            }
            if let Some(at) = places.get_mut(asking.number) {
                *at = place;
            }
        }
        Solution { places, new: self.new }
    }

    /// What each pool says of a pod that comes alone, whatever nodes there are: its instance types, or why it gives none.
    pub fn offers(mut self, pod: &Arc<Pod>) -> Vec<(usize, Result<Options, Refusal>)> {
        let asking = Asking::new(0, pod.clone(), &self.ground);
        let templates = self.ground.templates.iter().enumerate();
        templates.map(|(number, template)| (number, self.offer(number, template, &asking))).collect()
    }

    fn offer(&mut self, number: usize, template: &Template, asking: &Asking) -> Result<Options, Refusal> {
        let mut relaxed: Option<Asking> = None;
        loop {
            let now = relaxed.as_ref().unwrap_or(asking);
            self.topology.update(now.number, &now.pod);
            match self.first_on_new(number, template, now) {
                Ok((_, _, options)) => return Ok(options),
                Err(refusal) => relaxed = Some(now.relaxed(&self.ground).ok_or(refusal)?),
            }
        }
    }

    /// Finds a place for a pod, giving up its wishes one after the other.
    fn place(&mut self, asking: &Asking) -> Place {
        let mut relaxed: Option<Asking> = None;
        loop {
            let now = relaxed.as_ref().unwrap_or(asking);
            match self.add(now) {
                Place::Nowhere(why) => {
                    let Some(next) = now.relaxed(&self.ground) else { return Place::Nowhere(why) };
                    self.topology.update(next.number, &next.pod);
                    relaxed = Some(next);
                }
                found => return found,
            }
        }
    }

    fn add(&mut self, asking: &Asking) -> Place {
        if let Some(host) = self.add_to_existing(asking) {
            return Place::Existing(host);
        }
        let new = &self.new;
        self.order.sort_by_key(|at| new.get(*at).map_or(0, |n| n.pods.len()));
        for at in self.order.clone() {
            let Some(node) = self.new.get(at) else { continue };
            let Some(template) = self.ground.templates.get(node.template) else { continue };
            // Whether a type that is not known has room for more is not known, either: each pod is told of its own node.
            if matches!(node.options, Options::Open(_)) {
                continue;
            }
            if let Ok((requirements, options)) = self.fits_on_new(template, node, asking) {
                self.commit(at, asking, requirements, options);
                return Place::New(at);
            }
        }
        self.add_to_new(asking)
    }

    /// The first host that takes the pod.
    fn add_to_existing(&mut self, asking: &Asking) -> Option<usize> {
        let bears = self.topology.bears_on(asking.number, &asking.pod);
        let hosts = self.ground.hosts;
        let (at, requirements) = hosts.iter().enumerate().find_map(|(at, host)| {
            let rests = self.moving.pods.contains(&asking.number) && self.moving.resting.contains(&at);
            if rests || self.moving.excluded.contains(&at) {
                return None;
            }
            Some((at, self.takes(at, host, asking, bears)?))
        })?;
        let host = hosts.get(at)?;
        let changed = self.changed.entry(at).or_insert_with(|| Changed {
            free: host.free.clone(),
            requirements: Requirements::default(),
            ports: host.ports.clone(),
        });
        changed.free.take_all(&asking.requests);
        changed.ports.extend(ports::of(&asking.pod).cloned());
        changed.requirements = requirements.clone();
        self.topology.record(asking.number, &asking.pod, &host.taints, &requirements);
        Some(at)
    }

    /// Whether a host takes a pod; what its labels are then. Mirrors `ExistingNode.CanAdd`.
    fn takes(&self, at: usize, host: &Host, asking: &Asking, bears: bool) -> Option<Requirements> {
        let changed = self.changed.get(&at);
        let free = changed.map_or(&host.free, |c| &c.free);
        let taken = changed.map_or(&host.ports, |c| &c.ports);
        let pod = &asking.pod;
        if !fits(&asking.requests, free) || untolerated(&host.taints, pod).is_some() || ports::conflict(pod, taken) {
            return None;
        }
        let provider = self.ground.provider;
        let closed = |_: &str| false;
        let fits_labels = match changed {
            Some(changed) => changed.requirements.compatible(&asking.all, closed),
            None => host.meets(&asking.all, provider),
        };
        if !fits_labels || volumes::too_many(&host.name, pod, self.ground.state) {
            return None;
        }
        let mut base = changed.map_or_else(|| host.requirements(provider), |c| c.requirements.clone());
        base.add_all(&asking.all);
        asking.alternatives().find_map(|volumes| {
            let mut all = base.clone();
            if let Some(volumes) = volumes {
                if !all.compatible(volumes, closed) {
                    return None;
                }
                all.add_all(volumes);
            }
            if bears {
                let narrowed = self.topology.narrowed(asking.number, pod, &asking.required, &all).ok()?;
                if !all.compatible(&narrowed, closed) {
                    return None;
                }
                all.add_all(&narrowed);
            }
            Some(all)
        })
    }

    /// Puts the pod on a new node of the first pool that gives one.
    fn add_to_new(&mut self, asking: &Asking) -> Place {
        let mut refusals = Vec::new();
        let templates = self.ground.templates;
        for (number, template) in templates.iter().enumerate() {
            match self.first_on_new(number, template, asking) {
                Ok((node, requirements, options)) => {
                    let at = self.new.len();
                    self.new.push(node);
                    self.order.push(at);
                    self.commit(at, asking, requirements, options.clone());
                    let mut most = template.most(&options, &asking.requests);
                    if self.moving.counted {
                        most.set(&"nodes".into(), Quantity::units(1));
                    }
                    for (left, other) in self.limits.iter_mut().zip(templates) {
                        if other.pool.name() == template.pool.name() {
                            left.take_all(&most);
                        }
                    }
                    return Place::New(at);
                }
                Err(refusal) => refusals.push((template.pool.name().clone(), refusal)),
            }
        }
        Place::Nowhere(refusals)
    }

    fn first_on_new(
        &self,
        number: usize,
        template: &Template,
        asking: &Asking,
    ) -> Result<(NewNode, Requirements, Options), Refusal> {
        let left = self.limits.get(number).cloned().unwrap_or_default();
        if left.get("nodes") == Some(Quantity::ZERO) {
            return Err(Refusal::Nodes);
        }
        let options = template.within_limits(&left, &asking.requests).map_err(Refusal::Limits)?;
        let host: Str = format!("hostname-placeholder-{:04}", self.new.len() + 1).into();
        let mut requirements = template.pool.labels.clone();
        requirements.add(Requirement::equals(HOSTNAME, host.clone()));
        let node = NewNode {
            template: number,
            requirements,
            options,
            asked: Sums::default(),
            pods: Vec::new(),
            host,
            ports: Vec::new(),
        };
        let (requirements, options) = self.fits_on_new(template, &node, asking)?;
        Ok((node, requirements, options))
    }

    /// Whether a new node takes a pod; what its labels and its instance types are then. Mirrors `NodeClaim.CanAdd`.
    fn fits_on_new(
        &self,
        template: &Template,
        node: &NewNode,
        asking: &Asking,
    ) -> Result<(Requirements, Options), Refusal> {
        let pod = &asking.pod;
        let open = |key: &str| self.ground.provider.is_well_known(key);
        if let Some(taint) = untolerated(&template.pool.taints, pod) {
            return Err(Refusal::Taint(taint.clone()));
        }
        if let Some(m) = node.requirements.mismatch(&asking.all, open) {
            return Err(Refusal::Labels(Box::new(m)));
        }
        let mut base = node.requirements.clone();
        base.add_all(&asking.all);
        let mut together = node.asked.clone();
        together.add_all(&asking.requests);
        let mut last = None;
        for volumes in asking.alternatives() {
            let one = || {
                let mut all = base.clone();
                if let Some(volumes) = volumes {
                    if let Some(m) = all.mismatch(volumes, open) {
                        return Err(Refusal::Volumes(Box::new(m)));
                    }
                    all.add_all(volumes);
                }
                let narrowed = self.topology.narrowed(asking.number, pod, &asking.required, &all);
                let narrowed = narrowed.map_err(Refusal::Others)?;
                if let Some(m) = all.mismatch(&narrowed, open) {
                    return Err(Refusal::Labels(Box::new(m)));
                }
                all.add_all(&narrowed);
                let options = template.sufficient(&node.options, &all, &together, Some(pod), &node.ports);
                Ok((all, options.map_err(Refusal::Types)?))
            };
            match one() {
                Ok(found) => return Ok(found),
                Err(refusal) => last = Some(refusal),
            }
        }
        // There is always one alternative.
        Err(last.unwrap_or_else(|| Refusal::Types(NoType::default())))
    }

    fn commit(&mut self, at: usize, asking: &Asking, requirements: Requirements, options: Options) {
        let Some(node) = self.new.get_mut(at) else { return };
        node.pods.push(asking.number);
        node.options = options;
        node.asked.add_all(&asking.requests);
        node.ports.extend(ports::of(&asking.pod).cloned());
        node.requirements = requirements;
        self.topology.register_host(&node.host);
        let taints = self.ground.templates.get(node.template).map(|t| &*t.pool.taints).unwrap_or_default();
        self.topology.record(asking.number, &asking.pod, taints, &node.requirements);
    }
}

/// Pods that ask more come first; then older ones. Mirrors `byCPUAndMemoryDescending`.
fn largest_first(a: &Asking, b: &Asking) -> std::cmp::Ordering {
    let of = |a: &Asking, name: &str| a.requests.get(name).unwrap_or_default();
    let by = |name: &str| of(b, name).cmp(&of(a, name));
    by("cpu").then_with(|| by("memory")).then_with(|| {
        let key = |a: &Asking| (a.pod.meta.creation_timestamp, a.pod.meta.uid.clone());
        key(a).cmp(&key(b))
    })
}
