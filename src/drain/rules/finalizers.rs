//! Finalizers: a pod that has one is not gone before somebody takes it off.

use super::RuleContext;
use crate::cure::Remedy;
use crate::drain::note::{Drainability, Note};
use crate::finding::Code;
use crate::shell::Kubectl;

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let foreign: Vec<&str> = rule.pod.meta.foreign_finalizers().collect();
    if foreign.is_empty() {
        return;
    }
    let text = format!(
        "the finalizer {} keeps it Terminating after its containers have ended, until the controller that set the finalizer \
         removes it; whether that happens cannot be told",
        foreign.join(", ")
    );
    notes.push(Note::new(Code::Finalizer, text).means(Drainability::Unknown));
}

/// What ends a deletion that a finalizer holds up: its controller, or its removal by hand.
pub(super) fn ways(rule: &RuleContext<'_>) -> Vec<Remedy> {
    let meta = &rule.pod.meta;
    let names = meta.finalizers.join(", ");
    let patch = ["patch", "pod", &*meta.name, "--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#];
    let remove = Remedy::advice(format!(
        "only if no controller will remove {names}: remove the finalizers of pod {}",
        meta.path()
    ))
    .command(Kubectl::of(rule.snapshot).line(meta.ns(), &patch))
    .risk("what the finalizer waits for, such as a volume that is detached, is not done");
    vec![Remedy::advice(format!("see that the controller runs which removes the finalizer {names}")), remove]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes};

    #[test]
    fn finalizers_of_others_hold_a_pod() {
        let done = r#""phase": "Succeeded""#;
        for (title, finalizers, status, want) in [
            ("none", "[]", "", &[][..]),
            ("the Job controller's", r#"["batch.kubernetes.io/job-tracking"]"#, "", &[]),
            ("the garbage collector's", r#"["foregroundDeletion", "orphan"]"#, "", &[]),
            ("another's", r#"["x.io/keep"]"#, "", &[(Drainability::Unknown, "the finalizer x.io/keep keeps it")]),
            (
                "two of others beside an own one",
                r#"["x.io/a", "orphan", "x.io/b"]"#,
                "",
                &[(Drainability::Unknown, "the finalizer x.io/a, x.io/b keeps it")],
            ),
            // Ended pods are deleted as well, and wait for it.
            ("it has ended", r#"["x.io/keep"]"#, done, &[(Drainability::Unknown, "the finalizer x.io/keep keeps it")]),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            c.pod_of("a", "p", "n", &format!(r#""finalizers": {finalizers}"#), "", status);
            assert_notes(title, &c.met(Code::Finalizer, &DrainOptions::default()), want);
        }
    }
}
