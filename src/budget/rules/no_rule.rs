//! `no-rule`: neither minAvailable nor maxUnavailable is set. `getExpectedPodCount` then leaves the expected count at 0,
//! and nothing is allowed.

use super::cause::{Cause, NEVER};
use crate::budget::context::BudgetContext;
use crate::budget::verdict::Verdict;
use crate::finding::Code;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let holds = b.failure.is_none() && !b.pods.is_empty() && b.budget.rule.value().is_none();
    let message = format!("{NEVER}: neither minAvailable nor maxUnavailable is set");
    holds.then(|| Cause::new(Verdict::Never, b.finding(Code::NoRule, message, [])))
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::testing::{budget, cluster, deployment};

    #[test]
    fn a_budget_without_a_rule_allows_nothing() {
        let over =
            |b: crate::testing::Object| cluster().add(b.selects("app=web")).add(deployment("a/web").on(&["n", "n"]));
        let message = "no eviction is ever allowed: neither minAvailable nor maxUnavailable is set";
        table(
            find,
            vec![
                ("none is set", over(budget("a/b")), Some((Verdict::Never, message))),
                ("maxUnavailable is", over(budget("a/b").max_unavailable(1)), None),
                (
                    "no pod is covered",
                    cluster().add(budget("a/b").selects("app=x")).add(crate::testing::pod("a/p")),
                    None,
                ),
            ],
        );
    }
}
