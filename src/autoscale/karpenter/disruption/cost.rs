//! What it costs to move pods, in Karpenter's measure. Mirrors `EvictionCost` of `utils/disruption/disruption.go` and
//! `computeRescheduleDisruptionCost` of `disruption/types.go`.

use crate::snapshot::pod::Pod;

/// The cost of a pod without a priority and of a node without pods, of which everything else is a fraction: 2^27, in
/// which pod-deletion-cost counts 1 and a priority 4.
pub const ONE: i64 = 1 << 27;

/// What moving a pod costs: from -10 to 10 times [`ONE`].
pub fn of_pod(pod: &Pod) -> i64 {
    let annotated = pod.meta.annotations.get("controller.kubernetes.io/pod-deletion-cost");
    let annotated = annotated.and_then(|c| c.parse::<i32>().ok()).unwrap_or(0);
    let cost = ONE + i64::from(annotated) + i64::from(pod.priority()) * 4;
    cost.clamp(-10 * ONE, 10 * ONE)
}

/// What taking a node away costs whose pods these are: [`ONE`] where none of them counts, as then it is empty.
pub fn of_node<'a>(pods: impl Iterator<Item = &'a Pod>) -> i64 {
    ONE + pods.map(|p| of_pod(p).max(0)).sum::<i64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, pod};
    use serde_json::json;

    #[test]
    fn costs_are_upstream_s() {
        // `utils/disruption/suite_test.go`: more for a higher priority and deletion cost, less for a lower one; at most 10.
        for (priority, annotation, want) in [
            (0, "", ONE),
            (0, "100", ONE + 100),
            (0, "-100", ONE - 100),
            (1, "", ONE + 4),
            (0, "x", ONE),
            (2_000_000_000, "", 10 * ONE),
            (-2_000_000_000, "", -10 * ONE),
        ] {
            let pod = pod("shop/web").with(json!({"spec": {"priority": priority}}));
            let pod = if annotation.is_empty() {
                pod
            } else {
                pod.annotation("controller.kubernetes.io/pod-deletion-cost", annotation)
            };
            let snapshot = cluster().add(pod).snapshot();
            let pod = snapshot.pods.named("shop", "web").expect("the pod");
            assert_eq!(of_pod(pod), want, "{priority} {annotation}");
            assert_eq!(of_node([&**pod].into_iter()), ONE + want.max(0));
        }
    }
}
