//! What one budget covers, as it is and after a change.

use super::Selection;
use super::selection::is_topmost;
use crate::snapshot::Snapshot;
use crate::snapshot::budget::Budget;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use std::sync::Arc;

/// Of the budgets over one pod at most so many are named: a thousand over one pod say no more than twenty.
const MOST_BUDGETS: usize = 20;

/// What a budget covers.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Its pods, each with all budgets that cover it, by their names.
    pub pods: Vec<(Arc<Pod>, Vec<Arc<Budget>>)>,
    /// The workloads that make pods which it would cover.
    pub workloads: Vec<Arc<Workload>>,
}

impl Scope {
    /// Of the budget at a position of the snapshot's table.
    pub fn new(snapshot: &Snapshot, selection: &Selection, at: usize) -> Self {
        let budgets = |pod: &Pod| selection.budgets_of(snapshot, pod).take(MOST_BUDGETS).cloned().collect();
        Self {
            pods: selection.pods(snapshot, at).map(|pod| (pod.clone(), budgets(pod))).collect(),
            workloads: selection.workloads(snapshot, at).cloned().collect(),
        }
    }

    /// The same of `budget` in a cluster that was changed: pods may be gone, and only its own selector may be another.
    #[must_use]
    pub fn after(&self, before: &Budget, snapshot: &Snapshot, budget: &Budget) -> Self {
        let ns = budget.meta.ns();
        if budget.selector != before.selector {
            return Self::search(snapshot, budget);
        }
        let still = |b: &Arc<Budget>| snapshot.budgets.named(ns, &b.meta.name).cloned();
        let pods = self.pods.iter().filter_map(|(pod, budgets)| {
            let pod = snapshot.pods.named(ns, &pod.meta.name)?.clone();
            Some((pod, budgets.iter().filter_map(still).collect()))
        });
        let workloads = self.workloads.iter().filter_map(|w| snapshot.workload(&w.kind, ns, &w.meta.name));
        Self { pods: pods.collect(), workloads: workloads.cloned().collect() }
    }

    /// Looks through the budget's namespace.
    fn search(snapshot: &Snapshot, budget: &Budget) -> Self {
        let ns = budget.meta.ns();
        let budgets = snapshot.budgets.in_namespace(ns);
        let of = |pod: &Pod| {
            budgets.iter().filter(|b| b.selector.matches(&pod.meta.labels)).take(MOST_BUDGETS).cloned().collect()
        };
        let pods = snapshot.pods.in_namespace(ns).iter().filter(|p| budget.selector.matches(&p.meta.labels));
        let makes = |w: &&Arc<Workload>| {
            w.template.as_ref().is_some_and(|t| budget.selector.matches(&t.meta.labels)) && is_topmost(snapshot, w)
        };
        Self {
            pods: pods.map(|pod| (pod.clone(), of(pod))).collect(),
            workloads: snapshot.workloads.in_namespace(ns).iter().filter(makes).cloned().collect(),
        }
    }
}
