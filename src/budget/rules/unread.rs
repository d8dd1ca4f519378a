//! `not-judged`: the pods that the budget covers were not read.

use super::cause::Cause;
use crate::budget::context::BudgetContext;
use crate::budget::verdict::Verdict;
use crate::finding::Code;
use crate::snapshot::Kind;
use crate::snapshot::coverage::ReadOutcome;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let why = match b.snapshot.coverage.of(Kind::Pod) {
        ReadOutcome::Read => return None,
        ReadOutcome::Absent => "the input has no pods and does not say that they were read".to_owned(),
        ReadOutcome::Forbidden(_) => "the right to list pods is missing".to_owned(),
        ReadOutcome::Failed(words) => format!("the pods could not be read: {words}"),
        ReadOutcome::Partial(words) => format!("not all pods were read: {words}"),
    };
    Some(Cause::new(Verdict::Unknown, b.finding(Code::NotJudged, why, [])))
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::testing::{budget, cluster, pod};
    use serde_json::json;

    #[test]
    fn pods_that_were_not_read_are_not_taken_as_none() {
        let budget = || budget("a/b").selects("app=web");
        let read = |outcome: &str| {
            let read = [
                json!({"resource": "pods", "outcome": outcome}),
                json!({"resource": "poddisruptionbudgets.policy", "outcome": "read"}),
            ];
            cluster().add(budget()).add(json!({"apiVersion": "kubectl-pdb/v1", "kind": "Snapshot",
                "metadata": {"name": "x"}, "now": "2026-01-01T12:00:00Z", "read": read}))
        };
        let says = |message: &'static str| Some((Verdict::Unknown, message));
        table(
            find,
            vec![
                ("there are some", cluster().add(budget()).add(pod("a/other")), None),
                ("there are none", read("read"), None),
                ("they are forbidden", read("forbidden"), says("the right to list pods is missing")),
                (
                    "the file does not tell",
                    cluster().add(budget()),
                    says("the input has no pods and does not say that they were read"),
                ),
            ],
        );
    }
}
