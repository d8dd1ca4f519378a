//! A selector that covers no pod: mistyped, or left behind by its application.

use crate::budget::context::BudgetContext;
use crate::budget::nearest::{Nearest, nearest};
use crate::budget::rules::partial::revision_label;
use crate::cure::{Change, Cure, Remedy};
use crate::snapshot::Snapshot;

/// The selector corrected, where it looks mistyped for one workload; else the budget deleted, as its application is gone.
pub(super) fn covers_nothing(b: &BudgetContext<'_>) -> Vec<Remedy> {
    let near = nearest(b.snapshot, &b.budget);
    let corrected = match &near[..] {
        [one] if one.is_slip => corrected(b, one),
        _ => None,
    };
    let delete = || {
        let text = format!("delete budget {}, if its application no longer exists", b.budget.meta.path());
        Cure::from(Change::DeleteBudget(b.budget.clone()))
            .text(text)
            .risk("none while no pod matches")
            .untried(b.snapshot)
    };
    vec![corrected.unwrap_or_else(delete)]
}

/// The selector by which the workload itself knows its pods, in the place of one that chooses a revision.
pub(super) fn every_revision(b: &BudgetContext<'_>) -> Option<Remedy> {
    revision_label(b)?;
    let [share] = &b.ideal.owners[..] else { return None };
    let change = Change::SetSelector(b.budget.clone(), share.owner.selector.clone());
    let text = format!("{}, which pods of every revision have", change.text());
    Cure::from(change).text(text).tried(b.snapshot, |changed| {
        b.after(changed).is_some_and(|after| match &after.ideal.owners[..] {
            [only] => revision_label(&after).is_none() && only.covered == i64::from(only.scale),
            _ => false,
        })
    })
}

/// The selector by which the workload itself knows its pods.
fn corrected(b: &BudgetContext<'_>, near: &Nearest<'_>) -> Option<Remedy> {
    let w = near.workload;
    let change = Change::SetSelector(b.budget.clone(), w.selector.clone());
    let text = format!("{}, if it is meant for {} {}", change.text(), w.kind, w.meta.path());
    let all_its_pods_alone = |changed: &Snapshot| {
        let after = b.after(changed);
        after.is_some_and(|after| match &after.ideal.owners[..] {
            [only] => {
                only.owner.meta == w.meta
                    && only.covered == i64::from(only.scale)
                    && after.pods.iter().all(|p| p.budgets.len() == 1)
            }
            _ => false,
        })
    };
    let risk = "its rule holds for these pods from then on";
    Cure::from(change).text(text).risk(risk).tried(b.snapshot, all_its_pods_alone)
}
