//! What can be done about a budget: changes, each tried on the numbers before it is offered.

use super::Selection;
use super::ideal::Ideal;
use super::managed::manager;
use super::numbers::compute;
use super::verdict::Facts;
use crate::change::{Change, scale_target};
use crate::finding::Remedy;
use crate::snapshot::budget::{Budget, Rule};
use crate::snapshot::{HorizontalPodAutoscaler, Snapshot, Str};
use crate::wire::scalar::IntOrString;
use std::sync::Arc;

/// A change as a remedy, with who would revert it.
pub(super) fn change(f: &Facts<'_>, change: &Change, verified: bool) -> Remedy {
    let mut remedy = change.remedy(&f.kubectl, verified);
    let meta = match change {
        Change::SetRule(b, _) | Change::AlwaysAllow(b) | Change::DeleteBudget(b) => &b.meta,
        Change::Scale(w, _) => &w.meta,
        Change::MinReplicas(a, _) => &a.meta,
    };
    if let Some(words) = manager(meta) {
        remedy.text = format!("{} ({words})", remedy.text);
    }
    if f.ideal.healthy <= 1
        && let Change::SetRule(..) = change
    {
        remedy.risk = Some("its only pod may be taken: the service is down while a new one starts".to_owned());
    }
    remedy
}

/// Whether the budget would allow one to go, all being well, once the change is made.
fn cures(f: &Facts<'_>, change: &Change) -> bool {
    let changed = change.apply(f.snapshot);
    let Some(budget) = changed.budgets.named(f.budget.meta.ns(), &f.budget.meta.name) else { return true };
    let pods = f.pods.iter().map(|p| &p.pod);
    compute(&changed, budget, pods.clone()).is_ok() && Ideal::new(&changed, budget, pods).allowed(budget) > 0
}

fn tried(f: &Facts<'_>, candidates: impl IntoIterator<Item = Change>) -> Vec<Remedy> {
    candidates.into_iter().filter(|c| cures(f, c)).map(|c| change(f, &c, true)).collect()
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
        let autoscaler = f
            .snapshot
            .horizontal_pod_autoscalers
            .in_namespace(f.budget.meta.ns())
            .iter()
            .find(|a| scale_target(f.snapshot, a).is_some_and(|t| Arc::ptr_eq(t, &share.owner)));
        let candidate = match autoscaler {
            Some(a) => Change::MinReplicas(a.clone(), count),
            None => Change::Scale(share.owner.clone(), count),
        };
        let mut remedies = tried(f, [candidate]);
        let highest = autoscaler.and_then(|a| a.spec.as_ref()).and_then(|s| s.max_replicas);
        if highest.is_some_and(|max| max < count) {
            for r in &mut remedies {
                r.text.push_str(&format!(" and its maxReplicas to at least {count}"));
                r.verified = false;
            }
        }
        all.extend(remedies);
    }
    if all.is_empty() {
        let delete = Change::DeleteBudget(f.budget.clone());
        all.push(change(f, &delete, true));
    }
    all
}

/// An integer minAvailable as strong as the present rule: it does not need the owners' scales.
pub(super) fn integer_rule(f: &Facts<'_>) -> Vec<Remedy> {
    let live = f.pods.iter().filter(|p| !p.pod.is_finished() && !p.pod.is_terminating()).count();
    let desired = super::numbers::desired(&f.budget.rule, live as i64);
    let keep = desired.unwrap_or_else(|_| i32::try_from(live).unwrap_or(i32::MAX) - 1).max(0);
    let rule = Change::SetRule(f.budget.clone(), Rule::MinAvailable(IntOrString::int(keep)));
    let changed = rule.apply(f.snapshot);
    let works = changed
        .budgets
        .named(f.budget.meta.ns(), &f.budget.meta.name)
        .is_some_and(|b| compute(&changed, b, f.pods.iter().map(|p| &p.pod)).is_ok());
    vec![change(f, &rule, works)]
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
    let heals = |c: &Change| {
        let changed = c.apply(f.snapshot);
        let selection = Selection::new(&changed);
        f.pods.iter().all(|p| selection.budgets_of(&changed, &p.pod).count() <= 1)
    };
    candidates
        .into_iter()
        .map(|b| Change::DeleteBudget(b.clone()))
        .filter(heals)
        .take(2)
        .map(|c| change(f, &c, true))
        .collect()
}

/// A floor of the autoscaler at which the rule allows one.
pub(super) fn floor(f: &Facts<'_>, autoscaler: &Arc<HorizontalPodAutoscaler>, scale: i32) -> Option<Remedy> {
    let enough = |n: &i32| f.ideal.allowed_with(f.budget, i64::from(*n) - i64::from(scale)) > 0;
    let present = autoscaler.spec.as_ref().and_then(|s| s.min_replicas).unwrap_or(1);
    let highest = autoscaler.spec.as_ref().and_then(|s| s.max_replicas).unwrap_or(i32::MAX);
    let n = (present..=highest.min(present.saturating_add(200))).find(enough)?;
    let candidate = Change::MinReplicas(autoscaler.clone(), n);
    let verified = cures(f, &candidate);
    Some(change(f, &candidate, verified))
}
