//! A plan, as plain values.

use super::actor::ActorPlan;
use super::estimate::Estimate;
use super::options::{After, DrainOptions, Flag};
use super::order::Order;
use super::outcome::{Outcome, PodPlan, Verdict};
use super::timeline::Timeline;
use crate::finding::Finding;
use crate::snapshot::node::Node;
use std::sync::Arc;

/// What is to be planned.
#[derive(Debug, Clone)]
pub struct Request {
    /// The nodes, in the order in which they are drained.
    pub nodes: Vec<Arc<Node>>,
    /// Whether each is judged alone, as none was named, rather than as one command.
    pub each_alone: bool,
    /// Who drains, and the flags of the drain.
    pub options: DrainOptions,
    /// What becomes of a round of nodes before the next one.
    pub after: After,
}

/// What a drain will meet.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The nodes, in the order asked for.
    pub nodes: Vec<NodePlan>,
    /// The advice for doing it in rounds.
    pub order: Order,
    /// When each node is drained, where several drains at a time were asked for.
    pub timeline: Option<Timeline>,
    /// Who drains, where that was asked.
    pub actor: Option<ActorPlan>,
    /// What belongs to no single node.
    pub findings: Vec<Finding>,
}

/// What the drain of one node will meet.
#[derive(Debug, Clone)]
pub struct NodePlan {
    /// The node.
    pub node: Arc<Node>,
    /// How its drain ends, within the command as given.
    pub verdict: Verdict,
    /// How its drain ends if it alone is drained now.
    pub alone: Verdict,
    /// The `kubectl drain` line, with the flags it needs.
    pub command: String,
    /// Flags that were not given, and without which drain refuses.
    pub needed_flags: Vec<Flag>,
    /// Seconds after its drain began at which the first pod is deleted past a budget.
    pub forced_at: Option<i64>,
    /// Every pod of the node.
    pub pods: Vec<PodPlan>,
    /// What it meets.
    pub findings: Vec<Finding>,
    /// How long it takes.
    pub estimate: Estimate,
}

impl NodePlan {
    /// Whether some pod of it is refused, and it cannot be told whether that ends.
    pub fn is_open(&self) -> bool {
        self.pods.iter().any(|p| p.outcome == Outcome::Unknown && p.step.is_none())
    }
}
