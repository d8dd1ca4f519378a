//! Reloader: workloads that restart by themselves when their configuration changes, perhaps during the drain.

use super::Look;
use crate::drain::note::Note;
use crate::finding::{Code, Ref, Severity};
use crate::snapshot::workload::{Detail, Workload};

const PREFIXES: [&str; 3] =
    ["reloader.stakater.com/", "configmap.reloader.stakater.com/", "secret.reloader.stakater.com/"];

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let Some(top) = look.top().filter(|_| look.is_running()) else { return };
    let Some(annotation) = asks(top) else { return };
    let stateful = matches!(top.detail, Detail::StatefulSet(_));
    let guarded = look.has_budget();
    let effect = match (stateful, guarded) {
        (true, false) => "a rollout may take its pods down during the drain, and no budget protects it",
        _ => "a rollout may begin during the drain and take pods of the same budget",
    };
    let text = format!(
        "{} {} restarts by itself when its configuration changes ({annotation}): {effect}",
        top.kind,
        top.meta.path()
    );
    let severity = if stateful && !guarded { Severity::Warning } else { Severity::Info };
    notes.push(Note::new(Code::Reloader, text).about([Ref::workload(top)]).severity(severity));
}

/// The annotation by which the workload, or its template, asks for restarts.
fn asks(w: &Workload) -> Option<String> {
    let template = w.template.iter().flat_map(|t| t.meta.annotations.iter());
    let mut all = w.meta.annotations.iter().chain(template);
    all.find(|(key, value)| {
        let name = PREFIXES.iter().find_map(|p| key.strip_prefix(p));
        // `match` marks a ConfigMap that is looked for; on a workload it says nothing.
        name.is_some_and(|n| n != "match" && n != "ignore" && &***value != "false")
    })
    .map(|(key, value)| if &**value == "true" { key.to_string() } else { format!("{key}={value}") })
}
