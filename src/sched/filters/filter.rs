//! What a filter is: made ready for one pod, then asked about nodes.

use crate::sched::node::{NodeId, NodeInfo, PodInfo};
use crate::sched::state::State;
use crate::sched::status::{Plugin, Reason, Status, Verdict};
use crate::snapshot::Snapshot;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// A pod that looks for a node, and the state it looks in.
#[derive(Debug, Clone)]
pub struct Incoming<'a> {
    /// The state.
    pub state: &'a State,
    /// The pod with what filters need of it.
    pub info: Arc<PodInfo>,
}

impl<'a> Incoming<'a> {
    /// A pod that looks for a node in a state.
    pub fn new(state: &'a State, pod: &Arc<Pod>) -> Self {
        Self { state, info: state.incoming(pod) }
    }

    /// The pod.
    pub fn pod(&self) -> &Arc<Pod> {
        &self.info.pod
    }

    /// The snapshot, for claims, volumes and namespaces.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.state.snapshot()
    }
}

/// A filter made ready for one pod.
pub trait Filter {
    /// Which plugin it is.
    fn plugin(&self) -> Plugin;

    /// Judges a node. Reasons are added where it does not fit. Mirrors the plugin's `Filter`.
    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict;

    /// Counts a pod that is put on a node (`sign` 1) or taken from it (-1) while preemption is tried. The same call with
    /// the other sign takes it back. Mirrors the plugin's `AddPod` and `RemovePod`.
    fn count(&mut self, _pod: &PodInfo, _node: &NodeInfo, _sign: i64) {}
}

/// What a plugin makes of a pod before any node is looked at. Mirrors `PreFilter`.
pub enum Prepared<'a> {
    /// It has nothing to say about this pod. Nor is it told of pods added and removed.
    Skip,
    /// It looks at nodes.
    Runs(Box<dyn Filter + 'a>),
    /// It looks at these nodes; all others are left out.
    RunsOn(Box<dyn Filter + 'a>, Vec<NodeId>),
    /// No node can take the pod.
    Rejects(Status),
}

/// Makes one plugin ready.
pub type Prepare = for<'a> fn(&Incoming<'a>) -> Prepared<'a>;

/// A filter that needs nothing but the node and the pod.
struct Simple<'a, F> {
    plugin: Plugin,
    incoming: Incoming<'a>,
    refuses: F,
}

impl<'a, F: Fn(&Incoming<'a>, &NodeInfo) -> Option<(Reason, Verdict)>> Filter for Simple<'a, F> {
    fn plugin(&self) -> Plugin {
        self.plugin
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        match (self.refuses)(&self.incoming, node) {
            Some((reason, verdict)) => {
                reasons.push(reason);
                verdict
            }
            None => Verdict::Fits,
        }
    }
}

pub(crate) fn simple<'a, F>(plugin: Plugin, incoming: &Incoming<'a>, refuses: F) -> Prepared<'a>
where
    F: Fn(&Incoming<'a>, &NodeInfo) -> Option<(Reason, Verdict)> + 'a,
{
    Prepared::Runs(Box::new(Simple { plugin, incoming: incoming.clone(), refuses }))
}
