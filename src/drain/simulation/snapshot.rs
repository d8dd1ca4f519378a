//! The cluster as it is by now, as a snapshot: to be planned with anew.

use super::Simulation;
use super::pods::Stage;
use crate::drain::replacement::ready;
use crate::snapshot::Snapshot;
use crate::snapshot::budget::{Budget, BudgetStatus};
use crate::snapshot::pod::Pod;
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

impl Simulation<'_> {
    /// The snapshot with what has come and gone since: pods that are gone, pods that were made, in their order, and what
    /// the disruption controller wrote.
    pub fn snapshot(&self) -> Snapshot {
        let before = self.context.snapshot;
        let is_there = |pod: &Arc<Pod>| {
            before.pods.named(pod.meta.ns(), &pod.meta.name).is_some_and(|there| Arc::ptr_eq(there, pod))
        };
        let mut changed = before.clone();
        for (at, sim) in self.pods.iter().enumerate() {
            match sim.stage {
                Stage::Gone if sim.replaces.is_none() && self.by_name_of(at) == Some(at) => {
                    changed.pods.remove(sim.pod.meta.ns(), &sim.pod.meta.name);
                }
                Stage::Pending | Stage::Bound if !is_there(&sim.pod) => {
                    let pod = if sim.ready { ready(&sim.pod, before.now) } else { sim.pod.clone() };
                    let mut pod = Pod { node: sim.node.clone(), ..(*pod).clone() };
                    let later = SignedDuration::from_millis(i64::try_from(at).unwrap_or_default());
                    pod.meta.creation_timestamp = before.now.checked_add(later).ok();
                    changed.pods.put(Arc::new(pod));
                }
                Stage::Pending | Stage::Bound | Stage::Terminating | Stage::Gone => {}
            }
        }
        let budgets: Vec<Arc<Budget>> = before.budgets.iter().cloned().collect();
        for (id, budget) in (0..).zip(&budgets) {
            if self.watched.contains(&id) {
                changed.budgets.put(Arc::new(synced(budget, &self.disruption.numbers(id))));
            }
        }
        changed.now = before.now.checked_add(SignedDuration::from_secs(self.now.max(60))).unwrap_or(Timestamp::MAX);
        changed.reindex();
        changed
    }
}

/// A budget whose status is up to date.
pub(in crate::drain) fn synced(budget: &Budget, n: &crate::budget::Numbers) -> Budget {
    let status = BudgetStatus { conditions: budget.status.conditions.clone(), ..n.status(budget) };
    Budget { status, ..budget.clone() }
}
