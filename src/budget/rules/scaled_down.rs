//! `scaled-down`: an owner wants fewer pods than live, or none. Its surplus pods are deleted past the budget.

use super::cause::Cause;
use crate::budget::context::BudgetContext;
use crate::budget::verdict::Verdict;
use crate::finding::{Code, Ref};

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    if b.ideal.shrinking.is_empty() || !(b.pods.is_empty() || b.is_short()) {
        return None;
    }
    let live = b.pods.iter().filter(|p| !p.pod.is_finished()).count();
    let wants = b.ideal.shrinking.iter().map(|w| {
        let n = w.replicas().unwrap_or_default();
        format!("{} {} wants {n} {}", w.kind, w.meta.name, if n == 1 { "pod" } else { "pods" })
    });
    let wants = wants.collect::<Vec<_>>().join(", ");
    let message = match live {
        0 => wants,
        1 => format!("{wants} and 1 is left; its controller deletes the surplus"),
        n => format!("{wants} and {n} are left; their controller deletes the surplus"),
    };
    let verdict = if b.pods.is_empty() { Verdict::Unused } else { Verdict::Waits };
    let finding = b.finding(Code::ScaledDown, message, []).about(b.ideal.shrinking.iter().map(|w| Ref::workload(w)));
    Some(Cause::new(verdict, finding))
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::testing::{budget, cluster, deployment};
    use serde_json::json;

    #[test]
    fn surplus_pods_are_deleted_by_their_controller() {
        let over = || cluster().add(budget("a/b").selects("app=web").min_available(2));
        let template = json!({"template": {"metadata": {"labels": {"app": "web"}}}});
        let ends = |_: usize, p: crate::testing::Object| p.deleted("2026-01-01T12:00:30Z", 30);
        table(
            find,
            vec![
                ("as many as wanted", over().add(deployment("a/web").on(&["n", "n"])), None),
                (
                    "one too many",
                    over().add(deployment("a/web").on(&["n", "n"]).replicas(1)),
                    Some((
                        Verdict::Waits,
                        "Deployment web wants 1 pod and 2 are left; their controller deletes the surplus",
                    )),
                ),
                (
                    "scaled to none, the last one terminates",
                    over().add(deployment("a/web").on(&["n"]).pods(ends).replicas(0)),
                    Some((
                        Verdict::Waits,
                        "Deployment web wants 0 pods and 1 is left; its controller deletes the surplus",
                    )),
                ),
                (
                    "scaled to none, and none is left",
                    over().add(deployment("a/web").spec(template).replicas(0)).add(crate::testing::pod("a/other")),
                    Some((Verdict::Unused, "Deployment web wants 0 pods")),
                ),
                (
                    "the rule allows one all the same",
                    cluster()
                        .add(budget("a/b").selects("app=web").min_available(1).allows(1))
                        .add(deployment("a/web").on(&["n", "n"]).replicas(1)),
                    None,
                ),
            ],
        );
    }
}
