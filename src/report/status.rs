//! `BudgetStatusList`: what `status` answers.

use crate::budget::{Eviction, Judgement, Verdict};
use crate::finding::Finding;
use crate::snapshot::Str;
use crate::snapshot::budget::Rule;
use crate::wire::scalar::IntOrString;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::json;

/// The body of a `BudgetStatusList`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BudgetStatusList {
    /// A budget each, by namespace and name.
    pub items: Vec<BudgetStatus>,
}

/// A budget.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetStatus {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Its rule as written.
    pub rule: RuleReport,
    /// `IfHealthyBudget` or `AlwaysAllow`.
    pub unhealthy_pod_eviction_policy: Str,
    /// Computed from the pods: how many are counted on.
    pub expected_pods: i32,
    /// Computed: how many must be healthy.
    pub desired_healthy: i32,
    /// Computed: how many are.
    pub current_healthy: i32,
    /// Computed: how many may go.
    pub disruptions_allowed: i32,
    /// What the controller wrote.
    pub reported: Reported,
    /// What it comes to.
    pub verdict: Verdict,
    /// Why, and what can be done.
    pub findings: Vec<Finding>,
    /// The pods it covers.
    pub pods: Vec<PodReport>,
}

/// A rule: one of the two fields, or none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleReport {
    /// So many must stay healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "int_or_percentage")]
    pub min_available: Option<IntOrString>,
    /// So many may be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "int_or_percentage")]
    pub max_unavailable: Option<IntOrString>,
}

impl From<&Rule> for RuleReport {
    fn from(rule: &Rule) -> Self {
        match rule {
            Rule::MinAvailable(v) => Self { min_available: Some(v.clone()), max_unavailable: None },
            Rule::MaxUnavailable(v) => Self { min_available: None, max_unavailable: Some(v.clone()) },
            Rule::None => Self::default(),
        }
    }
}

/// The four numbers as the controller wrote them last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reported {
    /// As in the budget.
    pub expected_pods: i32,
    /// As in the budget.
    pub desired_healthy: i32,
    /// As in the budget.
    pub current_healthy: i32,
    /// As in the budget.
    pub disruptions_allowed: i32,
    /// The status is that of the present spec, the last sync did not fail, and the numbers are the computed ones.
    pub in_sync: bool,
}

/// A pod under a budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PodReport {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// The node it is on.
    pub node: Option<Str>,
    /// Its phase.
    pub phase: &'static str,
    /// Whether it is Ready.
    pub ready: bool,
    /// Whether the controller counts it as healthy.
    pub counted: bool,
    /// What the API server would answer to one eviction sent now.
    pub eviction: EvictionReport,
}

/// The answer of the eviction endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EvictionReport {
    /// `allowed`, `refused` or `error`.
    pub answer: &'static str,
    /// The HTTP status.
    pub code: u16,
    /// The server's words; empty where it grants.
    pub message: String,
    /// Its `details.causes`.
    pub causes: Vec<String>,
    /// Every budget that covers the pod.
    pub budgets: Vec<Str>,
    /// Granted without spending a budget.
    pub bypass: bool,
}

impl EvictionReport {
    /// The report of an answer for a pod that these budgets cover.
    pub fn new(eviction: Eviction, budgets: Vec<Str>) -> Self {
        Self {
            answer: eviction.answer(),
            code: eviction.code,
            message: eviction.message,
            causes: eviction.causes,
            bypass: eviction.bypass,
            budgets,
        }
    }
}

impl From<&Judgement> for BudgetStatus {
    fn from(j: &Judgement) -> Self {
        let (b, n, s) = (&j.budget, j.numbers, &j.budget.status);
        Self {
            namespace: b.meta.namespace.clone().unwrap_or_default(),
            name: b.meta.name.clone(),
            rule: (&b.rule).into(),
            unhealthy_pod_eviction_policy: b.unhealthy_policy.clone().unwrap_or_else(|| "IfHealthyBudget".into()),
            expected_pods: n.expected,
            desired_healthy: n.desired,
            current_healthy: n.healthy,
            disruptions_allowed: n.allowed,
            reported: Reported {
                expected_pods: s.expected_pods,
                desired_healthy: s.desired_healthy,
                current_healthy: s.current_healthy,
                disruptions_allowed: s.disruptions_allowed,
                in_sync: j.in_sync,
            },
            verdict: j.verdict,
            findings: j.findings.clone(),
            pods: j
                .pods
                .iter()
                .map(|p| PodReport {
                    namespace: p.pod.meta.namespace.clone().unwrap_or_default(),
                    name: p.pod.meta.name.clone(),
                    node: p.pod.node.clone(),
                    phase: p.pod.status.phase.as_str(),
                    ready: p.pod.is_ready(),
                    counted: p.counted,
                    eviction: EvictionReport::new(p.eviction.clone(), p.budgets.clone()),
                })
                .collect(),
        }
    }
}

/// A rule's value, as the API writes it.
fn int_or_percentage(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"type": "integer"}, {"type": "string"}], "examples": [json!(1), json!("50%")]})
}
