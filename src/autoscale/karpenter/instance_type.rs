//! The machines that a provider could make a node of. Mirrors `InstanceType` and `Offering` of `pkg/cloudprovider/types.go`.
//!
//! They belong to the provider and are not in the API: [`types`](super::types) says which are known.

use super::labels::{CAPACITY_TYPE, ZONE};
use super::requirement::Requirement;
use super::requirements::Requirements;
use crate::sched::resources::Sums;
use crate::snapshot::Str;
use std::fmt;

/// A machine that a node can be made of.
#[derive(Debug, Clone)]
pub struct InstanceType {
    /// The value of `node.kubernetes.io/instance-type`.
    pub name: Str,
    /// The labels that its nodes have.
    pub requirements: Requirements,
    /// What it has; a pool's limits count this.
    pub capacity: Sums,
    /// What pods may have of it.
    pub allocatable: Sums,
    /// Where and how it can be had.
    pub offerings: Vec<Offering>,
}

/// A way in which an instance type can be had.
#[derive(Debug, Clone)]
pub struct Offering {
    /// The zone.
    pub zone: Str,
    /// `spot` or `on-demand`.
    pub capacity_type: Str,
    /// Both, as requirements.
    pub requirements: Requirements,
    /// What it costs; `None` where only the cloud knows.
    pub price: Option<Price>,
}

impl Offering {
    /// An offering in a zone.
    pub fn new(zone: &str, capacity_type: &str, price: Option<Price>) -> Self {
        let (zone, capacity_type): (Str, Str) = (zone.into(), capacity_type.into());
        let of = [(ZONE, &zone), (CAPACITY_TYPE, &capacity_type)];
        let requirements = of.into_iter().map(|(k, v)| Requirement::equals(k, v.clone())).collect();
        Self { zone, capacity_type, requirements, price }
    }
}

/// Money for an hour: ten-billionths of a thousandth of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price(pub u64);

/// As a person writes it: `$0.0271`.
impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:04}", self.0 / 10_000_000_000_000, self.0 / 1_000_000_000 % 10_000)
    }
}
