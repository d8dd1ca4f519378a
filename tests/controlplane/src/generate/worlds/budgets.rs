//! Budgets.

use serde_json::{Value, json};

use super::Builder;

/// A rule: its field and its value, an integer or a percentage.
pub type Rule = (&'static str, &'static str);

/// Rules as people write them.
pub const COMMON: &[(u32, Rule)] = &[
    (5, ("minAvailable", "1")),
    (3, ("minAvailable", "2")),
    (2, ("minAvailable", "50%")),
    (2, ("minAvailable", "80%")),
    (1, ("minAvailable", "66%")),
    (7, ("maxUnavailable", "1")),
    (2, ("maxUnavailable", "50%")),
    (2, ("maxUnavailable", "34%")),
    (1, ("maxUnavailable", "10%")),
    (1, ("maxUnavailable", "0")),
];

impl Builder {
    /// Adds a budget over the pods with this label `app`.
    pub fn budget(&mut self, namespace: &str, app: &str, rule: Rule) {
        self.budget_over(namespace, &format!("p-{app}"), &json!({"matchLabels": {"app": app}}), rule, None);
    }

    /// Adds a budget over what the selector matches.
    pub fn budget_over(&mut self, namespace: &str, name: &str, selector: &Value, rule: Rule, policy: Option<&str>) {
        let mut spec = json!({"selector": selector});
        let (field, value) = rule;
        spec[field] = value.parse::<i64>().map_or_else(|_| json!(value), |count| json!(count));
        if let Some(policy) = policy {
            spec["unhealthyPodEvictionPolicy"] = json!(policy);
        }
        self.add(json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"namespace": namespace, "name": name}, "spec": spec}));
    }

    /// A rule as people write it, and perhaps a policy, over the pods with this label `app`.
    pub fn common_budget(&mut self, namespace: &str, app: &str) {
        let rule = self.choice.weighted(COMMON);
        let policy = self.choice.weighted(&[(7, None), (2, Some("AlwaysAllow")), (1, Some("IfHealthyBudget"))]);
        let selector = match self.choice.chance(10) {
            true => json!({"matchExpressions": [{"key": "app", "operator": "In", "values": [app]}]}),
            false => json!({"matchLabels": {"app": app}}),
        };
        self.budget_over(namespace, &format!("p-{app}"), &selector, rule, policy);
    }
}
