//! Pods: what scheduling, readiness and deletion depend on.

use super::macros::wire;
use super::meta::{LabelSelector, ObjectMeta};
use super::node::{NodeSelector, NodeSelectorTerm};
use super::scalar::Quantity;
use super::time::Time;
use super::volume::Volume;

wire! {
    as (newer);

    /// `core.PodSchedulingGroup`, since 1.36.
    PodSchedulingGroup {
        pod_group_name: opt_str = 1,
    }
}

wire! {
    as (api::core::v1);

    /// `core.Pod`.
    Pod {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(PodSpec) = 2,
        status: msg(PodStatus) = 3,
    }

    /// `core.PodTemplateSpec`.
    PodTemplateSpec {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(PodSpec) = 2,
    }

    /// `core.PodSpec`.
    PodSpec {
        volumes: list(Volume) = 1,
        init_containers: list(Container) = 20,
        containers: list(Container) = 2,
        restart_policy: str = 3,
        termination_grace_period_seconds: i64 = 4,
        active_deadline_seconds: i64 = 5,
        node_selector: map = 7,
        service_account_name: str = 8,
        node_name: str = 10,
        host_network: bool = 11,
        affinity: msg(Affinity) = 18,
        scheduler_name: str = 19,
        tolerations: list(Toleration) = 22,
        priority_class_name: str = 24,
        priority: i32 = 25,
        readiness_gates: list(PodReadinessGate) = 28,
        runtime_class_name: opt_str = 29,
        preemption_policy: opt_str = 31,
        overhead: map_of(Quantity) = 32,
        topology_spread_constraints: list(TopologySpreadConstraint) = 33,
        os: msg(PodOs) = 36,
        scheduling_gates: list(PodSchedulingGate) = 38,
        resource_claims: list(PodResourceClaim) = 39,
        resources: msg(ResourceRequirements) = 40,
        scheduling_group: msg(PodSchedulingGroup) = 43,
    }

    /// `core.PodOS`.
    PodOs {
        name: str = 1,
    }

    /// `core.Container`.
    Container {
        name: str = 1,
        image: str = 2,
        command: strings = 3,
        args: strings = 4,
        ports: list(ContainerPort) = 6,
        env: list(EnvVar) = 7,
        resources: msg(ResourceRequirements) = 8,
        readiness_probe: msg(Probe) = 11,
        startup_probe: msg(Probe) = 22,
        lifecycle: msg(Lifecycle) = 12,
        restart_policy: str = 24,
        restart_policy_rules: list(ContainerRestartRule) = 25,
    }

    /// `core.ContainerRestartRule`.
    ContainerRestartRule {
        action: str = 1,
    }

    /// `core.ContainerPort`.
    ContainerPort {
        host_port: i32 = 2,
        container_port: i32 = 3,
        protocol: str = 4,
        host_ip as "hostIP": str = 5,
    }

    /// `core.EnvVar`.
    EnvVar {
        name: str = 1,
    }

    /// `core.ResourceRequirements`.
    ResourceRequirements {
        limits: map_of(Quantity) = 1,
        requests: map_of(Quantity) = 2,
        claims: list(ResourceClaim) = 3,
    }

    /// `core.ResourceClaim`.
    ResourceClaim {
        name: str = 1,
    }

    /// `core.Probe`.
    Probe {
        initial_delay_seconds: i32 = 2,
        period_seconds: i32 = 4,
        success_threshold: i32 = 5,
        failure_threshold: i32 = 6,
    }

    /// `core.Lifecycle`.
    Lifecycle {
        pre_stop: msg(LifecycleHandler) = 2,
    }

    /// `core.LifecycleHandler`.
    LifecycleHandler {
        exec: msg(ExecAction) = 1,
        sleep: msg(SleepAction) = 4,
    }

    /// `core.ExecAction`.
    ExecAction {
        command: strings = 1,
    }

    /// `core.SleepAction`.
    SleepAction {
        seconds: i64 = 1,
    }

    /// `core.Affinity`.
    Affinity {
        node_affinity: msg(NodeAffinity) = 1,
        pod_affinity: msg(PodAffinity) = 2,
        pod_anti_affinity: msg(PodAntiAffinity) = 3,
    }

    /// `core.NodeAffinity`.
    NodeAffinity {
        required_during_scheduling_ignored_during_execution: msg(NodeSelector) = 1,
        preferred_during_scheduling_ignored_during_execution: list(PreferredSchedulingTerm) = 2,
    }

    /// `core.PreferredSchedulingTerm`.
    PreferredSchedulingTerm {
        weight: i32 = 1,
        preference: msg(NodeSelectorTerm) = 2,
    }

    /// `core.PodAffinity`.
    PodAffinity {
        required_during_scheduling_ignored_during_execution: list(PodAffinityTerm) = 1,
        preferred_during_scheduling_ignored_during_execution: list(WeightedPodAffinityTerm) = 2,
    }

    /// `core.PodAntiAffinity`.
    PodAntiAffinity {
        required_during_scheduling_ignored_during_execution: list(PodAffinityTerm) = 1,
        preferred_during_scheduling_ignored_during_execution: list(WeightedPodAffinityTerm) = 2,
    }

    /// `core.WeightedPodAffinityTerm`.
    WeightedPodAffinityTerm {
        weight: i32 = 1,
        pod_affinity_term: msg(PodAffinityTerm) = 2,
    }

    /// `core.PodAffinityTerm`.
    PodAffinityTerm {
        label_selector: msg(LabelSelector) = 1,
        namespaces: strings = 2,
        topology_key: str = 3,
        namespace_selector: msg(LabelSelector) = 4,
        match_label_keys: strings = 5,
        mismatch_label_keys: strings = 6,
    }

    /// `core.Toleration`.
    Toleration {
        key: str = 1,
        operator: str = 2,
        value: str = 3,
        effect: str = 4,
        toleration_seconds: i64 = 5,
    }

    /// `core.TopologySpreadConstraint`.
    TopologySpreadConstraint {
        max_skew: i32 = 1,
        topology_key: str = 2,
        when_unsatisfiable: str = 3,
        label_selector: msg(LabelSelector) = 4,
        min_domains: i32 = 5,
        node_affinity_policy: opt_str = 6,
        node_taints_policy: opt_str = 7,
        match_label_keys: strings = 8,
    }

    /// `core.PodReadinessGate`.
    PodReadinessGate {
        condition_type: str = 1,
    }

    /// `core.PodSchedulingGate`.
    PodSchedulingGate {
        name: str = 1,
    }

    /// `core.PodResourceClaim`.
    PodResourceClaim {
        name: str = 1,
        resource_claim_name: opt_str = 3,
        resource_claim_template_name: opt_str = 4,
    }

    /// `core.PodStatus`.
    PodStatus {
        phase: str = 1,
        conditions: list(PodCondition) = 2,
        message: str = 3,
        reason: str = 4,
        nominated_node_name: str = 11,
        start_time: msg(Time) = 7,
        init_container_statuses: list(ContainerStatus) = 10,
        container_statuses: list(ContainerStatus) = 8,
        qos_class: str = 9,
        resize: str = 14,
        resource_claim_statuses: list(PodResourceClaimStatus) = 15,
    }

    /// `core.PodCondition`.
    PodCondition {
        type_: str = 1,
        status: str = 2,
        last_transition_time: msg(Time) = 4,
        reason: str = 5,
        message: str = 6,
    }

    /// `core.PodResourceClaimStatus`.
    PodResourceClaimStatus {
        name: str = 1,
        resource_claim_name: opt_str = 2,
    }

    /// `core.ContainerStatus`.
    ContainerStatus {
        name: str = 1,
        state: msg(ContainerState) = 2,
        last_state: msg(ContainerState) = 3,
        ready: bool = 4,
        restart_count: i32 = 5,
        started: opt_bool = 9,
        allocated_resources: map_of(Quantity) = 10,
        resources: msg(ResourceRequirements) = 11,
    }

    /// `core.ContainerState`.
    ContainerState {
        waiting: msg(ContainerStateWaiting) = 1,
        running: msg(ContainerStateRunning) = 2,
        terminated: msg(ContainerStateTerminated) = 3,
    }

    /// `core.ContainerStateWaiting`.
    ContainerStateWaiting {
        reason: str = 1,
        message: str = 2,
    }

    /// `core.ContainerStateRunning`.
    ContainerStateRunning {
        started_at: msg(Time) = 1,
    }

    /// `core.ContainerStateTerminated`.
    ContainerStateTerminated {
        exit_code: i32 = 1,
        reason: str = 3,
        message: str = 4,
        started_at: msg(Time) = 5,
        finished_at: msg(Time) = 6,
    }
}
