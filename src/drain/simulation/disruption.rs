//! The disruption controller, and the eviction endpoint that sees what it wrote.

use super::pods::{SimPod, Stage};
use crate::budget::evict::{self, BudgetView, PodView};
use crate::budget::numbers::Numbers;
use crate::drain::refusal::Refusal;
use crate::drain::tracker::{BudgetId, Budgets, Sync, Tracker};
use crate::snapshot::Snapshot;
use crate::snapshot::pod::{Phase, Pod};
use std::collections::HashMap;
use std::sync::Arc;

/// The disruption controller: its budgets as they were found, where nothing has changed them.
#[derive(Clone)]
pub struct DisruptionController<'c> {
    budgets: &'c Budgets<'c>,
    trackers: HashMap<BudgetId, Tracker>,
}

impl<'c> DisruptionController<'c> {
    pub(super) fn new(budgets: &'c Budgets<'c>) -> Self {
        Self { budgets, trackers: HashMap::new() }
    }

    fn tracker(&self, id: BudgetId) -> Option<&Tracker> {
        self.trackers.get(&id).or_else(|| self.budgets.tracker(id))
    }

    /// The numbers of a budget at this moment.
    pub fn numbers(&self, id: BudgetId) -> Numbers {
        self.tracker(id).map(|t| t.numbers).unwrap_or_default()
    }

    pub(super) fn health(&mut self, budgets: &[BudgetId], by: i64) {
        budgets.iter().for_each(|id| self.change(*id, |t| t.health(by)));
    }

    pub(super) fn created(&mut self, snapshot: &Snapshot, budgets: &[BudgetId], pod: &Arc<Pod>) {
        budgets.iter().for_each(|id| self.change(*id, |t| t.created(snapshot, pod)));
    }

    pub(super) fn gone(&mut self, snapshot: &Snapshot, budgets: &[BudgetId], pod: &Arc<Pod>) {
        budgets.iter().for_each(|id| self.change(*id, |t| t.gone(snapshot, pod)));
    }

    fn change(&mut self, id: BudgetId, change: impl FnOnce(&mut Tracker)) {
        let budgets = self.budgets;
        if !self.trackers.contains_key(&id)
            && let Some(found) = budgets.tracker(id)
        {
            self.trackers.insert(id, found.clone());
        }
        if let Some(tracker) = self.trackers.get_mut(&id) {
            change(tracker);
        }
    }

    /// What the endpoint answers to an eviction of the pod now.
    pub fn evict(&self, sim: &SimPod, namespace_terminating: bool) -> Result<(), Refusal> {
        // A pod that the simulation has started is Running once it is Ready.
        let phase = if sim.ready && !sim.pod.is_finished() { Phase::Running } else { sim.pod.status.phase };
        let view =
            PodView { phase, terminating: sim.stage == Stage::Terminating, ready: sim.ready, namespace_terminating };
        let trackers: Vec<&Tracker> = sim.budgets.iter().filter_map(|id| self.tracker(*id)).collect();
        let views: Vec<BudgetView> = trackers.iter().map(|t| t.view()).collect();
        let Err(refusal) = evict::evict(view, &views) else { return Ok(()) };
        let id = sim.budgets.first().copied().unwrap_or_default();
        Err(match refusal {
            _ if trackers.iter().any(|t| t.sync == Sync::Unknown) && trackers.len() == 1 => Refusal::NotJudged(id),
            evict::Refusal::NamespaceTerminating => Refusal::NamespaceTerminating,
            evict::Refusal::Overlap => Refusal::Overlap,
            evict::Refusal::Behind => Refusal::Stale(id),
            evict::Refusal::Negative | evict::Refusal::TooManyDisrupted => Refusal::StatusUnusable(id),
            evict::Refusal::SyncFailed => Refusal::SyncFailed(id),
            evict::Refusal::NoneAllowed => Refusal::Budget(id),
        })
    }

    /// What the endpoint answers by the status that is stored, which is all it sees at the first try.
    pub fn evict_as_stored(&self, snapshot: &Snapshot, sim: &SimPod) -> Result<(), Refusal> {
        let views: Vec<BudgetView> =
            sim.budgets.iter().filter_map(|id| self.budgets.get(*id)).map(|b| BudgetView::from(&**b)).collect();
        let Err(refusal) = evict::evict(PodView::of(snapshot, &sim.pod), &views) else { return Ok(()) };
        let id = sim.budgets.first().copied().unwrap_or_default();
        Err(match refusal {
            evict::Refusal::NamespaceTerminating => Refusal::NamespaceTerminating,
            evict::Refusal::Overlap => Refusal::Overlap,
            evict::Refusal::Negative | evict::Refusal::TooManyDisrupted => Refusal::StatusUnusable(id),
            // The pods would allow it: the controller has not caught up.
            evict::Refusal::Behind | evict::Refusal::SyncFailed | evict::Refusal::NoneAllowed => Refusal::Stale(id),
        })
    }
}
