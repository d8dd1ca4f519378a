//! A node that Karpenter looks at. Mirrors `NewCandidate` and `Candidate` (`disruption/types.go`).

use super::super::instance_type::Price;
use super::super::labels::{CAPACITY_TYPE, INSTANCE_TYPE};
use super::super::machine::Machine;
use super::super::node_claim::{NodeClaim, span};
use super::super::node_pool::NodePool;
use super::super::types::Types;
use super::blockers::is_reschedulable;
use super::{Keeps, cost, price};
use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Str};
use jiff::Timestamp;
use std::sync::Arc;

/// A node that Karpenter looks at.
#[derive(Debug)]
pub struct Candidate<'a> {
    /// Its number among the machines.
    pub machine: usize,
    /// Its NodeClaim.
    pub claim: &'a NodeClaim,
    /// The pool that it came from.
    pub pool: &'a NodePool,
    /// Its instance type.
    pub kind: Option<Str>,
    /// Whether it may be taken from it at any time.
    pub is_spot: bool,
    /// The pods that would have to move.
    pub pods: Vec<Arc<Pod>>,
    /// What taking it away costs in Karpenter's measure.
    pub cost: i64,
    /// What it costs for an hour; `None` where only the cloud knows. What it lacks, where it has no price.
    pub price: Result<Option<Price>, Keeps>,
}

impl<'a> Candidate<'a> {
    /// A machine of a pool.
    pub fn new(at: usize, machine: &'a Machine, claim: &'a NodeClaim, pool: &'a NodePool, snapshot: &Snapshot) -> Self {
        let labels = machine.labels();
        let on = machine.node.iter().flat_map(|n| snapshot.pods_on(n.name()));
        let pods: Vec<Arc<Pod>> = on.filter(|p| is_reschedulable(p)).cloned().collect();
        let class = &pool.object.spec.template.spec.node_class_ref.name;
        Self {
            machine: at,
            claim,
            pool,
            kind: labels.get(INSTANCE_TYPE).cloned(),
            is_spot: labels.get(CAPACITY_TYPE).is_some_and(|c| &**c == "spot"),
            cost: cost::of_node(pods.iter().map(|p| &**p)),
            pods,
            price: price::of_labels(&labels, &Types::of(pool.provider, class, snapshot)),
        }
    }

    /// Whether no pod counts that would have to move.
    pub fn is_empty(&self) -> bool {
        self.cost <= cost::ONE
    }

    /// The price for an hour, where it is known.
    pub fn known_price(&self) -> Option<Price> {
        self.price.as_ref().ok().copied().flatten()
    }

    /// Whether pods came or went too recently. Mirrors `IsUnderConsolidateAfter`, and the condition Consolidatable, which
    /// Karpenter sets some seconds later.
    pub fn consolidate_after(&self, now: Timestamp) -> Option<Keeps> {
        if self.claim.is("Consolidatable") {
            return None;
        }
        let until = under_consolidate_after(self.claim, self.pool)?;
        (now < until).then(|| Keeps::ConsolidateAfter(self.pool.name().clone(), until))
    }
}

/// Until when the pool's `consolidateAfter` keeps a node; `None` where it does not.
pub fn under_consolidate_after(claim: &NodeClaim, pool: &NodePool) -> Option<Timestamp> {
    let after = span(pool.object.spec.disruption.consolidate_after.as_deref()?)?;
    let event = claim.object.status.last_pod_event_time.and_then(crate::wire::time::Time::timestamp);
    let from = if claim.is("Initialized") { event.or_else(|| claim.since("Initialized")) } else { None };
    from?.checked_add(after).ok()
}
