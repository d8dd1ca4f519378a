//! Which budget covers which pods. Mirrors `getPodsForPdb` of the disruption controller and
//! `getPodDisruptionBudgets` of the eviction endpoint.

use crate::snapshot::Snapshot;
use crate::snapshot::budget::Budget;
use crate::snapshot::pod::Pod;
use std::collections::HashMap;
use std::sync::Arc;

/// The pods of every budget, and the budgets of every pod, by their positions in the snapshot's tables.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pods: Vec<Vec<u32>>,
    budgets: HashMap<u32, Vec<u32>>,
}

impl Selection {
    /// Matches all budgets of a snapshot with all pods.
    pub fn new(snapshot: &Snapshot) -> Self {
        let mut selection = Self { pods: Vec::with_capacity(snapshot.budgets.len()), budgets: HashMap::new() };
        for (b, budget) in (0u32..).zip(snapshot.budgets.iter()) {
            let first = snapshot.pods.partition_point(|p| p.meta.ns() < budget.meta.ns());
            let first = u32::try_from(first).unwrap_or(u32::MAX);
            let pods = (first..).zip(snapshot.pods.in_namespace(budget.meta.ns()));
            let covered: Vec<u32> =
                pods.filter(|(_, p)| budget.selector.matches(&p.meta.labels)).map(|(at, _)| at).collect();
            for pod in &covered {
                selection.budgets.entry(*pod).or_default().push(b);
            }
            selection.pods.push(covered);
        }
        selection
    }

    /// The pods that the budget at a position covers, in order of their names.
    pub fn pods<'a>(&'a self, snapshot: &'a Snapshot, budget: usize) -> impl Iterator<Item = &'a Arc<Pod>> + Clone {
        self.pods.get(budget).into_iter().flatten().filter_map(|at| snapshot.pods.get(*at as usize))
    }

    /// The budgets that cover a pod, in order of their names.
    pub fn budgets_of<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        pod: &Pod,
    ) -> impl Iterator<Item = &'a Arc<Budget>> + Clone {
        self.positions_of(snapshot, pod).iter().filter_map(|at| snapshot.budgets.get(*at as usize))
    }

    /// The positions of these budgets in the snapshot's table.
    pub fn positions_of(&self, snapshot: &Snapshot, pod: &Pod) -> &[u32] {
        let at = snapshot.pods.position(pod.meta.ns(), &pod.meta.name).and_then(|at| u32::try_from(at).ok());
        at.and_then(|at| self.budgets.get(&at)).map_or(&[], |budgets| budgets)
    }
}
