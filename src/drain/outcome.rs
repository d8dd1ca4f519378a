//! What a plan comes to, for each pod and each node.

use super::note::Note;
use crate::autoscale::NewNode;
use crate::finding::Code;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// What drain does with a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is evicted.
    Evict,
    /// It is deleted without asking budgets.
    Delete,
    /// It is left alone.
    Skip,
    /// The command does not speak of it.
    None,
}

/// What becomes of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It is removed at the first try.
    Gone,
    /// It is refused first, and removed later.
    Waits,
    /// It stays.
    Stays,
    /// It cannot be told.
    Unknown,
}

impl Outcome {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Waits => "waits",
            Self::Stays => "stays",
            Self::Unknown => "unknown",
        }
    }
}

/// How the drain of a node ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every eviction is granted at the first try.
    Drains,
    /// It ends by itself, after retries.
    Waits,
    /// The autoscaler does not take the node.
    Kept,
    /// It cannot be told.
    Unknown,
    /// It ends, by deleting pods past a budget.
    Forced,
    /// It never ends, or ends in an error, unless someone changes something.
    Blocked,
}

impl Verdict {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Drains => "drains",
            Self::Waits => "waits",
            Self::Kept => "kept",
            Self::Unknown => "unknown",
            Self::Forced => "forced",
            Self::Blocked => "blocked",
        }
    }

    /// The verdict over some pods.
    pub fn over(pods: &[PodPlan]) -> Self {
        let any = |test: &dyn Fn(&PodPlan) -> bool| pods.iter().any(test);
        if any(&PodPlan::blocks) {
            Self::Blocked
        } else if any(&|p| p.forced_at.is_some()) {
            Self::Forced
        } else if any(&|p| p.outcome == Outcome::Unknown) {
            Self::Unknown
        } else if any(&|p| p.outcome == Outcome::Waits) {
            Self::Waits
        } else {
            Self::Drains
        }
    }
}

/// The pod that replaces an evicted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replacement {
    /// It starts on this node.
    On(Str),
    /// Only a node that does not exist yet can take it.
    OnNewNode(NewNode),
    /// No node takes it: the scheduler's words.
    Unschedulable(String),
}

/// What becomes of a pod of a drained node.
#[derive(Debug, Clone)]
pub struct PodPlan {
    /// The pod.
    pub pod: Arc<Pod>,
    /// What drain does with it.
    pub action: Action,
    /// What becomes of it.
    pub outcome: Outcome,
    /// The pass that removes it.
    pub step: Option<u32>,
    /// What it meets.
    pub codes: Vec<Code>,
    /// `namespace/name` of the budgets that cover it.
    pub budgets: Vec<Str>,
    /// The pod that replaces it, where one is made.
    pub replacement: Option<Replacement>,
    /// Seconds after the drain of its node began at which it is deleted past its budget, where the drainer does so.
    pub forced_at: Option<i64>,
    /// What it meets, in words; what decides its outcome first.
    pub notes: Vec<Note>,
}

impl PodPlan {
    /// Whether it keeps its node from being drained.
    pub fn blocks(&self) -> bool {
        self.outcome == Outcome::Stays && matches!(self.action, Action::Evict | Action::Delete)
    }
}
