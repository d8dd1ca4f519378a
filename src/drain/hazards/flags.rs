//! What drain asks a flag for, and what that flag destroys.

use super::Look;
use crate::drain::filters::Decision;
use crate::drain::note::{Effect, Note};
use crate::finding::{Code, Ref, Remedy, Severity};
use crate::snapshot::Kind;
use crate::snapshot::kinds::{Recognised, recognise};
use crate::snapshot::pod::VolumeSource;

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let pod = look.pod;
    if look.filtered.decision == Decision::Unknown {
        let owner = pod.meta.controller.as_ref().map(|o| o.name.to_string()).unwrap_or_default();
        let text = format!(
            "DaemonSet {owner}, which it names as its controller, could not be read: whether drain leaves the pod alone \
             or evicts it is not known"
        );
        notes.push(Note::new(Code::NotJudged, text).effect(Effect::Unknown));
        return;
    }
    for code in &look.filtered.codes {
        notes.extend(match code {
            Code::DaemonSet => Some(Note::new(Code::DaemonSet, "a DaemonSet's pods stay: drain leaves them alone")),
            Code::Mirror => Some(Note::new(Code::Mirror, "mirrors of static pods stay: the kubelet runs them")),
            Code::Completed => Some(Note::new(Code::Completed, "it has ended, and goes without a budget's leave")),
            Code::EmptyDir => {
                let names = pod.volumes.iter().filter(|v| matches!(v.source, VolumeSource::EmptyDir { .. }));
                let all: Vec<&str> = names.map(|v| &*v.name).collect();
                let text = format!("the scratch data of its emptyDir ({}) is lost with it", all.join(", "));
                let flag = look.options.delete_emptydir_data;
                Some(Note::new(Code::EmptyDir, text).severity(if flag { Severity::Info } else { Severity::Warning }))
            }
            Code::Unmanaged => {
                let text = "it has no controller: nothing makes a new one once it is gone";
                let keep = format!("kubectl get pod {} -n {} -o yaml", pod.meta.name, pod.meta.ns());
                let text_of_remedy = "keep its manifest, so that it can be made again (--force deletes it for good)";
                let remedy = Remedy { text: text_of_remedy.to_owned(), command: Some(keep), ..Remedy::default() };
                Some(Note::new(Code::Unmanaged, text).remedy(remedy))
            }
            Code::Orphaned => Some(orphaned(look)),
            _ => None,
        });
    }
    let lost = look.filtered.decision == Decision::Goes
        && !look.filtered.codes.contains(&Code::Orphaned)
        && !pod.is_finished()
        && owner_is_gone(look);
    if lost {
        notes.push(orphaned(look));
    }
}

/// Whether the controller should be in the input and is not.
fn owner_is_gone(look: &Look<'_>) -> bool {
    let Some(owner) = &look.pod.meta.controller else { return false };
    if look.snapshot.workload_of(look.pod.meta.ns(), owner).is_some() {
        return false;
    }
    match recognise(&owner.api_version(), &owner.kind) {
        Recognised::Known(Kind::Node) => false,
        Recognised::Known(kind) => look.snapshot.coverage.has(kind),
        _ => false,
    }
}

fn orphaned(look: &Look<'_>) -> Note {
    let owner = look.pod.meta.controller.as_ref();
    let name = owner.map(|o| format!("{} {}", o.kind, o.name)).unwrap_or_default();
    let is_daemon = owner.is_some_and(|o| &*o.kind == "DaemonSet");
    let effect = if is_daemon {
        "drain refuses it without --force, and nothing makes a new one"
    } else {
        "nothing makes a new one, and a budget that counts by owners fails to sync"
    };
    let note = Note::new(Code::Orphaned, format!("its controller {name} is gone: {effect}"));
    note.about(owner.map(|o| Ref::owner(look.pod.meta.ns(), o)))
}
