//! The pods that take part in a plan, and where each stands.

use super::ledger::BudgetId;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// The number of an actor within a world.
pub type ActorId = usize;

/// Where a pod stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It is on a node, starting or Ready.
    Live,
    /// It looks for a node.
    Pending,
    /// It is being deleted.
    Leaving,
    /// It is gone.
    Gone,
}

/// A pod that takes part.
#[derive(Debug, Clone)]
pub struct Actor {
    /// The pod, as it was first seen.
    pub pod: Arc<Pod>,
    /// The budgets that cover it.
    pub budgets: Vec<BudgetId>,
    /// Where it stands.
    pub stage: Stage,
    /// Whether it is Ready.
    pub ready: bool,
    /// Whether the budgets count it as healthy.
    pub healthy: bool,
    /// The pod that it replaces.
    pub replaces: Option<ActorId>,
    /// The node that it was put on in the course of the plan.
    pub node: Option<Str>,
    /// The pods that were taken away to make room for it.
    pub preempted: Vec<Arc<Pod>>,
    /// Why its owner cannot make the pod that would replace it.
    pub uncreated: Option<String>,
}
