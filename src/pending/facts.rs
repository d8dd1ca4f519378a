//! What an explanation of one pod stands on.

use super::context::Context;
use super::scheduling::Group;
use crate::autoscale::Outlook;
use crate::sched::cycle::Cycle;
use crate::sched::filters::Incoming;
use crate::sched::node::NodeInfo;
use crate::sched::{Diagnosis, NodeId, Plugin, Preemption, Reason, State, Status};
use crate::shell::Kubectl;
use crate::snapshot::Snapshot;
use crate::snapshot::pod::{Pod, PodSpec};
use crate::snapshot::workload::Workload;
use std::sync::Arc;

/// What an explanation of one pod stands on.
pub struct Facts<'a> {
    /// The scheduler's view of the cluster.
    pub state: &'a State,
    /// The pod, with what filters need of it.
    pub incoming: Incoming<'a>,
    /// What the filters said.
    pub diagnosis: &'a Diagnosis,
    /// What preemption would do.
    pub preemption: &'a Preemption,
    /// Nodes that refuse, by what speaks against them.
    pub groups: &'a [Group],
    /// The topmost controller of the pod.
    pub owner: Option<&'a Arc<Workload>>,
    /// What every explanation of the run shares.
    pub cx: &'a Context<'a>,
    /// Writes command lines.
    pub kubectl: &'a Kubectl,
    /// What autoscalers would do.
    pub outlook: &'a Outlook,
    /// Whether cures are looked for, and tried. For a thousand pods on thousands of nodes that would take minutes.
    pub tries: bool,
}

impl<'a> Facts<'a> {
    /// The pod.
    pub fn pod(&self) -> &Arc<Pod> {
        self.incoming.pod()
    }

    /// The snapshot.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.state.snapshot()
    }

    /// A node by its number.
    pub fn node(&self, id: NodeId) -> Option<&'a Arc<NodeInfo>> {
        self.state.node(id)
    }

    /// The scheduler's first refusal of each group, with the group's nodes.
    pub fn first_refusals(&self) -> impl Iterator<Item = (&'a Status, &'a Group)> {
        self.groups.iter().filter_map(|g| Some((g.refusals.first()?, g)))
    }

    /// The nodes whose first refusal has such a reason, in order of their numbers.
    pub fn nodes_where(&self, reason: impl Fn(&Reason) -> bool) -> Vec<&'a Arc<NodeInfo>> {
        let groups = self.first_refusals().filter(|(s, _)| s.reasons.iter().any(&reason));
        let mut ids: Vec<NodeId> = groups.flat_map(|(_, g)| &g.nodes).copied().collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| self.node(id)).collect()
    }

    /// The nodes against which nothing speaks but what these plugins say.
    pub fn nodes_only_refused_by(&self, plugins: &[Plugin]) -> Vec<&'a Arc<NodeInfo>> {
        let groups = self.groups.iter().filter(|g| g.refusals.iter().all(|s| plugins.contains(&s.plugin)));
        let mut ids: Vec<NodeId> = groups.flat_map(|g| &g.nodes).copied().collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| self.node(id)).collect()
    }

    /// Everything that speaks against a node.
    pub fn refusals(&self, node: NodeId) -> &'a [Status] {
        let group = self.groups.iter().find(|g| g.nodes.binary_search(&node).is_ok());
        group.map(|g| &*g.refusals).unwrap_or_default()
    }

    /// A copy of the pod with another spec.
    pub fn pod_with(&self, change: impl FnOnce(&mut PodSpec)) -> Arc<Pod> {
        let mut pod = (**self.pod()).clone();
        change(Arc::make_mut(&mut pod.spec));
        Arc::new(pod)
    }

    /// The first node that takes the pod in another state, or takes a changed pod.
    pub fn taken_by(&self, state: &State, pod: &Arc<Pod>) -> Option<crate::snapshot::Str> {
        if !self.tries {
            return None;
        }
        let mut cycle = Cycle::new(state, pod);
        let id = cycle.first_fit()?;
        state.node(id).map(|n| n.name().clone())
    }
}

/// What stands between a lead, which ends in a quote, and the next quote: `web` of `secret "web" not found`.
pub fn quoted<'w>(words: &'w str, lead: &str) -> Option<&'w str> {
    Some(words.split_once(lead)?.1.split_once('"')?.0)
}

/// Some names: all of up to four, else three and how many more.
pub fn some<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    crate::lists::some(names, 3)
}

/// Names of nodes, as [`some`] gives them.
pub fn some_nodes<'a>(nodes: impl IntoIterator<Item = &'a Arc<NodeInfo>>) -> String {
    some(nodes.into_iter().map(|n| n.name().clone()))
}

pub use crate::lists::count;
