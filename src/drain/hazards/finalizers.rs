//! Finalizers: a pod that has one is not gone before somebody takes it off.

use super::Look;
use crate::drain::note::{Effect, Note};
use crate::finding::Code;

/// Finalizers that Kubernetes' own controllers set and take off.
const OWN: &[&str] = &["batch.kubernetes.io/job-tracking", "foregroundDeletion", "orphan"];

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let foreign: Vec<&str> = look.pod.meta.finalizers.iter().map(|f| &**f).filter(|f| !OWN.contains(f)).collect();
    if foreign.is_empty() {
        return;
    }
    let text = format!(
        "the finalizer {} holds it after its containers have ended, until whoever set it takes it off; whether that \
         happens cannot be told",
        foreign.join(", ")
    );
    notes.push(Note::new(Code::Finalizer, text).effect(Effect::Unknown));
}
