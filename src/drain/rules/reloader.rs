//! Reloader: workloads that restart by themselves when their configuration changes, perhaps during the drain.

use super::RuleContext;
use crate::drain::note::Note;
use crate::finding::{Code, Ref, Severity};
use crate::snapshot::workload::{Detail, Workload};

const DOMAIN: &str = "reloader.stakater.com";

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let Some(top) = rule.top().filter(|_| rule.is_running()) else { return };
    let Some(annotation) = asks(top) else { return };
    let stateful = matches!(top.detail, Detail::StatefulSet(_));
    let guarded = rule.has_budget();
    let effect = if guarded {
        "a rollout can begin during the drain and replace pods of the same budget"
    } else {
        "a rollout can replace its pods during the drain, and no budget protects it"
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
        // On a workload, `ignore` and `match` ask for nothing, and others only say how; Reloader itself notes its last.
        let Some((domain, what)) = key.split_once('/') else { return false };
        domain.ends_with(DOMAIN)
            && match what {
                "auto" | "search" => &***value == "true",
                "reload" => !value.is_empty(),
                _ => false,
            }
    })
    .map(|(key, value)| if &**value == "true" { key.to_string() } else { format!("{key}={value}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes, owned_by};

    #[test]
    fn workloads_may_restart_by_themselves() {
        // The severity follows the rule that a StatefulSet without a budget gets a warning.
        let (auto, on) = ("reloader.stakater.com/auto", "true");
        let named =
            &[(Drainability::Drains, "changes (configmap.reloader.stakater.com/reload=web,db): a rollout can replace")]
                [..];
        let alone =
            &[(Drainability::Drains, "changes (reloader.stakater.com/auto): a rollout can replace its pods")][..];
        let shared =
            &[(Drainability::Drains, "(reloader.stakater.com/auto): a rollout can begin during the drain and replace")]
                [..];
        let some = &[(Drainability::Drains, "restarts by itself when its configuration changes")][..];
        let (info, warning) = (Severity::Info, Severity::Warning);
        let (set, deployment) = ("StatefulSet", "Deployment");
        let done = r#""phase": "Succeeded""#;
        for (title, kind, (annotation, value), guarded, status, severity, want) in [
            ("a set without a budget", set, (auto, on), false, "", warning, alone),
            ("a set with a budget", set, (auto, on), true, "", info, shared),
            ("a Deployment without one", deployment, (auto, on), false, "", info, alone),
            ("a Deployment with one", deployment, (auto, on), true, "", info, shared),
            ("switched off", set, (auto, "false"), false, "", info, &[]),
            ("for ConfigMaps", set, ("configmap.reloader.stakater.com/auto", on), false, "", warning, some),
            ("for Secrets", set, ("secret.reloader.stakater.com/auto", on), false, "", warning, some),
            (
                "for secrets of a provider",
                set,
                ("secretproviderclass.reloader.stakater.com/auto", on),
                false,
                "",
                warning,
                some,
            ),
            ("by search", set, ("reloader.stakater.com/search", on), false, "", warning, some),
            ("by name", set, ("configmap.reloader.stakater.com/reload", "web,db"), false, "", warning, named),
            ("of a ConfigMap that is looked for", set, ("reloader.stakater.com/match", on), false, "", info, &[]),
            ("left out", set, ("reloader.stakater.com/ignore", on), false, "", info, &[]),
            ("how it restarts", set, ("reloader.stakater.com/rollout-strategy", "restart"), false, "", info, &[]),
            ("what it did last", set, ("reloader.stakater.com/last-reloaded-from", "{}"), false, "", info, &[]),
            ("what it leaves out", set, ("configmaps.exclude.reloader.stakater.com/reload", "x"), false, "", info, &[]),
            ("of somebody else", set, ("notreloader.stakater.com/auto", on), false, "", info, &[]),
            ("it has ended", set, (auto, on), false, done, info, &[]),
        ] {
            let annotations = format!(r#""annotations": {{"{annotation}": "{value}"}}"#);
            for (own, template) in [(&*annotations, ""), ("", &*annotations)] {
                let mut c = Cluster::new();
                c.node("n", "{}");
                let own = if own.is_empty() { String::new() } else { format!(", {own}") };
                c.object(&format!(
                    r#"{{"apiVersion": "apps/v1", "kind": "{kind}", "metadata": {{"name": "w", "namespace": "a", "uid": "a-{kind}-w"{own}}},
                        "spec": {{"template": {{"metadata": {{{template}}}, "spec": {{"containers": [{{"name": "c"}}]}}}}}}}}"#
                ));
                if guarded {
                    c.synced_budget("a", "b", r#"{"maxUnavailable": 1, "selector": {}}"#);
                }
                c.pod_of("a", "p", "n", &owned_by("apps/v1", kind, "w"), "", status);
                let notes = c.met(Code::Reloader, &DrainOptions::default());
                assert_notes(title, &notes, want);
                assert!(notes.iter().all(|n| n.severity == Some(severity)), "{title}: {notes:?}");
            }
        }
    }
}
