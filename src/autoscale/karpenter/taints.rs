//! Which taints a pod tolerates, for Karpenter: every effect counts, also `PreferNoSchedule`. Mirrors
//! `pkg/scheduling/taints.go`.

use crate::sched::filters::taint_toleration::tolerates;
use crate::snapshot::node::Taint;
use crate::snapshot::pod::{Pod, Toleration};

/// The taint that Karpenter sets on a node that it is about to take away, in the place of a cordon.
pub const DISRUPTED: &str = "karpenter.sh/disrupted";

/// The first taint that a pod does not tolerate.
pub fn untolerated<'a>(taints: &'a [Taint], pod: &Pod) -> Option<&'a Taint> {
    taints.iter().find(|t| !tolerates(pod, &t.key, &t.value, &t.effect) && !compares(pod, t))
}

/// Whether a pod tolerates that Karpenter is about to take its node away: it is then never evicted. Mirrors
/// `ToleratesDisruptedNoScheduleTaint`.
pub fn tolerates_disrupted(pod: &Pod) -> bool {
    tolerates(pod, DISRUPTED, "", "NoSchedule")
}

/// Karpenter compares numbers in tolerations (`Lt`, `Gt`), whether or not the scheduler's feature is on.
fn compares(pod: &Pod, taint: &Taint) -> bool {
    let Ok(value) = taint.value.parse::<i64>() else { return false };
    pod.spec.tolerations.iter().any(|t: &Toleration| {
        (t.effect.is_empty() || t.effect == taint.effect)
            && (t.key.is_empty() || t.key == taint.key)
            && t.value.parse::<i64>().is_ok_and(|limit| match &*t.operator {
                "Lt" => value < limit,
                "Gt" => value > limit,
                _ => false,
            })
    })
}

/// Taints that go by themselves while a node starts. Mirrors `IsKnownEphemeralTaint`.
pub fn is_of_the_start(taint: &Taint) -> bool {
    match (&*taint.key, &*taint.effect) {
        ("node.kubernetes.io/not-ready", "NoSchedule" | "NoExecute")
        | ("node.kubernetes.io/unreachable" | "node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule")
        | ("karpenter.sh/unregistered", "NoExecute") => true,
        (key, _) => key.starts_with("readiness.k8s.io/"),
    }
}
