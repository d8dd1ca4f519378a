//! What `kubectl drain` will meet: the drain simulated on the snapshot to its end.
//!
//! ```text
//! flags ─► filters ─► candidates ─► simulate (kubectl's passes) ─► outcome ─► Plan
//!              hazards ──┘              │
//!                              world: ledger (budgets), sets, successors, placement (the scheduler)
//!                                       └──► order: rounds of nodes, packed by budgets and tried in one world
//! ```

pub mod actor;
pub mod command;
pub mod consequences;
pub mod estimate;
pub mod filters;
pub mod finder;
pub mod ground;
pub mod hazards;
pub mod involve;
pub mod ledger;
pub mod note;
pub mod options;
pub mod order;
pub mod outcome;
pub mod owners;
pub mod packing;
pub mod placement;
#[cfg(test)]
mod properties;
pub mod room;
pub mod sets;
pub mod simulate;
pub mod successor;
#[cfg(test)]
pub(crate) mod testing;
pub mod world;

use crate::budget::Selection;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::shell::Kubectl;
use crate::snapshot::node::Node;
use crate::snapshot::{Kind, Snapshot, Str};
use estimate::Estimate;
use filters::Decision;
use finder::Finder;
use ground::{Candidate, Ground};
use options::{After, DrainOptions, Flag};
use order::{Drainable, Order};
use outcome::{PodPlan, Verdict};
use simulate::NodeRun;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use world::World;

/// What is to be planned.
#[derive(Debug, Clone)]
pub struct Request {
    /// The nodes, in the order in which they are drained.
    pub nodes: Vec<Arc<Node>>,
    /// Whether each is judged alone, as none was named, rather than as one command.
    pub each_alone: bool,
    /// The flags of the drain.
    pub options: DrainOptions,
    /// What becomes of a round of nodes before the next one.
    pub after: After,
}

/// What a drain will meet.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The nodes, in the order asked for.
    pub nodes: Vec<NodePlan>,
    /// The advice for doing it in rounds.
    pub order: Order,
    /// What belongs to no single node.
    pub findings: Vec<Finding>,
}

/// What the drain of one node will meet.
#[derive(Debug, Clone)]
pub struct NodePlan {
    /// The node.
    pub node: Arc<Node>,
    /// How its drain ends, within the command as given.
    pub verdict: Verdict,
    /// How its drain ends if it alone is drained now.
    pub alone: Verdict,
    /// The `kubectl drain` line, with the flags it needs.
    pub command: String,
    /// Flags that were not given, and without which drain refuses.
    pub needed_flags: Vec<Flag>,
    /// Every pod of the node.
    pub pods: Vec<PodPlan>,
    /// What it meets.
    pub findings: Vec<Finding>,
    /// How long it takes.
    pub estimate: Estimate,
}

/// From so many nodes on, a replacement takes the first node that the filters allow, and not the best one.
const MANY: usize = 100;

/// Simulates a drain.
pub fn plan(snapshot: &Snapshot, selection: &Selection, request: &Request) -> Plan {
    let ground = Ground::new(snapshot, selection, &request.options);
    let candidates: Vec<Vec<Candidate>> = request.nodes.iter().map(|n| ground.candidates(&n.meta.name)).collect();
    let lists: Vec<(Str, &[Candidate])> =
        request.nodes.iter().zip(&candidates).map(|(n, c)| (n.meta.name.clone(), &c[..])).collect();
    let finder = Rc::new(RefCell::new(Finder::new(&ground)));
    let alone = |at: usize| {
        let list = lists.get(at..=at).unwrap_or_default();
        let mut world = if lists.len() > MANY { World::quick(&ground, finder.clone()) } else { World::new(&ground) };
        let runs = simulate::drain_in(&mut world, &ground, list);
        (world, runs, list.iter().map(|(n, _)| n.clone()).collect::<Vec<Str>>())
    };
    let mut nodes = Vec::with_capacity(lists.len());
    if request.each_alone || lists.len() == 1 {
        for (at, node) in request.nodes.iter().enumerate() {
            let (world, runs, drained) = alone(at);
            if let (Some(run), Some(list)) = (runs.first(), candidates.get(at)) {
                nodes.push(node_plan(&ground, node, list, &world, run, &drained, None));
            }
        }
    } else {
        let drained: Vec<Str> = lists.iter().map(|(n, _)| n.clone()).collect();
        let (world, runs) = simulate::drain(&ground, &lists);
        for (at, ((node, list), run)) in request.nodes.iter().zip(&candidates).zip(&runs).enumerate() {
            let (solo, solo_runs, only) = alone(at);
            let pods = solo_runs.first().map(|r| outcome::pods(&ground, &solo, list, r, &only)).unwrap_or_default();
            let verdict = outcome::verdict(&pods);
            nodes.push(node_plan(&ground, node, list, &world, run, &drained, Some(verdict)));
        }
    }
    let drainable: Vec<Drainable<'_>> = nodes
        .iter()
        .zip(&candidates)
        .filter(|(n, _)| n.alone != Verdict::Blocked)
        .map(|(n, c)| Drainable { node: n.node.meta.name.clone(), candidates: c })
        .collect();
    let order = order::order(&ground, &drainable, request.after);
    let findings = general(request, &nodes, &order);
    Plan { nodes, order, findings }
}

fn node_plan(
    ground: &Ground<'_>,
    node: &Arc<Node>,
    candidates: &[Candidate],
    world: &World<'_>,
    run: &NodeRun,
    drained: &[Str],
    alone: Option<Verdict>,
) -> NodePlan {
    let pods = outcome::pods(ground, world, candidates, run, drained);
    let mut verdict = outcome::verdict(&pods);
    if hazards::is_hidden(ground.snapshot, Kind::Pod) {
        verdict = verdict.max(Verdict::Unknown);
    }
    let mut needed: Vec<Flag> = candidates.iter().flat_map(|c| c.filtered.needs.iter().copied()).collect();
    needed.sort_unstable();
    needed.dedup();
    needed.retain(|f| !ground.options.has(*f));
    let mut findings = node_findings(node, candidates);
    findings.extend(note::findings(pods.iter().flat_map(|p| p.notes.iter().map(move |n| (&p.pod, n)))));
    findings.sort_by_key(|f| f.severity);
    NodePlan {
        node: node.clone(),
        verdict,
        alone: alone.unwrap_or(verdict),
        command: command::line(&Kubectl::of(ground.snapshot), &[&node.meta.name], ground.options, &needed),
        needed_flags: needed,
        estimate: Estimate::new(ground, candidates, run),
        findings,
        pods,
    }
}

/// What is to be said of the node itself.
fn node_findings(node: &Arc<Node>, candidates: &[Candidate]) -> Vec<Finding> {
    if node.is_ready() {
        return Vec::new();
    }
    let leaving = candidates.iter().filter(|c| c.filtered.decision == Decision::Goes).count();
    let state = node.condition("Ready").map_or("not Ready", |c| match c.status {
        crate::snapshot::pod::Truth::Unknown => "not heard of any more",
        _ => "not Ready",
    });
    let name = &node.meta.name;
    let stuck = candidates.iter().filter(|c| c.notes.iter().any(|n| n.code == Code::StuckTerminating)).count();
    if leaving > 0 && stuck == 0 {
        let text = format!(
            "node {name} is {state}: its pods are taken off the API without its kubelet's word, and run on if the machine \
             does"
        );
        let finding = Finding::new(Code::NodeUnreachable, text).about([Ref::node(name)]);
        return vec![finding.severity(Severity::Warning)];
    }
    let text = format!(
        "node {name} is {state}: its kubelet confirms no deletion, so none of its {leaving} pods is gone by a drain alone"
    );
    let remedy = Remedy::advice(format!(
        "drain with --skip-wait-for-delete-timeout to go on past its pods; where the machine is off, delete node {} or \
         give it the taint node.kubernetes.io/out-of-service",
        node.meta.name
    ));
    vec![Finding::new(Code::NodeUnreachable, text).about([Ref::node(&node.meta.name)]).remedy(remedy)]
}

/// What is to be said of the command as a whole.
fn general(request: &Request, nodes: &[NodePlan], order: &Order) -> Vec<Finding> {
    let mut all = Vec::new();
    let worse: Vec<&NodePlan> =
        nodes.iter().filter(|n| n.verdict == Verdict::Blocked && n.alone != Verdict::Blocked).collect();
    if !worse.is_empty() {
        let names: Vec<&str> = worse.iter().map(|n| &*n.node.meta.name).collect();
        let text = format!(
            "kubectl drain cordons all its nodes first and drains them one after the other: {} would end alone and does \
             not in this list; drain in rounds instead",
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
    if let Some((round, pods)) = order.homeless.as_ref().filter(|(round, _)| *round < order.rounds.len()) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::testing::Cluster;

    #[test]
    fn a_node_that_does_not_answer_is_told() {
        // Without grace, or with the taint of a node that is off, its pods go all the same.
        let off = r#"{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}"#;
        let stays = (Severity::Error, "none of its 1 pods is gone by a drain alone");
        let goes = (Severity::Warning, "taken off the API without its kubelet's word");
        for (title, ready, taint, grace_period, want) in [
            ("it answers", "True", "", -1, None),
            ("it is not Ready", "False", "", -1, Some((stays, "is not Ready"))),
            ("it is not heard of", "Unknown", "", -1, Some((stays, "is not heard of any more"))),
            ("no grace is left", "Unknown", "", 0, Some((goes, "is not heard of any more"))),
            ("it is given up", "Unknown", off, -1, Some((goes, "is not heard of any more"))),
        ] {
            let mut c = Cluster::new();
            c.object(&format!(
                r#"{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "n"}}, "spec": {{"taints": [{taint}]}},
                    "status": {{"conditions": [{{"type": "Ready", "status": "{ready}"}}]}}}}"#
            ));
            c.pod_of("a", "p", "n", "", "", "");
            let snapshot = c.snapshot();
            let (selection, options) =
                (Selection::new(&snapshot), DrainOptions { grace_period, ..DrainOptions::default() });
            let ground = Ground::new(&snapshot, &selection, &options);
            let found = node_findings(&snapshot.nodes[0], &ground.candidates("n"));
            assert_eq!(found.len(), usize::from(want.is_some()), "{title}: {found:?}");
            if let (Some(((severity, words), state)), [f]) = (want, &found[..]) {
                assert!(
                    f.severity == severity && f.message.contains(words) && f.message.contains(state),
                    "{title}: {f:?}"
                );
            }
        }
    }
}
