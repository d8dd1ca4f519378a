//! A pod's filters over a state that goes on changing: made ready once, then told of the pods that came and went. For
//! plans that ask thousands of times where pods of one template fit.

use super::cycle::Cycle;
use super::node::NodeInfo;
use super::state::Move;
use std::sync::Arc;

impl Cycle<'_> {
    /// The first of some nodes that takes the pod after these moves; the nodes are given as they are by now. A filter that
    /// had nothing to say when the cycle was made is not asked, and with very many domains their minimum is that of then:
    /// see [`FEW_DOMAINS`](super::filters::pod_topology_spread::FEW_DOMAINS).
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
