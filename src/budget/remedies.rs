//! What can be done about a budget: changes, each tried on the numbers before it is offered.

use super::Selection;
use super::ideal::Ideal;
use super::numbers::compute;
use super::verdict::Facts;
use crate::cure::{Change, Cure, Remedy};
use crate::snapshot::budget::{Budget, Rule};
use crate::snapshot::{HorizontalPodAutoscaler, Snapshot, Str};
use crate::wire::scalar::IntOrString;
use std::sync::Arc;

/// A change as something that can be done, where trying it would say nothing.
pub(super) fn offered(f: &Facts<'_>, change: Change) -> Remedy {
    cure(f, change).untried(f.snapshot)
}

fn cure(f: &Facts<'_>, change: Change) -> Cure {
    let only_one = f.ideal.healthy <= 1 && matches!(change, Change::SetRule(..));
    let cure = Cure::from(change);
    let down = "its only pod is evicted: the service is down until a new one is Ready";
    if only_one { cure.risk(down) } else { cure }
}

/// Whether the budget would allow one to go, all being well, once the change is made.
fn cures(f: &Facts<'_>, changed: &Snapshot) -> bool {
    let Some(budget) = changed.budgets.named(f.budget.meta.ns(), &f.budget.meta.name) else { return true };
    let pods = f.pods.iter().map(|p| &p.pod);
    compute(changed, budget, pods.clone()).is_ok() && Ideal::new(changed, budget, pods).allowed(budget) > 0
}

fn tried(f: &Facts<'_>, candidates: impl IntoIterator<Item = Change>) -> Vec<Remedy> {
    candidates.into_iter().filter_map(|c| cure(f, c).tried(f.snapshot, |changed| cures(f, changed))).collect()
}

/// Rules that allow one to go: maxUnavailable 1, or where owners have no scale the integer that leaves one over.
pub(super) fn rule(f: &Facts<'_>) -> Vec<Remedy> {
    let one = Rule::MaxUnavailable(IntOrString::int(1));
    let less = Rule::MinAvailable(IntOrString::int(i32::try_from(f.ideal.healthy - 1).unwrap_or(0).max(0)));
    let all = tried(f, [one, less].map(|rule| Change::SetRule(f.budget.clone(), rule)));
    all.into_iter().take(1).collect()
}

/// What lets a budget that never allows anything allow one: another rule, or more pods.
pub(super) fn zero_by_rule(f: &Facts<'_>) -> Vec<Remedy> {
    let mut all = rule(f);
    let more = f.ideal.enough_more(f.budget);
    let share = f.ideal.owners.iter().filter(|s| s.covered == i64::from(s.scale)).max_by_key(|s| s.scale);
    if let (Some(more), Some(share)) = (more, share) {
        let count = i32::try_from(i64::from(share.scale) + more).unwrap_or(i32::MAX);
        let candidate = Change::replicas(f.snapshot, &share.owner, count);
        let highest = match &candidate {
            Change::MinReplicas(a, _) => a.spec.as_ref().and_then(|s| s.max_replicas),
            _ => None,
        };
        // The API refuses a floor above the ceiling.
        if highest.is_some_and(|max| max < count) {
            let text = format!("{} and its maxReplicas to at least {count}", candidate.text());
            all.push(cure(f, candidate).text(text).untried(f.snapshot));
        } else {
            all.extend(tried(f, [candidate]));
        }
    }
    if all.is_empty() {
        all.extend(tried(f, [Change::DeleteBudget(f.budget.clone())]));
    }
    all
}

/// An integer minAvailable as strong as the present rule: it does not need the owners' scales.
pub(super) fn integer_rule(f: &Facts<'_>) -> Vec<Remedy> {
    let live = f.pods.iter().filter(|p| !p.pod.is_finished() && !p.pod.is_terminating()).count();
    let desired = super::numbers::desired(&f.budget.rule, live as i64);
    let keep = desired.unwrap_or_else(|_| i32::try_from(live).unwrap_or(i32::MAX) - 1).max(0);
    let rule = Change::SetRule(f.budget.clone(), Rule::MinAvailable(IntOrString::int(keep)));
    let works = |changed: &Snapshot| {
        let budget = changed.budgets.named(f.budget.meta.ns(), &f.budget.meta.name);
        budget.is_some_and(|b| compute(changed, b, f.pods.iter().map(|p| &p.pod)).is_ok())
    };
    cure(f, rule).tried(f.snapshot, works).into_iter().collect()
}

/// Deleting one of the budgets that overlap, where that leaves each pod under one.
pub(super) fn overlap(f: &Facts<'_>, others: &[Str]) -> Vec<Remedy> {
    let ns = f.budget.meta.ns();
    let others = others.iter().filter_map(|name| f.snapshot.budgets.named(ns, name));
    // The one that covers fewer pods goes first: least is lost with it.
    let mut candidates: Vec<&Arc<Budget>> = others.chain([f.budget]).collect();
    let covered = |s: &Snapshot, b: &Budget| {
        s.pods.in_namespace(b.meta.ns()).iter().filter(|p| b.selector.matches(&p.meta.labels)).count()
    };
    candidates.sort_by_key(|b| covered(f.snapshot, b));
    let heals = |changed: &Snapshot| {
        let selection = Selection::new(changed);
        f.pods.iter().all(|p| selection.budgets_of(changed, &p.pod).count() <= 1)
    };
    let deletions = candidates.into_iter().map(|b| Change::DeleteBudget(b.clone()));
    deletions.filter_map(|c| cure(f, c).tried(f.snapshot, heals)).take(2).collect()
}

/// A floor of the autoscaler at which the rule allows one.
pub(super) fn floor(f: &Facts<'_>, autoscaler: &Arc<HorizontalPodAutoscaler>, scale: i32) -> Option<Remedy> {
    let enough = |n: &i32| f.ideal.allowed_with(f.budget, i64::from(*n) - i64::from(scale)) > 0;
    let present = autoscaler.spec.as_ref().and_then(|s| s.min_replicas).unwrap_or(1);
    let highest = autoscaler.spec.as_ref().and_then(|s| s.max_replicas).unwrap_or(i32::MAX);
    let n = (present..=highest.min(present.saturating_add(200))).find(enough)?;
    let candidate = Change::MinReplicas(autoscaler.clone(), n);
    cure(f, candidate).tried(f.snapshot, |changed| cures(f, changed))
}
