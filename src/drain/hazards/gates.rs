//! Load-balancer readiness gates: a namespace that asks for them, and a pod that has none.

use super::Look;
use crate::drain::note::Note;
use crate::finding::{Code, Remedy};

/// The label (an annotation with some) by which the AWS Load Balancer Controller is asked to add gates to new pods.
const INJECT: &str = "elbv2.k8s.aws/pod-readiness-gate-inject";
const GATE: &str = "target-health.elbv2.k8s.aws";

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let pod = look.pod;
    let Some(ns) = look.snapshot.namespaces.named("", pod.meta.ns()).filter(|_| look.is_running()) else { return };
    let asks = ns.meta.labels.get(INJECT).or_else(|| ns.meta.annotations.get(INJECT));
    if asks.is_none_or(|v| &**v != "enabled") || pod.spec.readiness_gates.iter().any(|g| g.starts_with(GATE)) {
        return;
    }
    let services = look.snapshot.services.in_namespace(pod.meta.ns());
    let serves = |s: &crate::wire::core::ServiceSpec| {
        !s.selector.is_empty() && s.selector.iter().all(|(k, v)| pod.meta.labels.get(k).is_some_and(|l| **l == **v))
    };
    // A pod that no Service selects is behind no load balancer.
    if !services.is_empty() && !services.iter().filter_map(|s| s.spec.as_ref()).any(serves) {
        return;
    }
    let text = format!(
        "namespace {} asks for load-balancer readiness gates and the pod has none: new pods count as Ready before they \
         get traffic, and old ones go meanwhile",
        pod.meta.ns()
    );
    let remedy = Remedy {
        text:
            "make the pods anew (kubectl rollout restart) once their TargetGroupBinding exists: gates are added when a \
               pod is created"
                .to_owned(),
        ..Remedy::default()
    };
    notes.push(Note::new(Code::ReadinessGateAbsent, text).remedy(remedy));
}
