//! `over-permissive`: the rule lets every pod be evicted at once.

use super::cause::Cause;
use crate::budget::arithmetic::value_in_words;
use crate::budget::context::BudgetContext;
use crate::finding::Code;
use crate::snapshot::budget::Rule;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let n = b.numbers;
    let written = b.failure.is_none() && b.budget.fault.is_none();
    let holds = written && n.expected > 0 && n.desired <= 0 && b.budget.rule != Rule::None;
    let sum = value_in_words(&b.budget.rule, n.expected.into());
    let message = format!("all {} pods can be evicted at once ({sum}): the budget protects none of them", n.expected);
    let one = format!("the only pod can be evicted at any time ({sum})");
    let message = if n.expected == 1 { one } else { message };
    holds.then(|| Cause::note(b.finding(Code::OverPermissive, message, [])))
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes;
    use super::*;
    use crate::testing::{budget, cluster, deployment};
    use serde_json::{Value, json};

    #[test]
    fn a_rule_that_lets_all_be_evicted_protects_none() {
        let with = |rule: Value, n: usize| {
            cluster().add(budget("a/b").selects("app=web").spec(rule)).add(deployment("a/web").on(&vec!["n"; n]))
        };
        notes(
            find,
            vec![
                (
                    "67 % of three is three",
                    with(json!({"maxUnavailable": "67%"}), 3),
                    Some(
                        "all 3 pods can be evicted at once (67% of 3 = 2.01, rounded up to 3): the budget protects none of them",
                    ),
                ),
                ("66 % of three is two", with(json!({"maxUnavailable": "66%"}), 3), None),
                (
                    "minAvailable 0",
                    with(json!({"minAvailable": 0}), 2),
                    Some("all 2 pods can be evicted at once (minAvailable 0): the budget protects none of them"),
                ),
                (
                    "maxUnavailable 1 of one",
                    with(json!({"maxUnavailable": 1}), 1),
                    Some("the only pod can be evicted at any time (maxUnavailable 1)"),
                ),
                ("maxUnavailable 1 of two", with(json!({"maxUnavailable": 1}), 2), None),
                ("no rule", with(json!({}), 2), None),
            ],
        );
    }
}
