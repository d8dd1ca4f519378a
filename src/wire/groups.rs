//! Workloads that make several groups of pods, and restart a group as one. They come as JSON alone.

use super::macros::json;
use super::meta::ObjectMeta;

json! {
    /// `leaderworkerset.x-k8s.io/v1.LeaderWorkerSet`.
    LeaderWorkerSet {
        metadata: Option<ObjectMeta>,
        spec: LeaderWorkerSetSpec,
    }

    /// `leaderworkerset.x-k8s.io/v1.LeaderWorkerSetSpec`.
    LeaderWorkerSetSpec {
        leader_worker_template: LeaderWorkerTemplate,
    }

    /// `leaderworkerset.x-k8s.io/v1.LeaderWorkerTemplate`.
    LeaderWorkerTemplate {
        restart_policy: Option<String>,
    }

    /// `jobset.x-k8s.io/v1alpha2.JobSet`.
    JobSet {
        metadata: Option<ObjectMeta>,
        spec: JobSetSpec,
        status: JobSetStatus,
    }

    /// `jobset.x-k8s.io/v1alpha2.JobSetSpec`.
    JobSetSpec {
        failure_policy: Option<FailurePolicy>,
    }

    /// `jobset.x-k8s.io/v1alpha2.FailurePolicy`.
    FailurePolicy {
        max_restarts: i64,
        rules: Vec<FailurePolicyRule>,
    }

    /// `jobset.x-k8s.io/v1alpha2.FailurePolicyRule`.
    FailurePolicyRule {
        action: String,
        on_job_failure_reasons: Vec<String>,
        target_replicated_jobs: Vec<String>,
    }

    /// `jobset.x-k8s.io/v1alpha2.JobSetStatus`.
    JobSetStatus {
        restarts_count_towards_max: i64,
    }

    /// `batch.volcano.sh/v1alpha1.Job`.
    VolcanoJob {
        metadata: Option<ObjectMeta>,
        spec: VolcanoJobSpec,
    }

    /// `batch.volcano.sh/v1alpha1.JobSpec`.
    VolcanoJobSpec {
        policies: Vec<LifecyclePolicy>,
        tasks: Vec<TaskSpec>,
    }

    /// `batch.volcano.sh/v1alpha1.TaskSpec`.
    TaskSpec {
        name: String,
        policies: Vec<LifecyclePolicy>,
    }

    /// `batch.volcano.sh/v1alpha1.LifecyclePolicy`.
    LifecyclePolicy {
        action: String,
        event: String,
        events: Vec<String>,
    }
}
