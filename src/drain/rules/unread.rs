//! Lists that may not be read: what depends on them is not known, and never called good.

use super::RuleContext;
use crate::budget::evict::PodView;
use crate::drain::note::{Drainability, Note};
use crate::finding::Code;
use crate::snapshot::coverage::ReadOutcome;
use crate::snapshot::{Kind, Snapshot};

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let asks = !rule.options.disable_eviction && !PodView::of(rule.snapshot, rule.pod).ignores_budgets();
    if !asks {
        return;
    }
    let unknown = |text: &str| Note::new(Code::NotJudged, text).means(Drainability::Unknown);
    if is_hidden(rule.snapshot, Kind::PodDisruptionBudget) {
        notes.push(unknown("the budgets could not be read: whether one refuses the eviction is not known"));
    } else if is_left_out(rule.snapshot, Kind::PodDisruptionBudget) {
        let text = "the input has no PodDisruptionBudget and does not say that they were read: whether one refuses the \
                    eviction is not known (add them to the input, or say --none pdb where the cluster has none)";
        notes.push(unknown(text));
    }
}

/// Whether a file lacks a kind altogether, so that it may be that nobody asked for it. What was exported with its
/// namespaces was exported as a whole: who asks for chosen kinds does not ask for Namespaces.
pub fn is_left_out(snapshot: &Snapshot, kind: Kind) -> bool {
    let from_file = !snapshot.source.files.is_empty();
    from_file && *snapshot.coverage.of(kind) == ReadOutcome::Absent && snapshot.namespaces.is_empty()
}

/// Whether there may be objects of a kind that are not shown.
pub fn is_hidden(snapshot: &Snapshot, kind: Kind) -> bool {
    snapshot.coverage.hides(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes};

    #[test]
    fn budgets_that_cannot_be_read_leave_evictions_open() {
        let list = |outcome: &str| {
            format!(
                r#"{{"apiVersion": "kubectl-pdb/v1", "kind": "Snapshot", "read": [{{"resource": "poddisruptionbudgets.policy", "outcome": "{outcome}"}}]}}"#
            )
        };
        let evicts = DrainOptions::default();
        let deletes = DrainOptions { disable_eviction: true, ..DrainOptions::default() };
        let gone = r#""deletionTimestamp": "2026-01-01T00:00:10Z""#;
        let open = &[(Drainability::Unknown, "the budgets could not be read")][..];
        for (title, outcome, meta, status, options, want) in [
            ("forbidden", "forbidden", "", "", &evicts, open),
            ("failed", "failed", "", "", &evicts, open),
            ("read", "read", "", "", &evicts, &[][..]),
            ("no budget is asked", "forbidden", "", "", &deletes, &[]),
            // What canIgnorePDB of the eviction endpoint lets go without asking one.
            ("it has not started", "forbidden", "", r#""phase": "Pending""#, &evicts, &[]),
            ("it has ended", "forbidden", "", r#""phase": "Failed""#, &evicts, &[]),
            ("it is being deleted", "forbidden", gone, "", &evicts, &[]),
        ] {
            let mut c = Cluster::new();
            c.object(&list(outcome));
            c.node("n", "{}");
            c.pod_of("a", "p", "n", meta, "", status);
            assert_notes(title, &c.met(Code::NotJudged, options), want);
        }
    }

    #[test]
    fn a_file_without_a_kind_may_not_have_asked_for_it() {
        let budget = r#"{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "a"}}"#;
        let old = r#"{"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "a"},
            "spec": {"selector": {}}}"#;
        let read = r#"{"apiVersion": "kubectl-pdb/v1", "kind": "Snapshot",
            "read": [{"resource": "poddisruptionbudgets.policy", "outcome": "read"}]}"#;
        let namespace = r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}"#;
        for (title, object, files, want) in [
            ("no budget", None, true, true),
            ("not a file", None, false, false),
            ("a budget", Some(budget), true, false),
            ("one of an older version", Some(old), true, false),
            ("they were read", Some(read), true, false),
            ("exported with its namespaces", Some(namespace), true, false),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            object.into_iter().for_each(|o| c.object(o));
            c.pod_of("a", "p", "n", r#""labels": {"app": "x"}"#, "", "");
            let mut snapshot = c.snapshot();
            // In policy/v1beta1 the empty selector selects no pod.
            assert!(snapshot.budgets.iter().all(|b| !b.selector.is_everything()), "{title}");
            if files {
                snapshot.source.files.push("cluster.json".to_owned());
            }
            assert_eq!(is_left_out(&snapshot, Kind::PodDisruptionBudget), want, "{title}");
        }
    }
}
