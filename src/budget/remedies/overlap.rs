//! Which of the budgets over one pod to delete.

use crate::budget::context::BudgetContext;
use crate::budget::evict::is_granted_without;
use crate::budget::rules::overlap::others;
use crate::cure::{Change, Cure, Remedy};
use crate::snapshot::age::age;
use crate::snapshot::budget::Budget;
use crate::snapshot::pod::Pod;
use std::cmp::Reverse;
use std::sync::Arc;

/// More budgets than this over the same pods are for a person to sort out.
const MOST: usize = 10;

/// A budget that could be deleted, and what would be then.
struct Candidate {
    budget: Arc<Budget>,
    /// Whether an eviction of one of the shared pods is granted then.
    helps: bool,
    /// Pods that no budget covers then.
    bared: usize,
}

/// Deleting one of the budgets that overlap, where that leaves each pod under one: first the one after which evictions
/// are granted, then the one whose loss bares fewest pods, then the oldest, which another one is most likely to replace.
pub(super) fn delete_one(b: &BudgetContext<'_>) -> Vec<Remedy> {
    let shared: Vec<&(Arc<Pod>, Vec<Arc<Budget>>)> = b.scope.pods.iter().filter(|(_, all)| all.len() > 1).collect();
    let others = others(b);
    if others.len() >= MOST {
        return Vec::new();
    }
    let ns = b.budget.meta.ns();
    let all = others.iter().filter_map(|name| b.snapshot.budgets.named(ns, name)).chain([&b.budget]);
    let heals =
        |x: &&Arc<Budget>| shared.iter().all(|(_, all)| all.len() == 2 && all.iter().any(|o| Arc::ptr_eq(o, x)));
    let mut candidates: Vec<Candidate> = all
        .filter(heals)
        .map(|x| Candidate {
            budget: x.clone(),
            helps: shared.iter().any(|(pod, all)| is_granted_without(b.snapshot, pod, all.iter(), x)),
            bared: covered(b, x).saturating_sub(shared.len()),
        })
        .collect();
    candidates
        .sort_by_key(|c| (!c.helps, c.bared, c.budget.meta.creation_timestamp, Reverse(c.budget.meta.name.clone())));
    candidates.into_iter().take(2).filter_map(|c| remedy(b, &shared, &c)).collect()
}

fn remedy(b: &BudgetContext<'_>, shared: &[&(Arc<Pod>, Vec<Arc<Budget>>)], c: &Candidate) -> Option<Remedy> {
    let made = c.budget.meta.creation_timestamp.map(|t| format!(" ({} old)", age(t, b.snapshot.now)));
    let stays = shared.iter().flat_map(|(_, all)| all).find(|o| !Arc::ptr_eq(o, &c.budget))?;
    let then = match c.helps {
        true => "allows evictions",
        false => "still refuses evictions (429), by its stored numbers",
    };
    let text = format!(
        "delete budget {}{}; budget {} then covers the pod alone and {then}",
        c.budget.meta.path(),
        made.unwrap_or_default(),
        stays.meta.name
    );
    let cure = Cure::from(Change::DeleteBudget(c.budget.clone())).text(text);
    let cure = if c.bared > 0 {
        cure.risk(bared_in_words(c.bared))
    } else {
        cure.risk("only the other budget protects its pods")
    };
    cure.tried(b.snapshot, |changed| {
        let budgets = changed.budgets.in_namespace(b.budget.meta.ns());
        let over = |pod: &Pod| budgets.iter().filter(|o| o.selector.matches(&pod.meta.labels)).take(2).count();
        shared.iter().all(|(pod, _)| over(pod) == 1)
    })
}

fn bared_in_words(pods: usize) -> String {
    match pods {
        1 => "1 pod is then under no budget".to_owned(),
        n => format!("{n} pods are then under no budget"),
    }
}

/// How many pods a budget covers.
fn covered(b: &BudgetContext<'_>, budget: &Arc<Budget>) -> usize {
    if Arc::ptr_eq(budget, &b.budget) {
        return b.pods.len();
    }
    let pods = b.snapshot.pods.in_namespace(budget.meta.ns()).iter();
    pods.filter(|p| budget.selector.matches(&p.meta.labels)).count()
}
