//! Volumes of pods, PersistentVolumes and the claims to them, of core/v1.

use super::macros::wire;
use super::meta::{LabelSelector, ObjectMeta, ObjectReference};
use super::node::NodeSelector;
use super::scalar::Quantity;

wire! {
    as (api::core::v1);

    /// `core.Volume`.
    Volume {
        name: str = 1,
        volume_source: inline(VolumeSource) = 2,
    }

    /// `core.VolumeSource`.
    VolumeSource {
        host_path: msg(HostPathVolumeSource) = 1,
        empty_dir: msg(EmptyDirVolumeSource) = 2,
        gce_persistent_disk: msg(GcePersistentDiskVolumeSource) = 3,
        aws_elastic_block_store: msg(AwsElasticBlockStoreVolumeSource) = 4,
        iscsi: msg(IscsiVolumeSource) = 8,
        persistent_volume_claim: msg(PersistentVolumeClaimVolumeSource) = 10,
        rbd: msg(RbdVolumeSource) = 11,
        csi: msg(CSIVolumeSource) = 28,
        ephemeral: msg(EphemeralVolumeSource) = 29,
    }

    /// `core.HostPathVolumeSource`.
    HostPathVolumeSource {
        path: str = 1,
    }

    /// `core.EmptyDirVolumeSource`.
    EmptyDirVolumeSource {
        medium: str = 1,
    }

    /// `core.GCEPersistentDiskVolumeSource`.
    GcePersistentDiskVolumeSource {
        pd_name: str = 1,
        read_only: bool = 4,
    }

    /// `core.AWSElasticBlockStoreVolumeSource`.
    AwsElasticBlockStoreVolumeSource {
        volume_id as "volumeID": str = 1,
    }

    /// `core.ISCSIVolumeSource`.
    IscsiVolumeSource {
        iqn: str = 2,
        lun: i32 = 3,
        read_only: bool = 6,
    }

    /// `core.RBDVolumeSource`.
    RbdVolumeSource {
        monitors: strings = 1,
        image: str = 2,
        pool: str = 4,
        read_only: bool = 8,
    }

    /// `core.CSIVolumeSource`.
    CSIVolumeSource {
        driver: str = 1,
    }

    /// `core.PersistentVolumeClaimVolumeSource`.
    PersistentVolumeClaimVolumeSource {
        claim_name: str = 1,
        read_only: bool = 2,
    }

    /// `core.EphemeralVolumeSource`.
    EphemeralVolumeSource {
        volume_claim_template: msg(PersistentVolumeClaimTemplate) = 1,
    }

    /// `core.PersistentVolumeClaimTemplate`.
    PersistentVolumeClaimTemplate {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(PersistentVolumeClaimSpec) = 2,
    }

    /// `core.PersistentVolumeClaim`.
    PersistentVolumeClaim {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(PersistentVolumeClaimSpec) = 2,
        status: msg(PersistentVolumeClaimStatus) = 3,
    }

    /// `core.PersistentVolumeClaimSpec`.
    PersistentVolumeClaimSpec {
        access_modes: strings = 1,
        resources: msg(VolumeResourceRequirements) = 2,
        volume_name: str = 3,
        selector: msg(LabelSelector) = 4,
        storage_class_name: opt_str = 5,
        volume_mode: opt_str = 6,
        volume_attributes_class_name: opt_str = 9,
    }

    /// `core.VolumeResourceRequirements`.
    VolumeResourceRequirements {
        requests: map_of(Quantity) = 2,
    }

    /// `core.PersistentVolumeClaimStatus`.
    PersistentVolumeClaimStatus {
        phase: str = 1,
    }

    /// `core.PersistentVolume`.
    PersistentVolume {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(PersistentVolumeSpec) = 2,
        status: msg(PersistentVolumeStatus) = 3,
    }

    /// `core.PersistentVolumeSpec`.
    PersistentVolumeSpec {
        capacity: map_of(Quantity) = 1,
        persistent_volume_source: inline(PersistentVolumeSource) = 2,
        access_modes: strings = 3,
        claim_ref: msg(ObjectReference) = 4,
        storage_class_name: opt_str = 6,
        volume_mode: opt_str = 8,
        node_affinity: msg(VolumeNodeAffinity) = 9,
        volume_attributes_class_name: opt_str = 10,
    }

    /// `core.PersistentVolumeSource`.
    PersistentVolumeSource {
        gce_persistent_disk: msg(GcePersistentDiskVolumeSource) = 1,
        aws_elastic_block_store: msg(AwsElasticBlockStoreVolumeSource) = 2,
        host_path: msg(HostPathVolumeSource) = 3,
        nfs: msg(NfsVolumeSource) = 5,
        rbd: msg(RbdPersistentVolumeSource) = 6,
        iscsi: msg(IscsiPersistentVolumeSource) = 7,
        azure_disk: msg(AzureDiskVolumeSource) = 16,
        local: msg(LocalVolumeSource) = 20,
        csi: msg(CSIPersistentVolumeSource) = 22,
    }

    /// `core.AzureDiskVolumeSource`.
    AzureDiskVolumeSource {
        disk_name: str = 1,
    }

    /// `core.NFSVolumeSource`.
    NfsVolumeSource {
        server: str = 1,
    }

    /// `core.RBDPersistentVolumeSource`.
    RbdPersistentVolumeSource {
        monitors: strings = 1,
        image: str = 2,
        pool: str = 4,
        read_only: bool = 8,
    }

    /// `core.ISCSIPersistentVolumeSource`.
    IscsiPersistentVolumeSource {
        iqn: str = 2,
        lun: i32 = 3,
        read_only: bool = 6,
    }

    /// `core.LocalVolumeSource`.
    LocalVolumeSource {
        path: str = 1,
    }

    /// `core.CSIPersistentVolumeSource`.
    CSIPersistentVolumeSource {
        driver: str = 1,
        volume_handle: str = 2,
    }

    /// `core.VolumeNodeAffinity`.
    VolumeNodeAffinity {
        required: msg(NodeSelector) = 1,
    }

    /// `core.PersistentVolumeStatus`.
    PersistentVolumeStatus {
        phase: str = 1,
    }
}
