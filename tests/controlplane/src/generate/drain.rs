//! Workloads that real controllers settle on nodes with little room, budgets over them, and which nodes to drain how.

use serde_json::{Value, json};

use crate::kubelet::{CRASHES, READY_AFTER};
use crate::objects::{labels, node, workload};
use crate::random::Choice;

/// A cluster to be settled, and a drain of it.
pub struct Scene {
    /// What is created.
    pub items: Vec<Value>,
    /// The nodes to drain, in order.
    pub drain: Vec<String>,
    /// Pods (the n-th of the settled ones, in name order) whose container begins to crash before the drain.
    pub crash: Vec<usize>,
    /// Counts of workloads after they have settled: (path, replicas).
    pub scale: Vec<(String, i64)>,
    /// A quota on pods that comes after they have settled: (namespace, how many fewer than there are).
    pub quota: Option<(String, i64)>,
}

/// The scene of a seed.
pub fn scene(seed: u64) -> Scene {
    let mut maker = Maker { choice: Choice::new(seed), items: Vec::new(), nodes: 0 };
    maker.classes();
    maker.nodes();
    let workloads = maker.choice.number(4, 9);
    let mut scale = Vec::new();
    for i in 0..workloads {
        let namespace = maker.choice.one(&["one", "two"]).to_owned();
        let name = format!("a{i}");
        if let Some(path) = maker.workload(&namespace, &name)
            && maker.choice.chance(5)
        {
            scale.push((path, maker.choice.number(0, 2)));
        }
        if maker.choice.chance(70) {
            maker.budget(&namespace, &name, &json!({"app": name}));
        }
        if maker.choice.chance(4) {
            // A second one over the same pods: evictions are answered with 500.
            maker.budget(&namespace, &format!("{name}-too"), &json!({"app": name}));
        }
    }
    if maker.choice.chance(15) {
        maker.budget("one", "team", &json!({"team": "red"}));
    }
    let quota =
        maker.choice.chance(12).then(|| (maker.choice.one(&["one", "two"]).to_owned(), maker.choice.number(-1, 2)));
    let mut drain = vec![maker.some_node()];
    if maker.choice.chance(30) {
        let second = maker.some_node();
        if !drain.contains(&second) {
            drain.push(second);
        }
    }
    let crash = match maker.choice.chance(35) {
        true => (0..maker.choice.number(1, 3)).map(|_| maker.choice.number(0, 30) as usize).collect(),
        false => Vec::new(),
    };
    Scene { items: maker.items, drain, crash, scale, quota }
}

struct Maker {
    choice: Choice,
    items: Vec<Value>,
    nodes: i64,
}

impl Maker {
    fn classes(&mut self) {
        for (name, value) in [("low", 100), ("high", 10_000)] {
            self.items.push(json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}));
        }
        for name in ["one", "two"] {
            self.items.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
        }
    }

    fn nodes(&mut self) {
        self.nodes = self.choice.number(2, 6);
        let zones = self.choice.number(1, 3);
        for i in 1..=self.nodes {
            let cpu = self.choice.one(&["2", "3", "4"]).to_owned();
            let mut node = node(&format!("n{i}"), &format!("z{}", i % zones), &cpu, "32Gi", 110);
            if i > 1 && self.choice.chance(8) {
                node["spec"]["taints"] = json!([{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]);
            } else if i > 2 && self.choice.chance(6) {
                node["spec"]["unschedulable"] = json!(true);
                node["spec"]["taints"] = json!([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]);
            }
            self.items.push(node);
        }
    }

    fn some_node(&mut self) -> String {
        format!("n{}", self.choice.number(1, self.nodes))
    }

    /// Adds a workload; gives its path where it has a count.
    fn workload(&mut self, namespace: &str, name: &str) -> Option<String> {
        let mut own = labels(&[("app", name)]);
        if self.choice.chance(20) {
            own["team"] = json!("red");
        }
        let replicas = self.choice.weighted(&[(4, 1), (5, 2), (4, 3), (2, 4), (1, 5)]);
        let kind = self.choice.weighted(&[
            (10, ("apps/v1", "Deployment")),
            (5, ("apps/v1", "StatefulSet")),
            (3, ("apps/v1", "ReplicaSet")),
            (2, ("v1", "ReplicationController")),
            (2, ("apps/v1", "DaemonSet")),
            (2, ("batch/v1", "Job")),
            (2, ("v1", "Pod")),
        ]);
        let mut spec = self.spec(name, kind.1);
        if kind.1 != "DaemonSet" && self.choice.chance(8) {
            self.local_volume(namespace, name, &mut spec);
        }
        if kind.1 == "Pod" {
            self.items.push(json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"namespace": namespace, "name": name, "labels": own}, "spec": spec}));
            return None;
        }
        let count = (!["DaemonSet", "Job"].contains(&kind.1)).then_some(replicas);
        let mut object = workload(kind, namespace, name, count, &own);
        object["spec"]["template"]["spec"] = spec;
        match kind.1 {
            "StatefulSet" => {
                object["spec"]["serviceName"] = json!(name);
                object["spec"]["podManagementPolicy"] = json!(self.choice.one(&["OrderedReady", "Parallel"]));
            }
            "Job" => {
                if let Some(spec) = object["spec"].as_object_mut() {
                    spec.remove("selector");
                }
                object["spec"]["parallelism"] = json!(replicas);
                object["spec"]["completions"] = json!(replicas + 1);
                object["spec"]["template"]["spec"]["restartPolicy"] = json!("Never");
                if self.choice.chance(40) {
                    object["spec"]["podReplacementPolicy"] = json!("Failed");
                }
            }
            _ => {}
        }
        self.annotate(&mut object["spec"]["template"]);
        self.items.push(object);
        let plural = format!("{}s", kind.1.to_lowercase());
        count.map(|_| match kind.0 {
            "v1" => format!("/api/v1/namespaces/{namespace}/{plural}/{name}"),
            version => format!("/apis/{version}/namespaces/{namespace}/{plural}/{name}"),
        })
    }

    fn annotate(&mut self, template: &mut Value) {
        if self.choice.chance(12) {
            template["metadata"]["annotations"] = json!({READY_AFTER: "6"});
        } else if self.choice.chance(4) {
            template["metadata"]["annotations"] = json!({CRASHES: "yes"});
        }
    }

    fn spec(&mut self, name: &str, kind: &str) -> Value {
        let cpu = self.choice.weighted(&[(6, "200m"), (3, "700m"), (3, "1300m"), (1, "1900m")]);
        let mut container =
            json!({"name": "app", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu}}});
        if self.choice.chance(5) {
            container["ports"] = json!([{"containerPort": 80, "hostPort": 8080}]);
        }
        let mut spec = json!({"containers": [container], "terminationGracePeriodSeconds": self.choice.number(1, 2)});
        let own = json!({"matchLabels": {"app": name}});
        if kind == "DaemonSet" {
            if self.choice.chance(50) {
                spec["tolerations"] = json!([{"operator": "Exists"}]);
            }
            spec["containers"][0]["resources"]["requests"]["cpu"] = json!("100m");
            return spec;
        }
        match self.choice.number(0, 99) {
            0..14 => {
                spec["affinity"] = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                    [{"topologyKey": "kubernetes.io/hostname", "labelSelector": own}]}});
            }
            14..24 => {
                spec["topologySpreadConstraints"] = json!([{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "DoNotSchedule", "labelSelector": own}]);
            }
            24..30 => {
                let node = self.some_node();
                spec["nodeSelector"] = json!({"kubernetes.io/hostname": node});
            }
            30..34 => spec["nodeSelector"] = json!({"topology.kubernetes.io/zone": "z1"}),
            _ => {}
        }
        if self.choice.chance(12) {
            spec["volumes"] = json!([{"name": "scratch", "emptyDir": {}}]);
        }
        if self.choice.chance(10) {
            spec["priorityClassName"] = json!(self.choice.one(&["low", "high"]));
        }
        spec
    }

    /// A claim that is bound to a volume of one node: its pods can run nowhere else.
    fn local_volume(&mut self, namespace: &str, name: &str, spec: &mut Value) {
        let node = self.some_node();
        self.items.push(
            json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": format!("pv-{name}")},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                "persistentVolumeReclaimPolicy": "Retain", "local": {"path": "/data"},
                "claimRef": {"namespace": namespace, "name": name},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions":
                    [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}}}),
        );
        self.items.push(json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local", "volumeName": format!("pv-{name}"),
                "resources": {"requests": {"storage": "1Gi"}}}}));
        spec["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": name}}]);
    }

    fn budget(&mut self, namespace: &str, name: &str, selector: &Value) {
        let mut spec = json!({"selector": {"matchLabels": selector}});
        let (rule, value) = self.choice.weighted(&[
            (5, ("minAvailable", "1")),
            (3, ("minAvailable", "2")),
            (2, ("minAvailable", "50%")),
            (2, ("minAvailable", "80%")),
            (6, ("maxUnavailable", "1")),
            (2, ("maxUnavailable", "50%")),
            (1, ("maxUnavailable", "0")),
        ]);
        spec[rule] = value.parse::<i64>().map_or_else(|_| json!(value), |count| json!(count));
        if self.choice.chance(30) {
            spec["unhealthyPodEvictionPolicy"] = json!(self.choice.one(&["AlwaysAllow", "IfHealthyBudget"]));
        }
        self.items.push(json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"namespace": namespace, "name": format!("p-{name}")}, "spec": spec}));
    }
}
