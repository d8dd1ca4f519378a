//! One pod's turn: its filters made ready, and run against nodes. Mirrors `findNodesThatFitPod` of
//! `pkg/scheduler/schedule_one.go`, and `RunPreFilterPlugins` and `RunFilterPluginsWithNominatedPods` of
//! `pkg/scheduler/framework/runtime/framework.go`.

use super::diagnosis::Diagnosis;
use super::filters::{Filter, Incoming, ORDER, Prepared, taint_toleration};
use super::node::{CORDON_TAINT, NodeId, NodeInfo, PodInfo};
use super::state::State;
use super::status::{Plugin, Reason, Status, Verdict};
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::borrow::Cow;
use std::sync::Arc;

/// One pod's turn.
pub struct Cycle<'a> {
    /// The pod and the state.
    pub(super) incoming: Incoming<'a>,
    /// Filters that have something to say, in order.
    filters: Vec<Box<dyn Filter + 'a>>,
    /// Every refusal before nodes are looked at; upstream stops at the first.
    rejections: Vec<Status>,
    /// The nodes that are looked at at all, in order, where some plugin says so, and which plugin.
    only: Option<(Plugin, Vec<NodeId>)>,
}

impl<'a> Cycle<'a> {
    /// Makes every filter ready for the pod.
    pub fn new(state: &'a State, pod: &Arc<Pod>) -> Self {
        let incoming = Incoming::new(state, pod);
        let mut cycle = Self { incoming, filters: Vec::new(), rejections: Vec::new(), only: None };
        for (plugin, prepare) in ORDER {
            match prepare(&cycle.incoming) {
                Prepared::Skip => {}
                Prepared::Runs(filter) => cycle.filters.push(filter),
                Prepared::RunsOn(filter, mut nodes) => {
                    cycle.filters.push(filter);
                    nodes.sort_unstable();
                    cycle.only = Some((*plugin, nodes));
                }
                // What keeps it out of the queue comes before everything else.
                Prepared::Rejects(status) if status.reasons.iter().any(|r| matches!(r, Reason::NotEnqueued(_))) => {
                    cycle.rejections.insert(0, status);
                }
                Prepared::Rejects(status) => cycle.rejections.push(status),
            }
        }
        cycle
    }

    /// The first refusal before nodes are looked at.
    pub fn rejection(&self) -> Option<&Status> {
        self.rejections.first()
    }

    /// What is said of nodes that were left out.
    fn left_out(&self) -> Option<Status> {
        let (plugin, _) = self.only.as_ref()?;
        let words = format!("node(s) didn't satisfy plugin(s) [{}]", plugin.as_str());
        Some(Status::unresolvable(*plugin, Reason::Words(words.into())))
    }

    pub(super) fn is_left_out(&self, node: NodeId) -> bool {
        self.only.as_ref().is_some_and(|(_, nodes)| nodes.binary_search(&node).is_err())
    }

    /// Runs the filters against every node, each up to its first refusal.
    pub fn diagnose(&mut self) -> Diagnosis {
        let state = self.incoming.state;
        self.diagnose_some(state.nodes().iter().map(|n| n.id))
    }

    /// The same for some of the nodes, given in order; nothing is said of the others.
    pub(super) fn diagnose_some(&mut self, nodes: impl IntoIterator<Item = NodeId>) -> Diagnosis {
        let state = self.incoming.state;
        let mut d = Diagnosis::new(state, self.rejection().cloned(), self.left_out());
        if d.rejection.is_some() {
            return d;
        }
        let nominated = self.incoming.pod().status.nominated_node.clone();
        for node in nodes.into_iter().filter_map(|id| state.node(id)) {
            // A node held for the pod is tried by itself first, even one that is left out else.
            if self.is_left_out(node.id) && Some(node.name()) != nominated.as_ref() {
                continue;
            }
            match self.refusal(node) {
                Some(status) => d.failures.push((node.id, status)),
                None => d.fits.push(node.id),
            }
        }
        d.end_in_error();
        d
    }

    /// The first node that takes the pod, in order of their numbers.
    pub fn first_fit(&mut self) -> Option<NodeId> {
        if self.rejection().is_some() {
            return None;
        }
        let nodes = self.incoming.state.nodes();
        nodes.iter().find(|n| !self.is_left_out(n.id) && self.refusal(n).is_none()).map(|n| n.id)
    }

    /// Whether a node takes the pod.
    pub fn takes(&mut self, node: &NodeInfo) -> bool {
        self.rejection().is_none() && !self.is_left_out(node.id) && self.refusal(node).is_none()
    }

    /// Everything that speaks against a node: the scheduler's first refusal first, then what the other plugins say.
    pub fn explain(&mut self, node: &NodeInfo) -> Vec<Status> {
        let mut all = self.rejections.clone();
        let left_out = if self.is_left_out(node.id) { self.left_out() } else { None };
        let skipped = left_out.as_ref().map(|s| s.plugin);
        all.extend(left_out);
        let judge = |filters: &[Box<dyn Filter + 'a>], node: &NodeInfo, all: &mut Vec<Status>| {
            for filter in filters.iter().filter(|f| Some(f.plugin()) != skipped) {
                if all.iter().all(|s| s.plugin != filter.plugin()) {
                    all.extend(ask(&**filter, node));
                }
            }
        };
        let (with, added) = self.with_nominated(node);
        judge(&self.filters, &with, &mut all);
        if !added.is_empty() {
            self.count(&added, &with, -1);
            judge(&self.filters, node, &mut all);
        }
        // The taint that follows a cordon says nothing more.
        if all.iter().any(|s| s.plugin == Plugin::NodeUnschedulable)
            && taint_toleration::untolerated(self.incoming.pod(), &node.node).all(|t| &*t.key == CORDON_TAINT)
        {
            all.retain(|s| s.plugin != Plugin::TaintToleration);
        }
        all
    }

    /// The first refusal of a node, with the pods counted for which it is held.
    pub(super) fn refusal(&mut self, node: &NodeInfo) -> Option<Status> {
        let (with, added) = self.with_nominated(node);
        let first = self.first_refusal(&with);
        if added.is_empty() {
            return first;
        }
        self.count(&added, &with, -1);
        // It must fit without them too, as they may end up elsewhere.
        first.or_else(|| self.first_refusal(node))
    }

    /// The pods for which a node is held, where it would take this pod but for them.
    pub fn held_for_others(&mut self, node: &NodeInfo) -> Option<Vec<Arc<Pod>>> {
        let (with, added) = self.with_nominated(node);
        if added.is_empty() {
            return None;
        }
        let refused = self.first_refusal(&with).is_some();
        self.count(&added, &with, -1);
        let only_they = refused && self.first_refusal(node).is_none();
        only_they.then(|| added.iter().map(|info| info.pod.clone()).collect())
    }

    /// The node with the pods of equal or higher priority for which it is held. They are counted in the filters too,
    /// until the caller takes them back. Mirrors `addGENominatedPods`.
    fn with_nominated<'n>(&mut self, node: &'n NodeInfo) -> (Cow<'n, NodeInfo>, Vec<Arc<PodInfo>>) {
        let pod = self.incoming.pod();
        let theirs = |info: &Arc<PodInfo>| {
            let other = &info.pod;
            other.priority() >= pod.priority()
                && other.spec.scheduler_name == pod.spec.scheduler_name
                && (other.meta.name != pod.meta.name || other.meta.namespace != pod.meta.namespace)
        };
        let added: Vec<Arc<PodInfo>> =
            self.incoming.state.nominated_on(node.id).filter(|info| theirs(info)).cloned().collect();
        if added.is_empty() {
            return (Cow::Borrowed(node), added);
        }
        let mut with = node.clone();
        added.iter().for_each(|info| with.add(info.clone()));
        self.count(&added, &with, 1);
        (Cow::Owned(with), added)
    }

    /// Counts pods put on a node, or taken from it.
    pub(super) fn count(&mut self, pods: &[Arc<PodInfo>], node: &NodeInfo, sign: i64) {
        for filter in &mut self.filters {
            pods.iter().for_each(|info| filter.count(info, node, sign));
        }
    }

    fn first_refusal(&self, node: &NodeInfo) -> Option<Status> {
        self.filters.iter().find_map(|f| ask(&**f, node))
    }
}

impl State {
    /// The names of the nodes that take the pod as things are.
    pub fn fits(&self, pod: &Arc<Pod>) -> Vec<Str> {
        self.diagnose(pod).fits.iter().filter_map(|id| Some(self.node(*id)?.name().clone())).collect()
    }

    /// What the scheduler's filters say of the pod on every node, up to each node's first refusal.
    pub fn diagnose(&self, pod: &Arc<Pod>) -> Diagnosis {
        Cycle::new(self, pod).diagnose()
    }
}

fn ask(filter: &dyn Filter, node: &NodeInfo) -> Option<Status> {
    let mut reasons = Vec::new();
    match filter.check(node, &mut reasons) {
        Verdict::Fits => None,
        verdict => Some(Status { plugin: filter.plugin(), resolvable: verdict == Verdict::Unschedulable, reasons }),
    }
}
