//! Who takes part in a plan: the pods that it lets go, and all that may change their budgets by itself.

use super::actor::{ActorId, Stage};
use super::ledger::BudgetId;
use super::owners::{Makes, STARTUP_GUESS};
use super::world::{Event, World};
use crate::budget::numbers::{DELETION_TIMEOUT, counts_as_healthy, is_disrupted};
use crate::snapshot::pod::{Phase, Pod};
use crate::snapshot::pod_state::{Prospect, why_not_ready};
use crate::snapshot::{Snapshot, Str};
use std::collections::HashSet;
use std::sync::Arc;

impl World<'_> {
    /// Takes a pod of the snapshot in.
    pub fn enter(&mut self, pod: &Arc<Pod>) -> ActorId {
        if let Some(known) = self.by_pod.get(&Arc::as_ptr(pod)) {
            return *known;
        }
        let snapshot = self.ground.snapshot;
        let budgets = self.ground.book.budgets_of(pod).to_vec();
        let counted = |id: &BudgetId| {
            self.ground.book.entry(*id).is_some_and(|e| counts_as_healthy(pod, &e.budget, snapshot.now))
        };
        let healthy = budgets.iter().any(counted);
        let stage = match pod.node {
            _ if pod.is_terminating() => Stage::Leaving,
            Some(_) => Stage::Live,
            None => Stage::Pending,
        };
        let ready = pod.is_ready() && !pod.is_terminating();
        self.add(pod.clone(), budgets, stage, (ready, healthy), None)
    }

    /// Takes in all that may change a budget by itself: pods that start, wait for a node, or are being deleted, and
    /// pods that are still to be made.
    pub fn involve(&mut self, budgets: &[BudgetId]) {
        let book = &self.ground.book;
        for id in budgets {
            if !self.involved.insert(*id) {
                continue;
            }
            let mut seen: HashSet<&Str> = HashSet::new();
            for pod in book.pods(*id) {
                let unhealthy =
                    book.entry(*id).is_some_and(|e| !counts_as_healthy(pod, &e.budget, self.ground.snapshot.now));
                if unhealthy {
                    self.involve_unhealthy(pod, *id);
                }
                if let Some(owner) = &pod.meta.controller
                    && seen.insert(&owner.uid)
                {
                    self.make_missing(pod);
                }
            }
        }
    }

    fn involve_unhealthy(&mut self, pod: &Arc<Pod>, budget: BudgetId) {
        let snapshot = self.ground.snapshot;
        let disrupted = self.ground.book.entry(budget).is_some_and(|e| is_disrupted(pod, &e.budget, snapshot.now));
        let id = self.enter(pod);
        let startup = self.owner(pod).and_then(|o| o.startup).unwrap_or(STARTUP_GUESS);
        match why_not_ready(snapshot, pod).map(|w| w.prospect) {
            Some(Prospect::Starting) => self.push(self.now + startup, Event::Ready(id)),
            Some(Prospect::Unscheduled) => self.wait_for_node(id),
            Some(Prospect::Terminating) => {
                if let Some(left) = seconds_left(snapshot, pod) {
                    self.push(self.now + left, Event::Gone(id));
                }
            }
            // Granted to an eviction that nothing came of.
            None if disrupted => self.push(self.now + DELETION_TIMEOUT.as_secs(), Event::Ready(id)),
            Some(Prospect::Stuck) | None => {}
        }
    }

    /// Takes in a pod without a node.
    pub fn wait_for_node(&mut self, id: ActorId) {
        if !self.waiting.contains(&id) {
            self.waiting.push(id);
            self.moved = true;
        }
    }

    /// Makes the pods that an owner of `pod` wants and does not have yet.
    fn make_missing(&mut self, pod: &Arc<Pod>) {
        let Some(owner) = self.owner(pod) else { return };
        match owner.makes {
            Makes::AtOnce => {
                let short = owner.wanted.unwrap_or(0) - owner.live;
                for _ in 0..short.clamp(0, 100) {
                    self.create(pod, None);
                }
            }
            Makes::InOrder | Makes::SameName => self.sync_set(pod),
            Makes::AfterGone | Makes::Never => {}
        }
    }
}

/// Seconds until a pod that is being deleted should be gone; `None` where that time is past: it is stuck.
pub fn seconds_left(snapshot: &Snapshot, pod: &Pod) -> Option<i64> {
    let left = pod.meta.deletion_timestamp?.duration_since(snapshot.now).as_secs();
    (left >= 0 || pod.status.phase == Phase::Pending).then(|| left.max(0))
}
