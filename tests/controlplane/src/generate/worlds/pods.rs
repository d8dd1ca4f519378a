//! Templates of pods.

use serde_json::{Value, json};

use super::{Builder, POOL};
use crate::kubelet::says;
use crate::random::Choice;

/// A template of pods with these labels.
pub struct Template(pub Value);

impl Template {
    /// One container that asks for so much CPU, on the world's nodes; it ends soon when it is deleted.
    pub fn new(builder: &Builder, app: &str, cpu: &str) -> Self {
        Self(json!({"metadata": {"labels": {"app": app}, "annotations": {}},
            "spec": {"terminationGracePeriodSeconds": 1, "nodeSelector": {POOL: builder.world.name},
                "containers": [{"name": "app", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu}}}]}}))
    }

    /// The pods' spec.
    pub fn spec(&mut self) -> &mut Value {
        &mut self.0["spec"]
    }

    /// The container.
    pub fn container(&mut self) -> &mut Value {
        &mut self.0["spec"]["containers"][0]
    }

    /// Adds a label.
    #[must_use]
    pub fn label(mut self, name: &str, value: &str) -> Self {
        self.0["metadata"]["labels"][name] = json!(value);
        self
    }

    /// Tells the kubelet something (see [`says`]).
    #[must_use]
    pub fn says(mut self, what: &str, value: &str) -> Self {
        self.0["metadata"]["annotations"][what] = json!(value);
        self
    }

    /// With a readiness probe that lets the container wait so long.
    #[must_use]
    pub fn ready_after(mut self, seconds: i64) -> Self {
        self.container()["readinessProbe"] = probe(seconds);
        self
    }

    /// With a readiness probe that fails.
    #[must_use]
    pub fn never_ready(mut self) -> Self {
        self.container()["readinessProbe"] = probe(0);
        self.says(says::UNREADY, "yes")
    }

    /// Required anti-affinity of its pods among themselves.
    #[must_use]
    pub fn apart(mut self, topology: &str) -> Self {
        let labels = self.0["metadata"]["labels"].clone();
        self.spec()["affinity"]["podAntiAffinity"] = json!({"requiredDuringSchedulingIgnoredDuringExecution":
            [{"topologyKey": topology, "labelSelector": {"matchLabels": {"app": labels["app"]}}}]});
        self
    }

    /// Required spread of its pods.
    #[must_use]
    pub fn spread(mut self, topology: &str) -> Self {
        let labels = self.0["metadata"]["labels"].clone();
        self.spec()["topologySpreadConstraints"] = json!([{"maxSkew": 1, "topologyKey": topology,
            "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": labels["app"]}}}]);
        self
    }

    /// Only on this node.
    #[must_use]
    pub fn on(mut self, node: &str) -> Self {
        self.spec()["nodeSelector"]["kubernetes.io/hostname"] = json!(node);
        self
    }

    /// With a port of the host.
    #[must_use]
    pub fn host_port(mut self, port: i64) -> Self {
        self.container()["ports"] = json!([{"containerPort": 80, "hostPort": port}]);
        self
    }
}

/// A readiness probe with this initial delay.
pub fn probe(seconds: i64) -> Value {
    json!({"httpGet": {"path": "/ready", "port": 8080}, "initialDelaySeconds": seconds, "periodSeconds": 2})
}

/// What is now and then asked of a pod by the people who write templates: nothing that keeps it from running.
pub fn habits(choice: &mut Choice, template: &mut Template) {
    if choice.chance(12) && template.spec()["volumes"].is_null() {
        template.spec()["volumes"] = json!([{"name": "scratch", "emptyDir": {}}]);
    }
    if choice.chance(10) {
        template.container()["lifecycle"] = json!({"preStop": {"sleep": {"seconds": 1}}});
        template.spec()["terminationGracePeriodSeconds"] = json!(3);
        template.0["metadata"]["annotations"][says::EXITS_AFTER] = json!("1");
    }
    if choice.chance(10) && template.spec()["topologySpreadConstraints"].is_null() {
        template.spec()["topologySpreadConstraints"] = json!([{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": template.0["metadata"]["labels"]}}]);
    }
    if choice.chance(8) && template.spec()["affinity"].is_null() {
        template.spec()["affinity"]["podAntiAffinity"] = json!({"preferredDuringSchedulingIgnoredDuringExecution":
            [{"weight": 100, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": template.0["metadata"]["labels"]}}}]});
    }
    if choice.chance(6) {
        template.spec()["initContainers"] = json!([{"name": "agent", "image": "registry.example/agent:1",
            "restartPolicy": "Always", "resources": {"requests": {"cpu": "10m"}}}]);
    }
    if choice.chance(6) {
        template.container()["resources"]["limits"] = json!({"memory": "64Mi"});
    }
    if choice.chance(5) {
        template.spec()["automountServiceAccountToken"] = json!(false);
    }
}
