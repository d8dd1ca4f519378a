//! resource.k8s.io/v1: devices, their classes, the claims to them, and taints set on them from outside.

use super::macros::wire;
use super::meta::{Condition, ObjectMeta};
use super::node::NodeSelector;
use super::scalar::Quantity;
use super::time::Time;

wire! {
    as (api::resource::v1);

    /// `resource.ResourceClaim`.
    ResourceClaim {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(ResourceClaimSpec) = 2,
        status: msg(ResourceClaimStatus) = 3,
    }

    /// `resource.ResourceClaimSpec`.
    ResourceClaimSpec {
        devices: msg(DeviceClaim) = 1,
    }

    /// `resource.DeviceClaim`.
    DeviceClaim {
        requests: list(DeviceRequest) = 1,
        constraints: list(DeviceConstraint) = 2,
    }

    /// `resource.DeviceRequest`.
    DeviceRequest {
        name: str = 1,
        exactly: msg(ExactDeviceRequest) = 2,
        first_available: list(DeviceSubRequest) = 3,
    }

    /// `resource.ExactDeviceRequest`.
    ExactDeviceRequest {
        device_class_name: str = 1,
        selectors: list(DeviceSelector) = 2,
        allocation_mode: str = 3,
        count: i64 = 4,
        admin_access: bool = 5,
        tolerations: list(DeviceToleration) = 6,
        capacity: msg(CapacityRequirements) = 7,
        derived_attributes: list(DeviceDerivedAttribute) = 8,
    }

    /// `resource.DeviceSubRequest`.
    DeviceSubRequest {
        name: str = 1,
        device_class_name: str = 2,
        selectors: list(DeviceSelector) = 3,
        allocation_mode: str = 4,
        count: i64 = 5,
        tolerations: list(DeviceToleration) = 6,
        capacity: msg(CapacityRequirements) = 7,
        derived_attributes: list(DeviceDerivedAttribute) = 8,
    }

    /// `resource.CapacityRequirements`.
    CapacityRequirements {
        requests: map_of(Quantity) = 1,
    }

    /// `resource.DeviceConstraint`.
    DeviceConstraint {
        requests: strings = 1,
        match_attribute: opt_str = 2,
        distinct_attribute: opt_str = 3,
    }

    /// `resource.DeviceToleration`.
    DeviceToleration {
        key: str = 1,
        operator: str = 2,
        value: str = 3,
        effect: str = 4,
    }

    /// `resource.DeviceSelector`.
    DeviceSelector {
        cel: msg(CelDeviceSelector) = 1,
    }

    /// `resource.CELDeviceSelector`.
    CelDeviceSelector {
        expression: str = 1,
    }

    /// `resource.ResourceClaimStatus`.
    ResourceClaimStatus {
        allocation: msg(AllocationResult) = 1,
        reserved_for: list(ResourceClaimConsumerReference) = 2,
        devices: list(AllocatedDeviceStatus) = 4,
    }

    /// `resource.AllocationResult`.
    AllocationResult {
        devices: msg(DeviceAllocationResult) = 1,
        node_selector: msg(NodeSelector) = 3,
        allocation_timestamp: msg(Time) = 5,
    }

    /// `resource.DeviceAllocationResult`.
    DeviceAllocationResult {
        results: list(DeviceRequestAllocationResult) = 1,
    }

    /// `resource.DeviceRequestAllocationResult`.
    DeviceRequestAllocationResult {
        request: str = 1,
        driver: str = 2,
        pool: str = 3,
        device: str = 4,
        admin_access: bool = 5,
        binding_conditions: strings = 7,
        binding_failure_conditions: strings = 8,
        share_id as "shareID": opt_str = 9,
        consumed_capacity: map_of(Quantity) = 10,
        skip_node_operations: strings = 11,
    }

    /// `resource.ResourceClaimConsumerReference`.
    ResourceClaimConsumerReference {
        api_group: str = 1,
        resource: str = 3,
        name: str = 4,
        uid: str = 5,
    }

    /// `resource.AllocatedDeviceStatus`.
    AllocatedDeviceStatus {
        driver: str = 1,
        pool: str = 2,
        device: str = 3,
        conditions: list(Condition) = 4,
    }

    /// `resource.ResourceSlice`.
    ResourceSlice {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(ResourceSliceSpec) = 2,
    }

    /// `resource.ResourceSliceSpec`.
    ResourceSliceSpec {
        driver: str = 1,
        pool: msg(ResourcePool) = 2,
        node_name: str = 3,
        node_selector: msg(NodeSelector) = 4,
        all_nodes: opt_bool = 5,
        devices: list(Device) = 6,
        per_device_node_selection: opt_bool = 7,
        shared_counters: list(CounterSet) = 8,
    }

    /// `resource.ResourcePool`.
    ResourcePool {
        name: str = 1,
        generation: i64 = 2,
        resource_slice_count: i64 = 3,
    }

    /// `resource.CounterSet`.
    CounterSet {
        name: str = 1,
        counters: map_of(Counter) = 2,
    }

    /// `resource.Counter`.
    Counter {
        value: msg(Quantity) = 1,
    }

    /// `resource.Device`.
    Device {
        name: str = 1,
        attributes: map_of(DeviceAttribute) = 2,
        capacity: map_of(DeviceCapacity) = 3,
        consumes_counters: list(DeviceCounterConsumption) = 4,
        node_name: str = 5,
        node_selector: msg(NodeSelector) = 6,
        all_nodes: opt_bool = 7,
        taints: list(DeviceTaint) = 8,
        binds_to_node: opt_bool = 9,
        binding_conditions: strings = 10,
        binding_failure_conditions: strings = 11,
        allow_multiple_allocations: opt_bool = 12,
    }

    /// `resource.DeviceAttribute`.
    DeviceAttribute {
        int: i64 = 2,
        bool: opt_bool = 3,
        string: opt_str = 4,
        version: opt_str = 5,
        ints: i64s = 6,
        bools: bools = 7,
        strings: strings = 8,
        versions: strings = 9,
    }

    /// `resource.DeviceCapacity`.
    DeviceCapacity {
        value: msg(Quantity) = 1,
        request_policy: msg(CapacityRequestPolicy) = 2,
    }

    /// `resource.CapacityRequestPolicy`.
    CapacityRequestPolicy {
        default: msg(Quantity) = 1,
        valid_values: list(Quantity) = 3,
        valid_range: msg(CapacityRequestPolicyRange) = 4,
    }

    /// `resource.CapacityRequestPolicyRange`.
    CapacityRequestPolicyRange {
        min: msg(Quantity) = 1,
        max: msg(Quantity) = 2,
        step: msg(Quantity) = 3,
    }

    /// `resource.DeviceCounterConsumption`.
    DeviceCounterConsumption {
        counter_set: str = 1,
        counters: map_of(Counter) = 2,
        compatibility_groups: strings = 3,
    }

    /// `resource.DeviceTaint`.
    DeviceTaint {
        key: str = 1,
        value: str = 2,
        effect: str = 3,
    }

    /// `resource.DeviceClass`.
    DeviceClass {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(DeviceClassSpec) = 2,
    }

    /// `resource.DeviceClassSpec`.
    DeviceClassSpec {
        selectors: list(DeviceSelector) = 1,
        extended_resource_name: opt_str = 4,
    }
}

wire! {
    as (api::resource::v1alpha3);

    /// `resource.DeviceTaintRule`.
    DeviceTaintRule {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(DeviceTaintRuleSpec) = 2,
    }

    /// `resource.DeviceTaintRuleSpec`.
    DeviceTaintRuleSpec {
        device_selector: msg(DeviceTaintSelector) = 1,
        taint: msg(DeviceTaint) = 2,
    }

    /// `resource.DeviceTaintSelector`.
    DeviceTaintSelector {
        driver: opt_str = 2,
        pool: opt_str = 3,
        device: opt_str = 4,
    }
}

impl ResourceClaim {
    /// The devices that it has; `None` where it has none yet.
    pub fn allocation(&self) -> Option<&AllocationResult> {
        self.status.as_ref()?.allocation.as_ref()
    }

    /// Whether it has its devices.
    pub fn is_allocated(&self) -> bool {
        self.allocation().is_some()
    }
}

/// `resource.DeviceDerivedAttribute`: new in 1.37, and known to no other description of the API that the tests have.
#[derive(Clone, PartialEq, Eq, prost::Message, serde::Deserialize, serde::Serialize)]
pub struct DeviceDerivedAttribute {
    /// Its name.
    #[prost(string, tag = 1)]
    #[serde(default)]
    pub name: String,
    /// From which expression it comes.
    #[prost(string, tag = 2)]
    #[serde(default)]
    pub expression: String,
}

#[cfg(test)]
impl super::oracle::Sample for DeviceDerivedAttribute {
    fn sample() -> Self {
        Self { name: "x".to_owned(), expression: "x".to_owned() }
    }
}

#[cfg(test)]
impl super::oracle::Tagged for DeviceDerivedAttribute {
    fn hold_tags() {}
}
