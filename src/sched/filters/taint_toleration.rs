//! `TaintToleration`: taints that forbid scheduling must be tolerated, each one.
//! Mirrors `plugins/tainttoleration/taint_toleration.go` (`Filter`).

use super::{Incoming, Prepared, simple};
use crate::sched::status::{Plugin, Reason, Verdict};
use crate::snapshot::node::{Node, Taint};
use crate::snapshot::pod::Pod;

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    simple(Plugin::TaintToleration, incoming, |incoming, node| {
        let taint = untolerated(incoming.pod(), &node.node).next();
        taint.map(|_| (Reason::Taint, Verdict::Unresolvable))
    })
}

/// The node's taints that keep the pod from being scheduled there.
pub fn untolerated<'a>(pod: &'a Pod, node: &'a Node) -> impl Iterator<Item = &'a Taint> {
    let hard = |t: &&Taint| &*t.effect == "NoSchedule" || &*t.effect == "NoExecute";
    node.taints.iter().filter(hard).filter(|t| !tolerates(pod, &t.key, &t.value, &t.effect))
}

/// Whether the pod bears a taint.
pub fn tolerates(pod: &Pod, key: &str, value: &str, effect: &str) -> bool {
    pod.spec.tolerations.iter().any(|t| t.tolerates(key, value, effect))
}
