//! Who takes part: the pods that a drainer removes, and all that may change their budgets by itself.

use super::pods::{PodId, SimPod, Stage};
use super::{Event, Simulation};
use crate::budget::numbers::{DELETION_TIMEOUT, counts_as_healthy, is_disrupted};
use crate::drain::controllers::controller_key;
use crate::drain::tracker::BudgetId;
use crate::snapshot::Snapshot;
use crate::snapshot::pod::Pod;
use crate::snapshot::pod_state::{Prospect, why_not_ready};
use std::collections::HashSet;
use std::sync::Arc;

impl Simulation<'_> {
    /// Takes a pod of the snapshot in.
    pub fn enter(&mut self, pod: &Arc<Pod>) -> PodId {
        if let Some(known) = self.by_pod.get(&Arc::as_ptr(pod)) {
            return *known;
        }
        let (snapshot, all) = (self.context.snapshot, &self.context.budgets);
        let budgets = all.of(pod).to_vec();
        let healthy =
            budgets.iter().filter_map(|id| all.get(*id)).any(|budget| counts_as_healthy(pod, budget, snapshot.now));
        let stage = match pod.node {
            _ if pod.is_terminating() => Stage::Terminating,
            Some(_) => Stage::Bound,
            None => Stage::Pending,
        };
        self.add(SimPod {
            pod: pod.clone(),
            budgets,
            stage,
            ready: pod.is_ready() && !pod.is_terminating(),
            healthy,
            replaces: None,
            node: None,
            new_node: None,
            preempted: Vec::new(),
            not_replaced: None,
            not_bound: None,
            not_attached: None,
        })
    }

    /// Takes in all that may change a budget by itself: pods that start, wait for a node, or are being deleted, pods of
    /// Jobs that ended and will be deleted, and pods that are still to be made.
    pub fn watch(&mut self, budgets: &[BudgetId]) {
        let all = &self.context.budgets;
        for id in budgets {
            if !self.watched.insert(*id) {
                continue;
            }
            let Some(budget) = all.get(*id) else { continue };
            let now = self.context.snapshot.now;
            let mut seen = HashSet::new();
            for pod in all.pods(*id) {
                if !counts_as_healthy(pod, budget, now) {
                    self.watch_unhealthy(pod, is_disrupted(pod, budget, now));
                }
                if controller_key(pod).is_some_and(|key| seen.insert(key)) {
                    self.make_missing(pod);
                }
            }
        }
    }

    /// A namespace that is being deleted takes its pods along: its controller deletes them, past every budget.
    pub(super) fn watch_namespace(&mut self, id: PodId) {
        self.watch_node_claim(id);
        let Some(pod) = self.pods.get(id).map(|p| p.pod.clone()) else { return };
        if self.context.snapshot.is_namespace_terminating(pod.meta.ns()) && !pod.is_terminating() {
            self.push(self.now.saturating_add(self.context.drainer.retry.first()), Event::Deleted(id));
        }
    }

    /// A NodeClaim that is being deleted takes the pods of its node along at its deadline, past every budget; where Karpenter
    /// is the drainer, that is its own deadline.
    fn watch_node_claim(&mut self, id: PodId) {
        if self.context.drainer.ends_claims {
            return;
        }
        let forced = self.pods.get(id).and_then(|p| self.context.node_claims().deletes(&p.pod));
        if let Some(at) = forced {
            let left = at.duration_since(self.context.snapshot.now).as_secs();
            self.push(self.now + left.max(self.context.drainer.retry.first()), Event::Deleted(id));
        }
    }

    fn watch_unhealthy(&mut self, pod: &Arc<Pod>, disrupted: bool) {
        let snapshot = self.context.snapshot;
        let id = self.enter(pod);
        if pod.is_finished() && !pod.is_terminating() {
            if let Some(left) = seconds_to_cleanup(snapshot, pod) {
                self.push(self.now.saturating_add(left), Event::Deleted(id));
            }
            return;
        }
        match why_not_ready(snapshot, pod).map(|w| w.prospect) {
            Some(Prospect::Starting) => {
                let ready_in = self.seconds_to_ready(pod);
                self.push(self.now.saturating_add(ready_in), Event::Ready(id));
            }
            Some(Prospect::Unscheduled) => self.wait_for_node(id),
            Some(Prospect::Terminating) => {
                if let Some(left) = pod.grace_left(snapshot.now) {
                    self.push(self.now.saturating_add(left), Event::Gone(id));
                }
            }
            // Granted to an eviction that nothing came of.
            None if disrupted => self.push(self.now.saturating_add(DELETION_TIMEOUT.as_secs()), Event::Ready(id)),
            Some(Prospect::Stuck) | None => {}
        }
    }

    /// How long a pod of the snapshot that is starting still needs.
    fn seconds_to_ready(&self, pod: &Pod) -> i64 {
        let all = self.controller(pod).map_or(crate::drain::controllers::STARTUP_GUESS, |c| c.seconds_to_ready());
        let since = pod.condition("PodScheduled").and_then(|c| c.since).or(pod.status.started);
        let gone = since.map_or(0, |t| self.context.snapshot.now.duration_since(t).as_secs());
        // One that is late is due at any time.
        if gone < all { all - gone.max(0) } else { all }
    }
}

/// Seconds until a pod that has ended is deleted with its Job, where the Job says when. Mirrors `processTTL` of
/// `pkg/controller/ttlafterfinished/ttlafterfinished_controller.go`.
fn seconds_to_cleanup(snapshot: &Snapshot, pod: &Pod) -> Option<i64> {
    let (spec, status) = snapshot.controller_of(&pod.meta)?.job()?;
    let ttl = i64::from(spec.ttl_seconds_after_finished?);
    let ago = snapshot.now.duration_since(status.ended()?).as_secs();
    Some((ttl - ago).max(0))
}
