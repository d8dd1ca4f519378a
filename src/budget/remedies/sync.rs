//! Rules that do not need the owners' scales, and pods that no budget is needed for.

use super::promise::allows;
use crate::budget::context::BudgetContext;
use crate::budget::faulty::{faulty, leaving};
use crate::budget::numbers::by_pods;
use crate::cure::{Change, Cure, Remedy};
use crate::snapshot::Snapshot;

/// What to do about a sync that fails.
pub(super) fn failed(b: &BudgetContext<'_>) -> Vec<Remedy> {
    let wait = leaving(b).map(|_| Remedy::advice("wait until the pods that are named are gone"));
    wait.into_iter().chain(job_needs_none(b)).chain(integer_rule(b)).collect()
}

/// An integer minAvailable as strong as the present rule.
pub(super) fn integer_rule(b: &BudgetContext<'_>) -> Option<Remedy> {
    let live = b.pods.iter().filter(|p| p.pod.is_active()).count();
    let live = i32::try_from(live).unwrap_or(i32::MAX);
    let rule = by_pods(&b.budget.rule, live);
    let works = |changed: &Snapshot| b.after(changed).is_some_and(|after| after.failure.is_none());
    Cure::from(Change::SetRule(b.budget.clone(), rule)).tried(b.snapshot, works)
}

/// A Job replaces an evicted pod by itself; the documentation says to give it no budget.
fn job_needs_none(b: &BudgetContext<'_>) -> Option<Remedy> {
    let of_job =
        |o: Option<&crate::snapshot::meta::OwnerRef>| o.is_some_and(|o| &*o.kind == "Job" && &*o.group == "batch");
    let only_jobs = !b.pods.is_empty() && b.pods.iter().all(|p| of_job(p.pod.meta.controller.as_ref()));
    if !only_jobs || faulty(b).next().is_none() {
        return None;
    }
    let text =
        format!("delete budget {}: a Job needs none, as its controller replaces an evicted pod", b.budget.meta.path());
    let cure = Cure::from(Change::DeleteBudget(b.budget.clone())).text(text);
    let cure =
        cure.risk("an evicted pod begins its work again, and counts as a failure towards the Job's backoffLimit");
    cure.tried(b.snapshot, |changed| allows(b, changed))
}
