//! Which features of devices a scheduler has. Mirrors `pkg/features/kube_features.go` (defaults by minor version):
//!
//! | gate | on since |
//! |---|---|
//! | DynamicResourceAllocation, DRAAdminAccess, DRAPrioritizedList, DRASchedulerFilterTimeout | 1.34 |
//! | DRADeviceTaints, DRAPartitionableDevices, DRAConsumableCapacity, DRADeviceBindingConditions, DRAExtendedResource | 1.36 |
//! | DRAResourceClaimDeviceStatus | 1.33 |
//! | DRADeviceTaintRules, DRAFractionalCapacityRange | 1.37 |
//!
//! Off up to 1.37: DRAListTypeAttributes, DRADerivedAttributes, DRADeviceCompatibilityGroups,
//! DRANodeAllocatableResources, DRAOptionalNodeOperations, DRAWorkloadResourceClaims, DRAPartitionableDevicesType. The
//! API server drops their fields; where one is set all the same, somebody has turned the gate on, and the answer is
//! unknown.
//!
//! With these defaults `structured.NewAllocator` picks the `stable` allocator up to 1.35 and `incubating` since 1.36
//! (1.37 adds DRAFractionalCapacityRange, which it supports); `experimental` needs a gate that is off.

/// What a scheduler of some minor version does about devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// The minor version.
    pub minor: u32,
    /// DynamicResourceAllocation: claims are looked at at all.
    pub claims: bool,
    /// DRADeviceTaints.
    pub taints: bool,
    /// DRADeviceTaintRules.
    pub taint_rules: bool,
    /// DRAPartitionableDevices: shared counters, and devices with a place of their own.
    pub partitionable: bool,
    /// DRAConsumableCapacity: devices that several claims share.
    pub consumable: bool,
    /// DRAFractionalCapacityRange.
    pub fractional: bool,
    /// DRADeviceBindingConditions.
    pub binding: bool,
    /// DRAExtendedResource: classes offer extended resources.
    pub extended: bool,
}

impl Features {
    /// Those of a minor version.
    pub fn of(minor: u32) -> Self {
        Self {
            minor,
            claims: minor >= 34,
            taints: minor >= 36,
            taint_rules: minor >= 37,
            partitionable: minor >= 36,
            consumable: minor >= 36,
            fractional: minor >= 37,
            binding: minor >= 36,
            extended: minor >= 36,
        }
    }
}
