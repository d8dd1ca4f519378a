//! The scheduler's turn.

use super::Simulation;
use super::pods::{PodId, SimPod, Stage};
use crate::admission::Verb;
use crate::sched::place::Placed;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::cmp::Reverse;
use std::sync::Arc;

impl Simulation<'_> {
    /// Takes in a pod without a node.
    pub(super) fn wait_for_node(&mut self, id: PodId) {
        if !self.unscheduled.contains(&id) {
            self.unscheduled.push(id);
            self.changed = true;
        }
    }

    /// Places what can be placed: the most important pods first, then those that wait longest.
    pub(super) fn schedule(&mut self) {
        while std::mem::take(&mut self.changed) && !self.unscheduled.is_empty() {
            let mut queue = self.unscheduled.clone();
            queue.sort_by_key(|id| {
                let pod = self.pods.get(*id).map(|p| &p.pod);
                (Reverse(pod.map_or(0, |p| p.priority())), pod.and_then(|p| p.meta.creation_timestamp), *id)
            });
            for id in queue {
                let Some(sim) = self.pods.get(id).filter(|p| p.stage == Stage::Pending) else { continue };
                match self.place(sim) {
                    Placed::Nowhere => {
                        self.no_node(id);
                        continue;
                    }
                    Placed::On(_) | Placed::Preempting { .. } if self.is_not_bound(id) => continue,
                    Placed::On(node) => self.start(id, &node, 0),
                    Placed::Preempting { node, victims } => self.preempt(id, &node, victims),
                }
                self.unscheduled.retain(|waiting| *waiting != id);
            }
        }
    }

    fn place(&self, sim: &SimPod) -> Placed {
        let had = sim.replaces.and_then(|id| self.pods.get(id)).and_then(|old| old.pod.node.as_deref());
        self.context.scheduler.place(&self.state, &sim.pod, had)
    }

    /// Whether a webhook that would be asked about the binding does not answer; the reason is noted.
    fn is_not_bound(&mut self, id: PodId) -> bool {
        let pod = self.pods.get(id).map(|p| p.pod.clone());
        let why = pod.and_then(|pod| self.unanswered(Verb::Bind, &pod));
        if let Some(sim) = self.pods.get_mut(id) {
            sim.not_bound.clone_from(&why);
        }
        why.is_some()
    }

    /// No node that exists takes the pod: it stays without one. Whoever makes new nodes would be asked here.
    #[allow(clippy::unused_self, reason = "the place where a new node might come in")]
    fn no_node(&mut self, _: PodId) {}

    /// The scheduler's first sentence about a pod that fits nowhere.
    pub fn words(&self, pod: &Arc<Pod>) -> String {
        self.context.scheduler.words(&self.state, pod)
    }

    fn preempt(&mut self, id: PodId, node: &Str, victims: Vec<Arc<Pod>>) {
        let mut longest = 0;
        for victim in &victims {
            let grace = victim.spec.termination_grace.max(0);
            longest = longest.max(grace);
            let victim = self.enter(victim);
            let budgets = self.pods.get(victim).map(|p| p.budgets.clone()).unwrap_or_default();
            self.watch(&budgets);
            self.delete(victim, Some(grace));
        }
        if let Some(sim) = self.pods.get_mut(id) {
            sim.preempted = victims;
        }
        self.start(id, node, longest);
    }
}
