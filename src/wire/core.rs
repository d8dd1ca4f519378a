//! The rest of core/v1: nodes, namespaces, claims, volumes, quotas, services.

use super::prelude::*;

wire! {
    /// `core.Node`.
    Node {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(NodeSpec) = 2,
        status: msg(NodeStatus) = 3,
    }

    /// `core.NodeSpec`.
    NodeSpec {
        unschedulable: bool = 4,
        taints: list(Taint) = 5,
        provider_id as "providerID": str = 3,
    }

    /// `core.Taint`.
    Taint {
        key: str = 1,
        value: str = 2,
        effect: str = 3,
        time_added: msg(Time) = 4,
    }

    /// `core.NodeStatus`.
    NodeStatus {
        capacity: map_of(Quantity) = 1,
        allocatable: map_of(Quantity) = 2,
        conditions: list(NodeCondition) = 4,
        node_info: msg(NodeSystemInfo) = 7,
        declared_features: strings = 14,
    }

    /// `core.NodeCondition`.
    NodeCondition {
        type_: str = 1,
        status: str = 2,
        last_heartbeat_time: msg(Time) = 3,
        last_transition_time: msg(Time) = 4,
        reason: str = 5,
        message: str = 6,
    }

    /// `core.NodeSystemInfo`.
    NodeSystemInfo {
        kubelet_version: str = 7,
    }

    /// `core.Namespace`.
    Namespace {
        metadata: msg(ObjectMeta) = 1,
        status: msg(NamespaceStatus) = 3,
    }

    /// `core.NamespaceStatus`.
    NamespaceStatus {
        phase: str = 1,
    }

    /// `core.ServiceAccount`.
    ServiceAccount {
        metadata: msg(ObjectMeta) = 1,
    }

    /// `core.ReplicationController`.
    ReplicationController {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(ReplicationControllerSpec) = 2,
        status: msg(ReplicationControllerStatus) = 3,
    }

    /// `core.ReplicationControllerSpec`.
    ReplicationControllerSpec {
        replicas: i32 = 1,
        selector: map = 2,
        template: msg(PodTemplateSpec) = 3,
        min_ready_seconds: i32 = 4,
    }

    /// `core.ReplicationControllerStatus`.
    ReplicationControllerStatus {
        replicas: i32 = 1,
        ready_replicas: i32 = 4,
        observed_generation: i64 = 3,
        conditions: list(ReplicationControllerCondition) = 6,
    }

    /// `core.ReplicationControllerCondition`.
    ReplicationControllerCondition {
        type_: str = 1,
        status: str = 2,
        last_transition_time: msg(Time) = 3,
        reason: str = 4,
        message: str = 5,
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
        gce_persistent_disk: msg(GCEPersistentDiskVolumeSource) = 1,
        aws_elastic_block_store: msg(AWSElasticBlockStoreVolumeSource) = 2,
        host_path: msg(HostPathVolumeSource) = 3,
        nfs: msg(NFSVolumeSource) = 5,
        rbd: msg(RBDPersistentVolumeSource) = 6,
        iscsi: msg(ISCSIPersistentVolumeSource) = 7,
        azure_disk: msg(AzureDiskVolumeSource) = 16,
        local: msg(LocalVolumeSource) = 20,
        csi: msg(CSIPersistentVolumeSource) = 22,
    }

    /// `core.AzureDiskVolumeSource`.
    AzureDiskVolumeSource {
        disk_name: str = 1,
    }

    /// `core.NFSVolumeSource`.
    NFSVolumeSource {
        server: str = 1,
    }

    /// `core.RBDPersistentVolumeSource`.
    RBDPersistentVolumeSource {
        monitors: strings = 1,
        image: str = 2,
        pool: str = 4,
        read_only: bool = 8,
    }

    /// `core.ISCSIPersistentVolumeSource`.
    ISCSIPersistentVolumeSource {
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

    /// `core.ObjectReference`.
    ObjectReference {
        kind: str = 1,
        namespace: str = 2,
        name: str = 3,
        uid: str = 4,
        api_version: str = 5,
    }

    /// `core.ResourceQuota`.
    ResourceQuota {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(ResourceQuotaSpec) = 2,
        status: msg(ResourceQuotaStatus) = 3,
    }

    /// `core.ResourceQuotaSpec`.
    ResourceQuotaSpec {
        hard: map_of(Quantity) = 1,
        scopes: strings = 2,
        scope_selector: msg(ScopeSelector) = 3,
    }

    /// `core.ScopeSelector`.
    ScopeSelector {
        match_expressions: list(ScopedResourceSelectorRequirement) = 1,
    }

    /// `core.ScopedResourceSelectorRequirement`.
    ScopedResourceSelectorRequirement {
        scope_name: str = 1,
        operator: str = 2,
        values: strings = 3,
    }

    /// `core.ResourceQuotaStatus`.
    ResourceQuotaStatus {
        hard: map_of(Quantity) = 1,
        used: map_of(Quantity) = 2,
    }

    /// `core.LimitRange`.
    LimitRange {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(LimitRangeSpec) = 2,
    }

    /// `core.LimitRangeSpec`.
    LimitRangeSpec {
        limits: list(LimitRangeItem) = 1,
    }

    /// `core.LimitRangeItem`.
    LimitRangeItem {
        type_: str = 1,
        max: map_of(Quantity) = 2,
        min: map_of(Quantity) = 3,
        default_: map_of(Quantity) = 4,
        default_request: map_of(Quantity) = 5,
        max_limit_request_ratio: map_of(Quantity) = 6,
    }

    /// `core.Service`.
    Service {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(ServiceSpec) = 2,
    }

    /// `core.ServiceSpec`.
    ServiceSpec {
        selector: map = 2,
        type_: str = 4,
    }

    /// `core.TopologySelectorTerm`.
    TopologySelectorTerm {
        match_label_expressions: list(TopologySelectorLabelRequirement) = 1,
    }

    /// `core.TopologySelectorLabelRequirement`.
    TopologySelectorLabelRequirement {
        key: str = 1,
        values: strings = 2,
    }
}
