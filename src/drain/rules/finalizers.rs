//! Finalizers: a pod that has one is not gone before somebody takes it off.

use super::RuleContext;
use crate::drain::note::{Drainability, Note};
use crate::finding::Code;

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let foreign: Vec<&str> = rule.pod.meta.foreign_finalizers().collect();
    if foreign.is_empty() {
        return;
    }
    let text = format!(
        "the finalizer {} holds it after its containers have ended, until whoever set it takes it off; whether that \
         happens cannot be told",
        foreign.join(", ")
    );
    notes.push(Note::new(Code::Finalizer, text).means(Drainability::Unknown));
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
            ("another's", r#"["x.io/keep"]"#, "", &[(Drainability::Unknown, "the finalizer x.io/keep holds it")]),
            (
                "two of others beside an own one",
                r#"["x.io/a", "orphan", "x.io/b"]"#,
                "",
                &[(Drainability::Unknown, "the finalizer x.io/a, x.io/b holds it")],
            ),
            // Ended pods are deleted as well, and wait for it.
            ("it has ended", r#"["x.io/keep"]"#, done, &[(Drainability::Unknown, "the finalizer x.io/keep holds it")]),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            c.pod_of("a", "p", "n", &format!(r#""finalizers": {finalizers}"#), "", status);
            assert_notes(title, &c.met(Code::Finalizer, &DrainOptions::default()), want);
        }
    }
}
