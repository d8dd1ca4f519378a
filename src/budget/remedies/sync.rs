//! Rules that do not need the owners' scales, and pods that no budget is needed for.

use super::promise::allows;
use crate::budget::context::BudgetContext;
use crate::budget::faulty::{faulty, leaving};
use crate::budget::numbers::by_pods;
use crate::cure::{Change, Cure, Remedy};
use crate::snapshot::Snapshot;
use crate::snapshot::meta::OwnerRef;

/// What to do about a sync that fails.
pub(super) fn failed(b: &BudgetContext<'_>) -> Vec<Remedy> {
    let wait = leaving(b).map(|_| Remedy::advice("wait until the pods that are named are removed"));
    wait.into_iter().chain(faulty(b).next().and_then(|_| job_needs_none(b))).chain(integer_rule(b)).collect()
}

/// An integer minAvailable as strong as the present rule.
pub(super) fn integer_rule(b: &BudgetContext<'_>) -> Option<Remedy> {
    let live = b.pods.iter().filter(|p| p.pod.is_active()).count();
    let live = i32::try_from(live).unwrap_or(i32::MAX);
    let rule = by_pods(&b.budget.rule, live);
    let works = |changed: &Snapshot| b.after(changed).is_some_and(|after| after.failure.is_none());
    Cure::from(Change::SetRule(b.budget.clone(), rule)).tried(b.snapshot, works)
}

/// A Job makes a pod for each that is evicted; the documentation says to give it no budget.
pub(super) fn job_needs_none(b: &BudgetContext<'_>) -> Option<Remedy> {
    if !only_jobs(b) {
        return None;
    }
    let text =
        format!("delete budget {}: a Job needs none, as its controller replaces an evicted pod", b.budget.meta.path());
    let cure = Cure::from(Change::DeleteBudget(b.budget.clone())).text(text).risk(WORK_LOST);
    cure.tried(b.snapshot, |changed| allows(b, changed))
}

/// Whether all pods under the budget are those of Jobs.
pub(super) fn only_jobs(b: &BudgetContext<'_>) -> bool {
    let of_job = |o: &OwnerRef| &*o.kind == "Job" && &*o.group == "batch";
    !b.pods.is_empty() && b.pods.iter().all(|p| p.pod.meta.controller.as_ref().is_some_and(of_job))
}

/// What the eviction of a Job's pod costs.
pub(super) const WORK_LOST: &str =
    "an evicted pod begins its work again, and counts as a failure towards the Job's backoffLimit";
