//! The pods that a simulation has to do with, and where each stands.

use crate::autoscale::NewNode;
use crate::drain::tracker::BudgetId;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// The number of a pod within a simulation.
pub type PodId = usize;

/// Where a pod stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It looks for a node.
    Pending,
    /// It is on a node, starting or Ready.
    Bound,
    /// It is being deleted.
    Terminating,
    /// It is gone.
    Gone,
}

/// A pod of a simulation.
#[derive(Debug, Clone)]
pub struct SimPod {
    /// The pod, as it was first seen.
    pub pod: Arc<Pod>,
    /// The budgets that cover it.
    pub budgets: Vec<BudgetId>,
    /// Where it stands.
    pub stage: Stage,
    /// Whether it is Ready.
    pub ready: bool,
    /// Whether the disruption controller counts it as healthy.
    pub healthy: bool,
    /// The pod that it replaces.
    pub replaces: Option<PodId>,
    /// The node that it was put on in the course of the simulation.
    pub node: Option<Str>,
    /// The node that could come for it, where no node that exists takes it.
    pub new_node: Option<NewNode>,
    /// The pods that were taken away to make room for it.
    pub preempted: Vec<Arc<Pod>>,
    /// Why its controller cannot make the pod that would replace it.
    pub not_replaced: Option<NotCreated>,
    /// Why it is not bound although a node would take it.
    pub not_bound: Option<String>,
    /// Why it does not start on its node: its volume is attached to another one.
    pub not_attached: Option<String>,
}

/// Why a controller cannot make a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotCreated {
    /// A quota refuses it.
    Quota(String),
    /// A webhook that would be asked does not answer.
    Webhook(String),
    /// The controller reports that it cannot make pods today.
    Reported(String),
}

impl NotCreated {
    /// What is said of it.
    pub fn words(&self) -> &str {
        match self {
            Self::Quota(words) | Self::Webhook(words) | Self::Reported(words) => words,
        }
    }
}

impl SimPod {
    /// The node that it is on, or was.
    pub fn node(&self) -> Option<&Str> {
        self.node.as_ref().or(self.pod.node.as_ref())
    }
}
