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
    let late = since.is_some_and(|t| t + TIMEOUT < now);
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
