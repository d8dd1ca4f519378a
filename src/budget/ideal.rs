//! What a budget would allow if all were well: every owner at its present scale, every such pod Ready and none
//! terminating. Whether it then still allows nothing tells *never* from *not now*.

use super::expected::{Expected, expected, scale_holder};
use super::numbers::{Numbers, desired};
use crate::snapshot::Snapshot;
use crate::snapshot::budget::Budget;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use std::sync::Arc;

/// What would be there if all were well.
#[derive(Debug, Clone, Default)]
pub struct Ideal {
    /// How many healthy pods there would be.
    pub healthy: i64,
    /// How many would be counted on.
    pub expected: i64,
    /// The owners with a scale, each once, and how many pods under the budget each would have.
    pub owners: Vec<Share>,
    /// Owners that want fewer pods than live under the budget.
    pub shrinking: Vec<Arc<Workload>>,
}

/// An owner's part of a budget.
#[derive(Debug, Clone)]
pub struct Share {
    /// The owner.
    pub owner: Arc<Workload>,
    /// How many pods it wants.
    pub scale: i32,
    /// How many of them the budget covers.
    pub covered: i64,
}

impl Ideal {
    /// The ideal of a budget over the pods it covers.
    pub fn new<'a>(snapshot: &Snapshot, budget: &Budget, pods: impl Iterator<Item = &'a Arc<Pod>> + Clone) -> Self {
        let live = |p: &&Arc<Pod>| !p.is_terminating() && !p.is_finished();
        let mut ideal = Self::default();
        let mut owners: Vec<(Arc<Workload>, i64)> = Vec::new();
        for pod in pods.clone() {
            let owner = snapshot.controller_of(&pod.meta).map(|owner| scale_holder(snapshot, owner).clone());
            match owner {
                Some(owner) if owner.replicas().is_some() => {
                    let count = i64::from(live(&pod));
                    match owners.iter_mut().rev().find(|(w, _)| Arc::ptr_eq(w, &owner)) {
                        Some((_, n)) => *n += count,
                        None => owners.push((owner, count)),
                    }
                }
                // No owner, or one without a scale: what lives is what is wanted.
                _ => ideal.healthy += i64::from(live(&pod)),
            }
        }
        // Workloads whose pods the budget would cover and that have none at the moment.
        for w in snapshot.workloads.in_namespace(budget.meta.ns()) {
            let top = snapshot.controller_of(&w.meta).is_none();
            if top
                && w.replicas().is_some()
                && makes_covered_pods(budget, w)
                && !owners.iter().any(|(o, _)| Arc::ptr_eq(o, w))
            {
                owners.push((w.clone(), 0));
            }
        }
        for (owner, live) in owners {
            let scale = owner.replicas().unwrap_or_default();
            let covered = if covers_all_of(snapshot, budget, &owner) { i64::from(scale) } else { live };
            if (live > i64::from(scale) || scale == 0) && !is_rolling(&owner) {
                ideal.shrinking.push(owner.clone());
            }
            ideal.healthy += covered;
            ideal.owners.push(Share { owner, scale, covered });
        }
        ideal.expected = if budget.rule.counts_owners() {
            let known = expected(snapshot, pods).map_or(0, |e: Expected| e.count);
            known.max(ideal.owners.iter().map(|s| i64::from(s.scale)).sum())
        } else {
            ideal.healthy
        };
        ideal
    }

    /// How many the budget's rule would allow to go.
    pub fn allowed(&self, budget: &Budget) -> i32 {
        self.allowed_with(budget, 0)
    }

    /// The same with so many more (or fewer) pods of one owner.
    pub fn allowed_with(&self, budget: &Budget, more: i64) -> i32 {
        let expected = self.expected.saturating_add(more).max(0);
        let healthy = self.healthy.saturating_add(more).max(0);
        let clamp = |n: i64| i32::try_from(n).unwrap_or(i32::MAX);
        match desired(&budget.rule, expected) {
            Ok(desired) if budget.rule.value().is_some() => {
                Numbers::new(clamp(expected), desired, clamp(healthy)).allowed
            }
            _ => 0,
        }
    }

    /// The smallest number of further pods with which the rule allows one to go; `None` where no number does.
    pub fn enough_more(&self, budget: &Budget) -> Option<i64> {
        let value = budget.rule.value()?;
        let candidates = if value.kind == 0 {
            // One more than the integer asks for; maxUnavailable 0 is met by no number.
            let short = i64::from(desired(&budget.rule, self.expected).ok()?) + 1 - self.healthy;
            short..=short
        } else {
            // A percentage p leaves one over at 100/(100-p) pods: 100 more are enough for all but 100 %.
            1..=100
        };
        candidates.into_iter().find(|more| *more > 0 && self.allowed_with(budget, *more) > 0)
    }
}

fn makes_covered_pods(budget: &Budget, w: &Workload) -> bool {
    w.template.as_ref().is_some_and(|t| budget.selector.matches(&t.meta.labels))
}

/// Whether all pods of an owner fall under the budget: by its template, else by the pods it has.
fn covers_all_of(snapshot: &Snapshot, budget: &Budget, owner: &Workload) -> bool {
    match &owner.template {
        Some(t) => budget.selector.matches(&t.meta.labels),
        None => {
            let uid = owner.meta.uid.as_deref().unwrap_or_default();
            snapshot.pods_of(uid).all(|p| budget.selector.matches(&p.meta.labels))
        }
    }
}

/// Whether a rollout makes more pods than are wanted for a while.
fn is_rolling(w: &Workload) -> bool {
    match &w.detail {
        crate::snapshot::workload::Detail::Deployment(d) => {
            let status = &d.1;
            status.updated_replicas.unwrap_or_default() < status.replicas.unwrap_or_default()
        }
        _ => false,
    }
}
