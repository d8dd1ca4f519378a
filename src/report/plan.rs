//! `DrainPlan`: what `drain-plan` answers.

use crate::drain::outcome::{Action, Outcome, PodPlan, Replacement, Verdict};
use crate::drain::{NodePlan, Plan};
use crate::finding::{Code, Finding};
use crate::snapshot::Str;
use schemars::JsonSchema;
use serde::Serialize;

/// The body of a `DrainPlan`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrainPlan {
    /// The nodes, in the order asked for.
    pub nodes: Vec<NodeReport>,
    /// Nodes in one inner list may be drained at the same time; the lists go one after the other.
    pub order: Vec<Vec<Str>>,
    /// No order can do with fewer lists.
    pub lower_bound: usize,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeReport {
    /// Its name.
    pub name: Str,
    /// How its drain ends, within the command as given.
    pub verdict: Verdict,
    /// How its drain ends if it alone is drained now.
    pub alone: Verdict,
    /// The line that drains it.
    pub command: String,
    /// Flags that were not given, and without which drain refuses.
    pub needed_flags: Vec<&'static str>,
    /// Every pod of the node.
    pub pods: Vec<PodReport>,
    /// What it meets.
    pub findings: Vec<Finding>,
    /// How long it takes.
    pub estimate: EstimateReport,
}

/// A pod.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodReport {
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// What drain does with it.
    pub action: Action,
    /// What becomes of it.
    pub outcome: Outcome,
    /// The pass that lets it go, from 1.
    pub step: Option<u32>,
    /// What it meets.
    pub codes: Vec<Code>,
    /// `namespace/name` of the budgets that cover it.
    pub budgets: Vec<Str>,
    /// The pod that replaces it, where one is made.
    pub replacement: Option<ReplacementReport>,
}

/// The pod that replaces an evicted one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReplacementReport {
    /// The node it starts on.
    Node(Str),
    /// The node that does not exist yet, and that alone can take it.
    NewNode(NewNodeReport),
    /// The scheduler's words where no node takes it.
    Unschedulable(String),
}

/// A node that does not exist yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewNodeReport {
    /// The NodePool that it would come from.
    pub pool: Str,
    /// Why it could come; that it does is not promised.
    pub why: String,
}

/// How long a drain takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EstimateReport {
    /// How many passes let something go.
    pub steps: u32,
    /// Seconds until the last pod that goes is gone.
    pub seconds: i64,
    /// What the estimate rests on.
    pub basis: String,
}

impl From<&Plan> for DrainPlan {
    fn from(plan: &Plan) -> Self {
        Self {
            nodes: plan.nodes.iter().map(NodeReport::from).collect(),
            order: plan.order.rounds.clone(),
            lower_bound: plan.order.lower_bound,
        }
    }
}

impl From<&NodePlan> for NodeReport {
    fn from(n: &NodePlan) -> Self {
        Self {
            name: n.node.meta.name.clone(),
            verdict: n.verdict,
            alone: n.alone,
            command: n.command.clone(),
            needed_flags: n.needed_flags.iter().map(|f| f.as_str()).collect(),
            pods: n.pods.iter().map(PodReport::from).collect(),
            findings: n.findings.clone(),
            estimate: EstimateReport {
                steps: n.estimate.steps,
                seconds: n.estimate.seconds,
                basis: n.estimate.basis.clone(),
            },
        }
    }
}

impl From<&PodPlan> for PodReport {
    fn from(p: &PodPlan) -> Self {
        Self {
            namespace: p.pod.meta.namespace.clone().unwrap_or_default(),
            name: p.pod.meta.name.clone(),
            action: p.action,
            outcome: p.outcome,
            step: p.step,
            codes: p.codes.clone(),
            budgets: p.budgets.clone(),
            replacement: p.replacement.as_ref().map(|r| match r {
                Replacement::On(node) => ReplacementReport::Node(node.clone()),
                Replacement::OnNewNode(new) => {
                    ReplacementReport::NewNode(NewNodeReport { pool: new.pool.clone(), why: new.why.clone() })
                }
                Replacement::Unschedulable(words) => ReplacementReport::Unschedulable(words.clone()),
            }),
        }
    }
}
