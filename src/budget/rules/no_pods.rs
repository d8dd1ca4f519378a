//! `no-pods` and `selects-nothing`: the budget covers no pod.

use super::cause::Cause;
use crate::budget::context::{BudgetContext, names};
use crate::budget::nearest::{Nearest, nearest};
use crate::budget::verdict::Verdict;
use crate::finding::{Code, Finding, Ref};
use crate::lists::some;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Kind, Str};
use std::collections::BTreeSet;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    if !b.pods.is_empty() || !b.snapshot.coverage.has(Kind::Pod) {
        return None;
    }
    let finding = match b.budget.selector {
        LabelSelector::Nothing => {
            b.finding(Code::SelectsNothing, "selects no pods: the budget has no selector".to_owned(), [])
        }
        LabelSelector::Invalid | LabelSelector::All(_) => no_pods(b),
    };
    Some(Cause::new(Verdict::Unused, finding))
}

fn no_pods(b: &BudgetContext<'_>) -> Finding {
    let lead = format!("no pod matches {}", b.budget.selector);
    // A workload that makes such pods has none at the moment: the selector is right.
    if !b.scope.workloads.is_empty() {
        return b.finding(Code::NoPods, lead, []);
    }
    let near = nearest(b.snapshot, &b.budget);
    let more = match &near[..] {
        [] => all_but_one(b).or_else(|| elsewhere(b)).unwrap_or_default(),
        [one] => format!("; {}", of_workload(b, one)),
        several => {
            let all = several.iter().map(|n| format!("{} {}", n.workload.kind, n.workload.meta.name));
            format!("; the pods of {} come near", some(all, 3))
        }
    };
    let refs = near.iter().take(3).map(|n| Ref::workload(n.workload));
    b.finding(Code::NoPods, lead + &more, []).about(refs)
}

fn of_workload(b: &BudgetContext<'_>, near: &Nearest<'_>) -> String {
    let (kind, name) = (&near.workload.kind, &near.workload.meta.name);
    let differ = near.differences.join(", and ");
    match b.budget.selector.requirements().len() - near.differences.len() {
        0 => format!("the pods of {kind} {name} have {differ}"),
        met => {
            let terms = if met == 1 { "1 term" } else { &*format!("{met} terms") };
            format!("the pods of {kind} {name} match {terms} of the selector, and have {differ}")
        }
    }
}

/// Pods of no workload in the input that meet all terms but one.
fn all_but_one(b: &BudgetContext<'_>) -> Option<String> {
    let terms = b.budget.selector.requirements();
    let pods = b.snapshot.pods.in_namespace(b.budget.meta.ns());
    terms.iter().filter(|_| terms.len() > 1).find_map(|one| {
        let rest = LabelSelector::All(terms.iter().filter(|t| *t != one).cloned().collect());
        let near: Vec<_> = pods.iter().filter(|p| rest.matches(&p.meta.labels)).collect();
        let verb = if near.len() == 1 { "matches" } else { "match" };
        (!near.is_empty()).then(|| format!("; {} {verb} all of the selector but {one}", names(near)))
    })
}

/// A budget covers its own namespace alone.
fn elsewhere(b: &BudgetContext<'_>) -> Option<String> {
    let makes = |w: &crate::snapshot::workload::Workload| {
        w.template.as_ref().is_some_and(|t| b.budget.selector.matches(&t.meta.labels))
    };
    let all = b.budget.selector.is_everything();
    let workloads = b.snapshot.workloads.iter().filter(|w| !all && makes(w));
    let namespaces: BTreeSet<Str> = workloads.filter_map(|w| w.meta.namespace.clone()).collect();
    let noun = if namespaces.len() == 1 { "namespace" } else { "namespaces" };
    let own = b.budget.meta.ns();
    let named = some(&namespaces, 2);
    (!namespaces.is_empty())
        .then(|| format!("; pods of {noun} {named} do, and the budget covers pods of its own namespace {own} alone"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::testing::{Object, Workload, budget, cluster, deployment, pod};
    use serde_json::{Value, json};

    #[test]
    fn what_a_selector_misses_is_told() {
        let labelled = |path: &str, labels: Value| -> Workload {
            deployment(path).spec(json!({"template": {"metadata": {"labels": labels}}})).replicas(2)
        };
        let with = |selector: &str| cluster().add(budget("a/b").selects(selector)).add(pod("a/other"));
        let of_operator = || pod("a/db-0").labels("app=db,role=replica").owned_by("x.dev/v1", "Database/db");
        let web = || labelled("a/web", json!({"app": "web", "tier": "back"}));
        let unused = |message: &'static str| Some((Verdict::Unused, message));
        let no_selector: Object = budget("a/b");
        table(
            find,
            vec![
                ("it covers one", with("app=x").add(pod("a/x").label("app", "x")), None),
                ("its application is gone", with("app=x"), unused("no pod matches app=x")),
                (
                    "its application is scaled to none",
                    with("app=web").add(web().replicas(0)),
                    unused("no pod matches app=web"),
                ),
                (
                    "a mistyped value",
                    with("app=wbe").add(web()),
                    unused("no pod matches app=wbe; the pods of Deployment web have app=web in place of app=wbe"),
                ),
                (
                    "one term of two",
                    with("app=web,tier=front").add(web()),
                    unused(
                        "no pod matches app=web,tier=front; the pods of Deployment web match 1 term of the selector, and \
                         have tier=back in place of tier=front",
                    ),
                ),
                (
                    "a label that only the Deployment itself has",
                    with("app=web,part-of=shop").add(web().itself(|w| w.label("part-of", "shop"))),
                    unused(
                        "no pod matches app=web,part-of=shop; the pods of Deployment web match 1 term of the selector, \
                         and have no label part-of (only the workload itself has part-of)",
                    ),
                ),
                (
                    "two that are equally near",
                    with("team=t,app=old")
                        .add(labelled("a/x", json!({"team": "t", "app": "x"})))
                        .add(labelled("a/y", json!({"team": "t", "app": "y"}))),
                    unused("no pod matches app=old,team=t; the pods of Deployment x, Deployment y come near"),
                ),
                (
                    "an operator's pods",
                    with("app=db,role=primary").add(of_operator()),
                    unused("no pod matches app=db,role=primary; db-0 matches all of the selector but role=primary"),
                ),
                (
                    "another namespace",
                    with("app=web").add(labelled("shop/web", json!({"app": "web"}))),
                    unused(
                        "no pod matches app=web; pods of namespace shop do, and the budget covers pods of its own \
                         namespace a alone",
                    ),
                ),
                (
                    "no selector",
                    cluster().add(no_selector).add(pod("a/other")),
                    unused("selects no pods: the budget has no selector"),
                ),
            ],
        );
    }
}
