//! Nodes as they are kept.

use super::intern::{Interner, Str};
use super::keep::{Keep, Reader};
use super::meta::Meta;
use super::pod::{Condition, Truth};
use super::quantity::Amounts;
use super::table::Keyed;
use crate::wire::node as wire;
use crate::wire::time::Time;
use jiff::Timestamp;

/// The label that a node has for itself alone.
pub const HOSTNAME: &str = "kubernetes.io/hostname";

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Names, labels, age.
    pub meta: Meta,
    /// `spec.unschedulable`: cordoned.
    pub unschedulable: bool,
    /// Its taints.
    pub taints: Box<[Taint]>,
    /// What the cloud calls its machine.
    pub provider_id: Option<Str>,
    /// What it has.
    pub capacity: Amounts,
    /// What pods may have of it.
    pub allocatable: Amounts,
    /// Conditions, in the order given.
    pub conditions: Box<[Condition]>,
    /// When its kubelet reported last.
    pub heartbeat: Option<Timestamp>,
    /// The kubelet's version, such as `v1.36.3`.
    pub kubelet_version: Option<Str>,
    /// Features its kubelet declares.
    pub declared_features: Box<[Str]>,
}

/// A taint.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Taint {
    /// Its key.
    pub key: Str,
    /// Its value, often empty.
    pub value: Str,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: Str,
    /// Since when (NoExecute only).
    pub since: Option<Timestamp>,
}

impl Taint {
    /// Reads the wire form.
    pub fn read(w: &wire::Taint, i: &mut Interner) -> Self {
        Self {
            key: i.str(&w.key),
            value: i.str(&w.value),
            effect: i.str(&w.effect),
            since: w.time_added.and_then(Time::timestamp),
        }
    }
}

/// As kubectl writes a taint: `key=value:effect`, or `key:effect`.
impl std::fmt::Display for Taint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.value.is_empty() {
            write!(f, "{}:{}", self.key, self.effect)
        } else {
            write!(f, "{}={}:{}", self.key, self.value, self.effect)
        }
    }
}

impl Keyed for Node {
    fn meta(&self) -> &Meta {
        &self.meta
    }
}

impl Keep for wire::Node {
    type Kept = Node;

    fn keep(self, reader: &mut Reader) -> Result<Node, String> {
        let i = &mut reader.interner;
        let spec = self.spec.unwrap_or_default();
        let status = self.status.unwrap_or_default();
        Ok(Node {
            meta: Meta::read(self.metadata, i),
            unschedulable: spec.unschedulable,
            taints: spec.taints.iter().map(|t| Taint::read(t, i)).collect(),
            provider_id: i.opt(&spec.provider_id),
            capacity: Amounts::read(&status.capacity, i),
            allocatable: Amounts::read(&status.allocatable, i),
            heartbeat: status.conditions.iter().filter_map(|c| c.last_heartbeat_time.and_then(Time::timestamp)).max(),
            conditions: status
                .conditions
                .iter()
                .map(|c| Condition::read(&c.type_, &c.status, c.last_transition_time, &c.reason, &c.message, i))
                .collect(),
            kubelet_version: status.node_info.and_then(|n| i.opt(&n.kubelet_version)),
            declared_features: i.strs(&status.declared_features),
        })
    }
}

impl Node {
    /// The condition of a type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.conditions.iter().find(|c| *c.kind == *kind)
    }

    /// Whether its kubelet answers: `Ready` is True. A node that reports no Ready condition at all is taken as
    /// answering, as a file may leave conditions out.
    pub fn is_ready(&self) -> bool {
        self.condition("Ready").is_none_or(|c| c.status == Truth::True)
    }
}
