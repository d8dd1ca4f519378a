//! What Cluster API and the system-upgrade-controller hold of how nodes are drained. They come as JSON alone.

use super::macros::json;
use super::meta::{LabelSelector, ObjectMeta};
use super::time::Time;

json! {
    /// `cluster.x-k8s.io/v1beta2.Machine`, with the fields of v1beta1 that have other names.
    Machine {
        metadata: Option<ObjectMeta>,
        spec: MachineSpec,
        status: MachineStatus,
    }

    /// `cluster.x-k8s.io/v1beta2.MachineSpec`.
    MachineSpec {
        cluster_name: String,
        deletion: MachineDeletionSpec,
        node_drain_timeout: Option<String>,
        node_volume_detach_timeout: Option<String>,
        node_deletion_timeout: Option<String>,
    }

    /// `cluster.x-k8s.io/v1beta2.MachineDeletionSpec`.
    MachineDeletionSpec {
        node_drain_timeout_seconds: Option<i64>,
        node_volume_detach_timeout_seconds: Option<i64>,
        node_deletion_timeout_seconds: Option<i64>,
    }

    /// `cluster.x-k8s.io/v1beta2.MachineStatus`.
    MachineStatus {
        node_ref: MachineNodeReference,
        deletion: MachineDeletionStatus,
    }

    /// `cluster.x-k8s.io/v1beta2.MachineNodeReference`.
    MachineNodeReference {
        name: String,
    }

    /// `cluster.x-k8s.io/v1beta2.MachineDeletionStatus`.
    MachineDeletionStatus {
        node_drain_start_time: Option<Time>,
        wait_for_node_volume_detach_start_time: Option<Time>,
    }

    /// `cluster.x-k8s.io/v1beta2.Cluster`.
    ClusterApiCluster {
        metadata: Option<ObjectMeta>,
    }

    /// `cluster.x-k8s.io/v1beta2.MachineDrainRule`.
    MachineDrainRule {
        metadata: Option<ObjectMeta>,
        spec: MachineDrainRuleSpec,
    }

    /// `cluster.x-k8s.io/v1beta2.MachineDrainRuleSpec`.
    MachineDrainRuleSpec {
        drain: MachineDrainRuleDrainConfig,
        machines: Vec<MachineDrainRuleMachineSelector>,
        pods: Vec<MachineDrainRulePodSelector>,
    }

    /// `cluster.x-k8s.io/v1beta2.MachineDrainRuleDrainConfig`.
    MachineDrainRuleDrainConfig {
        behavior: String,
        order: Option<i32>,
    }

    /// `cluster.x-k8s.io/v1beta2.MachineDrainRuleMachineSelector`.
    MachineDrainRuleMachineSelector {
        selector: Option<LabelSelector>,
        cluster_selector: Option<LabelSelector>,
    }

    /// `cluster.x-k8s.io/v1beta2.MachineDrainRulePodSelector`.
    MachineDrainRulePodSelector {
        selector: Option<LabelSelector>,
        namespace_selector: Option<LabelSelector>,
    }

    /// `upgrade.cattle.io/v1.Plan`.
    UpgradePlan {
        metadata: Option<ObjectMeta>,
        spec: UpgradePlanSpec,
        status: UpgradePlanStatus,
    }

    /// `upgrade.cattle.io/v1.PlanSpec`.
    UpgradePlanSpec {
        concurrency: Option<i64>,
        job_active_deadline_secs: Option<i64>,
        node_selector: Option<LabelSelector>,
        drain: Option<DrainSpec>,
    }

    /// `upgrade.cattle.io/v1.DrainSpec`.
    DrainSpec {
        timeout: Option<serde_json::Value>,
        grace_period: Option<i64>,
        delete_local_data: Option<bool>,
        delete_emptydir_data: Option<bool>,
        ignore_daemon_sets: Option<bool>,
        force: bool,
        disable_eviction: bool,
        skip_wait_for_delete_timeout: i64,
        pod_selector: Option<LabelSelector>,
    }

    /// `upgrade.cattle.io/v1.PlanStatus`.
    UpgradePlanStatus {
        applying: Vec<String>,
    }
}
