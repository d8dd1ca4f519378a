//! Load-balancer readiness gates: a namespace that asks for them, and a pod that has none.

use super::RuleContext;
use crate::admission::{Backend, Verb};
use crate::cure::Remedy;
use crate::drain::note::Note;
use crate::finding::Code;
use crate::snapshot::Kind;

/// The label (an annotation with some) by which the AWS Load Balancer Controller is asked to add gates to new pods.
const INJECT: &str = "elbv2.k8s.aws/pod-readiness-gate-inject";

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let pod = rule.pod;
    let Some(ns) = rule.snapshot.namespaces.named("", pod.meta.ns()).filter(|_| rule.is_running()) else { return };
    let asks = ns.meta.labels.get(INJECT).or_else(|| ns.meta.annotations.get(INJECT));
    if asks.is_none_or(|v| &**v != "enabled") || rule.target_health_gate().is_some() {
        return;
    }
    // A pod that no Service selects is behind no load balancer.
    if !rule.snapshot.services.in_namespace(pod.meta.ns()).is_empty() && rule.services().next().is_none() {
        return;
    }
    if let Some(why) = nobody_adds_gates(rule) {
        let text = format!(
            "namespace {} requests load-balancer readiness gates and the pod has none: {why}, so that a replacement has \
             none, either, and counts as Ready before it gets traffic",
            pod.meta.ns()
        );
        let remedy = Remedy::advice(
            "repair the AWS Load Balancer Controller first (kubectl get deployment -A -l \
             app.kubernetes.io/name=aws-load-balancer-controller), then restart the workload: gates are added when a pod \
             is created",
        );
        notes.push(Note::new(Code::ReadinessGateAbsent, text).remedy(remedy));
        return;
    }
    let text = format!(
        "namespace {} requests load-balancer readiness gates and the pod has none: new pods count as Ready before they \
         get traffic, and old ones go meanwhile",
        pod.meta.ns()
    );
    let remedy = Remedy::advice(
        "make the pods anew (kubectl rollout restart) once their TargetGroupBinding exists: gates are added when a \
         pod is created",
    );
    notes.push(Note::new(Code::ReadinessGateAbsent, text).remedy(remedy));
}

/// Why no gate would be added to a new pod today. The controller's webhook is named `mpod.elbv2.k8s.aws` (its Helm chart,
/// `templates/webhook.yaml`, v2.14).
fn nobody_adds_gates(rule: &RuleContext<'_>) -> Option<String> {
    let mut webhooks = rule.context.admission.webhooks.iter().filter(|w| w.name.ends_with("elbv2.k8s.aws"));
    let Some(webhook) = webhooks.find(|w| w.verbs.contains(&Verb::Create)) else {
        let read = &rule.snapshot.mutating_webhooks;
        let known = rule.snapshot.coverage.has(Kind::MutatingWebhookConfiguration) || !read.is_empty();
        return known.then(|| "no webhook of the AWS Load Balancer Controller is there to add them".to_owned());
    };
    let silent = match &webhook.backend {
        Backend::Missing(service) => format!("Service {service}, which does not exist"),
        Backend::Service(service) if service.ready().next().is_none() => {
            format!("Service {}, which has no Ready pod", service.path)
        }
        Backend::Service(_) | Backend::Unread(_) | Backend::Url(_) => return None,
    };
    Some(format!("the webhook of the AWS Load Balancer Controller is served by {silent}"))
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
        let absent = (Drainability::Drains, "namespace a requests load-balancer readiness gates and the pod has none");
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

    #[test]
    fn gates_that_nobody_adds_are_told_as_such() {
        let asks = r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "labels":
            {"elbv2.k8s.aws/pod-readiness-gate-inject": "enabled"}}}"#;
        let webhook = |name: &str| {
            format!(
                r#"{{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
                "metadata": {{"name": "w"}}, "webhooks": [{{"name": "{name}", "clientConfig": {{"service":
                {{"namespace": "lb", "name": "hook"}}}}, "rules": [{{"apiGroups": [""], "apiVersions": ["v1"],
                "operations": ["CREATE"], "resources": ["pods"]}}]}}]}}"#
            )
        };
        let (own, other) = (webhook("mpod.elbv2.k8s.aws"), webhook("x.io"));
        let ready = r#""conditions": [{"type": "Ready", "status": "True"}]"#;
        for (title, webhook, service, controller, want) in [
            ("no webhook was read", None, false, None, "new pods count as Ready"),
            (
                "no webhook of the controller",
                Some(&other),
                false,
                None,
                "no webhook of the AWS Load Balancer Controller",
            ),
            ("its Service is not there", Some(&own), false, None, "Service lb/hook, which does not exist"),
            (
                "nobody serves it",
                Some(&own),
                true,
                Some(r#""conditions": []"#),
                "Service lb/hook, which has no Ready pod",
            ),
            ("it is served", Some(&own), true, Some(ready), "new pods count as Ready"),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            c.object(asks);
            c.add("v1", "Service", "a", "s", r#"{"selector": {"app": "web"}}"#);
            webhook.into_iter().for_each(|w| c.object(w));
            if service {
                c.add("v1", "Service", "lb", "hook", r#"{"selector": {"app": "lb"}}"#);
            }
            if let Some(status) = controller {
                c.pod_of("lb", "c", "n", r#""labels": {"app": "lb"}"#, "", status);
            }
            c.pod_of("a", "p", "n", r#""labels": {"app": "web"}"#, "", "");
            let met = c.met(Code::ReadinessGateAbsent, &DrainOptions::default());
            assert_notes(title, &met, &[(Drainability::Drains, want)]);
        }
    }
}
