//! `terminating`: the budget is being deleted, and a finalizer keeps it. Neither the disruption controller nor the eviction
//! endpoint looks at its deletionTimestamp (`pkg/controller/disruption/disruption.go`, `getPodDisruptionBudgets` of
//! `pkg/registry/core/pod/storage/eviction.go`), so that it counts until it is gone.

use super::cause::Cause;
use crate::budget::context::BudgetContext;
use crate::finding::Code;
use crate::snapshot::age::age;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let meta = &b.budget.meta;
    let since = age(meta.deletion_timestamp?, b.snapshot.now);
    let held = match &meta.finalizers[..] {
        [] => "it is removed".to_owned(),
        finalizers => format!("the finalizer {} is removed", finalizers.join(", ")),
    };
    let message = format!("the budget is being deleted (for {since}) and limits evictions as before until {held}");
    Some(Cause::note(b.finding(Code::Terminating, message, [])))
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes;
    use super::*;
    use crate::testing::{budget, cluster, deployment};
    use serde_json::json;

    #[test]
    fn a_budget_that_is_being_deleted_counts() {
        let with = |meta: serde_json::Value| {
            let b = budget("a/b").selects("app=web").max_unavailable(1).with(json!({"metadata": meta}));
            cluster().add(b).add(deployment("a/web").on(&["n", "n"]))
        };
        let at = "2026-01-01T11:00:00Z";
        notes(
            find,
            vec![
                ("no", with(json!({})), None),
                ("a finalizer alone", with(json!({"finalizers": ["x.io/y"]})), None),
                (
                    "held",
                    with(json!({"deletionTimestamp": at, "finalizers": ["x.io/y"]})),
                    Some(
                        "the budget is being deleted (for 60 min) and limits evictions as before until the finalizer x.io/y is \
                         removed",
                    ),
                ),
            ],
        );
    }
}
