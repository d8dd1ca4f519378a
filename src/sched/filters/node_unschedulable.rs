//! `NodeUnschedulable`: a cordoned node takes no pod that does not tolerate the cordon's taint.
//! Mirrors `plugins/nodeunschedulable/node_unschedulable.go` (`Filter`).

use super::{Incoming, Prepared, simple, taint_toleration};
use crate::sched::node::CORDON_TAINT;
use crate::sched::status::{Plugin, Reason, Verdict};

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    let tolerated = taint_toleration::tolerates(incoming.pod(), CORDON_TAINT, "", "NoSchedule");
    simple(Plugin::NodeUnschedulable, incoming, move |_, node| {
        (node.node.unschedulable && !tolerated).then_some((Reason::Unschedulable, Verdict::Unresolvable))
    })
}
