//! What a pod meets on its way out, whatever else is drained: one hazard a file.

mod agents;
mod autoscaler;
mod finalizers;
mod flags;
mod gates;
mod grace;
mod jobs;
mod operators;
mod ordered;
mod reloader;
mod rollout;
mod stuck;
mod unread;
mod webhooks;

pub use operators::moves_itself;
pub use stuck::is_given_up;
pub use unread::is_hidden;

use super::filters::{Decision, Filtered};
use super::ground::Ground;
use super::note::{Effect, Note};
use super::options::DrainOptions;
use crate::snapshot::node::Node;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Snapshot, Str};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use webhooks::Hook;

/// What hazards look at, found once.
pub struct Facts<'a> {
    hooks: Vec<Hook<'a>>,
    /// `terminationGracePeriod` of NodePools, in seconds.
    node_pools: HashMap<Str, i64>,
    /// Nodes without the agent that EKS Pod Identity needs, once somebody asks.
    without_agent: OnceLock<Vec<Str>>,
}

impl<'a> Facts<'a> {
    /// Looks at the cluster once.
    pub fn new(snapshot: &'a Snapshot, options: &DrainOptions) -> Self {
        Self {
            hooks: webhooks::hooks(snapshot, options),
            node_pools: grace::node_pools(snapshot),
            without_agent: OnceLock::new(),
        }
    }
}

/// A pod, and what a hazard may look at.
pub(super) struct Look<'a> {
    pub ground: &'a Ground<'a>,
    pub snapshot: &'a Snapshot,
    pub options: &'a DrainOptions,
    pub facts: &'a Facts<'a>,
    pub pod: &'a Arc<Pod>,
    pub filtered: &'a Filtered,
}

impl<'a> Look<'a> {
    /// The node that the pod is on.
    fn node(&self) -> Option<&'a Arc<Node>> {
        self.snapshot.nodes.named("", self.pod.node.as_deref()?)
    }

    /// The workload that makes the pod, as people know it: the Deployment rather than its ReplicaSet.
    fn top(&self) -> Option<&'a Arc<Workload>> {
        self.snapshot.top_controller_of(&self.pod.meta)
    }

    /// Whether the pod still runs, or will.
    fn is_running(&self) -> bool {
        !self.pod.is_finished() && !self.pod.is_terminating()
    }

    /// Whether the API server takes the pod away by itself: its kubelet has no word in that, and no webhook sees it.
    /// Mirrors `CheckGracefulDelete` of `pkg/registry/core/pod/strategy.go` and `rest.BeforeDelete`.
    fn goes_at_once(&self) -> bool {
        if self.pod.is_terminating() {
            return self.options.grace_period == 0;
        }
        self.pod.is_finished() || self.options.grace(self.pod) == 0
    }

    /// Whether some budget covers it.
    fn has_budget(&self) -> bool {
        !self.ground.book.budgets_of(self.pod).is_empty()
    }
}

/// The hazards, in the order in which their findings are told.
const ALL: &[fn(&Look<'_>, &mut Vec<Note>)] = &[
    flags::look,
    unread::look,
    stuck::look,
    webhooks::look,
    finalizers::look,
    operators::look,
    ordered::look,
    jobs::look,
    rollout::look,
    grace::look,
    gates::look,
    agents::look,
    reloader::look,
    autoscaler::look,
];

/// What a pod meets.
pub fn of<'a>(ground: &'a Ground<'a>, pod: &'a Arc<Pod>, filtered: &'a Filtered) -> Vec<Note> {
    let (snapshot, options, facts) = (ground.snapshot, ground.options, &ground.facts);
    let look = Look { ground, snapshot, options, facts, pod, filtered };
    let mut notes = Vec::new();
    match filtered.decision {
        Decision::Goes => ALL.iter().for_each(|hazard| hazard(&look, &mut notes)),
        Decision::LeftAlone | Decision::Unknown => flags::look(&look, &mut notes),
        Decision::Outside => {}
    }
    let skip = options.skip_wait_for_delete;
    notes.into_iter().map(|note| if skip > 0 { not_waited_for(note, skip) } else { note }).collect()
}

/// The pod stays, and drain does not wait for it. Mirrors `shouldSkipPod` within `waitForDelete`.
fn not_waited_for(note: Note, skip: i64) -> Note {
    if note.effect != Effect::Held {
        return note;
    }
    let text = format!("{}; drain stops waiting for it after {skip} s", note.text);
    Note { text, effect: Effect::None, ..note }
}
