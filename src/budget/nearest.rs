//! For which workload a selector that covers no pod was most likely written.

use super::selection::is_topmost;
use crate::snapshot::budget::Budget;
use crate::snapshot::requirement::{Operator, Requirement};
use crate::snapshot::workload::Workload;
use crate::snapshot::{Map, Snapshot, Str};
use std::sync::Arc;
use strsim::osa_distance;

/// A workload whose pods a selector misses.
#[derive(Debug, Clone)]
pub struct Nearest<'s> {
    /// The workload.
    pub workload: &'s Arc<Workload>,
    /// Whether the budget is called after it, or every term that its pods do not meet looks like a slip of the pen.
    pub is_slip: bool,
    /// What its pods have instead, a missed term each: `tier=back in place of tier=front`.
    pub differences: Vec<String>,
}

/// The workloads of the budget's namespace whose pods its selector misses by least, several where they are equally
/// near. None where another budget covers their pods: this one then most likely outlived its application.
pub fn nearest<'s>(snapshot: &'s Snapshot, budget: &Budget) -> Vec<Nearest<'s>> {
    let terms = budget.selector.requirements();
    let ns = budget.meta.ns();
    let mut best: Vec<(Rank, Nearest<'s>)> = Vec::new();
    for workload in snapshot.workloads.in_namespace(ns).iter().filter(|w| is_topmost(snapshot, w)) {
        let Some(labels) = workload.template.as_ref().map(|t| &t.meta.labels) else { continue };
        let missed: Vec<&Requirement> = terms.iter().filter(|t| !t.accepts(labels.get(&t.key).map(|v| &**v))).collect();
        let slips = missed.iter().filter(|t| is_slip(t, labels)).count();
        let named = is_called_after(&budget.meta.name, &workload.meta.name);
        let met = terms.len() - missed.len();
        if missed.is_empty() || (met == 0 && slips < missed.len()) {
            continue;
        }
        let rank = Rank { unlike: !named, strange: missed.len() - slips, missed: missed.len() };
        let least = best.first().map(|(least, _)| *least);
        if least.is_some_and(|least| rank > least) {
            continue;
        }
        if least.is_none_or(|least| rank < least) {
            best.clear();
        }
        let differences = missed.iter().map(|t| difference(t, labels, &workload.meta.labels)).collect();
        best.push((rank, Nearest { workload, is_slip: named || slips == missed.len(), differences }));
    }
    let others = snapshot.budgets.in_namespace(ns);
    let is_free = |n: &Nearest<'_>| {
        let labels = n.workload.template.as_ref().map(|t| &t.meta.labels);
        !others.iter().any(|b| labels.is_some_and(|l| b.selector.matches(l)))
    };
    best.into_iter().map(|(_, nearest)| nearest).filter(is_free).collect()
}

/// How far a workload is from a selector; the smallest is the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// The budget is not called after it.
    unlike: bool,
    /// Terms missed that do not look like a slip.
    strange: usize,
    /// Terms missed.
    missed: usize,
}

/// `web`, `web-pdb` and `pdb-web` are called after `web`.
fn is_called_after(budget: &str, workload: &str) -> bool {
    let plain = ["-pdb", "-budget"].iter().find_map(|end| budget.strip_suffix(end)).unwrap_or(budget);
    let plain = plain.strip_prefix("pdb-").unwrap_or(plain);
    plain == workload
}

/// Whether the labels have something so like what a term asks for that the term looks mistyped: almost the value, or the
/// value under another key.
fn is_slip(term: &Requirement, labels: &Map) -> bool {
    let wanted = |value: &Str| term.values.contains(value);
    let almost = |value: &Str| term.values.iter().any(|v| is_almost(v, value));
    term.operator == Operator::In
        && (labels.get(&term.key).is_some_and(almost)
            || labels.iter().any(|(key, value)| *key != term.key && wanted(value)))
}

/// Whether two words differ by a letter or two, or by what is appended. Numbers tell things apart: `db-1` is not `db-2`.
fn is_almost(a: &str, b: &str) -> bool {
    let letters = |s: &str| s.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let shorter = a.len().min(b.len());
    let extended = |long: &str, short: &str| {
        long.strip_prefix(short).is_some_and(|rest| rest.starts_with('-'))
            || long.strip_suffix(short).is_some_and(|rest| rest.ends_with('-'))
    };
    let mistyped = letters(a) != letters(b) && osa_distance(a, b) <= (shorter / 4).clamp(1, 2) && shorter > 2;
    a.eq_ignore_ascii_case(b) || mistyped || (shorter > 1 && (extended(a, b) || extended(b, a)))
}

/// What pods have instead of what a term asks for; `own` are the labels of the workload itself.
fn difference(term: &Requirement, labels: &Map, own: &Map) -> String {
    let key = &term.key;
    if let Some(value) = labels.get(key) {
        return match term.operator {
            Operator::DoesNotExist => format!("{key}={value} where the selector wants no label {key}"),
            _ => format!("{key}={value} in place of {term}"),
        };
    }
    let elsewhere = labels.iter().find(|(_, value)| term.operator == Operator::In && term.values.contains(value));
    match elsewhere {
        Some((other, value)) => format!("{other}={value} in place of {term}"),
        None if term.accepts(own.get(key).map(|v| &**v)) => {
            format!("no label {key} (only the workload itself has {key})")
        }
        None => format!("no label {key}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Workload as Made, budget, cluster, deployment};
    use serde_json::json;

    fn made(name: &str, labels: &str) -> Made {
        let pairs: serde_json::Map<_, _> =
            labels.split(',').filter_map(|p| p.split_once('=')).map(|(k, v)| (k.to_owned(), json!(v))).collect();
        deployment(&format!("a/{name}")).spec(json!({"template": {"metadata": {"labels": pairs}}})).replicas(2)
    }

    #[test]
    fn the_workload_that_a_selector_was_written_for() {
        // budget's name, its selector, the workloads by name and labels of their pods; what is nearest, whether by a
        // slip, and what differs.
        for (name, selector, workloads, want) in [
            (
                "b",
                "app=wbe",
                &[("web", "app=web"), ("api", "app=api")][..],
                &["web slip: app=web in place of app=wbe"][..],
            ),
            ("b", "app=Web", &[("web", "app=web")], &["web slip: app=web in place of app=Web"]),
            ("b", "app=web", &[("web", "app=web-v2")], &["web slip: app=web-v2 in place of app=web"]),
            (
                "b",
                "app=web",
                &[("web", "app.kubernetes.io/name=web")],
                &["web slip: app.kubernetes.io/name=web in place of app=web"],
            ),
            ("b", "app=web,tier=front", &[("web", "app=web,tier=back")], &["web: tier=back in place of tier=front"]),
            ("b", "app=web,tier=front", &[("web", "app=web")], &["web: no label tier"]),
            ("web-pdb", "app=web,tier=front", &[("web", "app=web")], &["web slip: no label tier"]),
            ("b", "app=web", &[("api", "app=api")], &[]),
            ("b", "app=db-1", &[("db-2", "app=db-2")], &[]),
            ("b", "app=a", &[("x", "app=b")], &[]),
            (
                "b",
                "team=t,app=old",
                &[("x", "team=t,app=x"), ("y", "team=t,app=y")],
                &["x: app=x in place of app=old", "y: app=y in place of app=old"],
            ),
            (
                "b",
                "team=t,app=wep",
                &[("web", "team=t,app=web"), ("y", "team=t,app=y")],
                &["web slip: app=web in place of app=wep"],
            ),
            (
                "plane-api",
                "name=plane,instance=plane,component=api",
                &[("plane-api", "name=api,instance=plane"), ("plane-web", "name=web,instance=plane,component=web")],
                &["plane-api slip: name=api in place of component=api; name=api in place of name=plane"],
            ),
        ] {
            let snapshot = cluster()
                .add(budget(&format!("a/{name}")).selects(selector))
                .all(workloads.iter().map(|(name, labels)| made(name, labels)))
                .snapshot();
            let found = nearest(&snapshot, &snapshot.budgets[0]);
            let said = |n: &Nearest<'_>| {
                let slip = if n.is_slip { " slip" } else { "" };
                format!("{}{slip}: {}", n.workload.meta.name, n.differences.join("; "))
            };
            assert_eq!(found.iter().map(said).collect::<Vec<_>>(), want, "{selector} of {name}");
        }
    }

    #[test]
    fn pods_that_another_budget_covers_were_not_meant() {
        let old = || cluster().add(budget("a/old").selects("app=wep")).add(made("web", "app=web"));
        let near = |c: &crate::testing::Cluster| {
            let s = c.snapshot();
            let old = s.budgets.named("a", "old").unwrap();
            nearest(&s, old).len()
        };
        assert_eq!(near(&old()), 1);
        assert_eq!(near(&old().add(budget("a/new").selects("app=web"))), 0);
    }
}
