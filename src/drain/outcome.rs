//! What a plan comes to, for each pod and each node.

use super::filters::Decision;
use super::ground::{Candidate, Ground};
use super::hazards::is_hidden;
use super::note::{Effect, Note};
use super::simulate::{Attempt, NodeRun};
use super::world::World;
use super::{consequences, placement};
use crate::finding::Code;
use crate::snapshot::pod::Pod;
use crate::snapshot::{Kind, Str};
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
    /// It goes at the first try.
    Gone,
    /// It is refused first, and goes later.
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
    /// It cannot be told.
    Unknown,
    /// It never ends, or ends in an error, unless someone changes something.
    Blocked,
}

impl Verdict {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Drains => "drains",
            Self::Waits => "waits",
            Self::Unknown => "unknown",
            Self::Blocked => "blocked",
        }
    }
}

/// The pod that replaces an evicted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replacement {
    /// It starts on this node.
    On(Str),
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
    /// The pass that lets it go.
    pub step: Option<u32>,
    /// What it meets.
    pub codes: Vec<Code>,
    /// `namespace/name` of the budgets that cover it.
    pub budgets: Vec<Str>,
    /// The pod that replaces it, where one is made.
    pub replacement: Option<Replacement>,
    /// What it meets, in words.
    pub notes: Vec<Note>,
}

impl PodPlan {
    /// Whether it keeps its node from being drained.
    pub fn blocks(&self) -> bool {
        self.outcome == Outcome::Stays && matches!(self.action, Action::Evict | Action::Delete)
    }
}

/// The verdict over some pods.
pub fn verdict(pods: &[PodPlan]) -> Verdict {
    let any = |test: &dyn Fn(&PodPlan) -> bool| pods.iter().any(test);
    if any(&PodPlan::blocks) {
        Verdict::Blocked
    } else if any(&|p| p.outcome == Outcome::Unknown) {
        Verdict::Unknown
    } else if any(&|p| p.outcome == Outcome::Waits) {
        Verdict::Waits
    } else {
        Verdict::Drains
    }
}

/// What became of the pods of one node.
pub fn pods(
    ground: &Ground<'_>,
    world: &World<'_>,
    candidates: &[Candidate],
    run: &NodeRun,
    drained: &[Str],
) -> Vec<PodPlan> {
    let mut attempts = run.attempts.iter().peekable();
    let mut plans = Vec::with_capacity(candidates.len());
    for (at, c) in candidates.iter().enumerate() {
        let attempt = attempts.next_if(|a| a.candidate == at);
        plans.push(match attempt {
            Some(attempt) => tried(ground, world, c, attempt, drained),
            None => untouched(ground, c),
        });
    }
    plans
}

fn untouched(ground: &Ground<'_>, c: &Candidate) -> PodPlan {
    let (action, outcome) = match c.filtered.decision {
        Decision::Outside => (Action::None, Outcome::Stays),
        Decision::Unknown => (Action::Skip, Outcome::Unknown),
        Decision::LeftAlone | Decision::Goes => (Action::Skip, Outcome::Stays),
    };
    plan(ground, c, action, outcome, None, None, c.notes.clone())
}

fn tried(ground: &Ground<'_>, world: &World<'_>, c: &Candidate, a: &Attempt, drained: &[Str]) -> PodPlan {
    let action = if ground.options.disable_eviction { Action::Delete } else { Action::Evict };
    let refused_for_good = a.step.is_none();
    let unjudged = matches!(a.refusal, Some((Code::NotJudged, _)));
    let outcome = match (refused_for_good, a.ends) {
        (true, _) if unjudged => Outcome::Unknown,
        (true, _) | (false, false) => Outcome::Stays,
        _ if c.effect == Effect::Unknown => Outcome::Unknown,
        // What is waited for is a new pod, which a quota that may not be read may refuse.
        _ if a.refused_first && is_hidden(ground.snapshot, Kind::ResourceQuota) => Outcome::Unknown,
        _ if a.refused_first => Outcome::Waits,
        _ => Outcome::Gone,
    };
    let mut notes = consequences::refusal(ground, world, c, a);
    notes.extend(c.notes.iter().cloned());
    let mut replacement = None;
    if !refused_for_good {
        replacement = world.replacement_of(a.actor).and_then(|r| match &r.node {
            Some(node) => Some(Replacement::On(node.clone())),
            None if !r.pod.spec.scheduling_gates.is_empty() => None,
            None => Some(Replacement::Unschedulable(placement::refusal(&world.state, &r.pod))),
        });
        notes.extend(consequences::after(ground, world, c, a, replacement.as_ref(), drained));
    }
    plan(ground, c, action, outcome, a.step, replacement, notes)
}

fn plan(
    ground: &Ground<'_>,
    c: &Candidate,
    action: Action,
    outcome: Outcome,
    step: Option<u32>,
    replacement: Option<Replacement>,
    notes: Vec<Note>,
) -> PodPlan {
    let mut codes: Vec<Code> = Vec::new();
    for code in c.filtered.codes.iter().copied().chain(notes.iter().map(|n| n.code)) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    let step = if outcome == Outcome::Stays && step.is_none() { None } else { step };
    let budgets = ground.book.paths(&c.budgets);
    PodPlan { pod: c.pod.clone(), action, outcome, step, codes, budgets, replacement, notes }
}
