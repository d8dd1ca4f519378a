//! The amounts and names behind one reason on one node.

use crate::sched::Reason;
use crate::sched::State;
use crate::sched::node::NodeInfo;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// Amounts and names behind a reason; empty where there is nothing to add.
pub fn detail(_reason: &Reason, _pod: &Arc<Pod>, _node: &NodeInfo, _state: &State) -> String {
    String::new()
}
