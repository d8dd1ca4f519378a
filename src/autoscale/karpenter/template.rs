//! What a NodePool can make a new node of, and whether that suffices. Mirrors `NewScheduler` and `subtractMax`
//! (`provisioning/scheduling/scheduler.go`), `filterInstanceTypesByRequirements` (`scheduling/nodeclaim.go`) and
//! `SatisfiesMinValues` (`pkg/cloudprovider/types.go`).

use super::daemons::{Daemon, together};
use super::instance_type::InstanceType;
use super::node_pool::NodePool;
use super::ports;
use super::requirement::Requirement;
use super::requirements::Requirements;
use super::types::{Open, Types};
use crate::sched::resources::Sums;
use crate::snapshot::Str;
use crate::snapshot::pod::{HostPort, Pod};
use crate::snapshot::quantity::Quantity;
use std::collections::{BTreeMap, BTreeSet};

/// A NodePool with the instance types that its own requirements leave.
#[derive(Debug, Clone)]
pub struct Template {
    /// The pool.
    pub pool: NodePool,
    /// All types of its provider.
    pub types: Types,
    /// Those that it can use.
    pub options: Options,
    /// What its limits count beside the nodes that are seen.
    pub unseen: Sums,
    daemons: Vec<DaemonGroup>,
}

/// Instance types to which the same daemons come.
#[derive(Debug, Clone)]
struct DaemonGroup {
    /// Their numbers; empty where the types are not known.
    types: Vec<usize>,
    overhead: Sums,
    ports: Vec<HostPort>,
}

/// The instance types that are left for a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Options {
    /// By their numbers.
    Known(Vec<usize>),
    /// Any that is large enough; some that are known to be.
    Open(Vec<usize>),
}

/// A limit of a pool that every instance type would exceed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Over {
    /// Of what.
    pub resource: Str,
    /// The limit.
    pub limit: Quantity,
    /// What it leaves.
    pub left: Quantity,
}

/// Why no instance type suffices: what each lacks that comes nearest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoType {
    /// Some type has the labels.
    pub labels: bool,
    /// Some type is large enough.
    pub size: bool,
    /// Some type can be had in the zone and the capacity type.
    pub offering: bool,
    /// Too few types are left for the pool's `minValues`.
    pub min_values: Option<Str>,
    /// Where one requirement or resource is to blame: it.
    pub lacks: Option<String>,
}

impl Template {
    /// What a pool can make a node of; the refusal where its requirements leave no instance type.
    pub fn new(pool: NodePool, types: Types, daemons: &mut [Daemon]) -> Result<Self, NoType> {
        let every = match &types {
            Types::Known(all) => Options::Known((0..all.len()).collect()),
            Types::Open(open) => Options::Open((0..open.seen.len()).collect()),
        };
        let mut template = Self { pool, types, options: every.clone(), unseen: Sums::default(), daemons: Vec::new() };
        template.daemons = vec![DaemonGroup {
            types: (0..template.listed().len()).collect(),
            overhead: Sums::default(),
            ports: Vec::new(),
        }];
        template.options = template.sufficient(&every, &template.pool.labels, &Sums::default(), None, &[])?;
        template.daemons = template.daemon_groups(daemons);
        Ok(template)
    }

    /// The types that are known.
    pub fn listed(&self) -> &[InstanceType] {
        match &self.types {
            Types::Known(all) => all,
            Types::Open(open) => &open.seen,
        }
    }

    fn daemon_groups(&self, daemons: &mut [Daemon]) -> Vec<DaemonGroup> {
        let mut groups: BTreeMap<Vec<usize>, DaemonGroup> = BTreeMap::new();
        let mut group = |coming: Vec<usize>, kind: Option<usize>, daemons: &[Daemon]| {
            let of = || coming.iter().filter_map(|at| daemons.get(*at));
            let made = groups.entry(coming.clone()).or_insert_with(|| DaemonGroup {
                types: Vec::new(),
                overhead: together(of().map(|d| &d.requests)),
                ports: of().flat_map(|d| ports::of(&d.pod)).cloned().collect(),
            });
            made.types.extend(kind);
        };
        let coming = |daemons: &mut [Daemon], of_type: &Requirements| -> Vec<usize> {
            let all = daemons.iter_mut().enumerate();
            all.filter_map(|(at, d)| d.comes_to(&self.pool, of_type).then_some(at)).collect()
        };
        if let Options::Open(_) = self.options {
            let all = coming(daemons, &Requirements::default());
            group(all, None, daemons);
        }
        let (Options::Known(numbers) | Options::Open(numbers)) = &self.options;
        for number in numbers {
            let Some(kind) = self.listed().get(*number) else { continue };
            let all = coming(daemons, &kind.requirements);
            group(all, Some(*number), daemons);
        }
        groups.into_values().collect()
    }

    /// The types among some that have these labels and room for pods that ask so much together. `pod` is the one that
    /// is added, `taken` the ports of those that were added before.
    pub fn sufficient(
        &self,
        among: &Options,
        required: &Requirements,
        asked: &Sums,
        pod: Option<&Pod>,
        taken: &[HostPort],
    ) -> Result<Options, NoType> {
        let mut why = NoType::default();
        let (Options::Known(numbers) | Options::Open(numbers)) = among;
        let among_set: BTreeSet<usize> = numbers.iter().copied().collect();
        let open = |key: &str| self.pool.provider.is_well_known(key);
        let mut left = Vec::new();
        let conflicts =
            |group: &DaemonGroup| pod.is_some_and(|p| ports::conflict(p, &group.ports) || ports::conflict(p, taken));
        let groups: Vec<(&DaemonGroup, Sums)> = self
            .daemons
            .iter()
            .filter(|g| !conflicts(g))
            .map(|g| (g, together([asked, &g.overhead].into_iter())))
            .collect();
        for (group, all) in &groups {
            for number in group.types.iter().filter(|n| among_set.contains(n)) {
                let Some(kind) = self.listed().get(*number) else { continue };
                let labels = kind.requirements.intersects(required);
                let size = fits(all, &kind.allocatable);
                let offering = kind.offerings.iter().any(|o| required.compatible(&o.requirements, open));
                why.labels |= labels;
                why.size |= size;
                why.offering |= offering;
                if labels && size && offering {
                    left.push(*number);
                }
            }
        }
        left.sort_unstable();
        if let (Types::Open(known), Options::Open(_)) = (&self.types, among) {
            return match assumable(known, required, groups.iter().map(|(_, all)| all)) {
                Ok(()) => Ok(Options::Open(left)),
                Err(lacks) => Err(NoType { lacks: Some(lacks), ..why }),
            };
        }
        if let Some(key) = self.too_few(&left, required) {
            why.min_values = Some(key);
            return Err(why);
        }
        if left.is_empty() { Err(why) } else { Ok(Options::Known(left)) }
    }

    /// The first label of which too few values are left. Mirrors `SatisfiesMinValues`.
    pub fn too_few(&self, left: &[usize], required: &Requirements) -> Option<Str> {
        let values = |key: &str| -> usize {
            let kinds = left.iter().filter_map(|n| self.listed().get(*n));
            let all: BTreeSet<&Str> =
                kinds.filter_map(|k| k.requirements.get(key)).flat_map(Requirement::values).collect();
            all.len()
        };
        let few = |r: &&Requirement| r.min_values.is_some_and(|least| values(&r.key) < least);
        required.iter().find(few).map(|r| r.key.clone())
    }

    /// Those of the types that a pool may add without going past its limits: `left` is what its limits leave. The
    /// limits where none may be. Mirrors `filterByRemainingResources`.
    pub fn within_limits(&self, left: &Sums, pod: &Sums) -> Result<Options, Vec<Over>> {
        let (Options::Known(numbers) | Options::Open(numbers)) = &self.options;
        let over = |kind: &InstanceType| -> Vec<Str> {
            let past = |(name, rest): &(&Str, Quantity)| kind.capacity.get(name).unwrap_or_default() > *rest;
            left.iter().filter(past).map(|(n, _)| n.clone()).collect()
        };
        let kinds = numbers.iter().filter_map(|n| Some((*n, self.listed().get(*n)?)));
        let within: Vec<usize> = kinds.clone().filter(|(_, k)| over(k).is_empty()).map(|(n, _)| n).collect();
        if let Options::Open(_) = self.options {
            let least = |name: &str| match name {
                // There is no machine with less than one.
                "cpu" | "nodes" | "pods" => pod.get(name).unwrap_or_default().max(Quantity::units(1)),
                "memory" | "ephemeral-storage" => pod.get(name).unwrap_or_default().max(Quantity::milli(1)),
                _ => pod.get(name).unwrap_or_default(),
            };
            let past: Vec<Str> = left.iter().filter(|(n, rest)| least(n) > *rest).map(|(n, _)| n.clone()).collect();
            return if past.is_empty() { Ok(Options::Open(within)) } else { Err(self.over(&past, left)) };
        }
        if within.is_empty() {
            let mut names: Vec<Str> = kinds.flat_map(|(_, k)| over(k)).collect();
            names.sort();
            names.dedup();
            return Err(self.over(&names, left));
        }
        Ok(Options::Known(within))
    }

    fn over(&self, names: &[Str], left: &Sums) -> Vec<Over> {
        let limits = self.pool.limits.iter().filter(|(name, _)| names.contains(name));
        let over = |(name, limit): &(Str, Quantity)| {
            let left = left.get(name).unwrap_or_default().max(Quantity::ZERO);
            Over { resource: name.clone(), limit: *limit, left }
        };
        limits.map(over).collect()
    }

    /// What a node may take of the pool's limits at most, when it is one of these types. Mirrors `subtractMax`.
    pub fn most(&self, options: &Options, asked: &Sums) -> Sums {
        let (Options::Known(numbers) | Options::Open(numbers)) = options;
        let mut most = Sums::default();
        match options {
            Options::Known(_) => {
                for kind in numbers.iter().filter_map(|n| self.listed().get(*n)) {
                    for (name, quantity) in kind.capacity.iter() {
                        let known = most.get(name).unwrap_or_default();
                        most.set(name, known.max(quantity));
                    }
                }
            }
            // Of a type that is not known just what its pods ask is known to be taken.
            Options::Open(_) => most.add_all(asked),
        }
        most
    }

    /// The names of the types that are known, the cheapest first.
    pub fn names(&self, options: &Options) -> Vec<Str> {
        let (Options::Known(numbers) | Options::Open(numbers)) = options;
        let mut kinds: Vec<&InstanceType> = numbers.iter().filter_map(|n| self.listed().get(*n)).collect();
        kinds.sort_by_key(|k| k.offerings.iter().filter_map(|o| o.price).min());
        kinds.iter().map(|k| k.name.clone()).collect()
    }
}

/// Whether an instance type may be assumed that nobody has seen; what no type can have, else.
fn assumable<'s>(known: &Open, required: &Requirements, asked: impl Iterator<Item = &'s Sums>) -> Result<(), String> {
    if let Some(r) = known.lacks_labels(required) {
        return Err(r.to_string());
    }
    let mut lacking = None;
    for all in asked {
        match known.lacks_resource(all) {
            None => return Ok(()),
            Some(name) => lacking = Some(name.to_string()),
        }
    }
    Err(lacking.unwrap_or_else(|| "a free host port".to_owned()))
}

/// Whether so much is free. Where anything is less than nothing, nothing fits. Mirrors `resources.Fits`.
pub fn fits(asked: &Sums, free: &Sums) -> bool {
    free.iter().all(|(_, q)| q >= Quantity::ZERO)
        && asked.iter().all(|(name, q)| q <= free.get(name).unwrap_or_default())
}
