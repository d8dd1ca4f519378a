//! Why a pod is not removed at a try: what refuses it, whether a drainer tries again, and under which code it is told.

use super::options::Flag;
use super::tracker::BudgetId;

/// Why a pod is not removed at a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// 403, tried again: its namespace is being deleted, and nothing can be created in it, an eviction neither.
    NamespaceTerminating,
    /// 500: more than one budget covers it.
    Overlap,
    /// 429: the budget allows nothing.
    Budget(BudgetId),
    /// 429: the controller cannot sync the budget, and so allows nothing.
    SyncFailed(BudgetId),
    /// 429: the budget's stored status speaks of an older state.
    Stale(BudgetId),
    /// 403: the budget's stored status is one that the endpoint does not work with.
    StatusUnusable(BudgetId),
    /// Whether the budget refuses it cannot be told: an owner that it counts by is not in the input.
    NotJudged(BudgetId),
    /// An admission webhook fails.
    Webhook,
    /// A ValidatingAdmissionPolicy denies it.
    AdmissionPolicy,
    /// It is not evicted, and waited for until it ends by itself: an annotation or label says so.
    Held(&'static str),
    /// It is not tried before the pods of an earlier group are gone.
    Behind,
    /// `kubectl drain` refuses it without this flag, which is not passed.
    WithoutFlag(Flag),
    /// It was not tried: an earlier pod's deletion ended in an error, and the drain with it.
    NotTried,
}

impl Refusal {
    /// Whether kubectl does not try the pod again. Mirrors the errors that `evictPods` tells apart.
    pub fn is_final(self) -> bool {
        match self {
            Self::Budget(_)
            | Self::SyncFailed(_)
            | Self::Stale(_)
            | Self::NotJudged(_)
            | Self::NamespaceTerminating
            | Self::Held(_)
            | Self::Behind => false,
            Self::WithoutFlag(_)
            | Self::Overlap
            | Self::StatusUnusable(_)
            | Self::Webhook
            | Self::AdmissionPolicy
            | Self::NotTried => true,
        }
    }

    /// The budget that refuses.
    pub fn budget(self) -> Option<BudgetId> {
        match self {
            Self::Budget(id)
            | Self::SyncFailed(id)
            | Self::Stale(id)
            | Self::StatusUnusable(id)
            | Self::NotJudged(id) => Some(id),
            Self::NamespaceTerminating
            | Self::Overlap
            | Self::Webhook
            | Self::AdmissionPolicy
            | Self::Held(_)
            | Self::Behind
            | Self::WithoutFlag(_)
            | Self::NotTried => None,
        }
    }
}
