//! Groups of pods that are scheduled together, Kubernetes' own since 1.36; they are read as JSON alone.

use super::macros::json;
use super::meta::ObjectMeta;

json! {
    /// `scheduling.k8s.io/v1beta1.PodGroup`; in `v1alpha2` of 1.36 the fields that are read are the same.
    PodGroup {
        metadata: Option<ObjectMeta>,
        spec: PodGroupSpec,
    }

    /// `scheduling.k8s.io/v1beta1.PodGroupSpec`.
    PodGroupSpec {
        scheduling_policy: PodGroupSchedulingPolicy,
    }

    /// `scheduling.k8s.io/v1beta1.PodGroupSchedulingPolicy`.
    PodGroupSchedulingPolicy {
        gang: Option<GangSchedulingPolicy>,
    }

    /// `scheduling.k8s.io/v1beta1.GangSchedulingPolicy`.
    GangSchedulingPolicy {
        min_count: i64,
    }
}
