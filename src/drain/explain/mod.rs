//! What a simulation means for each pod, in words: what decides its outcome first, then what else there is to know.

mod downtime;
mod obstacle;
mod pinned;
mod refusal;
mod removed;
mod time;

use super::context::DrainContext;
use super::drainer::Removes;
use super::filters::Decision;
use super::node_pod::NodePod;
use super::note::{Drainability, Note};
use super::operators;
use super::outcome::{Action, Outcome, PodPlan, Replacement};
use super::refusal::Refusal;
use super::rules::is_hidden;
use super::simulation::Simulation;
use super::simulation::drain::{Attempt, End, NodeRun};
use crate::finding::{Code, Severity};
use crate::snapshot::{Kind, Str};

/// What became of the pods of one node. `drained` are the nodes of the command.
pub fn pods(
    context: &DrainContext<'_>,
    sim: &Simulation<'_>,
    pods: &[NodePod],
    run: &NodeRun,
    drained: &[Str],
) -> Vec<PodPlan> {
    let mut attempts = run.attempts.iter().peekable();
    let mut plans = Vec::with_capacity(pods.len());
    for (at, pod) in pods.iter().enumerate() {
        plans.push(match attempts.next_if(|a| a.at == at) {
            Some(attempt) => tried(context, sim, pod, attempt, run, drained),
            None => untouched(context, pod),
        });
    }
    plans
}

/// A pod of a node that is not drained.
pub fn not_drained(context: &DrainContext<'_>, p: &NodePod) -> PodPlan {
    plan(context, p, (Action::None, Outcome::Stays), None, None, (None, Vec::new()))
}

fn untouched(context: &DrainContext<'_>, p: &NodePod) -> PodPlan {
    let (action, outcome) = match p.status.decision {
        Decision::Outside => (Action::None, Outcome::Stays),
        Decision::Unknown => (Action::Skip, Outcome::Unknown),
        Decision::Skip | Decision::Delete => (Action::Skip, Outcome::Stays),
    };
    plan(context, p, (action, outcome), None, None, (None, p.notes.clone()))
}

fn tried(
    context: &DrainContext<'_>,
    sim: &Simulation<'_>,
    p: &NodePod,
    a: &Attempt,
    run: &NodeRun,
    drained: &[Str],
) -> PodPlan {
    let action = match context.drainer.removes {
        Removes::ByEviction => Action::Evict,
        Removes::ByDeletion => Action::Delete,
    };
    let mut outcome = outcome(context, p, a);
    let mut notes = refusal::notes(context, sim, p, a);
    let by_time = time::notes(context, p, a, run);
    // What is deleted past its budget is told as that, and then why the budget refused.
    let at = if a.forced_at.is_some() { 0 } else { notes.len() };
    notes.splice(at..at, by_time);
    // What the operator does in the course of the drain is told, rather than what it would do now.
    let told = |n: &&Note| a.operator.is_none() || n.code != Code::OperatorOwned;
    notes.extend(p.notes.iter().filter(told).cloned());
    notes.extend(operator(context, a));
    let mut replacement = None;
    if a.step.is_some() {
        replacement = sim.replacement_of(a.pod).and_then(|r| match (&r.node, &r.new_node) {
            (Some(node), _) => Some(Replacement::On(node.clone())),
            (None, Some(new)) => Some(Replacement::OnNewNode(new.clone())),
            (None, None) if !r.pod.spec.scheduling_gates.is_empty() || r.not_bound.is_some() => None,
            (None, None) => Some(Replacement::Unschedulable(sim.state.refusal(&r.pod))),
        });
        if outcome == Outcome::Gone && matches!(replacement, Some(Replacement::OnNewNode(_))) {
            // Nothing promises that the node comes.
            outcome = Outcome::Waits;
        }
        notes.extend(removed::notes(context, sim, p, a, replacement.as_ref(), drained));
    }
    if outcome == Outcome::Stays {
        lead(&mut notes);
    }
    let forced_at = a.forced_at.map(|at| at - run.began);
    plan(context, p, (action, outcome), a.step, replacement, (forced_at, notes))
}

/// What the operator of its budget does, where that is not told with the refusal.
fn operator(context: &DrainContext<'_>, a: &Attempt) -> Option<Note> {
    let answer = a.operator.as_ref().filter(|_| a.open().is_none())?;
    operators::note(context.budgets.get(a.refusal?.budget()?)?, answer)
}

/// What becomes of a pod that the drainer removes.
pub fn outcome(context: &DrainContext<'_>, p: &NodePod, a: &Attempt) -> Outcome {
    match (a.step, a.end) {
        (None, _) if matches!(a.refusal, Some(Refusal::NotJudged(_))) || a.open().is_some() => Outcome::Unknown,
        (Some(_), _) if a.forced_at.is_some() => Outcome::Waits,
        (None, _) if matches!(a.refusal, Some(Refusal::Held(_))) && p.pod.is_of("Job") => Outcome::Waits,
        (None, _) | (Some(_), End::Never | End::Outlasts) => Outcome::Stays,
        _ if p.drainability == Drainability::Unknown => Outcome::Unknown,
        // What is waited for is a new pod, which a quota that may not be read may refuse, or a policy.
        _ if a.refused_first && is_hidden(context.snapshot, Kind::ResourceQuota) => Outcome::Unknown,
        _ if a.refused_first && p.drainability == Drainability::Unreplaced => Outcome::Unknown,
        _ if a.refused_first => Outcome::Waits,
        _ => Outcome::Gone,
    }
}

/// What keeps a pod comes first, and is never a mere remark.
fn lead(notes: &mut [Note]) {
    let keeps = |n: &Note| n.drainability > Drainability::Unknown;
    if !notes.first().is_some_and(keeps)
        && let Some(at) = notes.iter().position(keeps)
    {
        notes.get_mut(..=at).into_iter().for_each(|n| n.rotate_right(1));
    }
    if let Some(first) = notes.first_mut() {
        first.severity = Some(Severity::Error);
    }
}

fn plan(
    context: &DrainContext<'_>,
    p: &NodePod,
    (action, outcome): (Action, Outcome),
    step: Option<u32>,
    replacement: Option<Replacement>,
    (forced_at, notes): (Option<i64>, Vec<Note>),
) -> PodPlan {
    let mut codes: Vec<Code> = Vec::new();
    for code in p.status.codes.iter().copied().chain(notes.iter().map(|n| n.code)) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    let budgets = context.budgets.paths(&p.budgets);
    PodPlan { pod: p.pod.clone(), action, outcome, step, codes, budgets, replacement, forced_at, notes }
}
