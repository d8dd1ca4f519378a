//! `invalid-budget`: the API server refuses the budget as it is written.

use super::cause::Cause;
use crate::budget::context::BudgetContext;
use crate::budget::verdict::Verdict;
use crate::finding::Code;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let fault = b.budget.fault.as_ref()?;
    let message = format!("the API server refuses this budget: {}", fault.reason);
    Some(Cause::new(Verdict::Broken, b.finding(Code::InvalidBudget, message, [])))
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::testing::{Cluster, budget, cluster, deployment};
    use serde_json::{Value, json};

    /// After TestValidatePodDisruptionBudgetSpec and TestValidateMinAvailablePodDisruptionBudgetSpec of
    /// `pkg/apis/policy/validation`.
    #[test]
    fn budgets_that_the_api_server_refuses() {
        let with = |spec: Value| -> Cluster {
            cluster().add(budget("a/b").selects("app=web").spec(spec)).add(deployment("a/web").on(&["n", "n"]))
        };
        let refused = |why: &str| Some((Verdict::Broken, format!("the API server refuses this budget: {why}")));
        let quoted = "minAvailable \"2\" is text, and neither a number nor a percentage";
        table(
            find,
            vec![
                (
                    "both rules",
                    with(json!({"minAvailable": "10%", "maxUnavailable": 3})),
                    refused("minAvailable 10% and maxUnavailable 3 cannot be set together"),
                ),
                ("an integer", with(json!({"minAvailable": 3})), None),
                ("a percentage", with(json!({"maxUnavailable": "100%"})), None),
                ("neither", with(json!({})), None),
                ("negative", with(json!({"minAvailable": -1})), refused("minAvailable -1 is negative")),
                (
                    "a negative percentage",
                    with(json!({"minAvailable": "-1%"})),
                    refused("minAvailable \"-1%\" is neither a number nor a percentage"),
                ),
                ("above 100 %", with(json!({"maxUnavailable": "101%"})), refused("maxUnavailable 101% is above 100%")),
                (
                    "words",
                    with(json!({"minAvailable": "two"})),
                    refused("minAvailable \"two\" is neither a number nor a percentage"),
                ),
                ("a number in quotes", with(json!({"minAvailable": "2"})), refused(quoted)),
                (
                    "an unknown operator",
                    with(
                        json!({"selector": {"matchExpressions": [{"key": "app", "operator": "Contains", "values": ["web"]}]}}),
                    ),
                    refused(
                        "spec.selector.matchExpressions[0]: operator \"Contains\" is none of In, NotIn, Exists, DoesNotExist",
                    ),
                ),
                (
                    "an operator without values",
                    with(json!({"selector": {"matchExpressions": [{"key": "app", "operator": "In"}]}})),
                    refused("spec.selector.matchExpressions[0]: operator In needs values"),
                ),
                (
                    "an operator with values",
                    with(
                        json!({"selector": {"matchExpressions": [{"key": "app", "operator": "Exists", "values": ["a"]}]}}),
                    ),
                    refused("spec.selector.matchExpressions[0]: operator Exists has no values"),
                ),
                (
                    "an unknown policy",
                    with(json!({"unhealthyPodEvictionPolicy": "Always"})),
                    refused("unhealthyPodEvictionPolicy Always is neither IfHealthyBudget nor AlwaysAllow"),
                ),
            ],
        );
    }
}
