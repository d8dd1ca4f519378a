//! `stale`: the stored status, by which the API server answers, is behind the spec or the pods. Mirrors
//! `checkAndDecrement`, which refuses while `observedGeneration` is behind.

use super::cause::Cause;
use crate::budget::context::BudgetContext;
use crate::budget::evict;
use crate::budget::verdict::Verdict;
use crate::finding::Code;
use crate::snapshot::age::age;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    // The controller never sees a budget that the API server refuses.
    if b.failure.is_some() || b.budget.fault.is_some() {
        return None;
    }
    let (budget, status) = (&b.budget, &b.budget.status);
    let behind = evict::is_behind(budget);
    let message = match status.observed_generation {
        None if behind => {
            let made = budget.meta.creation_timestamp;
            let since = made.map(|t| format!(" since the budget was created, {} ago", age(t, b.snapshot.now)));
            format!(
                "not yet processed by the disruption controller{}; every eviction is refused (429) until it is",
                since.unwrap_or_default()
            )
        }
        Some(observed) if behind => format!(
            "the disruption controller has processed generation {observed} of the budget, and the spec is at {}; every eviction is refused (429) until it has caught up",
            budget.meta.generation
        ),
        _ if status.disruptions_allowed == 0 && b.numbers.allowed > 0 => format!(
            "the pods allow {}, and the stored status still says 0; evictions are refused (429) until the disruption controller has caught up",
            b.numbers.allowed
        ),
        _ => return None,
    };
    Some(Cause::new(Verdict::Unknown, b.finding(Code::Stale, message, [])))
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::testing::{Object, budget, cluster, deployment};
    use serde_json::json;

    #[test]
    fn a_status_that_is_behind_refuses() {
        // After TestEvictionPDBStatus: observedGeneration below the generation is refused, whatever the numbers.
        let with = |budget: Object| cluster().add(budget).add(deployment("a/web").on(&["n", "n"]));
        let base = || budget("a/b").selects("app=web").max_unavailable(1);
        let at = |generation: i64, status: serde_json::Value| {
            base()
                .with(json!({"metadata": {"generation": generation, "creationTimestamp": "2026-01-01T11:50:00Z"}}))
                .status(status)
        };
        let says = |message: &'static str| Some((Verdict::Unknown, message));
        table(
            find,
            vec![
                ("up to date", with(base().allows(1)), None),
                (
                    "never processed",
                    with(at(1, json!({"observedGeneration": 0}))),
                    says(
                        "not yet processed by the disruption controller since the budget was created, 10 min ago; every \
                         eviction is refused (429) until it is",
                    ),
                ),
                (
                    "an older spec",
                    with(at(3, json!({"observedGeneration": 2, "disruptionsAllowed": 1}))),
                    says(
                        "the disruption controller has processed generation 2 of the budget, and the spec is at 3; every \
                         eviction is refused (429) until it has caught up",
                    ),
                ),
                (
                    "0 where the pods allow one",
                    with(base().allows(0)),
                    says(
                        "the pods allow 1, and the stored status still says 0; evictions are refused (429) until the \
                         disruption controller has caught up",
                    ),
                ),
                ("1 where the pods allow none: the server grants", with(base().max_unavailable(0).allows(1)), None),
            ],
        );
    }
}
