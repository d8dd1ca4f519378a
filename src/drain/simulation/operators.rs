//! Operators that answer a drain themselves: they move what a budget guards away from a pod.

use super::pods::PodId;
use super::{Event, Simulation};
use crate::drain::tracker::BudgetId;

impl Simulation<'_> {
    /// An operator moves what a budget guards away from a pod, in so many seconds.
    pub fn relieve_in(&mut self, id: PodId, seconds: i64) {
        self.push(self.now.saturating_add(seconds), Event::Relieved(id));
    }

    /// The pod is no longer under its budgets.
    pub(super) fn relieve(&mut self, id: PodId) {
        let Some(sim) = self.pods.get_mut(id) else { return };
        let budgets: Vec<BudgetId> = std::mem::take(&mut sim.budgets);
        let (pod, healthy) = (sim.pod.clone(), sim.healthy);
        if healthy {
            self.disruption.health(&budgets, -1);
        }
        self.disruption.gone(self.context.snapshot, &budgets, &pod);
    }
}
