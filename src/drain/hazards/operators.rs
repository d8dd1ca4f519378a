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
    let instances = snapshot.customs.named(pod.meta.ns(), cluster).and_then(|c| c.at("/spec/instances")?.as_i64());
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
