//! `partial-selector`: the selector matches some pods of a workload, and not the others.

use super::cause::Cause;
use crate::budget::context::{BudgetContext, names};
use crate::finding::{Code, Ref};
use crate::snapshot::Snapshot;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use std::sync::Arc;

/// Labels that controllers give to the pods of one revision of a workload: another one has another value.
const REVISION: [&str; 3] = ["pod-template-hash", "controller-revision-hash", "rollouts-pod-template-hash"];

/// The label by which the selector chooses one revision of its workload, if it does.
pub(in crate::budget) fn revision_label<'b>(b: &'b BudgetContext<'_>) -> Option<&'b str> {
    let keys = b.budget.selector.requirements().iter().filter(|r| !r.values.is_empty()).map(|r| &*r.key);
    keys.into_iter().find(|key| REVISION.contains(key))
}

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    if let (Some(label), Some(share)) = (revision_label(b), b.ideal.owners.first()) {
        let (kind, name) = (&share.owner.kind, &share.owner.meta.name);
        let message = format!(
            "the selector names the label {label}, whose value changes with every rollout of {kind} {name}: the budget then \
             matches none of the new pods"
        );
        return Some(Cause::note(b.finding(Code::PartialSelector, message, []).about([Ref::workload(&share.owner)])));
    }
    let (owner, all, missed) = b.ideal.owners.iter().find_map(|share| {
        let pods: Vec<&Arc<Pod>> = pods(b.snapshot, &share.owner).filter(|p| p.is_active()).collect();
        let missed: Vec<&Arc<Pod>> =
            pods.iter().copied().filter(|p| !b.budget.selector.matches(&p.meta.labels)).collect();
        let some = !missed.is_empty() && missed.len() < pods.len();
        some.then_some((&share.owner, pods.len(), missed))
    })?;
    let counted = match b.budget.rule.counts_owners() {
        true => format!("; the rule ({}) counts all {all}", b.budget.rule),
        false => String::new(),
    };
    let message = format!(
        "the selector matches {} of the {all} pods of {} {}; the budget does not protect the rest ({}){counted}",
        all - missed.len(),
        owner.kind,
        owner.meta.name,
        names(missed.iter().copied())
    );
    Some(Cause::note(b.finding(Code::PartialSelector, message, missed).about([Ref::workload(owner)])))
}

/// The pods of a workload, and of the ReplicaSets that it controls.
fn pods<'s>(snapshot: &'s Snapshot, owner: &'s Workload) -> impl Iterator<Item = &'s Arc<Pod>> {
    let uid = owner.meta.uid.as_deref().unwrap_or_default();
    let below = snapshot.workloads_of(uid).filter_map(|w| w.meta.uid.as_deref());
    std::iter::once(uid).chain(below).flat_map(|uid| snapshot.pods_of(uid))
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes;
    use super::*;
    use crate::testing::{Object, budget, cluster, deployment, stateful_set};
    use serde_json::{Value, json};

    #[test]
    fn pods_that_the_selector_leaves_out_are_told() {
        let three = ["n", "n", "n"];
        let over = |rule: Value| cluster().add(budget("a/b").selects("app=web,role=leader").spec(rule));
        let leads = |at: usize, p: Object| p.label("role", if at == 0 { "leader" } else { "follower" });
        let ends = |at: usize, p: Object| {
            if at == 0 { p.label("role", "leader") } else { p.deleted("2026-01-01T12:00:30Z", 30) }
        };
        let one = "the selector matches 1 of the 3 pods of Deployment web; the budget does not protect the rest (web-1-1, web-1-2)";
        let set = "the selector matches 1 of the 3 pods of StatefulSet web; the budget does not protect the rest (web-1, web-2); \
                   the rule (maxUnavailable 1) counts all 3";
        notes(
            find,
            vec![
                (
                    "a revision's own label",
                    cluster()
                        .add(budget("a/b").selects("app=web,pod-template-hash=1").max_unavailable(1))
                        .add(deployment("a/web").on(&three).pods(|_, p| p.label("pod-template-hash", "1"))),
                    Some(
                        "the selector names the label pod-template-hash, whose value changes with every rollout of Deployment \
                         web: the budget then matches none of the new pods",
                    ),
                ),
                ("a part", over(json!({"minAvailable": 1})).add(deployment("a/web").on(&three).pods(leads)), Some(one)),
                (
                    "a part, where the owners are counted",
                    over(json!({"maxUnavailable": 1})).add(stateful_set("a/web").on(&three).pods(leads)),
                    Some(set),
                ),
                (
                    "all",
                    cluster()
                        .add(budget("a/b").selects("app=web").min_available(1))
                        .add(deployment("a/web").on(&three)),
                    None,
                ),
                ("none", over(json!({"minAvailable": 1})).add(deployment("a/web").on(&three)), None),
                (
                    "the others are being deleted",
                    over(json!({"minAvailable": 1})).add(deployment("a/web").on(&three).pods(ends)),
                    None,
                ),
            ],
        );
    }
}
