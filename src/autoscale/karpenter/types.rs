//! Which instance types a NodePool could use. Those of kwok are known from its source; of a cloud only those are known
//! that nodes of the cluster are made of, and every other is assumed to be there.

use super::instance_type::{InstanceType, Offering};
use super::kwok;
use super::labels::{ARCH, CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, OS, Provider, ZONE};
use super::requirement::Requirement;
use super::requirements::{Requirements, of_labels};
use crate::sched::resources::{Sums, is_extended};
use crate::snapshot::node::Node;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::{Snapshot, Str};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The instance types that a provider could use.
#[derive(Debug, Clone)]
pub enum Types {
    /// All of them.
    Known(Arc<Vec<InstanceType>>),
    /// Those that nodes are made of; any other is assumed to be there.
    Open(Open),
}

/// What is known of a cloud's instance types.
#[derive(Debug, Clone)]
pub struct Open {
    /// Those that nodes of the cluster are made of.
    pub seen: Arc<Vec<InstanceType>>,
    /// The zones that nodes can be in, where the NodeClass tells.
    pub zones: Option<BTreeSet<Str>>,
    provider: Provider,
}

/// Resources beside cpu, memory and storage that instance types of clouds have.
const CLOUD_RESOURCES: [&str; 9] = [
    "nvidia.com/gpu",
    "amd.com/gpu",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "habana.ai/gaudi",
    "vpc.amazonaws.com/pod-eni",
    "vpc.amazonaws.com/efa",
    "vpc.amazonaws.com/PrivateIPv4Address",
    "google.com/tpu",
];

impl Types {
    /// Those that a provider could use for the pools of a NodeClass.
    pub fn of(provider: Provider, class: &str, snapshot: &Snapshot) -> Self {
        if provider == Provider::Kwok {
            return Self::Known(kwok::types());
        }
        let status = match provider {
            Provider::Aws => snapshot.ec2_node_classes.named("", class).map(|c| &c.status),
            Provider::EksAuto => snapshot.eks_node_classes.named("", class).map(|c| &c.status),
            _ => None,
        };
        let zones = status.map(|s| s.subnets.iter().map(|s| Str::from(s.zone.as_str())).collect());
        let zones = zones.filter(|zones: &BTreeSet<Str>| !zones.is_empty());
        Self::Open(Open { seen: Arc::new(seen(provider, snapshot)), zones, provider })
    }
}

impl Open {
    /// Why no instance type can be thought of that has these labels; `None` where one can.
    pub fn lacks_labels(&self, required: &Requirements) -> Option<Requirement> {
        let any = |r: &Requirement, values: &[&str]| values.iter().any(|v| r.has(v));
        let possible = |key: &str, r: &Requirement| match key {
            ARCH => any(r, &["amd64", "arm64"]),
            OS => any(r, &["linux", "windows"]),
            CAPACITY_TYPE => any(r, &["on-demand", "spot", "reserved"]),
            ZONE => self.zones.as_ref().map_or(!r.is_nothing(), |zones| zones.iter().any(|z| r.has(z))),
            _ => !r.is_nothing(),
        };
        let keys = [ARCH, OS, CAPACITY_TYPE, ZONE, INSTANCE_TYPE];
        let found = keys.into_iter().filter_map(|k| Some((k, required.get(k)?))).find(|(k, r)| !possible(k, r));
        let few = || required.iter().find(|r| r.min_values > r.listed().map(BTreeSet::len).or(r.min_values));
        found.map(|(_, r)| r).or_else(few).cloned()
    }

    /// The first resource that no instance type of the cloud has.
    pub fn lacks_resource<'a>(&self, requests: &'a Sums) -> Option<&'a Str> {
        let known = |name: &str| !is_extended(name) || CLOUD_RESOURCES.contains(&name);
        let asked = requests.iter().filter(|(_, q)| *q > Quantity::ZERO);
        asked.map(|(name, _)| name).find(|name| self.provider != Provider::Other && !known(name))
    }
}

/// The instance types that nodes of Karpenter are made of.
fn seen(provider: Provider, snapshot: &Snapshot) -> Vec<InstanceType> {
    let mut types: BTreeMap<Str, InstanceType> = BTreeMap::new();
    for node in snapshot.nodes.iter().filter(|n| n.meta.labels.has(NODE_POOL)) {
        let Some(name) = node.meta.labels.get(INSTANCE_TYPE) else { continue };
        let offering = |node: &Node| {
            let labels = &node.meta.labels;
            Some(Offering::new(labels.get(ZONE)?, labels.get(CAPACITY_TYPE)?, None))
        };
        let of_type = |r: &Requirement| provider.is_well_known(&r.key) && ![ZONE, CAPACITY_TYPE].contains(&&*r.key);
        let kind = types.entry(name.clone()).or_insert_with(|| InstanceType {
            name: name.clone(),
            requirements: of_labels(&node.meta.labels, provider)
                .iter()
                .filter(|r| of_type(r) && *r.key != *NODE_POOL)
                .cloned()
                .collect(),
            capacity: Sums::of(&node.capacity),
            allocatable: Sums::of(&node.allocatable),
            offerings: Vec::new(),
        });
        if let Some(new) = offering(node) {
            let same = |o: &Offering| o.zone == new.zone && o.capacity_type == new.capacity_type;
            if !kind.offerings.iter().any(same) {
                kind.offerings.push(new);
            }
        }
    }
    types.into_values().collect()
}
