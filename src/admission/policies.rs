//! ValidatingAdmissionPolicies. Mirrors `Matches` of `apiserver/pkg/admission/plugin/policy/matching/matching.go`, and of
//! `plugin/policy/validating` that a policy denies only through a binding with the action Deny.

use super::webhooks::rule_takes;
use super::{Request, Verb};
use crate::snapshot::intern::Interner;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Map, Snapshot};
use crate::wire::policy::{MatchResources, NamedRuleWithOperations};
use jiff::Timestamp;

/// A policy that a binding lets deny requests.
#[derive(Debug)]
pub struct BoundPolicy<'a> {
    /// The ValidatingAdmissionPolicy's name.
    pub name: &'a str,
    /// The ValidatingAdmissionPolicyBinding's name.
    pub binding: &'a str,
    /// Since when both are there: what passed before tells nothing of what passes now.
    pub since: Option<Timestamp>,
    /// What the policy is for, and to what the binding narrows it.
    scopes: Vec<Scope<'a>>,
}

/// What a policy or a binding is for.
#[derive(Debug)]
struct Scope<'a> {
    namespaces: LabelSelector,
    objects: LabelSelector,
    rules: &'a [NamedRuleWithOperations],
    excluded: &'a [NamedRuleWithOperations],
}

/// All policies that can deny something, one for each binding with the action Deny.
pub fn all(snapshot: &Snapshot) -> Vec<BoundPolicy<'_>> {
    let mut interner = Interner::default();
    let mut bound = Vec::new();
    for binding in snapshot.admission_policy_bindings.iter() {
        let Some(spec) = binding.spec.as_ref().filter(|s| s.validation_actions.iter().any(|a| a == "Deny")) else {
            continue;
        };
        let policy = snapshot.admission_policies.named("", &spec.policy_name);
        let Some((policy, rules)) = policy.and_then(|p| Some((p, p.spec.as_ref()?))) else { continue };
        // A policy without constraints, or without validations, the API server does not let in.
        let Some(constraints) = rules.match_constraints.as_ref().filter(|_| !rules.validations.is_empty()) else {
            continue;
        };
        let scopes = [Some(constraints), spec.match_resources.as_ref()].into_iter().flatten();
        bound.push(BoundPolicy {
            name: &policy.meta.name,
            binding: &binding.meta.name,
            since: policy.meta.creation_timestamp.max(binding.meta.creation_timestamp),
            scopes: scopes.map(|m| Scope::read(m, &mut interner)).collect(),
        });
    }
    bound
}

impl BoundPolicy<'_> {
    /// Whether the policy is asked about a request, about the pod of this name.
    pub fn sees(&self, snapshot: &Snapshot, request: Request<'_>, pod: &str) -> bool {
        self.scopes.iter().all(|s| s.takes(snapshot, request, pod))
    }
}

impl<'a> Scope<'a> {
    fn read(resources: &'a MatchResources, interner: &mut Interner) -> Self {
        let mut read = |selector: Option<&_>| match selector {
            Some(s) => LabelSelector::read(Some(s), interner),
            None => LabelSelector::All(Box::default()),
        };
        Self {
            namespaces: read(resources.namespace_selector.as_ref()),
            objects: read(resources.object_selector.as_ref()),
            rules: &resources.resource_rules,
            excluded: &resources.exclude_resource_rules,
        }
    }

    fn takes(&self, snapshot: &Snapshot, request: Request<'_>, pod: &str) -> bool {
        self.namespaces.matches(&snapshot.namespace_labels(request.namespace))
            && request.labels.map_or_else(|| self.objects.matches(&Map::default()), |l| self.objects.matches(l))
            && !any_takes(self.excluded, request.verb, pod)
            && (self.rules.is_empty() || any_takes(self.rules, request.verb, pod))
    }
}

/// Mirrors `matchesResourceRules`; pods have no equivalent resource.
fn any_takes(rules: &[NamedRuleWithOperations], verb: Verb, pod: &str) -> bool {
    let named = |r: &NamedRuleWithOperations| r.resource_names.is_empty() || r.resource_names.iter().any(|n| n == pod);
    rules.iter().any(|r| r.rule_with_operations.as_ref().is_some_and(|rule| rule_takes(rule, verb)) && named(r))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, object, pod};
    use serde_json::{Value, json};

    #[test]
    fn policies_see_what_their_constraints_and_bindings_take() {
        // After TestMatcher of matching_test.go, for requests about pods.
        let rule = |resource: &str, names: &[&str]| {
            json!({"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": [resource],
                "resourceNames": names})
        };
        let rules = |resource: &str| json!({"resourceRules": [rule(resource, &[])]});
        let eviction = || rules("pods/eviction");
        let env = |value: &str| json!({"namespaceSelector": {"matchLabels": {"env": value}}});
        let with = |mut resources: Value, more: Value| {
            let more = more.as_object().cloned().unwrap_or_default();
            resources.as_object_mut().expect("an object").extend(more);
            resources
        };
        let deny = || json!(["Deny"]);
        for (title, constraints, narrowed, actions, want) in [
            ("evictions", eviction(), Value::Null, deny(), true),
            ("every subresource", rules("*/*"), Value::Null, deny(), true),
            ("pods alone", rules("pods"), Value::Null, deny(), false),
            ("it only warns", eviction(), Value::Null, json!(["Warn", "Audit"]), false),
            ("it denies and audits", eviction(), Value::Null, json!(["Deny", "Audit"]), true),
            ("the namespace's label", with(eviction(), env("prod")), Value::Null, deny(), true),
            ("another label", with(eviction(), env("test")), Value::Null, deny(), false),
            ("the binding takes the namespace", eviction(), env("prod"), deny(), true),
            ("the binding takes another namespace", eviction(), env("test"), deny(), false),
            ("the binding takes other requests", eviction(), rules("pods/binding"), deny(), false),
            ("this pod", json!({"resourceRules": [rule("pods/eviction", &["p"])]}), Value::Null, deny(), true),
            ("another pod", json!({"resourceRules": [rule("pods/eviction", &["q"])]}), Value::Null, deny(), false),
            (
                "excluded",
                with(eviction(), json!({"excludeResourceRules": [rule("pods/eviction", &["p"])]})),
                Value::Null,
                deny(),
                false,
            ),
            (
                "an Eviction has no labels",
                with(eviction(), json!({"objectSelector": {"matchLabels": {"app": "web"}}})),
                Value::Null,
                deny(),
                false,
            ),
        ] {
            let api = "admissionregistration.k8s.io/v1";
            let snapshot = cluster()
                .add(pod("a/p").on("n1"))
                .add(object("v1", "Namespace", "a").label("env", "prod"))
                .add(
                    object(api, "ValidatingAdmissionPolicy", "p")
                        .spec(json!({"matchConstraints": constraints, "validations": [{"expression": "false"}]})),
                )
                .add(
                    object(api, "ValidatingAdmissionPolicyBinding", "b")
                        .spec(json!({"policyName": "p", "matchResources": narrowed, "validationActions": actions})),
                )
                .snapshot();
            let pod = snapshot.pods.named("a", "p").expect("the pod");
            let request = Request::of(Verb::Evict, pod);
            let sees = all(&snapshot).iter().any(|p| p.sees(&snapshot, request, "p"));
            assert_eq!(sees, want, "{title}");
        }
    }
}
