//! A pod's filters over a state that goes on changing: made ready once, then told of the pods that came and went. For
//! plans that ask thousands of times where pods of one template fit.

use super::cycle::Cycle;
use super::node::{NodeInfo, PodInfo};
use std::sync::Arc;

/// A pod that came to a node since the filters were made ready, or went from it.
#[derive(Debug, Clone)]
pub struct Move {
    /// The pod.
    pub info: Arc<PodInfo>,
    /// The node.
    pub node: Arc<NodeInfo>,
    /// 1 for one that came, -1 for one that went.
    pub sign: i64,
}

impl Cycle<'_> {
    /// The first of some nodes that takes the pod after these moves; the nodes are given as they are by now. What is
    /// counted per domain is exact for a node in the domains of all moves; see
    /// [`minimum`](super::filters::pod_topology_spread::Constraint::minimum).
    pub fn first_fit_after<'n>(
        &mut self,
        moves: &[Move],
        nodes: impl Iterator<Item = &'n Arc<NodeInfo>>,
    ) -> Option<&'n Arc<NodeInfo>> {
        if self.rejection().is_some() {
            return None;
        }
        moves.iter().for_each(|m| self.count(std::slice::from_ref(&m.info), &m.node, m.sign));
        let mut nodes = nodes;
        let found = nodes.find(|n| !self.is_left_out(n.id) && self.refusal(n).is_none());
        moves.iter().for_each(|m| self.count(std::slice::from_ref(&m.info), &m.node, -m.sign));
        found
    }
}
