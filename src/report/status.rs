//! `BudgetStatusList`: what `status` answers.

use super::digest::Told;
use crate::budget::arithmetic::arithmetic;
use crate::budget::{Eviction, Judgement, Verdict};
use crate::cure::scale_target;
use crate::finding::ignore::{self, Ignores};
use crate::finding::{Code, Finding, Severity};
use crate::snapshot::budget::Rule;
use crate::snapshot::pod_state::why_not_ready;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Snapshot, Str};
use crate::wire::scalar::IntOrString;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

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
    /// Its selector, as kubectl writes it; `<all>` for every pod of the namespace, `<none>` for none.
    pub selector: String,
    /// The workloads whose replicas it counts on.
    pub owners: Vec<OwnerReport>,
    /// Other controllers of its pods, and pods without one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OthersReport>,
    /// Computed from the pods: how many are expected.
    pub expected_pods: i32,
    /// Computed: how many must be healthy.
    pub desired_healthy: i32,
    /// Computed: how many are.
    pub current_healthy: i32,
    /// Computed: how many evictions are allowed now.
    pub disruptions_allowed: i32,
    /// How these numbers come about, in words.
    pub arithmetic: String,
    /// What the controller wrote.
    pub reported: Reported,
    /// What it comes to.
    pub verdict: Verdict,
    /// Why it does not count as a problem: the reason in the annotation `kubectl-pdb/ignore`, or `--ignore`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<String>,
    /// Why, and what can be done; the cause of the verdict first.
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

/// A workload whose replicas a budget counts on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OwnerReport {
    /// Its kind.
    pub kind: Str,
    /// Its name.
    pub name: Str,
    /// How many pods it wants.
    pub replicas: i32,
    /// The HorizontalPodAutoscaler that sets its replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autoscaler: Option<AutoscalerReport>,
}

/// Pods under a budget that no workload with a number of replicas makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OthersReport {
    /// The kind of their controller: DaemonSet, Job, a custom kind; `Pod` of a pod without a controller.
    pub kind: Str,
    /// Its name; the pod's own where it has no controller.
    pub name: Str,
    /// How many of its pods the budget covers.
    pub pods: usize,
}

/// A HorizontalPodAutoscaler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AutoscalerReport {
    /// Its name.
    pub name: Str,
    /// Its least number of replicas.
    pub min_replicas: i32,
    /// Its greatest number of replicas.
    pub max_replicas: i32,
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
    /// The generation of the budget that they are of; absent where the controller has not looked at it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The generation of the budget.
    pub generation: i64,
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
    /// `Ready`, or why it is not.
    pub state: String,
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

impl BudgetStatusList {
    /// The answer about these budgets of a snapshot.
    pub fn new(snapshot: &Snapshot, judged: &[Judgement], ignores: &Ignores) -> Self {
        let status = |j: &Judgement| {
            let mut status = BudgetStatus::new(snapshot, j);
            let meta = &j.budget.meta;
            let annotation = meta.annotations.get(ignore::ANNOTATION).map(|value| &**value);
            let leading = status.leading().map(|finding| finding.code);
            status.ignored = leading.and_then(|code| ignores.reason(code, &meta.path(), annotation));
            status
        };
        Self { items: judged.iter().map(status).collect() }
    }
}

impl BudgetStatus {
    fn new(snapshot: &Snapshot, j: &Judgement) -> Self {
        let (b, n, s) = (&j.budget, j.numbers, &j.budget.status);
        let owner = |owner: &Arc<Workload>, replicas| OwnerReport {
            kind: owner.kind.clone(),
            name: owner.meta.name.clone(),
            replicas,
            autoscaler: autoscaler(snapshot, owner),
        };
        Self {
            namespace: b.meta.namespace.clone().unwrap_or_default(),
            name: b.meta.name.clone(),
            rule: (&b.rule).into(),
            unhealthy_pod_eviction_policy: b.unhealthy_policy.clone().unwrap_or_else(|| "IfHealthyBudget".into()),
            selector: b.selector.to_string(),
            owners: j.ideal.owners.iter().map(|share| owner(&share.owner, share.scale)).collect(),
            others: others(snapshot, j),
            expected_pods: n.expected,
            desired_healthy: n.desired,
            current_healthy: n.healthy,
            disruptions_allowed: n.allowed,
            arithmetic: sum(j),
            reported: Reported {
                expected_pods: s.expected_pods,
                desired_healthy: s.desired_healthy,
                current_healthy: s.current_healthy,
                disruptions_allowed: s.disruptions_allowed,
                observed_generation: s.observed_generation,
                generation: b.meta.generation,
                in_sync: j.in_sync,
            },
            verdict: j.verdict,
            ignored: None,
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
                    state: why_not_ready(snapshot, &p.pod).map_or_else(|| "Ready".to_owned(), |w| w.text),
                    eviction: EvictionReport::new(p.eviction.clone(), p.budgets.clone()),
                })
                .collect(),
        }
    }
}

impl Told for BudgetStatus {
    const KIND: &'static str = "budget";

    fn path(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    fn verdict(&self) -> &'static str {
        self.verdict.as_str()
    }

    fn rank(&self) -> u8 {
        match self.verdict {
            Verdict::Never => 0,
            Verdict::Broken => 1,
            Verdict::Unhealthy => 2,
            Verdict::Unknown => 3,
            Verdict::Waits => 4,
            Verdict::Unused => 5,
            Verdict::Allows => 6,
        }
    }

    /// What gives the verdict; of a budget that allows evictions, what there is to know nevertheless.
    fn leading(&self) -> Option<&Finding> {
        self.findings.iter().find(|f| self.verdict != Verdict::Allows || f.severity != Severity::Info)
    }

    fn is_problem(&self) -> bool {
        self.ignored.is_none() && self.leading().is_some()
    }

    fn more(&self) -> Vec<String> {
        ["status", &self.name, "-n", &self.namespace].map(str::to_owned).to_vec()
    }
}

fn autoscaler(snapshot: &Snapshot, owner: &Arc<Workload>) -> Option<AutoscalerReport> {
    let all = snapshot.horizontal_pod_autoscalers.in_namespace(owner.meta.ns());
    let found = all.iter().find(|a| scale_target(snapshot, a).is_some_and(|t| Arc::ptr_eq(t, owner)))?;
    let spec = found.spec.as_ref()?;
    Some(AutoscalerReport {
        name: found.meta.name.clone(),
        min_replicas: spec.min_replicas.unwrap_or(1),
        max_replicas: spec.max_replicas.unwrap_or_default(),
    })
}

/// What makes the pods under a budget besides the workloads with a number of replicas.
fn others(snapshot: &Snapshot, j: &Judgement) -> Vec<OthersReport> {
    let mut all: Vec<OthersReport> = Vec::new();
    let mut places: HashMap<(Str, Str), usize> = HashMap::new();
    for pod in j.pods.iter().map(|p| &p.pod) {
        if snapshot.controller_of(&pod.meta).is_some_and(|w| w.replicas().is_some()) {
            continue;
        }
        let owner = pod.meta.controller.as_ref().map(|o| (o.kind.clone(), o.name.clone()));
        let (kind, name) = owner.unwrap_or_else(|| ("Pod".into(), pod.meta.name.clone()));
        let at = *places.entry((kind.clone(), name.clone())).or_insert_with(|| {
            all.push(OthersReport { kind, name, pods: 0 });
            all.len() - 1
        });
        if let Some(other) = all.get_mut(at) {
            other.pods += 1;
        }
    }
    all
}

/// How the numbers come about.
fn sum(j: &Judgement) -> String {
    if j.findings.iter().any(|f| matches!(f.code, Code::SyncFailed | Code::NotJudged)) {
        return "cannot be computed: the number of expected pods is not known".to_owned();
    }
    let n = j.numbers;
    let spare = i64::from(n.healthy) - i64::from(n.desired);
    let allowed = if n.expected <= 0 && spare > 0 {
        "0 pods are expected, so 0 allowed".to_owned()
    } else if spare < 0 {
        format!("{} healthy − {} needed = {spare}, so 0 allowed", n.healthy, n.desired)
    } else {
        format!("{} healthy − {} needed = {} allowed", n.healthy, n.desired, n.allowed)
    };
    format!("{}. {allowed}", arithmetic(&j.budget.rule, i64::from(n.expected), n.desired))
}

/// A rule's value, as the API writes it.
fn int_or_percentage(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"type": "integer"}, {"type": "string"}], "examples": [json!(1), json!("50%")]})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Selection, judge};
    use crate::testing::{budget, cluster, deployment, object, pod};

    #[test]
    fn what_makes_pods_and_has_no_number_of_replicas_is_named() {
        let of = |name: &str, owner: &str| pod(name).label("app", "x").on("n").ready().owned_by("apps/v1", owner);
        let snapshot = cluster()
            .add(budget("a/b").selects("app=x").min_available(1))
            .add(deployment("a/x").on(&["n", "n"]))
            .add(object("apps/v1", "DaemonSet", "a/d"))
            .all([of("a/d-1", "DaemonSet/d"), of("a/d-2", "DaemonSet/d"), pod("a/bare").label("app", "x").on("n")])
            .add(object("batch/v1", "Job", "a/nightly-1"))
            .add(pod("a/job-1").label("app", "x").on("n").owned_by("batch/v1", "Job/nightly-1"))
            // It is not in the input.
            .add(pod("a/other-1").label("app", "x").on("n").owned_by("x.io/v1", "Other/o"))
            .snapshot();
        let judged = judge(&snapshot, &Selection::new(&snapshot), 0).unwrap();
        let found = others(&snapshot, &judged);
        let mut found: Vec<_> = found.iter().map(|o| (&*o.kind, &*o.name, o.pods)).collect();
        found.sort_unstable();
        let want = [("DaemonSet", "d", 2), ("Job", "nightly-1", 1), ("Other", "o", 1), ("Pod", "bare", 1)];
        assert_eq!(found, want);
        assert_eq!(judged.ideal.owners.len(), 1);
    }
}
