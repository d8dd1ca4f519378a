//! storage.k8s.io/v1: classes, drivers, attachments, capacity.

use super::macros::wire;
use super::meta::{LabelSelector, ObjectMeta};
use super::node::TopologySelectorTerm;
use super::scalar::Quantity;
use super::time::Time;

wire! {
    as (api::storage::v1);

    /// `storage.StorageClass`.
    StorageClass {
        metadata: msg(ObjectMeta) = 1,
        provisioner: str = 2,
        volume_binding_mode: opt_str = 7,
        allowed_topologies: list(TopologySelectorTerm) = 8,
    }

    /// `storage.CSINode`.
    CSINode {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(CSINodeSpec) = 2,
    }

    /// `storage.CSINodeSpec`.
    CSINodeSpec {
        drivers: list(CSINodeDriver) = 1,
    }

    /// `storage.CSINodeDriver`.
    CSINodeDriver {
        name: str = 1,
        node_id as "nodeID": str = 2,
        topology_keys: strings = 3,
        allocatable: msg(VolumeNodeResources) = 4,
    }

    /// `storage.VolumeNodeResources`.
    VolumeNodeResources {
        count: i32 = 1,
    }

    /// `storage.CSIDriver`.
    CSIDriver {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(CSIDriverSpec) = 2,
    }

    /// `storage.CSIDriverSpec`.
    CSIDriverSpec {
        attach_required: opt_bool = 1,
        storage_capacity: opt_bool = 4,
        prevent_pod_scheduling_if_missing: bool = 11,
    }

    /// `storage.VolumeAttachment`.
    VolumeAttachment {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(VolumeAttachmentSpec) = 2,
        status: msg(VolumeAttachmentStatus) = 3,
    }

    /// `storage.VolumeAttachmentSpec`.
    VolumeAttachmentSpec {
        attacher: str = 1,
        source: msg(VolumeAttachmentSource) = 2,
        node_name: str = 3,
    }

    /// `storage.VolumeAttachmentSource`.
    VolumeAttachmentSource {
        persistent_volume_name: opt_str = 1,
    }

    /// `storage.VolumeAttachmentStatus`.
    VolumeAttachmentStatus {
        attached: bool = 1,
        attach_error: msg(VolumeError) = 3,
    }

    /// `storage.VolumeError`.
    VolumeError {
        time: msg(Time) = 1,
        message: str = 2,
    }

    /// `storage.CSIStorageCapacity`.
    CSIStorageCapacity {
        metadata: msg(ObjectMeta) = 1,
        node_topology: msg(LabelSelector) = 2,
        storage_class_name: opt_str = 3,
        capacity: msg(Quantity) = 4,
        maximum_volume_size: msg(Quantity) = 5,
    }
}
