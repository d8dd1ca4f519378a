//! `hpa-floor`: a HorizontalPodAutoscaler stands at, or can scale down to, a count at which the rule allows nothing.

use super::cause::Cause;
use crate::budget::context::BudgetContext;
use crate::budget::ideal::Share;
use crate::cure::scale_target;
use crate::finding::{Code, Ref};
use crate::snapshot::{HorizontalPodAutoscaler, Kind};
use std::sync::Arc;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let (autoscaler, share, fewer) = floor(b)?;
    let standing = if fewer == 0 { "stands at" } else { "can scale down to" };
    let least = min_replicas(autoscaler);
    let replicas = if least == 1 { "replica" } else { "replicas" };
    let message = format!(
        "HorizontalPodAutoscaler {} {standing} {least} {replicas} (minReplicas), where the rule allows no eviction{}",
        autoscaler.meta.name,
        enough(b, autoscaler, share)
    );
    let finding =
        b.finding(Code::HpaFloor, message, []).about([Ref::of(Kind::HorizontalPodAutoscaler, &autoscaler.meta)]);
    Some(Cause::note(finding))
}

/// From which count on the rule allows an eviction, of those that the autoscaler may choose.
fn enough(b: &BudgetContext<'_>, autoscaler: &HorizontalPodAutoscaler, share: &Share) -> String {
    let Some(most) = autoscaler.spec.as_ref().and_then(|s| s.max_replicas) else { return String::new() };
    let allows = |n: i32| b.ideal.allowed_with(&b.budget, i64::from(n) - i64::from(share.scale)) > 0;
    let (mut none, mut some) = (min_replicas(autoscaler), most);
    if !allows(most) {
        return format!("; it allows none at any count up to {most} (maxReplicas)");
    }
    // With more pods no fewer are allowed: the border is found by halving.
    while some - none > 1 {
        let middle = none + (some - none) / 2;
        if allows(middle) { some = middle } else { none = middle }
    }
    format!("; from {some} of up to {most} replicas on it allows 1")
}

/// The autoscaler whose floor is too low, what it scales, and how many replicas fewer its floor has than there are.
pub(in crate::budget) fn floor<'b>(
    b: &'b BudgetContext<'_>,
) -> Option<(&'b Arc<HorizontalPodAutoscaler>, &'b Share, i64)> {
    let autoscalers = b.snapshot.horizontal_pod_autoscalers.in_namespace(b.budget.meta.ns());
    autoscalers.iter().find_map(|autoscaler| {
        let target = scale_target(b.snapshot, autoscaler)?;
        let share = b.ideal.owners.iter().find(|s| Arc::ptr_eq(&s.owner, target))?;
        let fewer = i64::from(min_replicas(autoscaler)) - i64::from(share.scale);
        let allows_none = fewer <= 0 && b.ideal.allowed_with(&b.budget, fewer) == 0;
        (allows_none && share.covered == i64::from(share.scale)).then_some((autoscaler, share, fewer))
    })
}

/// `minReplicas`; the API's default is 1.
pub(in crate::budget) fn min_replicas(autoscaler: &HorizontalPodAutoscaler) -> i32 {
    autoscaler.spec.as_ref().and_then(|s| s.min_replicas).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes;
    use super::*;
    use crate::testing::{Cluster, budget, cluster, deployment, object};
    use serde_json::{Value, json};

    #[test]
    fn a_floor_at_which_nothing_is_allowed_is_told() {
        let with = |rule: Value, replicas: usize, min: Value| -> Cluster {
            let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
            cluster()
                .add(budget("a/b").selects("app=web").spec(rule))
                .add(deployment("a/web").on(&vec!["n"; replicas]))
                .add(
                    object("autoscaling/v2", "HorizontalPodAutoscaler", "a/web")
                        .spec(json!({"minReplicas": min, "maxReplicas": 9, "scaleTargetRef": target})),
                )
        };
        let two = json!({"minAvailable": 2});
        let says = |standing: &str, floor: &str| {
            format!(
                "HorizontalPodAutoscaler web {standing} {floor} (minReplicas), where the rule allows no eviction; from 3 of up \
                 to 9 replicas on it allows 1"
            )
        };
        let (down, at) = (says("can scale down to", "2 replicas"), says("stands at", "2 replicas"));
        let one = says("can scale down to", "1 replica");
        let never = "HorizontalPodAutoscaler web stands at 2 replicas (minReplicas), where the rule allows no eviction; it \
                     allows none at any count up to 9 (maxReplicas)";
        notes(
            find,
            vec![
                ("above its floor", with(two.clone(), 4, json!(2)), Some(&*down)),
                ("at its floor", with(two.clone(), 2, json!(2)), Some(&*at)),
                ("no count is enough", with(json!({"minAvailable": "100%"}), 2, json!(2)), Some(never)),
                ("its floor is high enough", with(two.clone(), 4, json!(3)), None),
                ("the API's default is 1", with(two, 4, Value::Null), Some(&*one)),
                ("maxUnavailable 1 allows one at any count", with(json!({"maxUnavailable": 1}), 4, json!(1)), None),
            ],
        );
    }
}
