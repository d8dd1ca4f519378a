//! Load-balancer readiness gates: a namespace that asks for them, and a pod that has none.

use super::RuleContext;
use crate::cure::Remedy;
use crate::drain::note::Note;
use crate::finding::Code;

/// The label (an annotation with some) by which the AWS Load Balancer Controller is asked to add gates to new pods.
const INJECT: &str = "elbv2.k8s.aws/pod-readiness-gate-inject";
const GATE: &str = "target-health.elbv2.k8s.aws";

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let pod = rule.pod;
    let Some(ns) = rule.snapshot.namespaces.named("", pod.meta.ns()).filter(|_| rule.is_running()) else { return };
    let asks = ns.meta.labels.get(INJECT).or_else(|| ns.meta.annotations.get(INJECT));
    if asks.is_none_or(|v| &**v != "enabled") || pod.spec.readiness_gates.iter().any(|g| g.starts_with(GATE)) {
        return;
    }
    let services = rule.snapshot.services.in_namespace(pod.meta.ns());
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
    let remedy = Remedy::advice(
        "make the pods anew (kubectl rollout restart) once their TargetGroupBinding exists: gates are added when a \
         pod is created",
    );
    notes.push(Note::new(Code::ReadinessGateAbsent, text).remedy(remedy));
}

#[cfg(test)]
mod tests {
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes};
    use crate::finding::Code;

    #[test]
    fn a_namespace_that_asks_for_gates_has_pods_without_one() {
        let label = |value: &str| format!(r#""labels": {{"elbv2.k8s.aws/pod-readiness-gate-inject": "{value}"}}"#);
        let annotation = r#""annotations": {"elbv2.k8s.aws/pod-readiness-gate-inject": "enabled"}"#;
        let on = label("enabled");
        let gate = |kind: &str| format!(r#""readinessGates": [{{"conditionType": "{kind}"}}]"#);
        let (lb, own) = (gate("target-health.elbv2.k8s.aws/k8s-web"), gate("x.io/warm"));
        let (web, db) = (r#"{"selector": {"app": "web"}}"#, r#"{"selector": {"app": "db"}}"#);
        let absent = (Drainability::Drains, "namespace a asks for load-balancer readiness gates and the pod has none");
        let done = r#""phase": "Succeeded""#;
        for (title, namespace, spec, status, service, want) in [
            ("asked by a label", &*on, "", "", Some(web), &[absent][..]),
            ("asked by an annotation", annotation, "", "", Some(web), &[absent]),
            ("Services are not in the input", &on, "", "", None, &[absent]),
            ("no Service selects it", &on, "", "", Some(db), &[]),
            ("a Service without a selector", &on, "", "", Some("{}"), &[]),
            ("the label has another value", &label("disabled"), "", "", Some(web), &[]),
            ("the namespace has no label", r#""labels": {}"#, "", "", Some(web), &[]),
            ("it has the gate", &on, &*lb, "", Some(web), &[]),
            ("it has a gate of somebody else", &on, &own, "", Some(web), &[absent]),
            ("it has ended", &on, "", done, Some(web), &[]),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            c.object(&format!(
                r#"{{"apiVersion": "v1", "kind": "Namespace", "metadata": {{"name": "a", {namespace}}}}}"#
            ));
            if let Some(service) = service {
                c.add("v1", "Service", "a", "s", service);
            }
            c.pod_of("a", "p", "n", r#""labels": {"app": "web"}"#, spec, status);
            assert_notes(title, &c.met(Code::ReadinessGateAbsent, &DrainOptions::default()), want);
        }
    }
}
