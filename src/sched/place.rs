//! Where the scheduler would rather put a pod that fits on several nodes. Mirrors the two default scores that count
//! resources, `plugins/noderesources/{least_allocated,balanced_allocation}.go`; images, preferred affinity and spread
//! wishes are left out, so it is a likely node and not a certain one.

use super::cycle::Cycle;
use super::node::NodeInfo;
use super::resources::Request;
use super::state::State;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// What a pod without a request counts as in scores: 100m cpu and 200Mi. Mirrors `util/pod_resources.go`.
const LEAST_CPU: i64 = 100;
const LEAST_MEMORY: i64 = 200 << 20;

impl State {
    /// The node the scheduler would likely choose; `None` where none takes the pod.
    pub fn likely_node(&self, pod: &Arc<Pod>) -> Option<Str> {
        let mut cycle = Cycle::new(self, pod);
        let diagnosis = cycle.diagnose();
        let request = self.incoming(pod).request.clone();
        let fits = diagnosis.fits.iter().filter_map(|id| self.node(*id));
        let best = fits.max_by_key(|n| (score(n, &request), std::cmp::Reverse(n.id)))?;
        Some(best.name().clone())
    }
}

/// Higher is better: how much is left free, and how evenly.
fn score(node: &NodeInfo, request: &Request) -> i64 {
    let used = |used: i64, asked: i64, least: i64, all: i64| {
        let after = i128::from(used) + i128::from(asked.max(least));
        if all <= 0 { 1000 } else { (after * 1000 / i128::from(all)).clamp(0, 1000) }
    };
    let cpu = used(node.requested.cpu, request.cpu, LEAST_CPU, node.allocatable.cpu);
    let memory = used(node.requested.memory, request.memory, LEAST_MEMORY, node.allocatable.memory);
    let free = (1000 - cpu + 1000 - memory) / 2;
    let even = 1000 - (cpu - memory).abs() / 2;
    i64::try_from(free + even).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::sched::State;
    use crate::sched::testing::{cluster, find, node, pod};
    use serde_json::json;

    #[test]
    fn the_emptier_node_is_likely() {
        let all = [
            node("n", json!({})),
            node("m", json!({})),
            pod("x", json!({"spec": {"nodeName": "n"}})),
            pod("p", json!({})),
        ];
        let snapshot = cluster(&all);
        let state = State::new(&snapshot);
        assert_eq!(state.likely_node(&find(&snapshot, "p")).as_deref(), Some("m"));
    }
}
