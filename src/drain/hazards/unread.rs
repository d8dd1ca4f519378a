//! Lists that may not be read: what depends on them is not known, and never called good.

use super::Look;
use crate::drain::note::{Effect, Note};
use crate::finding::Code;
use crate::snapshot::coverage::Outcome;
use crate::snapshot::{Kind, Snapshot};

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    if look.is_running() && !look.options.disable_eviction && is_hidden(look.snapshot, Kind::PodDisruptionBudget) {
        let text = "the budgets could not be read: whether one refuses the eviction is not known";
        notes.push(Note::new(Code::NotJudged, text).effect(Effect::Unknown));
    }
}

/// Whether there may be objects of a kind that are not shown.
pub fn is_hidden(snapshot: &Snapshot, kind: Kind) -> bool {
    matches!(snapshot.coverage.of(kind), Outcome::Forbidden(_) | Outcome::Failed(_))
}
