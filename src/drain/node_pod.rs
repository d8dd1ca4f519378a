//! A pod on a node that is drained.

use super::filters::PodDeleteStatus;
use super::note::{Drainability, Note};
use super::tracker::BudgetId;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// A pod on a node that is drained, with all that is known of it before anything happens.
#[derive(Debug, Clone)]
pub struct NodePod {
    /// The pod.
    pub pod: Arc<Pod>,
    /// What the drainer's filters say of it.
    pub status: PodDeleteStatus,
    /// The budgets that cover it.
    pub budgets: Vec<BudgetId>,
    /// What it meets, whatever else is drained.
    pub notes: Vec<Note>,
    /// What that comes to.
    pub drainability: Drainability,
}
