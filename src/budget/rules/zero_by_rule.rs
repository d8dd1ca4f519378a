//! `zero-by-rule`: with every owner at its present scale and every pod Ready, the rule would still allow nothing.

use super::cause::{Cause, NEVER};
use crate::budget::arithmetic::value_in_words;
use crate::budget::context::BudgetContext;
use crate::budget::numbers::desired;
use crate::budget::verdict::Verdict;
use crate::finding::{Code, Ref};
use crate::lists::some;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let holds = b.is_short() && b.ideal.shrinking.is_empty() && b.ideal.allowed(&b.budget) == 0;
    let owners = || b.ideal.owners.iter().map(|s| Ref::workload(&s.owner));
    holds.then(|| Cause::new(Verdict::Never, b.finding(Code::ZeroByRule, message(b), []).about(owners())))
}

fn message(b: &BudgetContext<'_>) -> String {
    let (rule, expected, wanted) = (&b.budget.rule, b.ideal.expected, b.ideal.healthy);
    let desired = desired(rule, expected).unwrap_or_default();
    let sum = value_in_words(rule, expected);
    let part = b.ideal.owners.iter().find(|s| s.covered < i64::from(s.scale)).filter(|_| rule.counts_owners());
    let pods = |n: i64| if n == 1 { "1 pod".to_owned() } else { format!("{n} pods") };
    let reason = match part {
        Some(s) => format!(
            "{desired} of {} must stay ({sum}), and the selector matches only {} of the {} of {} {}",
            pods(expected),
            s.covered,
            pods(s.scale.into()),
            s.owner.kind,
            s.owner.meta.name
        ),
        None if i64::from(desired) > wanted => {
            let owners = some(b.ideal.owners.iter().map(|s| format!("{} {}", s.owner.kind, s.owner.meta.name)), 2);
            let whose = if owners.is_empty() { "exist".to_owned() } else { format!("are wanted by {owners}") };
            format!("{} must stay ({sum}), and only {wanted} {whose}", pods(desired.into()))
        }
        None if wanted == 1 => format!("1 of 1 pods must stay ({sum})"),
        None => format!("all {wanted} of {} must stay ({sum})", pods(wanted)),
    };
    format!("{NEVER}: {reason}")
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::testing::{Cluster, Workload, budget, cluster, deployment};
    use serde_json::{Value, json};

    fn with(rule: Value, web: Workload) -> Cluster {
        cluster().add(budget("a/b").selects("app=web").spec(rule)).add(web)
    }

    fn web(replicas: usize) -> Workload {
        deployment("a/web").on(&vec!["n"; replicas])
    }

    #[test]
    fn the_arithmetic_tells_never_from_not_now() {
        let never = |message: &'static str| Some((Verdict::Never, message));
        let canary = || {
            web(4)
                .spec(json!({"template": {"metadata": {"labels": {"app": "other"}}}}))
                .pods(|at, p| if at < 2 { p } else { p.label("app", "other") })
        };
        table(
            find,
            vec![
                (
                    "80 % of one",
                    with(json!({"minAvailable": "80%"}), web(1)),
                    never("no eviction is ever allowed: 1 of 1 pods must stay (80% of 1 = 0.8, rounded up to 1)"),
                ),
                (
                    "80 % of four",
                    with(json!({"minAvailable": "80%"}), web(4)),
                    never("no eviction is ever allowed: all 4 of 4 pods must stay (80% of 4 = 3.2, rounded up to 4)"),
                ),
                ("80 % of five", with(json!({"minAvailable": "80%"}), web(5)), None),
                (
                    "more than there are",
                    with(json!({"minAvailable": 7}), web(3)),
                    never(
                        "no eviction is ever allowed: 7 pods must stay (minAvailable 7), and only 3 are wanted by Deployment web",
                    ),
                ),
                (
                    "maxUnavailable 0",
                    with(json!({"maxUnavailable": 0}), web(2)),
                    never("no eviction is ever allowed: all 2 of 2 pods must stay (maxUnavailable 0)"),
                ),
                (
                    "a part of a workload's pods, where a percentage counts all of them",
                    with(json!({"minAvailable": "50%"}), canary()),
                    never(
                        "no eviction is ever allowed: 2 of 4 pods must stay (50% of 4 = 2), and the selector matches only \
                         2 of the 4 pods of Deployment web",
                    ),
                ),
                ("an integer counts what is matched", with(json!({"minAvailable": 1}), canary()), None),
                (
                    "one crashes, and the rule would allow one",
                    with(json!({"maxUnavailable": 1}), web(3).pods(|at, p| if at == 0 { p.crashing() } else { p })),
                    None,
                ),
                (
                    "one is to be created, and the rule would allow one",
                    with(json!({"minAvailable": 3}), web(3).replicas(4)),
                    None,
                ),
                ("surplus pods are deleted first", with(json!({"minAvailable": 3}), web(3).replicas(2)), None),
            ],
        );
    }
}
