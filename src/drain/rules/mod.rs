//! What a pod meets on its way out, whatever else is drained: one rule a file.

mod agents;
mod autoscaler;
mod finalizers;
mod flags;
mod gates;
mod grace;
mod groups;
mod jobs;
mod no_prestop;
mod operators;
mod ordered;
mod reloader;
mod rollout;
mod rule;
mod shell;
mod stuck;
mod unread;
mod webhooks;

pub use rule::RuleContext;
pub use unread::{is_hidden, is_left_out};

use super::context::DrainContext;
use super::filters::Decision;
use super::node_pod::NodePod;
use super::note::Note;
use super::tracker::BudgetId;
use crate::snapshot::pod::Pod;
use rule::Facts;
use std::sync::Arc;

/// The rules, in the order in which their findings are told.
const ALL: &[fn(&RuleContext<'_>, &mut Vec<Note>)] = &[
    flags::check,
    unread::check,
    stuck::check,
    webhooks::check,
    finalizers::check,
    operators::check,
    ordered::check,
    jobs::check,
    groups::check,
    rollout::check,
    grace::check,
    no_prestop::check,
    shell::check,
    gates::check,
    agents::check,
    reloader::check,
    autoscaler::check,
];

/// The rules, ready for the pods of one drain.
pub struct Rules<'a> {
    context: &'a DrainContext<'a>,
    facts: Facts,
}

impl<'a> Rules<'a> {
    /// The rules for a drain.
    pub fn new(context: &'a DrainContext<'a>) -> Self {
        Self { context, facts: Facts::default() }
    }

    /// The drain that they are for.
    pub fn context(&self) -> &'a DrainContext<'a> {
        self.context
    }

    /// The pods of a node, each with what the filters say of it and what it meets.
    pub fn node_pods(&self, node: &str) -> Vec<NodePod> {
        let pods = self.context.snapshot.pods_on(node);
        pods.map(|pod| self.node_pod(pod, self.context.budgets.of(pod).to_vec())).collect()
    }

    /// A pod under these budgets.
    pub fn node_pod(&self, pod: &Arc<Pod>, budgets: Vec<BudgetId>) -> NodePod {
        let (snapshot, options) = (self.context.snapshot, self.context.options);
        let status = (self.context.drainer.filter)(&self.context.view, pod);
        let rule = RuleContext { context: self.context, snapshot, options, facts: &self.facts, pod, status: &status };
        let mut notes = Vec::new();
        match status.decision {
            Decision::Delete => ALL.iter().for_each(|check| check(&rule, &mut notes)),
            Decision::Skip | Decision::Unknown => flags::check(&rule, &mut notes),
            Decision::Outside => {}
        }
        let drainability = notes.iter().map(|n| n.drainability).max().unwrap_or_default();
        NodePod { pod: pod.clone(), status, budgets, notes, drainability }
    }
}
