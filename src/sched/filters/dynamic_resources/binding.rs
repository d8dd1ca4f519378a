//! Allocated claims whose devices wait for something before a pod is bound, an attached fabric for one. Mirrors
//! `isClaimReadyForBinding` and `isClaimTimeout` (`plugins/dynamicresources/dynamicresources.go`).

use crate::snapshot::object::Object;
use crate::wire::resource::{DeviceRequestAllocationResult, ResourceClaim};
use jiff::{SignedDuration, Timestamp};

/// How long devices may take (`DynamicResourcesBindingTimeoutDefault`).
const TIMEOUT: SignedDuration = SignedDuration::from_secs(600);

/// Whether binding the devices of a claim has failed, or takes too long: the claim is then of no use on any node.
pub fn is_lost(claim: &Object<ResourceClaim>, now: Timestamp) -> bool {
    let Some(allocation) = claim.allocation() else { return false };
    let results = || allocation.devices.iter().flat_map(|d| &d.results);
    let mut ready = true;
    for result in results().filter(|r| !r.binding_conditions.is_empty()) {
        let is = |condition: &String| condition_of(claim, result, condition);
        if !has_status(claim, result) {
            ready = false;
            break;
        }
        if result.binding_failure_conditions.iter().any(is) {
            return true;
        }
        if !result.binding_conditions.iter().all(is) {
            ready = false;
            break;
        }
    }
    let since = allocation.allocation_timestamp.and_then(crate::wire::time::Time::timestamp);
    let late = since.is_some_and(|t| now.duration_since(t) > TIMEOUT);
    !ready && late && results().any(|r| !r.binding_conditions.is_empty())
}

fn statuses<'a>(
    claim: &'a Object<ResourceClaim>,
    result: &'a DeviceRequestAllocationResult,
) -> impl Iterator<Item = &'a crate::wire::resource::AllocatedDeviceStatus> {
    let all = claim.status.iter().flat_map(|s| &s.devices);
    all.filter(|d| d.device == result.device && d.driver == result.driver && d.pool == result.pool)
}

fn has_status(claim: &Object<ResourceClaim>, result: &DeviceRequestAllocationResult) -> bool {
    statuses(claim, result).next().is_some()
}

/// Whether a condition of a claim's device is true.
fn condition_of(claim: &Object<ResourceClaim>, result: &DeviceRequestAllocationResult, condition: &str) -> bool {
    let conditions = statuses(claim, result).take(1).flat_map(|d| &d.conditions);
    conditions.filter(|c| c.type_ == condition).any(|c| c.status == "True")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, object};
    use serde_json::json;

    #[test]
    fn binding_is_late_after_ten_minutes() {
        for (allocated, want) in
            [("2026-01-01T11:49:59Z", true), ("2026-01-01T11:50:00Z", false), ("9999-12-30T22:00:00Z", false)]
        {
            let device =
                json!({"request": "r", "driver": "d", "pool": "p", "device": "x", "bindingConditions": ["Attached"]});
            let allocation = json!({"allocationTimestamp": allocated, "devices": {"results": [device]}});
            let claim = object("resource.k8s.io/v1", "ResourceClaim", "a/c").status(json!({"allocation": allocation}));
            let snapshot = cluster().add(claim).snapshot();
            let claim = snapshot.resource_claims.named("a", "c").unwrap();
            assert_eq!(is_lost(claim, "2026-01-01T12:00:00Z".parse().unwrap()), want, "{allocated}");
        }
    }
}
