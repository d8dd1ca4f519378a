//! Which pods of a workload go first when fewer are wanted. Mirrors `ActivePodsWithRanks` of
//! `pkg/controller/controller_utils.go`, and for StatefulSets the order of their ordinals.

use crate::snapshot::Str;
use crate::snapshot::pod::{Phase, Pod};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

const COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// The pods, those that go first in front.
pub(super) fn in_order(pods: &mut [Arc<Pod>], by_ordinal: bool) {
    if by_ordinal {
        pods.sort_by_key(|p| Reverse(p.ordinal()));
        return;
    }
    let mut together: HashMap<Option<Str>, usize> = HashMap::new();
    for pod in pods.iter() {
        *together.entry(pod.node.clone()).or_default() += 1;
    }
    let cost = |p: &Pod| p.meta.annotations.get(COST).and_then(|c| c.parse::<i32>().ok()).unwrap_or_default();
    pods.sort_by_key(|p| {
        let rank = together.get(&p.node).copied().unwrap_or_default();
        (
            p.node.is_some(),
            p.status.phase == Phase::Running,
            p.is_ready(),
            cost(p),
            Reverse(rank),
            Reverse(p.meta.creation_timestamp),
        )
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, pod};

    #[test]
    fn the_least_useful_pod_goes_first() {
        // After TestActivePodsWithRanksFiltering's order: not assigned, not running, not Ready, cheaper, more of a kind.
        let snapshot = cluster()
            .add(pod("a/ready").on("n1").ready())
            .add(pod("a/beside-1").on("n2").ready())
            .add(pod("a/beside-2").on("n2").ready())
            .add(pod("a/cheap").on("n3").ready().annotation(COST, "-5"))
            .add(pod("a/broken").on("n4").crashing())
            .add(pod("a/waits"))
            .snapshot();
        let mut pods: Vec<Arc<Pod>> = snapshot.pods.iter().cloned().collect();
        in_order(&mut pods, false);
        let names: Vec<&str> = pods.iter().map(|p| &*p.meta.name).collect();
        assert_eq!(names, ["waits", "broken", "cheap", "beside-1", "beside-2", "ready"]);
    }
}
