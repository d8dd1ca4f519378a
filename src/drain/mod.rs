//! What a drain will meet, by `kubectl drain` or by another drainer: simulated on the snapshot to its end.
//!
//! ```text
//! commands::drain_plan ─► Request ─► plan (upgrade_plans: what a Plan sets; surge: the cluster with more nodes)
//!                                     │
//!     Drainer (a profile of actors) ─► DrainContext: budgets, controllers, admission, volumes, the scheduler's view
//!                                     │
//!     filters, rules ─► NodePod ─► Simulation (clock, pods, controllers, scheduler, disruption controller)
//!                                     │
//!                                  explain ─► NodePlan ◄─ cures: changes, each tried by all of this again
//!                                                │     ◄─ progress, machines: drains under way, what their objects say
//!                       order: rounds, timeline ─┴─► Plan ─► report, render
//! ```

pub mod actor;
mod actors;
mod cluster_api;
mod command;
mod context;
mod controllers;
mod cures;
mod drainer;
mod estimate;
mod explain;
mod filters;
mod groups;
mod kept;
mod leaves;
mod machines;
mod node_pod;
mod nodes;
pub(crate) mod note;
mod operators;
pub mod options;
mod order;
pub(crate) mod outcome;
mod plan;
mod progress;
#[cfg(test)]
mod properties;
mod provider;
mod refusal;
pub(crate) mod replacement;
mod rules;
mod simulation;
mod surge;
mod termination;
#[cfg(test)]
pub(crate) mod testing;
pub mod timeline;
mod tracker;
mod upgrade_plans;
mod view;
mod volumes;

pub use actor::ActorPlan;
pub use plan::{NodePlan, Plan, Request};

use crate::budget::Selection;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::snapshot::Snapshot;
use actor::Actor;
use context::DrainContext;
use drainer::Cordons;
use node_pod::NodePod;
use options::{After, DrainOptions};
use order::{Drainable, Order};
use outcome::Verdict;
use rules::Rules;

/// Plans a drain.
pub fn plan(snapshot: &Snapshot, selection: &Selection, request: &Request) -> Plan {
    let options = upgrade_plans::with_plan(snapshot, &request.options, &request.nodes);
    let each_alone = request.each_alone;
    let options = DrainOptions {
        parallel: options.parallel.filter(|_| !each_alone || request.options.parallel.is_some()),
        ..options
    };
    let request = Request { options, ..request.clone() };
    if request.options.surge == 0 {
        return planned(snapshot, selection, &request);
    }
    let more = surge::with_more(snapshot, &request.nodes, request.options.surge);
    planned(&more, &Selection::new(&more), &request)
}

fn planned(snapshot: &Snapshot, selection: &Selection, request: &Request) -> Plan {
    let state = context::state_of(snapshot);
    let context = DrainContext::new(snapshot, selection, &state, &request.options);
    let rules = Rules::new(&context);
    let pods: Vec<Vec<NodePod>> = request.nodes.iter().map(|n| rules.node_pods(&n.meta.name)).collect();
    let (mut nodes, timeline) = nodes::plan(&rules, request, &pods);
    cures::add(&context, request, &mut nodes);
    termination::tell(&context, &mut nodes);
    cluster_api::tell(&context, &mut nodes);
    for node in &mut nodes {
        node.findings.extend(upgrade_plans::finding(snapshot, &request.options, &node.node));
    }
    provider::tell(&context, &mut nodes);
    progress::tell(&context, &mut nodes, |nodes, options| as_drained(snapshot, selection, &state, nodes, options));
    nodes::tell_of_pods(&mut nodes);
    let drainable: Vec<Drainable<'_>> = nodes
        .iter()
        .zip(&pods)
        .filter(|(n, _)| !matches!(n.alone, Verdict::Blocked | Verdict::Kept) && !n.is_open())
        .map(|(n, pods)| Drainable { node: n.node.meta.name.clone(), pods })
        .collect();
    let order = order::order(&rules, &drainable, request.after);
    let findings = general(&context, request, &nodes, &order);
    let actor = request.options.by.map(|_| context.drainer.told());
    Plan { nodes, order, timeline, actor, findings }
}

/// How each actor drains, with its own defaults.
pub fn profiles() -> Vec<ActorPlan> {
    Actor::ALL
        .iter()
        .map(|actor| actors::drainer(&DrainOptions { by: Some(*actor), ..DrainOptions::default() }).told())
        .collect()
}

/// The setting of whoever drains that makes it go past budgets after a time; `None` where it has none.
pub fn force_setting(options: &DrainOptions) -> Option<&'static str> {
    actors::drainer(options).force_setting
}

/// What the drain of each node would meet, were it drained alone: without cures, and without an order.
pub fn each_alone(snapshot: &Snapshot, selection: &Selection) -> Vec<NodePlan> {
    let options = DrainOptions::default();
    let state = context::state_of(snapshot);
    as_drained(snapshot, selection, &state, snapshot.nodes.iter().cloned().collect(), &options)
}

/// What the drains of nodes by another drainer would meet, each alone and without cures.
fn as_drained(
    snapshot: &Snapshot,
    selection: &Selection,
    state: &crate::sched::State,
    nodes: Vec<std::sync::Arc<crate::snapshot::node::Node>>,
    options: &DrainOptions,
) -> Vec<NodePlan> {
    let options = DrainOptions { parallel: None, ..upgrade_plans::with_plan(snapshot, options, &nodes) };
    let context = DrainContext::new(snapshot, selection, state, &options);
    let rules = Rules::new(&context);
    let pods: Vec<Vec<NodePod>> = nodes.iter().map(|n| rules.node_pods(&n.meta.name)).collect();
    nodes::plan(&rules, &Request { nodes, each_alone: true, options: options.clone(), after: After::Back }, &pods).0
}

/// What is to be said of the command as a whole.
fn general(context: &DrainContext<'_>, request: &Request, nodes: &[NodePlan], order: &Order) -> Vec<Finding> {
    let mut all = Vec::new();
    let worse: Vec<&NodePlan> =
        nodes.iter().filter(|n| n.verdict == Verdict::Blocked && n.alone != Verdict::Blocked).collect();
    if !worse.is_empty() {
        let names: Vec<&str> = worse.iter().map(|n| &*n.node.meta.name).collect();
        let text = format!(
            "{} {}: {} would end alone and does not in this list; drain in rounds instead",
            context.drainer.name,
            match context.drainer.cordons {
                Cordons::All => "cordons all its nodes first and drains them one after the other",
                Cordons::Each => "drains these nodes one after the other",
            },
            crate::lists::some(names.iter().copied(), 3)
        );
        all.push(Finding::new(Code::BudgetShared, text).about(worse.iter().map(|n| Ref::node(&n.node.meta.name))));
    }
    if !order.left_out.is_empty() {
        let names = crate::lists::some(order.left_out.iter().map(|n| &**n), 3);
        let back = match request.after {
            After::Back => "although the others come back",
            After::Gone => "as the others are taken away",
        };
        let text = format!("{names} can be drained alone, and not after the nodes of the order {back}");
        all.push(Finding::new(Code::BudgetShared, text).about(order.left_out.iter().map(|n| Ref::node(n))));
    }
    if let Some((round, pods)) = order.without_place.as_ref().filter(|(round, _)| *round < order.rounds.len()) {
        let state = match request.after {
            After::Back => "although its nodes are back",
            After::Gone => "as its nodes are taken away",
        };
        let pods = crate::lists::some(pods.iter().map(|p| &**p), 3);
        let text = format!(
            "after round {round} no node has room for the new pods of {pods}, {state}: which pod gets the next room is \
             chance, so plan anew before round {}",
            round + 1
        );
        all.push(Finding::new(Code::ReplacementUnschedulable, text).severity(Severity::Warning));
    }
    all
}
