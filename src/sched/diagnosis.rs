//! What the filters said of a pod on every node. Mirrors `framework.Diagnosis`.

use super::node::NodeId;
use super::state::State;
use super::status::Status;

/// What the filters said of a pod on every node.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// How many nodes there are.
    pub total: usize,
    /// The minor version of the scheduler.
    pub minor: u32,
    /// The pod was refused before any node was looked at.
    pub rejection: Option<Status>,
    /// What is said of nodes that are in neither list, as they were left out before the filters ran.
    pub left_out: Option<Status>,
    /// Nodes that take the pod.
    pub fits: Vec<NodeId>,
    /// Nodes that do not, each with its first refusal.
    pub failures: Vec<(NodeId, Status)>,
}

impl Diagnosis {
    pub(super) fn new(state: &State, rejection: Option<Status>, left_out: Option<Status>) -> Self {
        let (total, minor) = (state.nodes().len(), state.minor());
        Self { total, minor, rejection, left_out, fits: Vec::new(), failures: Vec::new() }
    }

    /// The first refusal of a node: its own, else that of all nodes left out.
    pub fn refusal(&self, node: NodeId) -> Option<&Status> {
        let own = self.failures.binary_search_by_key(&node, |(id, _)| *id).ok();
        let fits = || self.fits.binary_search(&node).is_ok();
        match own.and_then(|at| self.failures.get(at)) {
            Some((_, status)) => Some(status),
            None if fits() => None,
            None => self.rejection.as_ref().or(self.left_out.as_ref()),
        }
    }
}
