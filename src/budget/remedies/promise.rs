//! What a remedy promises.

use crate::budget::context::BudgetContext;
use crate::budget::rules::assess;
use crate::snapshot::Snapshot;

/// Whether evictions are granted once a change is made, now or in time.
pub(super) fn allows(b: &BudgetContext<'_>, changed: &Snapshot) -> bool {
    match b.after(changed) {
        Some(after) => assess(&after).0.comes_to_allow(),
        None => b.pods.iter().all(|p| p.budgets.len() <= 1),
    }
}
