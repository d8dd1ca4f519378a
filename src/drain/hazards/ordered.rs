//! StatefulSets that make their pods in order: a new one only when the old one is gone and all lower ones are Ready.

use super::Look;
use crate::drain::note::Note;
use crate::drain::owners::Makes;
use crate::finding::{Code, Ref};

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let Some(owner) = look.ground.owners.of(look.pod).filter(|o| o.makes == Makes::InOrder) else { return };
    let Some(set) = owner.workload.as_ref().filter(|_| !look.pod.is_finished()) else { return };
    let text = format!(
        "StatefulSet {} (OrderedReady) makes it again only when it is gone and all lower ordinals are Ready",
        set.meta.path()
    );
    notes.push(Note::new(Code::Ordered, text).about([Ref::workload(set)]));
}
