//! `unhealthy-not-evictable`: the policy IfHealthyBudget keeps broken pods in place, and AlwaysAllow would let them be
//! evicted (`EvictionREST.Create`: the shortcut for pods that are not Ready).

use super::cause::Cause;
use crate::budget::context::{BudgetContext, CoveredPod, is_or_are, names};
use crate::finding::Code;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let kept: Vec<&Arc<Pod>> = kept(b).collect();
    let message = format!(
        "{} {} not Ready, and the policy IfHealthyBudget keeps evictions from removing {} (429)",
        names(kept.iter().copied()),
        is_or_are(kept.len()),
        if kept.len() == 1 { "the pod" } else { "the pods" }
    );
    (!kept.is_empty()).then(|| Cause::note(b.finding(Code::UnhealthyNotEvictable, message, kept)))
}

/// The pods that are not Ready and whose eviction is refused for it.
pub(in crate::budget) fn kept<'b>(b: &'b BudgetContext<'_>) -> impl Iterator<Item = &'b Arc<Pod>> {
    let is_kept = |p: &&CoveredPod| !p.pod.is_ready() && p.eviction.code == 429;
    b.pods.iter().filter(is_kept).map(|p| &p.pod).filter(|_| !b.budget.always_allow_unhealthy)
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes;
    use super::*;
    use crate::testing::{Cluster, budget, cluster, deployment};
    use serde_json::{Value, json};

    #[test]
    fn the_policy_decides_what_becomes_of_broken_pods() {
        // After TestEvictionPDBStatus and TestEvictionWithUnhealthyPodEvictionPolicy: currentHealthy, desiredHealthy, policy.
        let with = |status: Value, policy: &str| -> Cluster {
            let budget = budget("a/b").selects("app=web").min_available(1).status(status);
            let budget = budget.spec(json!({"unhealthyPodEvictionPolicy": policy}));
            cluster()
                .add(budget)
                .add(deployment("a/web").on(&["n", "n"]).pods(|at, p| if at == 0 { p.crashing() } else { p }))
        };
        let kept = "web-1-0 is not Ready, and the policy IfHealthyBudget keeps evictions from removing the pod (429)";
        notes(
            find,
            vec![
                (
                    "too few are healthy",
                    with(json!({"currentHealthy": 0, "desiredHealthy": 1}), "IfHealthyBudget"),
                    Some(kept),
                ),
                (
                    "enough are healthy",
                    with(json!({"currentHealthy": 1, "desiredHealthy": 1}), "IfHealthyBudget"),
                    None,
                ),
                (
                    "none is needed",
                    with(json!({"currentHealthy": 0, "desiredHealthy": 0}), "IfHealthyBudget"),
                    Some(kept),
                ),
                ("AlwaysAllow", with(json!({"currentHealthy": 0, "desiredHealthy": 1}), "AlwaysAllow"), None),
            ],
        );
    }
}
