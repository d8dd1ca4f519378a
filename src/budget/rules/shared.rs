//! `shared-by-workloads`: one budget over several workloads counts their pods together, so that it can allow every pod of
//! one of them to be evicted at once.

use super::cause::Cause;
use crate::budget::context::BudgetContext;
use crate::budget::ideal::Share;
use crate::budget::operators::operator;
use crate::finding::{Code, Ref};
use crate::lists::some;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let owners: Vec<&Share> = b.ideal.owners.iter().filter(|s| s.covered > 0).collect();
    let allowed = b.ideal.allowed(&b.budget);
    let bare: Vec<&&Share> = owners.iter().filter(|s| i64::from(allowed) >= s.covered).collect();
    // Where all may be evicted at once, `over-permissive` says so. An operator's workloads are the members of one whole:
    // racks of a database, monitors of a store.
    if operator(&b.budget).is_some() || owners.len() < 2 || bare.is_empty() || i64::from(allowed) >= b.ideal.healthy {
        return None;
    }
    let pods = |n: i64| if n == 1 { "1 pod".to_owned() } else { format!("{n} pods") };
    let named = some(bare.iter().map(|s| format!("{} {} ({})", s.owner.kind, s.owner.meta.name, pods(s.covered))), 3);
    let message = format!(
        "the budget counts the {} of {} workloads together and allows {allowed}: all pods of {named} can be evicted at once",
        pods(b.ideal.healthy),
        owners.len()
    );
    let refs = bare.iter().take(10).map(|s| Ref::workload(&s.owner));
    Some(Cause::note(b.finding(Code::SharedByWorkloads, message, []).about(refs)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes;
    use super::*;
    use crate::testing::{Cluster, Workload, budget, cluster, deployment, stateful_set};
    use serde_json::{Value, json};

    #[test]
    fn a_workload_that_can_lose_all_its_pods_is_named() {
        let part = |w: Workload| {
            w.pods(|_, p| p.label("part-of", "shop"))
                .spec(json!({"template": {"metadata": {"labels": {"part-of": "shop"}}}}))
        };
        let with = |rule: Value| -> Cluster { cluster().add(budget("a/b").selects("part-of=shop").spec(rule)) };
        let web = || part(deployment("a/web").on(&["n"; 5]));
        let api = |n: usize| part(deployment("a/api").on(&vec!["n"; n]));
        let db = || part(stateful_set("a/db").on(&["n"]));
        let says = |pods: i32, of: i32, allowed: i32, named: &str| {
            format!(
                "the budget counts the {pods} pods of {of} workloads together and allows {allowed}: all pods of {named} can be \
                 evicted at once"
            )
        };
        let two = says(7, 2, 3, "Deployment api (2 pods)");
        let three = says(8, 3, 2, "Deployment api (2 pods), StatefulSet db (1 pod)");
        notes(
            find,
            vec![
                ("one workload", with(json!({"maxUnavailable": 2})).add(web()), None),
                ("the smaller can be emptied", with(json!({"minAvailable": 4})).add(web()).add(api(2)), Some(&*two)),
                (
                    "two of three can be emptied",
                    with(json!({"maxUnavailable": 2})).add(web()).add(api(2)).add(db()),
                    Some(&*three),
                ),
                ("each keeps one", with(json!({"maxUnavailable": 1})).add(web()).add(api(2)), None),
                ("nothing is allowed", with(json!({"maxUnavailable": 0})).add(web()).add(db()), None),
                ("all at once is told elsewhere", with(json!({"minAvailable": 0})).add(web()).add(db()), None),
                (
                    "scaled to none",
                    with(json!({"maxUnavailable": 1}))
                        .add(web())
                        .add(api(2).replicas(0).pods(|_, p| p.ended("Failed"))),
                    None,
                ),
            ],
        );
    }
}
