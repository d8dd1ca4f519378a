//! Pods behind a load balancer that are stopped while requests still arrive.
//!
//! The kubelet sends SIGTERM as soon as the preStop hooks have ended, and a load balancer outside of the cluster learns of
//! the deletion some seconds later (pod lifecycle, "Termination of Pods", kubernetes.io/docs, 2026-12).

use super::RuleContext;
use crate::cure::Remedy;
use crate::drain::note::Note;
use crate::finding::Code;

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    if !rule.is_running() || rule.containers().any(|c| c.pre_stop.is_some()) {
        return;
    }
    let Some(sender) = sender(rule) else { return };
    let text = format!(
        "{sender} sends it requests and no container has a preStop hook: the pod is stopped at once, while requests still \
         arrive"
    );
    let remedy = Remedy::advice(
        "add a preStop hook to its template that waits until the load balancer has removed the pod (sleep, 10 s or more), \
         within terminationGracePeriodSeconds",
    );
    notes.push(Note::new(Code::NoPrestop, text).remedy(remedy));
}

/// What sends requests to the pod from outside of the cluster.
fn sender(rule: &RuleContext<'_>) -> Option<String> {
    let balances = |s: &crate::wire::core::ServiceSpec| s.type_ == "LoadBalancer";
    if let Some(service) = rule.services().find(|s| s.spec.as_ref().is_some_and(balances)) {
        return Some(format!("the load balancer of Service {}", service.meta.path()));
    }
    rule.target_health_gate().map(|gate| format!("a load balancer (readiness gate {gate})"))
}

#[cfg(test)]
mod tests {
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes};
    use crate::finding::Code;

    #[test]
    fn a_pod_behind_a_load_balancer_needs_a_hook() {
        let hook = r#", "lifecycle": {"preStop": {"sleep": {"seconds": 10}}}"#;
        let sidecar = format!(r#""initContainers": [{{"name": "i", "restartPolicy": "Always"{hook}}}]"#);
        let gate = r#""readinessGates": [{"conditionType": "target-health.elbv2.k8s.aws/k8s-web"}]"#;
        let own_gate = r#""readinessGates": [{"conditionType": "example.com/warm"}]"#;
        let lb = r#"{"type": "LoadBalancer", "selector": {"app": "web"}}"#;
        let of_service = &[(Drainability::Drains, "the load balancer of Service a/s sends it requests")][..];
        let of_gate = &[(Drainability::Drains, "a load balancer (readiness gate target-health.elbv2.k8s.aws/k8s-web)")];
        let done = r#""phase": "Succeeded""#;
        for (title, service, container, spec, status, want) in [
            ("a Service of type LoadBalancer", lb, "", "", "", of_service),
            ("a target of a load balancer", "{}", "", gate, "", of_gate),
            ("a gate of somebody else", "{}", "", own_gate, "", &[]),
            ("within the cluster only", r#"{"type": "ClusterIP", "selector": {"app": "web"}}"#, "", "", "", &[]),
            ("a Service of other pods", r#"{"type": "LoadBalancer", "selector": {"app": "db"}}"#, "", "", "", &[]),
            ("a Service without a selector", r#"{"type": "LoadBalancer"}"#, "", "", "", &[]),
            ("it has a hook", lb, hook, "", "", &[]),
            ("its sidecar has a hook", lb, "", &*sidecar, "", &[]),
            ("it has ended", lb, "", "", done, &[]),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            c.add("v1", "Service", "a", "s", service);
            let container = format!(r#"{{"name": "c"{container}}}"#);
            c.push_pod(&container, "a", "p", "n", (r#""labels": {"app": "web"}"#, spec, status));
            assert_notes(title, &c.met(Code::NoPrestop, &DrainOptions::default()), want);
        }
    }
}
