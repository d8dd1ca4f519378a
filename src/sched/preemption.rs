//! What preemption would do. Mirrors `framework/preemption.Candidate` and what is told of it.

use super::node::{NodeId, PodInfo};
use super::status::Status;
use std::sync::Arc;

/// What came of preemption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreemptionOutcome {
    /// The pod fits somewhere, or there is no node at all, or it was refused before nodes were looked at.
    NotTried,
    /// The pod may not preempt now.
    NotEligible,
    /// A node was chosen.
    Found,
    /// No node can be made to fit.
    NothingHelps,
}

/// A node that can be made to fit.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The node.
    pub node: NodeId,
    /// The pods to be taken away, the most important first.
    pub victims: Vec<Arc<PodInfo>>,
    /// How many of them violate a budget.
    pub violations: usize,
}

/// What preemption would do.
#[derive(Debug, Clone)]
pub struct Preemption {
    /// What came of it.
    pub outcome: PreemptionOutcome,
    /// The scheduler's words after `preemption: `.
    pub message: String,
    /// Nodes that can be made to fit, in order of their numbers.
    pub candidates: Vec<Candidate>,
    /// The candidate that is chosen.
    pub chosen: Option<Candidate>,
    /// Nodes ranked equal to the chosen one, itself among them, where there are several: chance decides.
    pub ties: Vec<NodeId>,
    /// Nodes that were tried and cannot be made to fit, in order of their numbers.
    pub failures: Vec<(NodeId, Status)>,
    /// Whether the pod has device claims.
    pub has_claims: bool,
    /// What is done about one of them that is of no use where it was allocated, in the scheduler's words.
    pub frees_claim: Option<&'static str>,
}

impl Preemption {
    pub(super) fn new(outcome: PreemptionOutcome, message: impl Into<String>, has_claims: bool) -> Self {
        Self {
            outcome,
            message: message.into(),
            candidates: Vec::new(),
            chosen: None,
            ties: Vec::new(),
            failures: Vec::new(),
            has_claims,
            frees_claim: None,
        }
    }

    /// Why a node that was tried cannot be made to fit.
    pub fn failure(&self, node: NodeId) -> Option<&Status> {
        let at = self.failures.binary_search_by_key(&node, |(id, _)| *id).ok()?;
        self.failures.get(at).map(|(_, s)| s)
    }
}
