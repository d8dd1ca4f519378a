//! What becomes of a node under Karpenter.

use super::pool_budgets::Allowed;
use super::why::Why;
use crate::snapshot::Str;
use jiff::Timestamp;

/// What becomes of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is taken away.
    Disrupted(Why),
    /// It is being taken away already.
    Going,
    /// It is kept, for all of these reasons; the first one is what Karpenter says first. There is always one.
    Kept(Vec<Keeps>),
    /// Whether it is taken away cannot be told from what is in the API: what is known to keep it, and what is not known.
    Unknown(Vec<Keeps>),
}

/// What keeps a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keeps {
    /// No NodeClaim belongs to it: it is not Karpenter's.
    NotManaged,
    /// Pods are not expected on it yet.
    NotInitialized,
    /// `karpenter.sh/do-not-disrupt: "true"` on the node.
    NodeAnnotation,
    /// It has no label that names its NodePool.
    NoPoolLabel,
    /// The NodePool that it came from is not there.
    NoPool(Str),
    /// A pod with `karpenter.sh/do-not-disrupt`; until when, where the value is a length of time.
    Pod(Str, Option<Timestamp>),
    /// The budget of a pod allows no eviction now: budget, pod.
    Budget(Str, Str),
    /// Several budgets cover a pod: pod, budgets.
    SeveralBudgets(Str, Vec<Str>),
    /// The pool has a fixed number of nodes, and the node has not drifted.
    StaticPool(Str),
    /// The pool's `consolidateAfter` is `Never`.
    ConsolidationDisabled(Str),
    /// The pool's policy is `WhenEmpty`, and these pods would have to move.
    NotEmpty(Str, Vec<Str>),
    /// Pods came or went too recently: pool, until when; `None` where Karpenter has yet to mark it.
    ConsolidateAfter(Str, Timestamp),
    /// The pool's own budgets allow no node to be taken away for this reason.
    PoolBudget(Str, Why, Allowed),
    /// A pod has no place elsewhere: pod, why.
    Nowhere(Str, String),
    /// A pod would have to go onto a node that is not ready for pods yet: pod, node.
    OntoStarting(Str, Str),
    /// Its pods would need so many new nodes.
    SeveralNewNodes(usize),
    /// Its pods would need a new node, and none is cheaper.
    NotCheaper,
    /// A spot node is not replaced by another one (a feature that is off by default).
    SpotToSpot,
    /// It lacks a label without which it has no price.
    NoPrice(Str),
    /// Its pods would need a new node; whether one is cheaper is known to the cloud alone. What Karpenter said last.
    PriceNotKnown(Option<String>),
    /// Its pool weighs what is saved against what is disturbed (`Balanced`), by prices that are not in the API.
    BalanceNotKnown(Str),
}

impl Keeps {
    /// Whether it leaves open what Karpenter does.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::PriceNotKnown(None) | Self::BalanceNotKnown(_))
    }
}
