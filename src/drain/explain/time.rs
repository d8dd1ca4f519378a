//! Deadlines that pass before a pod is gone.

use crate::drain::actor::Actor;
use crate::drain::context::DrainContext;
use crate::drain::drainer::{AtDeadline, seconds};
use crate::drain::node_pod::NodePod;
use crate::drain::note::{Drainability, Note};
use crate::drain::refusal::Refusal;
use crate::drain::simulation::drain::{Attempt, End, NodeRun};
use crate::finding::{Code, Severity};
use crate::snapshot::age::duration_words;

/// What the drainer's own deadline means for a pod, and how long it waits for one whose deletion does not end.
pub fn notes(context: &DrainContext<'_>, p: &NodePod, a: &Attempt, run: &NodeRun) -> Option<Note> {
    let drainer = &context.drainer;
    if let (End::NotWaitedFor, Some(overdue)) = (a.end, context.skips_overdue(&run.node)) {
        let text = format!(
            "{} stops waiting for it once its deletion is overdue by {overdue} s (--skip-wait-for-delete-timeout)",
            drainer.name
        );
        return Some(Note::new(Code::StuckTerminating, text).severity(Severity::Warning));
    }
    if let Some(note) = forced(context, p, a, run) {
        return Some(note);
    }
    let deadline = run.deadline?;
    let gives_up = match deadline.then {
        _ if drainer.actor == Actor::Kubectl => {
            format!("{} ends in an error after {} s (--timeout)", drainer.name, deadline.after)
        }
        AtDeadline::Fails(_) | AtDeadline::FailsUnevicted(_) => {
            format!("{} gives up after {} ({})", drainer.name, seconds(deadline.after), deadline.setting)
        }
        AtDeadline::Deletes | AtDeadline::DeletesBefore => return None,
        AtDeadline::TakesNode(what) => format!("after {} {} {what}", seconds(deadline.after), drainer.name),
    };
    let grace = drainer.grace_of(&p.pod);
    let (text, blocks) = match (a.step, a.end) {
        (Some(_), End::Outlasts) => {
            let hook = p.pod.spec.longest_pre_stop().unwrap_or_default();
            (format!("{gives_up}, and its preStop hook alone needs {}", duration_words(hook)), true)
        }
        (Some(_), End::MayOutlast) if p.pod.is_terminating() => {
            let left = p.pod.grace_left(context.snapshot.now).unwrap_or_default();
            (
                format!(
                    "{gives_up}: too early if the pod uses the {} that are left of its grace period",
                    duration_words(left)
                ),
                false,
            )
        }
        (Some(_), End::MayOutlast) => {
            (format!("{gives_up}: too early if the pod uses its grace period of {grace} s"), false)
        }
        (Some(_), End::Never) => (format!("{gives_up}, and its deletion does not end"), true),
        (None, _) if run.gave_up && !a.refusal.is_some_and(|r| drainer.gives_up_on(r)) => {
            let then = match deadline.then {
                AtDeadline::Fails(what) | AtDeadline::FailsUnevicted(what) if drainer.actor != Actor::Kubectl => {
                    format!(": {what}")
                }
                _ => String::new(),
            };
            (format!("{gives_up}, before its eviction is granted{then}"), true)
        }
        _ => return None,
    };
    let note = Note::new(Code::Timeout, text);
    Some(if blocks {
        note.means(Drainability::Stuck).severity(Severity::Error)
    } else {
        note.severity(Severity::Warning)
    })
}

/// That a pod is deleted at the deadline, past its budgets.
fn forced(context: &DrainContext<'_>, p: &NodePod, a: &Attempt, run: &NodeRun) -> Option<Note> {
    let after = a.forced_at? - run.began;
    let name = context.drainer.name;
    let when = if after > 0 { format!("after {}", seconds(after)) } else { "at once".to_owned() };
    let paths = context.budgets.paths(&p.budgets);
    let budgets: Vec<&str> = paths.iter().map(|path| &**path).collect();
    let past = match (a.refusal, &budgets[..]) {
        (Some(Refusal::Held(by)), []) => format!("past {by}"),
        (_, []) => "although it is not evicted by then".to_owned(),
        (_, budgets) => format!("past its budget {}", budgets.join(" and ")),
    };
    let grace = p.pod.spec.termination_grace;
    let node = p.pod.node.as_deref().unwrap_or_default();
    let text = match context.deadline_of(node).map(|d| d.then) {
        Some(AtDeadline::TakesNode(_)) => format!("{name} removes it {when}, {past}: the node is taken away with it"),
        Some(AtDeadline::DeletesBefore) if after > 0 => {
            format!("{name} deletes it {when}, {past}: its grace period of {grace} s before the node must end")
        }
        Some(AtDeadline::DeletesBefore) => {
            format!(
                "{name} deletes it {when}, {past}: its grace period of {grace} s is as long as the node has, or longer"
            )
        }
        _ => format!("{name} deletes it {when}, {past}"),
    };
    let means = a.refusal.map_or(Drainability::Drains, Drainability::Refused);
    Some(Note::new(Code::Timeout, text).means(means).severity(Severity::Error))
}
