//! `missing-pods`: fewer pods run than are expected: they have no node, or were not created.

use super::cause::Cause;
use crate::budget::context::{BudgetContext, UnreadyPod, is_missing};
use crate::budget::verdict::Verdict;
use crate::finding::{Code, Ref};
use crate::lists::some;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    if !b.is_short() {
        return None;
    }
    let pending: Vec<&UnreadyPod> = b.unready.iter().filter(|u| is_missing(&u.pod)).collect();
    let there = b.pods.iter().filter(|p| !p.pod.is_finished()).count();
    let wanted = b.ideal.healthy;
    let mut words = Vec::new();
    if !pending.is_empty() {
        words.push(some(pending.iter().map(|u| format!("{} is Pending: {}", u.pod.meta.name, u.why.text)), 3));
    }
    if i64::try_from(there).is_ok_and(|there| there < wanted) {
        let owners = b.ideal.owners.iter();
        let owners = some(owners.map(|s| format!("{} {} wants {}", s.owner.kind, s.owner.meta.name, s.scale)), 2);
        words.push(format!("{there} of {wanted} pods exist ({owners})"));
    }
    if words.is_empty() {
        return None;
    }
    let lasts = pending.iter().any(|u| u.why.lasts()) && b.ideal.allowed_in_time(&b.budget) == 0;
    let verdict = if lasts { Verdict::Unhealthy } else { Verdict::Waits };
    let owners = b.ideal.owners.iter().map(|s| Ref::workload(&s.owner));
    let finding = b.finding(Code::MissingPods, words.join("; "), pending.iter().map(|u| &u.pod)).about(owners);
    Some(Cause::new(verdict, finding))
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::testing::{Workload, budget, cluster, deployment, pod};
    use serde_json::json;

    #[test]
    fn pods_without_a_node_and_pods_that_were_not_created() {
        let with = |w: Workload| cluster().add(budget("a/b").selects("app=web").max_unavailable(1)).add(w);
        let pending = || pod("a/web-1-9").label("app", "web").owned_by("apps/v1", "ReplicaSet/web-1");
        let refused = || {
            pending()
                .status(json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible."}]}))
        };
        let web = |running: usize, wanted: usize| deployment("a/web").on(&vec!["n"; running]).replicas(wanted);
        table(
            find,
            vec![
                ("all are there", with(web(3, 3)), None),
                (
                    "one was not created",
                    with(web(2, 3)),
                    Some((Verdict::Waits, "2 of 3 pods exist (Deployment web wants 3)")),
                ),
                (
                    "one is new",
                    with(web(2, 3)).add(pending()),
                    Some((Verdict::Waits, "web-1-9 is Pending: no node yet")),
                ),
                (
                    "one is unschedulable",
                    with(web(2, 3)).add(refused()),
                    Some((
                        Verdict::Unhealthy,
                        "web-1-9 is Pending: unschedulable (0/1 nodes are available: 1 Insufficient cpu)",
                    )),
                ),
                (
                    "one is unschedulable, and a node is nominated for it",
                    with(web(2, 3)).add(refused().status(json!({"nominatedNodeName": "n"}))),
                    Some((Verdict::Waits, "web-1-9 is Pending: node n is nominated for the pod")),
                ),
            ],
        );
    }
}
