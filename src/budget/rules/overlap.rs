//! `overlap`: a pod is covered by more than one budget. The eviction endpoint answers its eviction with 500
//! (`EvictionREST.Create`: "This pod has more than one PodDisruptionBudget").

use super::cause::Cause;
use crate::budget::context::{Basis, BudgetContext, CoveredPod, is_or_are, names};
use crate::budget::verdict::Verdict;
use crate::finding::{Code, Ref};
use crate::lists::some;
use crate::snapshot::Str;
use crate::snapshot::age::age;
use std::collections::BTreeSet;

/// Of other budgets at most so many are referred to.
const MOST_REFS: usize = 10;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let shared: Vec<&CoveredPod> = b.pods.iter().filter(|p| p.budgets.len() > 1).collect();
    if shared.is_empty() {
        return None;
    }
    let others = others(b);
    let (pods, are) = match b.basis {
        Basis::Present => (names(shared.iter().map(|p| &p.pod)), is_or_are(shared.len())),
        Basis::Spec => {
            let owner = |p: &CoveredPod| p.pod.meta.controller.as_ref().map(|o| format!("{} {}", o.kind, o.name));
            let owners = shared.iter().map(|p| owner(p).unwrap_or_else(|| p.pod.meta.name.to_string()));
            (format!("the pods of {}", some(owners, 3)), "are")
        }
    };
    let effect = if shared.iter().all(|p| p.eviction.bypass) {
        "evictions pass (201) only because none of these pods is running"
    } else {
        "each eviction fails (500)"
    };
    let made = |name: &Str| {
        let budget = b.snapshot.budgets.named(b.budget.meta.ns(), name);
        let since = budget.and_then(|o| o.meta.creation_timestamp);
        let since = since.map(|t| format!(" ({} old)", age(t, b.snapshot.now))).unwrap_or_default();
        format!("{name}{since}")
    };
    let own = b.budget.meta.creation_timestamp.map(|t| format!("; this budget is {} old", age(t, b.snapshot.now)));
    let message = format!(
        "{pods} {are} also covered by budget {}: {effect}{}",
        some(others.iter().map(made), 3),
        own.unwrap_or_default()
    );
    let ns = b.budget.meta.ns();
    let refs = others.iter().take(MOST_REFS).map(|o| Ref::new("policy/v1", "PodDisruptionBudget", ns, o));
    let finding = b.finding(Code::Overlap, message, shared.iter().map(|p| &p.pod)).about(refs);
    Some(Cause::new(Verdict::Broken, finding))
}

/// The names of the other budgets over pods of this one.
pub(in crate::budget) fn others(b: &BudgetContext<'_>) -> BTreeSet<Str> {
    let all = b.pods.iter().flat_map(|p| &p.budgets);
    all.filter(|name| **name != b.budget.meta.name).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::testing::{Object, budget, cluster, pod};

    #[test]
    fn more_than_one_budget_over_a_pod_is_too_many() {
        let two =
            |p: Object| cluster().add(budget("a/all").selects("{}")).add(budget("a/web").selects("app=web")).add(p);
        let web = || pod("a/web-0").label("app", "web").on("n");
        let fails = "web-0 is also covered by budget web: each eviction fails (500)";
        let old = |o: Object, at: &str| o.created(at);
        table(
            find,
            vec![
                ("one budget", cluster().add(budget("a/web").selects("app=web")).add(web().ready()), None),
                ("two", two(web().ready()), Some((Verdict::Broken, fails))),
                ("two over an unready pod", two(web().crashing()), Some((Verdict::Broken, fails))),
                (
                    "two over a pod that has ended",
                    two(web().ended("Succeeded")),
                    Some((
                        Verdict::Broken,
                        "web-0 is also covered by budget web: evictions pass (201) only because none of these pods is running",
                    )),
                ),
                ("two over different pods", two(pod("a/api-0").label("app", "api").on("n").ready()), None),
                (
                    "the ages tell which came first",
                    cluster()
                        .add(old(budget("a/all").selects("{}"), "2026-01-01T11:00:00Z"))
                        .add(old(budget("a/web").selects("app=web"), "2025-12-22T12:00:00Z"))
                        .add(web().ready()),
                    Some((
                        Verdict::Broken,
                        "web-0 is also covered by budget web (10 d old): each eviction fails (500); this budget is 60 min old",
                    )),
                ),
            ],
        );
    }
}
