//! Admission webhooks and policies that see what a drain does.

use serde_json::{Value, json};

use super::pods::Template;
use super::workloads::{Kind, Workload};
use super::{Builder, Step};
use crate::webhooks::{ALLOW, DENY};

/// The label `app` of the pods behind a webhook.
pub const GUARD: &str = "guard";

const GROUP: &str = "admissionregistration.k8s.io/v1";

/// What a webhook or policy sees: (operation, resource).
const SEEN: &[(u32, (&str, &str))] = &[
    (5, ("CREATE", "pods/eviction")),
    (4, ("CREATE", "pods")),
    (2, ("DELETE", "pods")),
    (2, ("CREATE", "pods/binding")),
];

/// What answers a webhook's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backend {
    /// Pods of a Deployment.
    Pods,
    /// A Service that selects nothing.
    NoPods,
    /// A Service that is not there.
    NoService,
    /// A port on which nobody listens, named by its URL.
    DeadAddress,
}

impl Builder {
    /// Adds a webhook that sees some of what happens in these namespaces. Its backend, where there is one, runs in `guards`
    /// or among what it guards.
    pub fn webhook(&mut self, namespaces: &[String], guards: &str) {
        self.made_of("webhook");
        let (operation, resource) = self.choice.weighted(SEEN);
        let backend = self.choice.weighted(&[
            (5, Backend::Pods),
            (3, Backend::NoPods),
            (2, Backend::NoService),
            (1, Backend::DeadAddress),
        ]);
        let policy = self.choice.weighted(&[(3, "Fail"), (2, "Ignore")]);
        let guarded = namespaces.first().cloned().unwrap_or_default();
        let home = if self.choice.chance(25) { guarded } else { guards.to_owned() };
        let answer = if self.choice.chance(70) { ALLOW } else { DENY };
        let mut webhook = json!({"name": "guard.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "timeoutSeconds": 3, "failurePolicy": policy, "clientConfig": self.backend(backend, &home, answer),
            "rules": [rule(operation, resource)], "namespaceSelector": in_namespaces(namespaces)});
        // What a backend that is there says, no snapshot tells; nor what is at an address outside of the cluster.
        let mut hidden = matches!(backend, Backend::Pods | Backend::DeadAddress);
        match self.choice.number(0, 99) {
            0..12 => {
                // An Eviction has no labels, so that this one sees none; of pods it sees what it names.
                webhook["objectSelector"] = json!({"matchLabels": {"app": "a0"}});
                hidden &= resource != "pods/eviction" && resource != "pods/binding";
            }
            12..22 => {
                webhook["matchConditions"] =
                    json!([{"name": "elsewhere", "expression": "request.namespace == 'elsewhere'"}]);
                hidden = true;
            }
            _ => {}
        }
        if hidden {
            self.hidden("what a webhook answers");
        }
        let configuration = json!({"apiVersion": GROUP, "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": self.named("guard")}, "webhooks": [webhook]});
        self.then(Step::Create(configuration));
    }

    /// The client configuration, with what it refers to.
    fn backend(&mut self, backend: Backend, namespace: &str, path: &str) -> Value {
        if backend == Backend::DeadAddress {
            return json!({"url": format!("https://127.0.0.1:1{path}")});
        }
        if backend != Backend::NoService {
            let app = if backend == Backend::Pods { GUARD } else { "nobody" };
            self.add(
                json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": namespace, "name": "guard"},
                "spec": {"selector": {"app": app}, "ports": [{"name": "https", "port": 443, "targetPort": 8443}]}}),
            );
        }
        if backend == Backend::Pods {
            let template = Template::new(self, GUARD, "50m");
            let replicas = self.choice.weighted(&[(2, 1), (1, 2)]);
            self.workload(&Workload {
                kind: Kind::Deployment,
                namespace: namespace.to_owned(),
                name: GUARD.to_owned(),
                replicas,
                template,
                spec: json!({}),
            });
        }
        json!({"service": {"namespace": namespace, "name": "guard", "path": path, "port": 443}})
    }

    /// Adds an admission policy that refuses some of what happens in these namespaces, and its binding.
    pub fn admission_policy(&mut self, namespaces: &[String]) {
        self.made_of("admission policy");
        let (operation, resource) = self.choice.weighted(SEEN);
        let expression = self.choice.weighted(&[
            (3, "false"),
            (2, "request.namespace == 'elsewhere'"),
            (2, "!request.namespace.endsWith('-one')"),
            (1, "true"),
        ]);
        let mut spec = json!({"failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule(operation, resource)], "namespaceSelector": in_namespaces(namespaces)},
            "validations": [{"expression": expression, "message": "not in these hours"}]});
        match self.choice.number(0, 99) {
            // Of what a kubelet asks nearly every policy keeps away.
            0..30 => {
                spec["matchConditions"] =
                    json!([{"name": "people", "expression": "!('system:nodes' in request.userInfo.groups)"}]);
            }
            30..40 => {
                spec["matchConditions"] =
                    json!([{"name": "elsewhere", "expression": "request.namespace == 'elsewhere'"}]);
            }
            _ => {}
        }
        let name = self.named("hours");
        let policy =
            json!({"apiVersion": GROUP, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": spec});
        let actions = self.choice.weighted(&[(6, "Deny"), (1, "Warn"), (1, "Audit")]);
        let binding = json!({"apiVersion": GROUP, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
            "spec": {"policyName": name, "validationActions": [actions]}});
        self.then(Step::Create(policy));
        if self.choice.chance(85) {
            self.then(Step::Create(binding));
            // Without a binding that denies it decides nothing.
            if actions == "Deny" && expression != "true" {
                self.hidden("what an admission policy decides");
            }
        }
    }
}

fn rule(operation: &str, resource: &str) -> Value {
    json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation], "resources": [resource], "scope": "*"})
}

fn in_namespaces(namespaces: &[String]) -> Value {
    json!({"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": namespaces}]})
}
