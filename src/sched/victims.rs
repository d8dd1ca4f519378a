//! How victims are compared: with each other, by the budgets they violate, and node by node. Mirrors
//! `util.MoreImportantPod`, `filterPodsWithPDBViolation` and `pickOneNodeForPreemption`.

use super::node::PodInfo;
use super::preemption::Candidate;
use crate::snapshot::Table;
use crate::snapshot::budget::Budget;
use crate::snapshot::pod::Pod;
use jiff::Timestamp;
use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

/// Pods to be taken from a node.
#[derive(Debug, Clone, Default)]
pub(super) struct Victims {
    /// The pods, the most important first.
    pub pods: Vec<Arc<PodInfo>>,
    /// How many of them violate a budget.
    pub violations: usize,
}

/// A pod that has not started counts as started now.
fn start(pod: &Pod, now: Timestamp) -> Timestamp {
    pod.status.started.unwrap_or(now)
}

/// The more important pod first: higher priority, then longer running.
pub(super) fn importance(a: &Pod, b: &Pod, now: Timestamp) -> Ordering {
    b.priority().cmp(&a.priority()).then_with(|| start(a, now).cmp(&start(b, now)))
}

/// Pods whose removal violates a budget, and the others, both in the order given. Budgets are judged by `.status`; pods
/// without labels, and budgets with an empty selector, are left out.
pub(super) fn split_by_budgets(
    pods: &[Arc<PodInfo>],
    budgets: &Table<Budget>,
    minor: u32,
) -> (Vec<Arc<PodInfo>>, Vec<Arc<PodInfo>>) {
    let mut allowed: Vec<i64> = budgets.iter().map(|b| i64::from(b.status.disruptions_allowed)).collect();
    let mut violates = |pod: &Pod| {
        let mut violated = false;
        if pod.meta.labels.is_empty() {
            return false;
        }
        for (budget, left) in budgets.iter().zip(&mut allowed) {
            let covers = budget.meta.namespace == pod.meta.namespace
                && !budget.selector.is_everything()
                && budget.selector.matches(&pod.meta.labels);
            if !covers || budget.status.disrupted_pods.iter().any(|(name, _)| *name == pod.meta.name) {
                continue;
            }
            *left -= 1;
            violated |= *left < 0;
            // Since 1.37 the first budget violated ends the search, so later ones are not used up.
            if violated && minor >= 37 {
                break;
            }
        }
        violated
    };
    pods.iter().cloned().partition(|p| violates(&p.pod))
}

/// The positions of the best candidates, several where they rank equal: fewest violations, lowest highest priority,
/// smallest sum of priorities, fewest victims, latest start of the most important.
pub(super) fn best(candidates: &[Candidate], now: Timestamp) -> Vec<usize> {
    let ranks: Vec<_> = candidates.iter().map(|c| rank(c, now)).collect();
    let Some(least) = ranks.iter().min() else { return Vec::new() };
    ranks.iter().enumerate().filter(|(_, r)| *r == least).map(|(at, _)| at).collect()
}

fn rank(c: &Candidate, now: Timestamp) -> impl Ord + use<> {
    let priority = |p: &Arc<PodInfo>| i64::from(p.pod.priority());
    let first = c.victims.first().map_or(0, priority);
    // Upstream moves priorities above 0, so that fewer pods of negative priority rank before more of them.
    let sum: i64 = c.victims.iter().map(|p| priority(p) + i64::from(i32::MAX) + 1).sum();
    let highest = c.victims.iter().map(priority).max();
    let starts = c.victims.iter().filter(|p| Some(priority(p)) == highest).map(|p| start(&p.pod, now));
    (c.violations, first, sum, c.victims.len(), Reverse(starts.min()))
}
