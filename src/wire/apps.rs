//! apps/v1, batch/v1 and autoscaling/v2: what makes pods, and what sets their number.

use super::macros::wire;
use super::meta::{LabelSelector, ObjectMeta, ObjectReference};
use super::pod::PodTemplateSpec;
use super::scalar::IntOrString;
use super::time::Time;
use super::volume::PersistentVolumeClaim;

wire! {
    as (api::apps::v1);

    /// `apps.Deployment`.
    Deployment {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(DeploymentSpec) = 2,
        status: msg(DeploymentStatus) = 3,
    }

    /// `apps.DeploymentSpec`.
    DeploymentSpec {
        replicas: i32 = 1,
        selector: msg(LabelSelector) = 2,
        template: msg(PodTemplateSpec) = 3,
        strategy: msg(DeploymentStrategy) = 4,
        min_ready_seconds: i32 = 5,
        paused: bool = 7,
        progress_deadline_seconds: i32 = 9,
    }

    /// `apps.DeploymentStrategy`.
    DeploymentStrategy {
        type_: str = 1,
        rolling_update: msg(RollingUpdateDeployment) = 2,
    }

    /// `apps.RollingUpdateDeployment`.
    RollingUpdateDeployment {
        max_unavailable: msg(IntOrString) = 1,
        max_surge: msg(IntOrString) = 2,
    }

    /// `apps.DeploymentStatus`.
    DeploymentStatus {
        observed_generation: i64 = 1,
        replicas: i32 = 2,
        updated_replicas: i32 = 3,
        ready_replicas: i32 = 7,
        available_replicas: i32 = 4,
        unavailable_replicas: i32 = 5,
        conditions: list(DeploymentCondition) = 6,
    }

    /// `apps.DeploymentCondition`.
    DeploymentCondition {
        type_: str = 1,
        status: str = 2,
        last_update_time: msg(Time) = 6,
        last_transition_time: msg(Time) = 7,
        reason: str = 4,
        message: str = 5,
    }

    /// `apps.ReplicaSet`.
    ReplicaSet {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(ReplicaSetSpec) = 2,
        status: msg(ReplicaSetStatus) = 3,
    }

    /// `apps.ReplicaSetSpec`.
    ReplicaSetSpec {
        replicas: i32 = 1,
        min_ready_seconds: i32 = 4,
        selector: msg(LabelSelector) = 2,
        template: msg(PodTemplateSpec) = 3,
    }

    /// `apps.ReplicaSetStatus`.
    ReplicaSetStatus {
        replicas: i32 = 1,
        ready_replicas: i32 = 4,
        observed_generation: i64 = 3,
        conditions: list(ReplicaSetCondition) = 6,
    }

    /// `apps.ReplicaSetCondition`.
    ReplicaSetCondition {
        type_: str = 1,
        status: str = 2,
        last_transition_time: msg(Time) = 3,
        reason: str = 4,
        message: str = 5,
    }

    /// `apps.StatefulSet`.
    StatefulSet {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(StatefulSetSpec) = 2,
        status: msg(StatefulSetStatus) = 3,
    }

    /// `apps.StatefulSetSpec`.
    StatefulSetSpec {
        replicas: i32 = 1,
        selector: msg(LabelSelector) = 2,
        template: msg(PodTemplateSpec) = 3,
        volume_claim_templates: list(PersistentVolumeClaim) = 4,
        service_name: str = 5,
        pod_management_policy: str = 6,
        update_strategy: msg(StatefulSetUpdateStrategy) = 7,
        min_ready_seconds: i32 = 9,
        ordinals: msg(StatefulSetOrdinals) = 11,
    }

    /// `apps.StatefulSetUpdateStrategy`.
    StatefulSetUpdateStrategy {
        type_: str = 1,
        rolling_update: msg(RollingUpdateStatefulSetStrategy) = 2,
    }

    /// `apps.RollingUpdateStatefulSetStrategy`.
    RollingUpdateStatefulSetStrategy {
        partition: i32 = 1,
        max_unavailable: msg(IntOrString) = 2,
    }

    /// `apps.StatefulSetOrdinals`.
    StatefulSetOrdinals {
        start: i32 = 1,
    }

    /// `apps.StatefulSetStatus`.
    StatefulSetStatus {
        observed_generation: i64 = 1,
        replicas: i32 = 2,
        ready_replicas: i32 = 3,
        current_revision: str = 6,
        update_revision: str = 7,
        updated_replicas: i32 = 5,
    }

    /// `apps.DaemonSet`.
    DaemonSet {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(DaemonSetSpec) = 2,
        status: msg(DaemonSetStatus) = 3,
    }

    /// `apps.DaemonSetSpec`.
    DaemonSetSpec {
        selector: msg(LabelSelector) = 1,
        template: msg(PodTemplateSpec) = 2,
        update_strategy: msg(DaemonSetUpdateStrategy) = 3,
    }

    /// `apps.DaemonSetUpdateStrategy`.
    DaemonSetUpdateStrategy {
        type_: str = 1,
    }

    /// `apps.DaemonSetStatus`.
    DaemonSetStatus {
        current_number_scheduled: i32 = 1,
        desired_number_scheduled: i32 = 3,
        number_ready: i32 = 4,
        observed_generation: i64 = 5,
    }
}

wire! {
    as (api::batch::v1);

    /// `batch.Job`.
    Job {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(JobSpec) = 2,
        status: msg(JobStatus) = 3,
    }

    /// `batch.JobSpec`.
    JobSpec {
        parallelism: i32 = 1,
        completions: i32 = 2,
        active_deadline_seconds: i64 = 3,
        completion_mode: opt_str = 9,
        backoff_limit: i32 = 7,
        backoff_limit_per_index: i32 = 12,
        suspend: bool = 10,
        template: msg(PodTemplateSpec) = 6,
        ttl_seconds_after_finished: i32 = 8,
        pod_replacement_policy: opt_str = 14,
        pod_failure_policy: msg(PodFailurePolicy) = 11,
        selector: msg(LabelSelector) = 4,
        managed_by: opt_str = 15,
    }

    /// `batch.PodFailurePolicy`.
    PodFailurePolicy {
        rules: list(PodFailurePolicyRule) = 1,
    }

    /// `batch.PodFailurePolicyRule`.
    PodFailurePolicyRule {
        action: str = 1,
        on_pod_conditions: list(PodFailurePolicyOnPodConditionsPattern) = 3,
    }

    /// `batch.PodFailurePolicyOnPodConditionsPattern`.
    PodFailurePolicyOnPodConditionsPattern {
        type_: str = 1,
        status: str = 2,
    }

    /// `batch.JobStatus`.
    JobStatus {
        conditions: list(JobCondition) = 1,
        start_time: msg(Time) = 2,
        active: i32 = 4,
        succeeded: i32 = 5,
        failed: i32 = 6,
        terminating: i32 = 11,
        completed_indexes: str = 7,
        failed_indexes: opt_str = 10,
        ready: i32 = 9,
    }

    /// `batch.JobCondition`.
    JobCondition {
        type_: str = 1,
        status: str = 2,
        last_transition_time: msg(Time) = 4,
        reason: str = 5,
        message: str = 6,
    }

    /// `batch.CronJob`.
    CronJob {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(CronJobSpec) = 2,
        status: msg(CronJobStatus) = 3,
    }

    /// `batch.CronJobSpec`.
    CronJobSpec {
        suspend: bool = 4,
        schedule: str = 1,
        time_zone: opt_str = 8,
        starting_deadline_seconds: i64 = 2,
        concurrency_policy: str = 3,
        job_template: msg(JobTemplateSpec) = 5,
    }

    /// `batch.JobTemplateSpec`.
    JobTemplateSpec {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(JobSpec) = 2,
    }

    /// `batch.CronJobStatus`.
    CronJobStatus {
        active: list(ObjectReference) = 1,
        last_schedule_time: msg(Time) = 4,
        last_successful_time: msg(Time) = 5,
    }
}

wire! {
    as (api::autoscaling::v2);

    /// `autoscaling.HorizontalPodAutoscaler`.
    HorizontalPodAutoscaler {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(HorizontalPodAutoscalerSpec) = 2,
        status: msg(HorizontalPodAutoscalerStatus) = 3,
    }

    /// `autoscaling.HorizontalPodAutoscalerSpec`.
    HorizontalPodAutoscalerSpec {
        scale_target_ref: msg(CrossVersionObjectReference) = 1,
        min_replicas: i32 = 2,
        max_replicas: i32 = 3,
    }

    /// `autoscaling.CrossVersionObjectReference`.
    CrossVersionObjectReference {
        kind: str = 1,
        name: str = 2,
        api_version: str = 3,
    }

    /// `autoscaling.HorizontalPodAutoscalerStatus`.
    HorizontalPodAutoscalerStatus {
        current_replicas: i32 = 3,
        desired_replicas: i32 = 4,
        conditions: list(HorizontalPodAutoscalerCondition) = 6,
    }

    /// `autoscaling.HorizontalPodAutoscalerCondition`.
    HorizontalPodAutoscalerCondition {
        type_: str = 1,
        status: str = 2,
        reason: str = 4,
        message: str = 5,
    }
}
