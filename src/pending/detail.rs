//! The amounts and names behind one reason on one node.

use super::amounts::{name, shown};
use super::facts::some;
use crate::sched::filters::node_resources_fit::{Shortage, shortages};
use crate::sched::filters::pod_topology_spread::constraints;
use crate::sched::filters::{Incoming, node_declared_features, node_ports, taint_toleration};
use crate::sched::node::NodeInfo;
use crate::sched::{Reason, State};
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// Amounts and names behind a reason; empty where there is nothing to add.
pub fn detail(reason: &Reason, pod: &Arc<Pod>, node: &NodeInfo, state: &State) -> String {
    match reason {
        Reason::Taint => some(taint_toleration::untolerated(pod, &node.node).map(ToString::to_string)),
        Reason::Ports => {
            let taken = node_ports::conflicts(pod, node);
            some(taken.map(|(p, by)| format!("{}/{} by {}", p.port, p.protocol, by.meta.path())))
        }
        Reason::TooManyPods => format!("{} of {} pods", node.pods.len(), node.pod_slots),
        Reason::Insufficient(resource) => insufficient(resource, pod, node, state),
        Reason::Spread => spread(pod, node, state),
        Reason::DriverNotInstalled(driver) => driver.to_string(),
        Reason::DeclaredFeatures => some(node_declared_features::undeclared(pod, &node.node).map(|n| n.feature)),
        _ => String::new(),
    }
}

fn insufficient(resource: &str, pod: &Arc<Pod>, node: &NodeInfo, state: &State) -> String {
    let incoming = Incoming::new(state, pod);
    let catalogue = state.catalogue();
    let found = shortages(&incoming, node, |_| false)
        .find(|s| s.what != Shortage::Pods && name(s.what, catalogue) == *resource);
    let Some(s) = found else { return String::new() };
    let shown = |n: i64| shown(s.what, n, catalogue);
    format!("requests {}, {} of {} free", shown(s.asked), shown(s.free().max(0)), shown(s.capacity))
}

fn spread(pod: &Arc<Pod>, node: &NodeInfo, state: &State) -> String {
    let incoming = Incoming::new(state, pod);
    let violated = constraints(&incoming).into_iter().filter_map(|c| {
        let skew = c.skew(node).filter(|s| *s > c.max_skew)?;
        let domain = c.domains.of(node.id).and_then(|d| c.domains.values.get(d))?.clone();
        Some(format!("{} {domain} would be {skew} above the least, at most {} are allowed", c.topology_key, c.max_skew))
    });
    some(violated)
}
