//! Fields that no budget has: `kubectl apply` refuses them (`--validate=strict`, its default), and what does not look for them
//! drops them, so that the budget is another one than was meant.

use super::manifest::text;
use crate::finding::{Code, Finding};
use serde_json::Value;
use strsim::osa_distance;

const SPEC: [&str; 4] = ["minAvailable", "maxUnavailable", "selector", "unhealthyPodEvictionPolicy"];
const SELECTOR: [&str; 2] = ["matchLabels", "matchExpressions"];

/// That a PodDisruptionBudget has a field that no budget has: the first one.
pub(super) fn unknown(object: &Value) -> Option<Finding> {
    if text(object, "/kind") != "PodDisruptionBudget" || !text(object, "/apiVersion").starts_with("policy/") {
        return None;
    }
    let of = |parent: &str, known: &[&'static str]| {
        let fields = object.pointer(&format!("/{}", parent.replace('.', "/")))?.as_object()?;
        let field = fields.keys().find(|field| !known.contains(&field.as_str()))?;
        let near =
            known.iter().filter(|k| osa_distance(k, field) <= field.len() / 3).min_by_key(|k| osa_distance(k, field));
        let near = near.map(|k| format!("; {k} is one")).unwrap_or_default();
        Some(format!("{parent}.{field} is not a field of a PodDisruptionBudget{near}"))
    };
    let what = of("spec", &SPEC).or_else(|| of("spec.selector", &SELECTOR))?;
    let message = format!("kubectl apply refuses this budget: {what}");
    Some(Finding::new(Code::InvalidBudget, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_that_no_budget_has() {
        for (spec, want) in [
            (json!({"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}), None),
            (json!({"maxUnavailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow", "selector": {}}), None),
            (
                json!({"maxUnavailble": 1}),
                Some("spec.maxUnavailble is not a field of a PodDisruptionBudget; maxUnavailable is one"),
            ),
            (json!({"replicas": 1}), Some("spec.replicas is not a field of a PodDisruptionBudget")),
            (json!({"selector": {"app": "web"}}), Some("spec.selector.app is not a field of a PodDisruptionBudget")),
            (
                json!({"selector": {"matchLables": {"app": "web"}}}),
                Some("spec.selector.matchLables is not a field of a PodDisruptionBudget; matchLabels is one"),
            ),
        ] {
            let object = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": spec});
            let found = unknown(&object).map(|f| f.message);
            assert_eq!(found, want.map(|w| format!("kubectl apply refuses this budget: {w}")));
        }
        assert!(unknown(&json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"x": 1}})).is_none());
    }
}
