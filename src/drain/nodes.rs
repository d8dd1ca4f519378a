//! The nodes of a plan: each simulated, within the command as given and alone.

use super::command;
use super::context::DrainContext;
use super::drainer::WithoutFlag;
use super::estimate::Estimate;
use super::explain;
use super::filters::Decision;
use super::kept::{self, Choice, Chooser};
use super::node_pod::NodePod;
use super::note;
use super::options::{After, Flag};
use super::outcome::{Outcome, PodPlan, Verdict};
use super::plan::{NodePlan, Request};
use super::rules::{Rules, is_hidden, is_left_out};
use super::simulation::drain::{NodeRun, Pace};
use super::simulation::{SimPod, Simulation};
use super::timeline::Timeline;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::shell::Kubectl;
use crate::snapshot::node::Node;
use crate::snapshot::pod::Truth;
use crate::snapshot::{Kind, Str};
use std::sync::Arc;

/// Plans the nodes of a request, with what is on each; and when each is drained, where several are at a time.
pub fn plan(rules: &Rules<'_>, request: &Request, pods: &[Vec<NodePod>]) -> (Vec<NodePlan>, Option<Timeline>) {
    let context = rules.context();
    let chooser = Chooser::new(context);
    let choices: Vec<Choice> = request.nodes.iter().map(|n| chooser.choice(context, &n.meta.name)).collect();
    let goes = |at: &usize| !matches!(choices.get(*at), Some(Choice::Kept(_)));
    let (going, lists): (Vec<Arc<Node>>, Vec<Vec<NodePod>>) = (0..)
        .zip(request.nodes.iter().zip(pods))
        .filter(|(at, _)| goes(at))
        .map(|(_, (n, p))| (n.clone(), p.clone()))
        .unzip();
    let (drained, timeline) = if going.len() == request.nodes.len() {
        drained(rules, request, pods)
    } else {
        drained(rules, &Request { nodes: going, ..request.clone() }, &lists)
    };
    let mut drained = drained.into_iter();
    let all = request.nodes.iter().zip(pods).zip(&choices);
    let nodes = all.filter_map(|((node, list), choice)| match choice {
        Choice::Kept(_) => Some(kept::plan(context, node, list, choice)),
        Choice::Goes => drained.next(),
        Choice::Unknown(_) => drained.next().map(|mut plan| {
            plan.findings.extend(kept::findings(context, node, choice));
            plan.verdict = plan.verdict.max(Verdict::Unknown);
            plan
        }),
    });
    (nodes.collect(), timeline)
}

/// Plans the nodes of a request that are drained.
fn drained(rules: &Rules<'_>, request: &Request, pods: &[Vec<NodePod>]) -> (Vec<NodePlan>, Option<Timeline>) {
    let context = rules.context();
    let lists: Vec<(Str, &[NodePod])> =
        request.nodes.iter().zip(pods).map(|(n, p)| (n.meta.name.clone(), &p[..])).collect();
    let alone = |at: usize| {
        let list = lists.get(at..=at).unwrap_or_default();
        let mut sim = Simulation::new(context);
        let runs = sim.drain(list);
        (sim, runs, list.iter().map(|(n, _)| n.clone()).collect::<Vec<Str>>())
    };
    let mut nodes = Vec::with_capacity(lists.len());
    if context.options.parallel.is_none() && (request.each_alone || lists.len() == 1) {
        for (at, (node, list)) in request.nodes.iter().zip(pods).enumerate() {
            let (sim, runs, drained) = alone(at);
            nodes.extend(runs.first().map(|run| node_plan(context, node, list, &sim, run, &drained, None)));
        }
        return (nodes, None);
    }
    let drained: Vec<Str> = lists.iter().map(|(n, _)| n.clone()).collect();
    let mut sim = Simulation::new(context);
    let runs = as_asked(rules, &mut sim, &lists, request.after);
    for (at, ((node, list), run)) in request.nodes.iter().zip(pods).zip(&runs).enumerate() {
        let (solo, solo_runs, only) = alone(at);
        let pods = solo_runs.first().map(|r| explain::pods(context, &solo, list, r, &only)).unwrap_or_default();
        nodes.push(node_plan(context, node, list, &sim, run, &drained, Some(Verdict::over(&pods))));
    }
    let verdicts: Vec<Verdict> = nodes.iter().map(|n| n.verdict).collect();
    let timeline = |parallel| Timeline::new(context, &verdicts, &runs, parallel, request.after);
    let timeline = context.options.parallel.map(timeline);
    (nodes, timeline)
}

/// Drains nodes as was asked: by one command, or a few at a time, each in its turn.
pub fn as_asked(
    rules: &Rules<'_>,
    sim: &mut Simulation<'_>,
    lists: &[(Str, &[NodePod])],
    after: After,
) -> Vec<NodeRun> {
    let Some(parallel) = rules.context().options.parallel else { return sim.drain(lists) };
    let arrived = |p: &SimPod| rules.node_pod(&p.pod, p.budgets.clone());
    sim.drain_at(lists, &Pace { parallel, after: Some(after), arrived: Some(&arrived) })
}

/// Adds to the findings of nodes what their pods meet.
pub fn tell_of_pods(nodes: &mut [NodePlan]) {
    for node in nodes {
        let notes = node.pods.iter().flat_map(|p| p.notes.iter().map(move |n| (&p.pod, n)));
        node.findings.extend(note::findings(notes));
        node.findings.sort_by_key(|f| f.severity);
    }
}

fn node_plan(
    context: &DrainContext<'_>,
    node: &Arc<Node>,
    list: &[NodePod],
    sim: &Simulation<'_>,
    run: &NodeRun,
    drained: &[Str],
    alone: Option<Verdict>,
) -> NodePlan {
    let mut pods = explain::pods(context, sim, &run.pods, run, drained);
    let mut verdict = Verdict::over(&pods);
    let mut findings = of_node(node, list);
    let moved = pods.split_off(list.len().min(pods.len()));
    findings.extend(moved.iter().filter_map(moved_here));
    findings.extend(moved_and_waiting(&moved));
    if is_hidden(context.snapshot, Kind::Pod) {
        verdict = verdict.max(Verdict::Unknown);
    } else if is_left_out(context.snapshot, Kind::Pod) {
        verdict = verdict.max(Verdict::Unknown);
        let text = "the input has no pods and does not say that they were read: what runs on the node is not known";
        findings.push(Finding::new(Code::NotJudged, text).about([Ref::node(&node.meta.name)]));
    }
    let mut needed: Vec<Flag> = list.iter().flat_map(|p| p.status.needs.iter().copied()).collect();
    needed.sort_unstable();
    needed.dedup();
    needed.retain(|f| !context.has(*f));
    let by_hand: Vec<Flag> = needed.iter().chain(&context.drainer.passes).copied().collect();
    if context.drainer.without_flag == WithoutFlag::Fails {
        needed.clear();
    }
    NodePlan {
        node: node.clone(),
        verdict,
        alone: alone.unwrap_or(verdict),
        command: command::line(&Kubectl::of(context.snapshot), &[&node.meta.name], context.options, &by_hand),
        needed_flags: needed,
        estimate: Estimate::new(context, list, run),
        findings,
        forced_at: pods.iter().filter_map(|p| p.forced_at).min(),
        pods,
    }
}

/// What is said of a pod that the plan itself has put on the node before it is drained, where the pod keeps the node from that.
fn moved_here(p: &PodPlan) -> Option<Finding> {
    let note = p.notes.first().filter(|_| p.blocks())?;
    let text = format!("{}, which an earlier drain of this plan moves to the node: {}", p.pod.meta.path(), note.text);
    Some(Finding::new(note.code, text).about([Ref::pod(&p.pod)]).severity(Severity::Error))
}

/// That pods which the plan itself has put on the node are evicted from there, too, where some of them wait.
fn moved_and_waiting(moved: &[PodPlan]) -> Option<Finding> {
    let waiting: Vec<&PodPlan> = moved.iter().filter(|p| p.outcome == Outcome::Waits).collect();
    let first = waiting.first()?;
    let names: Vec<String> = waiting.iter().map(|p| p.pod.meta.path()).collect();
    let why = first.notes.first().map(|n| format!(": {}", n.text)).unwrap_or_default();
    let text = format!(
        "{}, which earlier drains of this plan move to the node, are evicted after waiting{why}",
        crate::lists::some(names.iter().map(|n| &**n), 3)
    );
    Some(Finding::new(Code::BudgetShared, text).severity(Severity::Warning))
}

/// What is to be said of the node itself.
fn of_node(node: &Arc<Node>, pods: &[NodePod]) -> Vec<Finding> {
    if node.is_ready() {
        return Vec::new();
    }
    let removed = pods.iter().filter(|p| p.status.decision == Decision::Delete).count();
    let state = node.condition("Ready").map_or("not Ready", |c| match c.status {
        Truth::Unknown => "not heard of any more",
        _ => "not Ready",
    });
    let name = &node.meta.name;
    let stuck = pods.iter().filter(|p| p.notes.iter().any(|n| n.code == Code::StuckTerminating)).count();
    if removed > 0 && stuck == 0 {
        let text = format!(
            "node {name} is {state}: its pods are deleted from the API without an answer of its kubelet, and their \
             containers run on if the machine does"
        );
        let finding = Finding::new(Code::NodeUnreachable, text).about([Ref::node(name)]);
        return vec![finding.severity(Severity::Warning)];
    }
    let silent = format!("node {name} is {state}: its kubelet confirms no deletion");
    let text = match removed {
        0 => format!("{silent}; no pod of it is to be evicted"),
        1 => format!("{silent}, so the deletion of its pod does not end"),
        n => format!("{silent}, so the deletion of its {n} pods does not end"),
    };
    if removed == 0 {
        return vec![Finding::new(Code::NodeUnreachable, text).about([Ref::node(name)]).severity(Severity::Warning)];
    }
    vec![Finding::new(Code::NodeUnreachable, text).about([Ref::node(name)])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::options::DrainOptions;
    use crate::drain::rules::Rules;
    use crate::drain::testing::{Cluster, with_context};

    #[test]
    fn a_node_that_does_not_answer_is_told() {
        // Without grace, or with the taint of a node that is off, its pods go all the same.
        let off = r#"{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}"#;
        let stays = (Severity::Error, "the deletion of its pod does not end");
        let goes = (Severity::Warning, "deleted from the API without an answer of its kubelet");
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
            let options = DrainOptions { grace_period, ..DrainOptions::default() };
            let found = with_context(&snapshot, &options, |context| {
                of_node(&snapshot.nodes[0], &Rules::new(context).node_pods("n"))
            });
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
