//! What keeps a node, for a person.

use super::Keeps;
use crate::lists::{count, some};
use crate::snapshot::age::duration_words;
use jiff::Timestamp;

impl Keeps {
    /// As a sentence without its end, as of a time.
    pub fn words(&self, now: Timestamp) -> String {
        let left = |until: &Timestamp| duration_words(until.duration_since(now).as_secs().max(0));
        match self {
            Self::NotManaged => "the node has no NodeClaim: Karpenter does not manage it".to_owned(),
            Self::NotInitialized => {
                "the node is not initialized yet (label karpenter.sh/initialized): Karpenter disrupts only nodes that are".to_owned()
            }
            Self::NodeAnnotation => "the node has the annotation karpenter.sh/do-not-disrupt: \"true\"".to_owned(),
            Self::NoPoolLabel => "the node has no label karpenter.sh/nodepool".to_owned(),
            Self::NoPool(pool) => format!("NodePool {pool} of the node does not exist"),
            Self::Pod(pod, None) => format!("pod {pod} has the annotation karpenter.sh/do-not-disrupt"),
            Self::Pod(pod, Some(until)) => {
                format!("pod {pod} has the annotation karpenter.sh/do-not-disrupt until {until} ({} from now)", left(until))
            }
            Self::Budget(budget, pod) => format!("budget {budget} allows no eviction of pod {pod} now"),
            Self::SeveralBudgets(pod, budgets) => {
                format!("pod {pod} has {} budgets ({}), and no eviction of the pod succeeds", budgets.len(), some(budgets, 3))
            }
            Self::StaticPool(pool) => {
                format!("NodePool {pool} has a fixed number of nodes (spec.replicas), and the node has not drifted")
            }
            Self::ConsolidationDisabled(pool) => format!("NodePool {pool} has consolidateAfter: Never"),
            Self::NotEmpty(pool, pods) => {
                format!("NodePool {pool} has consolidationPolicy: WhenEmpty, and the node has {} to move ({})", count(pods.len(), "pod"), some(pods, 3))
            }
            Self::ConsolidateAfter(pool, until) => format!(
                "consolidateAfter of NodePool {pool} ends at {until} ({} from now), if no pod is added or removed until then",
                left(until)
            ),
            Self::PoolBudget(pool, why, allowed) => {
                let by = if allowed.by.is_empty() { String::new() } else { format!(" ({})", allowed.by) };
                let used = match allowed.disrupting {
                    n if allowed.at_most > 0 => format!(
                        ": at most {} at the same time, and {n} of its nodes are not Ready or being taken away",
                        allowed.at_most
                    ),
                    _ => String::new(),
                };
                format!("the disruption budgets of NodePool {pool} allow no node to be disrupted as {}{used}{by}", why.word())
            }
            Self::Nowhere(pod, why) => {
                format!("pod {pod} fits on no other node, and on no new node that Karpenter could add ({why})")
            }
            Self::OntoStarting(pod, node) => {
                format!("pod {pod} would move to node {node}, which is not initialized yet")
            }
            Self::SeveralNewNodes(n) => format!("the pods of the node would need {n} new nodes; Karpenter replaces a node by at most 1"),
            Self::NotCheaper => "the pods of the node would need a new node, and no cheaper one exists".to_owned(),
            Self::SpotToSpot => {
                "the pods of the node would need a new spot node, and Karpenter does not replace a spot node by another one \
                 (the feature SpotToSpotConsolidation is off by default)"
                    .to_owned()
            }
            Self::NoPrice(label) => format!("Karpenter finds no price for the node by its label {label}"),
            Self::PriceNotKnown(None) => "the pods of the node would need a new node; whether a cheaper one exists is known \
                 to the cloud alone (prices are not in the API)"
                .to_owned(),
            Self::PriceNotKnown(Some(said)) => {
                format!("the pods of the node would need a new node, and Karpenter said last: {said}")
            }
            Self::BalanceNotKnown(pool) => format!(
                "the pods of the node have a place, but NodePool {pool} has consolidationPolicy: Balanced, which weighs \
                 prices that are not in the API"
            ),
        }
    }

    /// How Karpenter calls it, for a comparison with its events.
    pub fn class(&self) -> &'static str {
        match self {
            Self::NotManaged => "not managed",
            Self::NotInitialized => "not initialized",
            Self::NodeAnnotation => "node annotation",
            Self::NoPoolLabel | Self::NoPool(_) => "no NodePool",
            Self::Pod(..) => "do-not-disrupt",
            Self::Budget(..) => "budget",
            Self::SeveralBudgets(..) => "several budgets",
            Self::StaticPool(_) => "static",
            Self::ConsolidationDisabled(_) => "consolidation disabled",
            Self::NotEmpty(..) => "not empty",
            Self::ConsolidateAfter(..) => "consolidateAfter",
            Self::PoolBudget(..) => "NodePool budget",
            Self::Nowhere(..) | Self::OntoStarting(..) => "nowhere to move",
            Self::SeveralNewNodes(_) => "several new nodes",
            Self::NotCheaper => "not cheaper",
            Self::SpotToSpot => "spot to spot",
            Self::NoPrice(_) => "no price",
            Self::PriceNotKnown(_) | Self::BalanceNotKnown(_) => "not known",
        }
    }
}
