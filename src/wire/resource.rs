//! resource.k8s.io/v1: devices, their classes and the claims to them.

use super::macros::wire;
use super::meta::ObjectMeta;
use super::node::NodeSelector;

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
    }

    /// `resource.DeviceSubRequest`.
    DeviceSubRequest {
        name: str = 1,
        device_class_name: str = 2,
        selectors: list(DeviceSelector) = 3,
        allocation_mode: str = 4,
        count: i64 = 5,
        tolerations: list(DeviceToleration) = 6,
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
    }

    /// `resource.AllocationResult`.
    AllocationResult {
        devices: msg(DeviceAllocationResult) = 1,
        node_selector: msg(NodeSelector) = 3,
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
    }

    /// `resource.ResourceClaimConsumerReference`.
    ResourceClaimConsumerReference {
        api_group: str = 1,
        resource: str = 3,
        name: str = 4,
        uid: str = 5,
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
    }

    /// `resource.ResourcePool`.
    ResourcePool {
        name: str = 1,
        generation: i64 = 2,
        resource_slice_count: i64 = 3,
    }

    /// `resource.Device`.
    Device {
        name: str = 1,
        taints: list(DeviceTaint) = 8,
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
