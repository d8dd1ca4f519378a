//! Rollouts in progress: they take pods from the same budget that the drain needs.

use super::Look;
use crate::drain::note::Note;
use crate::finding::{Code, Ref};
use crate::snapshot::workload::{Detail, Workload};

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let Some(top) = look.top().filter(|_| look.is_running() && look.has_budget()) else { return };
    let Some(state) = progress(top) else { return };
    let text = format!(
        "a rollout of {} {} is under way ({state}); it takes pods of the same budget down, and budgets do not limit it",
        top.kind,
        top.meta.path()
    );
    notes.push(Note::new(Code::RolloutInProgress, text).about([Ref::workload(top)]));
}

/// How far a rollout is; `None` where none is under way.
fn progress(w: &Workload) -> Option<String> {
    let (updated, replicas) = match &w.detail {
        Detail::Deployment(d) => {
            let status = &d.1;
            (status.updated_replicas.unwrap_or_default(), status.replicas.unwrap_or_default())
        }
        Detail::StatefulSet(s) => {
            let (spec, status) = &**s;
            if status.update_revision == status.current_revision || status.update_revision.is_empty() {
                return None;
            }
            if spec.update_strategy.as_ref().is_some_and(|u| u.type_ == "OnDelete") {
                return None;
            }
            (status.updated_replicas.unwrap_or_default(), status.replicas.unwrap_or_default())
        }
        _ => return None,
    };
    (updated < replicas).then(|| format!("{updated} of {replicas} pods are new"))
}
