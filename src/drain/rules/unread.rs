//! Lists that may not be read: what depends on them is not known, and never called good.

use super::RuleContext;
use crate::budget::evict::PodView;
use crate::drain::note::{Drainability, Note};
use crate::finding::Code;
use crate::snapshot::{Kind, Snapshot};

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let asks = !rule.options.disable_eviction && !PodView::of(rule.snapshot, rule.pod).ignores_budgets();
    if asks && is_hidden(rule.snapshot, Kind::PodDisruptionBudget) {
        let text = "the budgets could not be read: whether one refuses the eviction is not known";
        notes.push(Note::new(Code::NotJudged, text).means(Drainability::Unknown));
    }
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
}
