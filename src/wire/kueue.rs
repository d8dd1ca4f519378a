//! Kueue's Workloads and queues, and of them what says why something is held. They come as JSON alone.

use super::macros::json;
use super::meta::{Condition, ObjectMeta};
use super::pod::PodTemplateSpec;
use super::scalar::Quantity;
use super::time::Time;
use std::collections::BTreeMap;

json! {
    /// `kueue.x-k8s.io/v1beta1.Workload`; `v1beta2` has the same fields but for topology assignments.
    KueueWorkload {
        metadata: Option<ObjectMeta>,
        spec: KueueWorkloadSpec,
        status: KueueWorkloadStatus,
    }

    /// `kueue.x-k8s.io/v1beta1.WorkloadSpec`.
    KueueWorkloadSpec {
        active: Option<bool>,
        queue_name: String,
        pod_sets: Vec<KueuePodSet>,
    }

    /// `kueue.x-k8s.io/v1beta1.PodSet`.
    KueuePodSet {
        name: String,
        count: Option<i64>,
        template: Option<PodTemplateSpec>,
    }

    /// `kueue.x-k8s.io/v1beta1.WorkloadStatus`.
    KueueWorkloadStatus {
        conditions: Vec<Condition>,
        admission: Option<KueueAdmission>,
        admission_checks: Vec<KueueAdmissionCheckState>,
        resource_requests: Vec<KueuePodSetRequest>,
        requeue_state: Option<KueueRequeueState>,
    }

    /// `kueue.x-k8s.io/v1beta1.RequeueState`.
    KueueRequeueState {
        count: Option<i64>,
        requeue_at: Option<Time>,
    }

    /// `kueue.x-k8s.io/v1beta1.Admission`.
    KueueAdmission {
        cluster_queue: String,
        pod_set_assignments: Vec<KueuePodSetAssignment>,
    }

    /// `kueue.x-k8s.io/v1beta1.PodSetAssignment`.
    KueuePodSetAssignment {
        name: String,
        count: Option<i64>,
        topology_assignment: Option<KueueTopologyAssignment>,
    }

    /// `TopologyAssignment`: of `v1beta1` the domains, of `v1beta2` the slices.
    KueueTopologyAssignment {
        domains: Vec<KueueTopologyDomainAssignment>,
        slices: Vec<KueueTopologyAssignmentSlice>,
    }

    /// `kueue.x-k8s.io/v1beta1.TopologyDomainAssignment`.
    KueueTopologyDomainAssignment {
        count: i64,
    }

    /// `kueue.x-k8s.io/v1beta2.TopologyAssignmentSlice`.
    KueueTopologyAssignmentSlice {
        domain_count: i64,
        pod_counts: KueueTopologyAssignmentSlicePodCounts,
    }

    /// `kueue.x-k8s.io/v1beta2.TopologyAssignmentSlicePodCounts`.
    KueueTopologyAssignmentSlicePodCounts {
        universal: Option<i64>,
        individual: Vec<i64>,
    }

    /// `kueue.x-k8s.io/v1beta1.AdmissionCheckState`.
    KueueAdmissionCheckState {
        name: String,
        state: String,
        message: String,
    }

    /// `kueue.x-k8s.io/v1beta1.PodSetRequest`.
    KueuePodSetRequest {
        name: String,
        resources: BTreeMap<String, Quantity>,
    }

    /// `kueue.x-k8s.io/v1beta1.LocalQueue`.
    KueueLocalQueue {
        metadata: Option<ObjectMeta>,
        spec: KueueLocalQueueSpec,
    }

    /// `kueue.x-k8s.io/v1beta1.LocalQueueSpec`.
    KueueLocalQueueSpec {
        cluster_queue: String,
        stop_policy: String,
    }

    /// `kueue.x-k8s.io/v1beta1.ClusterQueue`.
    KueueClusterQueue {
        metadata: Option<ObjectMeta>,
        spec: KueueClusterQueueSpec,
        status: KueueClusterQueueStatus,
    }

    /// `kueue.x-k8s.io/v1beta1.ClusterQueueSpec`; in `v1beta2` the cohort is called `cohortName`.
    KueueClusterQueueSpec {
        resource_groups: Vec<KueueResourceGroup>,
        #[serde(alias = "cohortName")]
        cohort: String,
        stop_policy: String,
    }

    /// `kueue.x-k8s.io/v1beta1.ResourceGroup`.
    KueueResourceGroup {
        flavors: Vec<KueueFlavorQuotas>,
    }

    /// `kueue.x-k8s.io/v1beta1.FlavorQuotas`.
    KueueFlavorQuotas {
        name: String,
        resources: Vec<KueueResourceQuota>,
    }

    /// `kueue.x-k8s.io/v1beta1.ResourceQuota`.
    KueueResourceQuota {
        name: String,
        nominal_quota: Quantity,
    }

    /// `kueue.x-k8s.io/v1beta1.ClusterQueueStatus`.
    KueueClusterQueueStatus {
        conditions: Vec<Condition>,
        flavors_reservation: Vec<KueueFlavorUsage>,
    }

    /// `kueue.x-k8s.io/v1beta1.FlavorUsage`.
    KueueFlavorUsage {
        name: String,
        resources: Vec<KueueResourceUsage>,
    }

    /// `kueue.x-k8s.io/v1beta1.ResourceUsage`.
    KueueResourceUsage {
        name: String,
        total: Quantity,
    }
}
