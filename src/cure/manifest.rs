//! A budget as a manifest, so that one that was deleted can be made again as it was.

use crate::snapshot::Map;
use crate::snapshot::budget::{Budget, Rule};
use crate::snapshot::selector::{LabelSelector, Operator};
use crate::wire::scalar::IntOrString;
use serde_json::{Value, json};

/// The manifest. Annotations that no answer depends on were never read, and are not in it.
pub fn of_budget(budget: &Budget) -> Value {
    let mut metadata = json!({"name": &*budget.meta.name, "namespace": budget.meta.ns()});
    for (field, map) in [("labels", &budget.meta.labels), ("annotations", &budget.meta.annotations)] {
        if !map.is_empty() {
            metadata[field] = pairs(map);
        }
    }
    let mut spec = json!({});
    let (min, max) = values(&budget.rule);
    for (field, value) in [("minAvailable", min), ("maxUnavailable", max)] {
        if !value.is_null() {
            spec[field] = value;
        }
    }
    if let Some(selector) = selector(&budget.selector) {
        spec["selector"] = selector;
    }
    if let Some(policy) = &budget.unhealthy_policy {
        spec["unhealthyPodEvictionPolicy"] = json!(&**policy);
    }
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec})
}

/// `minAvailable` and `maxUnavailable`, null where not set.
pub(super) fn values(rule: &Rule) -> (Value, Value) {
    let value = |v: &IntOrString| if v.kind == 0 { json!(v.int) } else { json!(v.str) };
    match rule {
        Rule::MinAvailable(v) => (value(v), Value::Null),
        Rule::MaxUnavailable(v) => (Value::Null, value(v)),
        Rule::None => (Value::Null, Value::Null),
    }
}

fn pairs(map: &Map) -> Value {
    Value::Object(map.iter().map(|(k, v)| (k.to_string(), json!(&**v))).collect())
}

/// A selector as the API writes it; `None` where there is none, or none that can be written.
pub(super) fn selector(selector: &LabelSelector) -> Option<Value> {
    let LabelSelector::All(requirements) = selector else { return None };
    let mut labels = serde_json::Map::new();
    let mut expressions = Vec::new();
    for r in requirements {
        let operator = match (r.operator, &r.values[..]) {
            (Operator::In, [one]) if !labels.contains_key(&*r.key) => {
                labels.insert(r.key.to_string(), json!(&**one));
                continue;
            }
            (Operator::In, _) => "In",
            (Operator::NotIn, _) => "NotIn",
            (Operator::Exists, _) => "Exists",
            (Operator::DoesNotExist, _) => "DoesNotExist",
            // Operators of node selectors only.
            (Operator::Gt | Operator::Lt, _) => return None,
        };
        let mut expression = json!({"key": &*r.key, "operator": operator});
        if !r.values.is_empty() {
            expression["values"] = r.values.iter().map(|v| &**v).collect::<Vec<&str>>().into();
        }
        expressions.push(expression);
    }
    let mut all = json!({});
    if !labels.is_empty() {
        all["matchLabels"] = Value::Object(labels);
    }
    if !expressions.is_empty() {
        all["matchExpressions"] = Value::Array(expressions);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{budget, cluster};

    #[test]
    fn a_budget_is_written_as_it_was_read() {
        let spec = json!({"minAvailable": "50%", "unhealthyPodEvictionPolicy": "AlwaysAllow", "selector": {
            "matchLabels": {"app": "web"},
            "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}, {"key": "old", "operator": "DoesNotExist"}]}});
        for (title, spec) in [
            ("all there can be", spec),
            ("every pod", json!({"maxUnavailable": 0, "selector": {}})),
            ("no pod, no rule", json!({})),
        ] {
            let made = budget("shop/web").labels("team=a").spec(spec.clone());
            let snapshot = cluster().add(made).snapshot();
            let written = of_budget(&snapshot.budgets[0]);
            assert_eq!(written["spec"], spec, "{title}");
            assert_eq!(written["metadata"], json!({"name": "web", "namespace": "shop", "labels": {"team": "a"}}));
        }
    }
}
