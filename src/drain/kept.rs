//! Which nodes an autoscaler would not take away: they are not drained by it.

use super::actor::Actor;
use super::context::DrainContext;
use super::estimate::Estimate;
use super::explain;
use super::node_pod::NodePod;
use super::outcome::Verdict;
use super::plan::NodePlan;
use crate::autoscale::cluster_autoscaler::{self, Groups, ScaleDown};
use crate::autoscale::karpenter::disruption::{self, Disruption};
use crate::autoscale::karpenter::labels::NODE_POOL;
use crate::autoscale::karpenter::taints::DISRUPTED;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::snapshot::Kind;
use crate::snapshot::node::Node;
use std::sync::Arc;

/// What an autoscaler does with a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// It takes the node away, or does so already; or nobody chooses.
    Goes,
    /// It keeps the node, for all of these reasons.
    Kept(Vec<String>),
    /// Whether it takes the node away cannot be told, for these reasons.
    Unknown(Vec<String>),
}

/// Who chooses among the nodes, where the drainer does.
pub enum Chooser<'a> {
    /// Every node is drained.
    Nobody,
    /// Karpenter without a NodePool: it has nothing to choose from.
    NoPool,
    /// Karpenter.
    Karpenter(Box<Disruption<'a>>),
    /// The Cluster Autoscaler.
    ClusterAutoscaler(Box<ScaleDown<'a>>),
}

impl<'a> Chooser<'a> {
    /// That of a drain.
    pub fn new(context: &DrainContext<'a>) -> Self {
        match context.drainer.actor {
            Actor::Karpenter => {
                Disruption::new(context.state).map_or(Self::NoPool, |disruption| Self::Karpenter(Box::new(disruption)))
            }
            Actor::ClusterAutoscaler => {
                Self::ClusterAutoscaler(Box::new(ScaleDown::new(context.state, Groups::default())))
            }
            _ => Self::Nobody,
        }
    }

    /// What is done with a node.
    pub fn choice(&self, context: &DrainContext<'_>, node: &str) -> Choice {
        let now = context.snapshot.now;
        match self {
            Self::Nobody => Choice::Goes,
            Self::NoPool => without_pool(context, node),
            Self::Karpenter(disruption) => {
                let words = |keeps: Vec<disruption::Keeps>| keeps.iter().map(|k| k.words(now)).collect();
                match disruption.of(node) {
                    Some(disruption::Fate::Kept(keeps)) => Choice::Kept(words(keeps)),
                    Some(disruption::Fate::Unknown(keeps)) => Choice::Unknown(words(keeps)),
                    Some(disruption::Fate::Disrupted(_) | disruption::Fate::Going) | None => Choice::Goes,
                }
            }
            Self::ClusterAutoscaler(scale_down) => match scale_down.of(node) {
                Some(cluster_autoscaler::Fate::Kept(keeps)) => {
                    Choice::Kept(keeps.iter().map(|k| k.words(now, scale_down.settings())).collect())
                }
                Some(cluster_autoscaler::Fate::Removed(_)) if !scale_down.knows_sizes() => Choice::Unknown(vec![
                    "a node group at its minimum size keeps its nodes, and the sizes of the groups are not known \
                     (neither by --nodes of the autoscaler, nor in the API)"
                        .to_owned(),
                ]),
                Some(cluster_autoscaler::Fate::Removed(_) | cluster_autoscaler::Fate::Going) | None => Choice::Goes,
            },
        }
    }
}

/// Without any NodePool Karpenter ends only what it has made: a node with a NodeClaim, or its marks.
fn without_pool(context: &DrainContext<'_>, name: &str) -> Choice {
    let marked = context
        .snapshot
        .nodes
        .named("", name)
        .is_some_and(|n| n.meta.labels.has(NODE_POOL) || n.taints.iter().any(|t| &*t.key == DISRUPTED));
    if marked || context.node_claims().of(name).is_some() {
        return Choice::Goes;
    }
    let none = "it has neither a NodeClaim nor a label of Karpenter's, and there is no NodePool";
    if context.snapshot.coverage.has(Kind::NodePool) {
        Choice::Kept(vec![none.to_owned()])
    } else {
        Choice::Unknown(vec![format!("{none} in the input, which does not say that NodePools were read")])
    }
}

/// What is said of a node that is kept, or of which that is not known.
pub fn findings(context: &DrainContext<'_>, node: &Node, choice: &Choice) -> Vec<Finding> {
    let (code, reasons, what) = match choice {
        Choice::Goes => return Vec::new(),
        Choice::Kept(reasons) => (Code::AutoscalerKeeps, reasons, "does not remove"),
        Choice::Unknown(reasons) => (Code::NotJudged, reasons, "might not remove"),
    };
    let (who, name) = (context.drainer.name, &node.meta.name);
    let text = |why: &String| format!("{who} {what} node {name}: {why}");
    let finding = |why| Finding::new(code, text(why)).about([Ref::node(name)]).severity(Severity::Warning);
    reasons.iter().map(finding).collect()
}

/// The plan of a node that is kept: nothing is done.
pub fn plan(context: &DrainContext<'_>, node: &Arc<Node>, pods: &[NodePod], choice: &Choice) -> NodePlan {
    NodePlan {
        node: node.clone(),
        verdict: Verdict::Kept,
        alone: Verdict::Kept,
        command: String::new(),
        needed_flags: Vec::new(),
        forced_at: None,
        pods: pods.iter().map(|p| explain::not_drained(context, p)).collect(),
        findings: findings(context, node, choice),
        estimate: Estimate { steps: 0, seconds: 0, basis: format!("{} does not drain it", context.drainer.name) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Selection;
    use crate::drain::options::{After, DrainOptions};
    use crate::drain::{Request, plan};
    use crate::testing::{cluster, deployment, node};
    use serde_json::json;

    #[test]
    fn a_node_that_the_autoscaler_keeps_is_not_drained() {
        let member = |name: &str| {
            let node = node(name).allocatable("cpu", "4").allocatable("memory", "8Gi").allocatable("pods", "10");
            node.label("kwok-nodegroup", "workers")
        };
        let autoscaler = |flag: &str| {
            deployment("kube-system/cluster-autoscaler").spec(json!({"template": {"spec": {"containers": [
                {"name": "ca", "image": "x", "command": ["./cluster-autoscaler", flag]},
            ]}}}))
        };
        let (sized, unsized_) = ("--nodes=1:9:workers", "--v=4");
        for (title, cpu, flag, verdict, code) in [
            ("its pod has a place on the other node", "1", sized, Verdict::Drains, None),
            ("and its group may be at its minimum", "1", unsized_, Verdict::Unknown, None),
            ("its pods request too much", "3", sized, Verdict::Kept, Some(Code::AutoscalerKeeps)),
        ] {
            let web = deployment("shop/web").on(&["n1"]).pods(|_, p| p.requests("cpu", cpu));
            let snapshot = cluster().add(member("n1")).add(member("n2")).add(autoscaler(flag)).add(web).snapshot();
            let options = DrainOptions { by: Some(Actor::ClusterAutoscaler), ..DrainOptions::default() };
            let nodes = vec![snapshot.nodes.named("", "n1").unwrap().clone()];
            let request = Request { nodes, each_alone: false, options, after: After::Back };
            let planned = plan(&snapshot, &Selection::new(&snapshot), &request).nodes.remove(0);
            let told = planned.findings.iter().find(|f| f.code == Code::AutoscalerKeeps).map(|f| f.code);
            assert_eq!((planned.verdict, told), (verdict, code), "{title}: {:?}", planned.findings);
            assert_eq!(planned.pods.iter().any(|p| p.step.is_some()), verdict != Verdict::Kept, "{title}");
        }
    }
}
