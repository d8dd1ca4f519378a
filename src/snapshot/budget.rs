//! PodDisruptionBudgets as they are kept.

use super::intern::Str;
use super::keep::{Keep, Reader};
use super::meta::Meta;
use super::pod::Condition;
use super::selector::LabelSelector;
use super::table::Keyed;
use crate::wire::meta::LabelSelector as LabelSelectorWire;
use crate::wire::policy as wire;
use crate::wire::scalar::IntOrString;
use jiff::Timestamp;

/// A PodDisruptionBudget.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Names, labels, owner, age.
    pub meta: Meta,
    /// The rule it sets.
    pub rule: Rule,
    /// Which pods it covers.
    pub selector: LabelSelector,
    /// `AlwaysAllow` rather than `IfHealthyBudget`: a pod that is not Ready may always be evicted.
    pub always_allow_unhealthy: bool,
    /// The policy as written; `None` where absent.
    pub unhealthy_policy: Option<Str>,
    /// What the disruption controller wrote last.
    pub status: BudgetStatus,
    /// Why the API server refuses the budget as it is written; only a file can have such a budget.
    pub fault: Option<Fault>,
}

/// Why the API server refuses a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The field and what is wrong with it.
    pub reason: String,
    /// What to write instead.
    pub correction: String,
}

impl Fault {
    fn new(reason: String, correction: impl Into<String>) -> Self {
        Self { reason, correction: correction.into() }
    }
}

/// The rule of a budget. The API allows at most one of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// So many must stay healthy.
    MinAvailable(IntOrString),
    /// So many may be missing.
    MaxUnavailable(IntOrString),
    /// Neither is set.
    None,
}

/// What the disruption controller wrote last.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BudgetStatus {
    /// The generation it speaks of; `None` before the first successful sync.
    pub observed_generation: Option<i64>,
    /// Pods granted to an eviction and not yet seen terminating: name, when.
    pub disrupted_pods: Box<[(Str, Option<Timestamp>)]>,
    /// How many may go.
    pub disruptions_allowed: i32,
    /// How many are healthy.
    pub current_healthy: i32,
    /// How many must be.
    pub desired_healthy: i32,
    /// How many are counted on.
    pub expected_pods: i32,
    /// Conditions, DisruptionAllowed among them.
    pub conditions: Box<[Condition]>,
}

impl Keyed for Budget {
    fn meta(&self) -> &Meta {
        &self.meta
    }
}

impl Keep for wire::PodDisruptionBudget {
    type Kept = Budget;

    fn keep(self, reader: &mut Reader) -> Result<Budget, String> {
        let i = &mut reader.interner;
        let spec = self.spec.unwrap_or_default();
        let status = self.status.unwrap_or_default();
        Ok(Budget {
            fault: fault(&spec),
            meta: Meta::read(self.metadata, i),
            // The controller looks at maxUnavailable first.
            rule: match (spec.max_unavailable, spec.min_available) {
                (Some(max), _) => Rule::MaxUnavailable(max),
                (None, Some(min)) => Rule::MinAvailable(min),
                (None, None) => Rule::None,
            },
            selector: LabelSelector::read(spec.selector.as_ref(), i),
            always_allow_unhealthy: spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow"),
            unhealthy_policy: spec.unhealthy_pod_eviction_policy.as_deref().map(|p| i.str(p)),
            status: BudgetStatus {
                // In protobuf 0 is written where JSON leaves it out.
                observed_generation: status.observed_generation.filter(|generation| *generation != 0),
                disrupted_pods: status.disrupted_pods.iter().map(|(n, t)| (i.str(n), t.timestamp())).collect(),
                disruptions_allowed: status.disruptions_allowed.unwrap_or_default(),
                current_healthy: status.current_healthy.unwrap_or_default(),
                desired_healthy: status.desired_healthy.unwrap_or_default(),
                expected_pods: status.expected_pods.unwrap_or_default(),
                conditions: status
                    .conditions
                    .iter()
                    .map(|c| Condition::read(&c.type_, &c.status, c.last_transition_time, &c.reason, &c.message, i))
                    .collect(),
            },
        })
    }
}

/// Why the API server refuses the spec. Mirrors `ValidatePodDisruptionBudgetSpec` of
/// `pkg/apis/policy/validation/validation.go`; of the selector see [`selector_fault`].
fn fault(spec: &wire::PodDisruptionBudgetSpec) -> Option<Fault> {
    if let (Some(min), Some(max)) = (&spec.min_available, &spec.max_unavailable) {
        let reason = format!("minAvailable {min} and maxUnavailable {max} cannot be set together");
        return Some(Fault::new(reason, "keep one of minAvailable and maxUnavailable"));
    }
    let min = spec.min_available.as_ref().and_then(|v| value_fault("minAvailable", v));
    let max = spec.max_unavailable.as_ref().and_then(|v| value_fault("maxUnavailable", v));
    let policy = spec.unhealthy_pod_eviction_policy.as_deref();
    let policy = policy.filter(|p| !matches!(*p, "IfHealthyBudget" | "AlwaysAllow")).map(|p| {
        let reason = format!("unhealthyPodEvictionPolicy {p} is neither IfHealthyBudget nor AlwaysAllow");
        Fault::new(reason, "set unhealthyPodEvictionPolicy to IfHealthyBudget or AlwaysAllow")
    });
    min.or(max).or(policy).or_else(|| selector_fault(spec.selector.as_ref()?))
}

/// Mirrors `ValidateLabelSelectorRequirement` of `apimachinery/pkg/apis/meta/v1/validation/validation.go`, without the
/// syntax of keys and values.
fn selector_fault(selector: &LabelSelectorWire) -> Option<Fault> {
    selector.match_expressions.iter().enumerate().find_map(|(at, e)| {
        let (field, operator) = (format!("spec.selector.matchExpressions[{at}]"), &e.operator);
        let (reason, fix) = match (operator.as_str(), e.values.is_empty()) {
            ("In" | "NotIn", false) | ("Exists" | "DoesNotExist", true) => return None,
            ("In" | "NotIn", true) => {
                (format!("{field}: operator {operator} needs values"), format!("add values to {field}"))
            }
            ("Exists" | "DoesNotExist", false) => {
                (format!("{field}: operator {operator} has no values"), format!("delete the values of {field}"))
            }
            _ => (
                format!("{field}: operator {operator:?} is none of In, NotIn, Exists, DoesNotExist"),
                format!("correct the operator of {field}"),
            ),
        };
        Some(Fault::new(reason, fix))
    })
}

/// Mirrors `ValidatePositiveIntOrPercent` and `IsNotMoreThan100Percent`: a percentage is digits and a sign.
fn value_fault(field: &str, value: &IntOrString) -> Option<Fault> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let text = &value.str;
    let number = format!("set {field} to a number from 0 up, or to a percentage from 0% to 100%");
    match text.strip_suffix('%').filter(|number| is_digits(number)) {
        _ if value.kind == 0 => {
            (value.int < 0).then(|| Fault::new(format!("{field} {} is negative", value.int), number))
        }
        Some(share) => {
            let most = share.parse::<u64>().is_ok_and(|n| n <= 100);
            (!most).then(|| Fault::new(format!("{field} {text} is above 100%"), number))
        }
        None if is_digits(text) => {
            let reason = format!("{field} {text:?} is text, and neither a number nor a percentage");
            Some(Fault::new(reason, format!("write {field}: {text} without quotes")))
        }
        None => Some(Fault::new(format!("{field} {text:?} is neither a number nor a percentage"), number)),
    }
}

impl Budget {
    /// The DisruptionAllowed condition.
    pub fn condition(&self) -> Option<&Condition> {
        self.status.conditions.iter().find(|c| &*c.kind == "DisruptionAllowed")
    }

    /// Whether the last sync of the disruption controller is reported as failed.
    pub fn reports_sync_failed(&self) -> bool {
        self.condition().is_some_and(|c| &*c.reason == "SyncFailed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{budget, cluster};
    use serde_json::json;

    #[test]
    fn what_is_kept_of_a_budget() {
        let read = |change: serde_json::Value| {
            let snapshot = cluster().add(budget("a/b").with(change)).snapshot();
            Budget::clone(&snapshot.budgets[0])
        };
        // `getExpectedPodCount` looks at maxUnavailable first; the API allows one of both.
        for (spec, want) in [
            (json!({}), Rule::None),
            (json!({"minAvailable": 1}), Rule::MinAvailable(IntOrString::int(1))),
            (json!({"maxUnavailable": "50%"}), Rule::MaxUnavailable(IntOrString::string("50%"))),
            (json!({"minAvailable": 1, "maxUnavailable": 0}), Rule::MaxUnavailable(IntOrString::int(0))),
        ] {
            assert_eq!(read(json!({"spec": spec})).rule, want, "{spec}");
        }
        for (policy, want) in [(json!(null), false), (json!("IfHealthyBudget"), false), (json!("AlwaysAllow"), true)] {
            assert_eq!(read(json!({"spec": {"unhealthyPodEvictionPolicy": policy}})).always_allow_unhealthy, want);
        }
        // Protobuf writes the 0 that JSON leaves out.
        for (generation, want) in [(json!(null), None), (json!(0), None), (json!(3), Some(3))] {
            assert_eq!(read(json!({"status": {"observedGeneration": generation}})).status.observed_generation, want);
        }
        for (selector, everything) in [(json!(null), false), (json!({}), true)] {
            let selects = read(json!({"spec": {"selector": selector}})).selector;
            assert_eq!(selects.matches(&crate::snapshot::Map::default()), everything, "{selector}");
        }
    }
}
