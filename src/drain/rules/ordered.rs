//! StatefulSets that make their pods in order: a new one only when the old one is gone and all lower ones are Ready.

use super::RuleContext;
use crate::drain::controllers::Makes;
use crate::drain::note::Note;
use crate::finding::{Code, Ref};

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let Some(owner) = rule.context.controllers.of(rule.pod).filter(|c| c.makes == Makes::InOrder) else { return };
    let Some(set) = owner.workload.as_ref().filter(|_| !rule.pod.is_finished()) else { return };
    let text = format!(
        "StatefulSet {} (OrderedReady) makes the pod again only when the old pod has ended and all lower ordinals are Ready",
        set.meta.path()
    );
    notes.push(Note::new(Code::Ordered, text).about([Ref::workload(set)]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes, owned_by};

    #[test]
    fn sets_in_order_are_told() {
        let in_order = &[(
            Drainability::Drains,
            "StatefulSet a/db (OrderedReady) makes the pod again only when the old pod has ended",
        )][..];
        let done = r#""phase": "Failed""#;
        for (title, kind, spec, status, want) in [
            ("by default", "StatefulSet", Some("{}"), "", in_order),
            ("as it says", "StatefulSet", Some(r#"{"podManagementPolicy": "OrderedReady"}"#), "", in_order),
            ("in any order", "StatefulSet", Some(r#"{"podManagementPolicy": "Parallel"}"#), "", &[]),
            ("not in the input", "StatefulSet", None, "", &[]),
            ("no set", "ReplicaSet", Some("{}"), "", &[]),
            ("it has ended", "StatefulSet", Some("{}"), done, &[]),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            if let Some(spec) = spec {
                c.add("apps/v1", kind, "a", "db", spec);
            }
            c.pod_of("a", "p", "n", &owned_by("apps/v1", kind, "db"), "", status);
            assert_notes(title, &c.met(Code::Ordered, &DrainOptions::default()), want);
        }
    }
}
