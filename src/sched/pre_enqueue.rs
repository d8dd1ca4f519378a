//! What keeps a pod out of the scheduler's queue. Mirrors every PreEnqueue plugin of 1.34 to 1.37:
//! `plugins/schedulinggates`, `plugins/dynamicresources`, and `plugins/gangscheduling` (since 1.36; only pods of clusters with
//! the feature GenericWorkload name a PodGroup). `plugins/defaultpreemption` has one, too: it holds a pod for the moment
//! in which its victims are deleted, which no snapshot shows. No volume plugin has one.
//!
//! Of a pod that is held the scheduler writes neither a condition nor an event. (The condition SchedulingGated is the API
//! server's.)

use super::filters::dynamic_resources::{ClaimFault, claim_of};
use super::gang::Gang;
use crate::snapshot::pod::{Pod, ResourceClaimRef};
use crate::snapshot::{Snapshot, Str};

/// What keeps a pod out of the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    /// It has scheduling gates.
    Gates,
    /// A device claim: its name within the pod, and what is wrong with it.
    Claim(Str, ClaimFault),
    /// Its PodGroup does not exist.
    NoPodGroup(Str),
    /// Of its PodGroup fewer pods exist than are to be scheduled together.
    Gang {
        /// The PodGroup.
        group: Str,
        /// `minCount`.
        wanted: i64,
        /// How many of its pods exist.
        there: i64,
    },
}

/// Everything that keeps the pod out of the queue; upstream stops at the first. Empty for a pod that is queued.
pub fn holds(pod: &Pod, snapshot: &Snapshot) -> Vec<Hold> {
    let mut all = Vec::new();
    if !pod.spec.scheduling_gates.is_empty() {
        all.push(Hold::Gates);
    }
    if snapshot.minor() >= 34 {
        let fault = |r: &ResourceClaimRef| Some(Hold::Claim(r.name.clone(), claim_of(pod, r, snapshot).err()?));
        all.extend(pod.spec.resource_claims.iter().filter_map(fault));
    }
    all.extend(gang(pod, snapshot));
    all
}

/// Mirrors `preEnqueueHierarchiesDisabled`: pods that are gated or running count, too.
fn gang(pod: &Pod, snapshot: &Snapshot) -> Option<Hold> {
    let group = pod.spec.pod_group.as_ref()?;
    if snapshot.pod_groups.named(pod.meta.ns(), group).is_none() {
        return Some(Hold::NoPodGroup(group.clone()));
    }
    let gang = Gang::of(pod, snapshot)?;
    let there = i64::try_from(gang.pods(snapshot).count()).unwrap_or(i64::MAX);
    (there < gang.wanted).then_some(Hold::Gang { group: gang.group, wanted: gang.wanted, there })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Object, cluster, find, object, pod};
    use serde_json::json;

    fn claiming(more: &serde_json::Value) -> Object {
        pod("a/p").spec(json!({"resourceClaims": [more]}))
    }

    #[test]
    fn pods_are_held_as_upstream() {
        // After TestPreEnqueue of schedulinggates, TestPlugin of dynamicresources ("claim-reference", "claim-template",
        // "missing-claim", "deleted-claim", "wrong-owner") and TestPreEnqueue of gangscheduling.
        let named = || claiming(&json!({"name": "gpu", "resourceClaimName": "c"}));
        let made = |claims: serde_json::Value| {
            claiming(&json!({"name": "gpu", "resourceClaimTemplateName": "t"}))
                .status(json!({"resourceClaimStatuses": claims}))
        };
        let claim = || object("resource.k8s.io/v1", "ResourceClaim", "a/c");
        let of_group = |name: &str| pod(&format!("a/{name}")).spec(json!({"schedulingGroup": {"podGroupName": "g"}}));
        let group = |policy: serde_json::Value| {
            object("scheduling.k8s.io/v1beta1", "PodGroup", "a/g").spec(json!({"schedulingPolicy": policy}))
        };
        let fault = |f: ClaimFault| vec![Hold::Claim("gpu".into(), f)];
        let gang = || group(json!({"gang": {"minCount": 2}}));
        for (title, objects, want) in [
            ("nothing", vec![pod("a/p")], vec![]),
            ("gates", vec![pod("a/p").spec(json!({"schedulingGates": [{"name": "x"}]}))], vec![Hold::Gates]),
            ("a claim", vec![named(), claim()], vec![]),
            ("missing claim", vec![named()], fault(ClaimFault::Missing("c".to_owned()))),
            (
                "deleted claim",
                vec![named(), claim().deleted("2026-01-01T12:00:00Z", 0)],
                fault(ClaimFault::Terminating("c".to_owned())),
            ),
            ("not made yet", vec![made(json!([]))], fault(ClaimFault::NotMade)),
            ("none is needed", vec![made(json!([{"name": "gpu"}]))], vec![]),
            (
                "made for it",
                vec![made(json!([{"name": "gpu", "resourceClaimName": "c"}])), claim().owned_by("v1", "Pod/p")],
                vec![],
            ),
            (
                "wrong owner",
                vec![made(json!([{"name": "gpu", "resourceClaimName": "c"}])), claim().owned_by("v1", "Pod/q")],
                fault(ClaimFault::NotForPod("c".to_owned())),
            ),
            ("no PodGroup", vec![of_group("p")], vec![Hold::NoPodGroup("g".into())]),
            ("no gang", vec![of_group("p"), group(json!({"basic": {}}))], vec![]),
            ("one of two", vec![of_group("p"), gang()], vec![Hold::Gang { group: "g".into(), wanted: 2, there: 1 }]),
            ("two of two", vec![of_group("p"), of_group("q").on("n1"), gang()], vec![]),
            (
                "one has ended",
                vec![of_group("p"), of_group("q").ended("Succeeded"), gang()],
                vec![Hold::Gang { group: "g".into(), wanted: 2, there: 1 }],
            ),
        ] {
            let snapshot = cluster().all(objects).snapshot();
            assert_eq!(holds(&find(&snapshot, "a/p"), &snapshot), want, "{title}");
        }
    }
}
