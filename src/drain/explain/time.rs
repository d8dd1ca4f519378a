//! Deadlines that pass before a pod is gone.

use crate::drain::context::DrainContext;
use crate::drain::node_pod::NodePod;
use crate::drain::note::{Drainability, Note};
use crate::drain::refusal::Refusal;
use crate::drain::simulation::drain::{Attempt, End, NodeRun};
use crate::finding::{Code, Severity};
use crate::snapshot::age::duration_words;

/// What the drainer's own deadline means for a pod, and how long it waits for one whose deletion does not end.
pub fn notes(context: &DrainContext<'_>, p: &NodePod, a: &Attempt, run: &NodeRun) -> Option<Note> {
    let drainer = &context.drainer;
    if let (End::NotWaitedFor, Some(overdue)) = (a.end, drainer.skips_overdue) {
        let text = format!(
            "{} stops waiting for it once its deletion is overdue by {overdue} s (--skip-wait-for-delete-timeout)",
            drainer.name
        );
        return Some(Note::new(Code::StuckTerminating, text).severity(Severity::Warning));
    }
    let limit = drainer.deadline?.after;
    let gives_up = format!("{} ends in an error after {limit} s (--timeout)", drainer.name);
    let grace = drainer.grace_of(&p.pod);
    let (text, blocks) = match (a.step, a.end) {
        (Some(_), End::Outlasts) => {
            let hook = p.pod.spec.longest_pre_stop().unwrap_or_default();
            (format!("{gives_up}, and its preStop hook alone takes {}", duration_words(hook)), true)
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
        (None, _) if run.gave_up && !a.refusal.is_some_and(Refusal::is_final) => {
            (format!("{gives_up}, before its eviction is granted"), true)
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
