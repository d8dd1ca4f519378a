//! Deletions that do not end: a pod past its grace, a node that does not answer.

use super::Look;
use crate::drain::involve::seconds_left;
use crate::drain::note::{Effect, Note};
use crate::finding::{Code, Ref, Remedy};
use crate::snapshot::age::duration_words;

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let pod = look.pod;
    let skip = look.options.skip_wait_for_delete;
    if pod.is_terminating() && seconds_left(look.snapshot, pod).is_none() {
        let overdue = pod.meta.deleted.map_or(0, |t| look.snapshot.now.duration_since(t).as_secs());
        let held = if pod.meta.finalizers.is_empty() {
            String::new()
        } else {
            format!(", held by the finalizer {}", pod.meta.finalizers.join(", "))
        };
        let text = format!("it should have been gone {} ago and does not end{held}", duration_words(overdue));
        let note = Note::new(Code::StuckTerminating, text);
        notes.push(waited_out(note, skip).remedy(force_delete(look)));
        return;
    }
    let Some(node) = look.node().filter(|n| !n.is_ready()) else { return };
    // The kubelet has the last word on a deletion, also of a pod that has ended.
    let name = &node.meta.name;
    let text = format!(
        "node {name} does not answer: the eviction is granted, but no kubelet confirms that the pod has ended, so it \
         stays Terminating"
    );
    let note = Note::new(Code::StuckTerminating, text).about([Ref::node(name)]);
    notes.push(waited_out(note, skip).remedy(force_delete(look)));
}

/// Pods that are overdue are not waited for with the flag.
fn waited_out(note: Note, skip: i64) -> Note {
    if skip > 0 {
        let text = format!("{}; drain stops waiting for it after {skip} s", note.text);
        Note { text, ..note }
    } else {
        note.effect(Effect::Held)
    }
}

fn force_delete(look: &Look<'_>) -> Remedy {
    let meta = &look.pod.meta;
    let kubectl = crate::shell::Kubectl::of(look.snapshot);
    Remedy {
        text: format!(
            "once it is certain that node {} is off: delete pod {} without waiting for its kubelet, or give the node the \
             taint node.kubernetes.io/out-of-service",
            look.pod.node.as_deref().unwrap_or_default(),
            meta.path()
        ),
        command: Some(kubectl.line(meta.ns(), &["delete", "pod", &meta.name, "--force", "--grace-period=0"])),
        undo: None,
        risk: Some(
            "two copies of it run at once if the node still lives: data of a StatefulSet may be damaged".to_owned(),
        ),
        verified: false,
    }
}
