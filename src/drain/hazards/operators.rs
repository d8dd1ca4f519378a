//! Budgets of operators that move them themselves, and what the operator does once the node is cordoned.

use super::Look;
use crate::budget::operators::operator;
use crate::drain::ledger::BudgetId;
use crate::drain::note::Note;
use crate::finding::{Code, Ref};
use crate::snapshot::Snapshot;
use crate::snapshot::budget::Budget;
use crate::snapshot::pod::Pod;

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let book = &look.ground.book;
    for id in book.budgets_of(look.pod) {
        let Some(entry) = book.entry(*id).filter(|_| !look.pod.is_finished()) else { continue };
        let Some(operator) = operator(&entry.budget) else { continue };
        let does = if moves(look.snapshot, &entry.budget, look.pod) {
            "once the node is cordoned it moves the primary to another instance, and the pod may go"
        } else {
            operator.way
        };
        let text = format!("{} makes budget {} and moves it itself: {does}", operator.name, entry.budget.meta.path());
        notes.push(Note::new(Code::OperatorOwned, text).about([Ref::budget(&entry.budget)]));
    }
}

/// The budget that an operator is known to move away from the pod once its node is cordoned.
pub fn moves_itself(look: &crate::drain::ground::Ground<'_>, pod: &Pod) -> Option<BudgetId> {
    let mut budgets = look.book.budgets_of(pod).iter().copied();
    budgets.find(|id| look.book.entry(*id).is_some_and(|e| moves(look.snapshot, &e.budget, pod)))
}

/// Whether the operator moves what the budget guards to another instance: CloudNativePG the primary of a cluster of
/// several, where another instance is Ready.
fn moves(snapshot: &Snapshot, budget: &Budget, pod: &Pod) -> bool {
    let Some(cluster) = pod.meta.labels.get("cnpg.io/cluster") else { return false };
    let is_primary = |p: &Pod| {
        ["cnpg.io/instanceRole", "role"].iter().any(|k| p.meta.labels.get(k).is_some_and(|v| &**v == "primary"))
    };
    let instances = snapshot.cloud_native_pg_clusters.named(pod.meta.ns(), cluster).and_then(|c| c.spec.instances);
    let others = snapshot.pods.in_namespace(pod.meta.ns()).iter().filter(|p| {
        p.meta.labels.get("cnpg.io/cluster") == Some(cluster)
            && p.meta.name != pod.meta.name
            && p.node != pod.node
            && p.is_ready()
            && !p.is_terminating()
    });
    operator(budget).is_some_and(|o| o.name == "CloudNativePG")
        && is_primary(pod)
        && instances.is_none_or(|n| n > 1)
        && others.count() > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::note::Effect;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes};

    #[test]
    fn operators_move_their_budgets() {
        // CloudNativePG moves the primary where another instance of several can take its place.
        let moves =
            &[(Effect::None, "CloudNativePG makes budget a/db and moves it itself: once the node is cordoned")][..];
        let way =
            &[(Effect::None, "CloudNativePG makes budget a/db and moves it itself: it moves the primary away")][..];
        let role = |role: &str| format!(r#""labels": {{"cnpg.io/cluster": "db", "cnpg.io/instanceRole": "{role}"}}"#);
        let (primary, replica) = (role("primary"), role("replica"));
        let old = r#""labels": {"cnpg.io/cluster": "db", "role": "primary"}"#;
        let other = r#""labels": {"cnpg.io/cluster": "other", "cnpg.io/instanceRole": "replica"}"#;
        let unready = r#""conditions": [{"type": "Ready", "status": "False"}]"#;
        let gone = format!(r#"{replica}, "deletionTimestamp": "2026-01-01T00:00:10Z""#);
        let (ours, plain) = (r#""cnpg.io/cluster": "db""#, r#""app": "db""#);
        let (alive, done) = ("", r#""phase": "Failed""#);
        for (title, meta, status, budget, instances, second, want) in [
            ("a primary with another", &*primary, alive, ours, 2, Some((&*replica, "m", "")), moves),
            ("known by the older label", old, alive, ours, 2, Some((&*replica, "m", "")), moves),
            ("no primary", &replica, alive, ours, 2, Some((&*primary, "m", "")), way),
            ("a single instance", &primary, alive, ours, 1, Some((&*replica, "m", "")), way),
            ("alone", &primary, alive, ours, 2, None, way),
            ("the other is on the same node", &primary, alive, ours, 2, Some((&*replica, "n", "")), way),
            ("the other is not Ready", &primary, alive, ours, 2, Some((&*replica, "m", unready)), way),
            ("the other is being deleted", &primary, alive, ours, 2, Some((&*gone, "m", "")), way),
            ("the other is of another cluster", &primary, alive, ours, 2, Some((other, "m", "")), way),
            ("it has ended", &primary, done, ours, 2, Some((&*replica, "m", "")), &[]),
            (
                "a budget by hand",
                &primary.replace('}', r#", "app": "db"}"#),
                alive,
                plain,
                2,
                Some((&*replica, "m", "")),
                &[],
            ),
            ("the budget is of another", &primary, alive, r#""cnpg.io/cluster": "other""#, 2, None, &[]),
        ] {
            let mut c = Cluster::new();
            ["n", "m"].iter().for_each(|n| c.node(n, "{}"));
            c.add("postgresql.cnpg.io/v1", "Cluster", "a", "db", &format!(r#"{{"instances": {instances}}}"#));
            c.synced_budget(
                "a",
                "db",
                &format!(r#"{{"minAvailable": 1, "selector": {{"matchLabels": {{{budget}}}}}}}"#),
            );
            c.pod_of("a", "p", "n", meta, "", status);
            if let Some((meta, node, status)) = second {
                c.pod_of("a", "q", node, meta, "", status);
            }
            assert_notes(title, &c.met(Code::OperatorOwned, &DrainOptions::default()), want);
        }
    }
}
