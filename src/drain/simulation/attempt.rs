//! How the drain of a node went.

use super::pods::PodId;
use crate::drain::drainer::Deadline;
use crate::drain::node_pod::NodePod;
use crate::drain::operators;
use crate::drain::refusal::Refusal;
use crate::snapshot::Str;

/// A pod that a drainer removes, and how that went.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Its place among the node's pods.
    pub at: usize,
    /// The pod.
    pub pod: PodId,
    /// Which pass removed it, from 1: passes in which nothing was removed are not counted.
    pub step: Option<u32>,
    /// Why the first try was refused, or the first that was.
    pub refusal: Option<Refusal>,
    /// Whether the first try was refused.
    pub refused_first: bool,
    /// What the operator of the budget that refused it first does about that.
    pub operator: Option<operators::Answer>,
    /// How its deletion ends.
    pub end: End,
    /// When it was deleted past its budget, as the drainer's deadline came, in seconds since the simulation began.
    pub forced_at: Option<i64>,
}

/// How a deletion ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// In time.
    InTime,
    /// In time as a rule; if the pod uses all its grace, only after the drainer's deadline.
    MayOutlast,
    /// Not before the drainer's deadline.
    Outlasts,
    /// Not at all, and it is waited for.
    Never,
    /// Not at all, and the drainer stops waiting for it.
    NotWaitedFor,
}

impl Attempt {
    /// It is refused, and whether its budget's operator ends that is not known: the question to ask.
    pub fn open(&self) -> Option<&str> {
        match &self.operator {
            Some(operators::Answer::Unknown(question)) if self.step.is_none() => Some(question),
            _ => None,
        }
    }

    /// Whether the pod keeps its node from being drained.
    pub fn stays(&self) -> bool {
        self.step.is_none() || matches!(self.end, End::Outlasts | End::Never)
    }
}

/// How the drain of one node went.
#[derive(Debug, Clone)]
pub struct NodeRun {
    /// The node.
    pub node: Str,
    /// What was on the node as its drain began; pods that the plan itself had put there stand last.
    pub pods: Vec<NodePod>,
    /// The pods that the drainer removes, in its order.
    pub attempts: Vec<Attempt>,
    /// When it began and ended (or hung), in seconds since the simulation began.
    pub began: i64,
    /// See [`began`](Self::began).
    pub ended: i64,
    /// How many passes removed something.
    pub steps: u32,
    /// Whether the drainer gave up at its deadline.
    pub gave_up: bool,
    /// The drainer's deadline for this node.
    pub deadline: Option<Deadline>,
    /// Which of the drains that were under way at the same time it was, from 0.
    pub lane: usize,
    /// The node whose drain had to end first.
    pub after: Option<Str>,
}
