//! Workloads of every kind, and what stands beside them.

use serde_json::{Value, json};

use super::pods::Template;
use super::{Builder, Step, path};
use crate::objects::{controller, workload};

/// What makes a workload's pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A Deployment.
    Deployment,
    /// A StatefulSet, which makes its pods in order or at once.
    StatefulSet,
    /// A ReplicaSet without a Deployment.
    ReplicaSet,
    /// A ReplicationController.
    ReplicationController,
    /// A DaemonSet.
    DaemonSet,
    /// A Job.
    Job,
    /// Nothing: bare pods.
    Pod,
    /// A custom object with a scale subresource; its pods are not made again, as its controller does not run here.
    Rollout,
    /// A custom object without one; its pods are not made again either.
    Queue,
}

impl Kind {
    /// (apiVersion, kind)
    pub fn api(self) -> (&'static str, &'static str) {
        match self {
            Self::Deployment => ("apps/v1", "Deployment"),
            Self::StatefulSet => ("apps/v1", "StatefulSet"),
            Self::ReplicaSet => ("apps/v1", "ReplicaSet"),
            Self::ReplicationController => ("v1", "ReplicationController"),
            Self::DaemonSet => ("apps/v1", "DaemonSet"),
            Self::Job => ("batch/v1", "Job"),
            Self::Pod => ("v1", "Pod"),
            Self::Rollout => ("apps.example.com/v1", "Rollout"),
            Self::Queue => ("apps.example.com/v1", "Queue"),
        }
    }
}

/// A workload to be added.
pub struct Workload {
    /// What makes its pods.
    pub kind: Kind,
    /// Its namespace, in full.
    pub namespace: String,
    /// Its name, which is also the label `app` of its pods.
    pub name: String,
    /// How many pods it wants; of a Job, its parallelism. A DaemonSet has as many as there are nodes.
    pub replicas: i64,
    /// Its pods.
    pub template: Template,
    /// What else is in its spec.
    pub spec: Value,
}

impl Builder {
    /// Adds a workload, and gives its path.
    pub fn workload(&mut self, workload: &Workload) -> String {
        let Workload { kind, namespace, name, .. } = workload;
        let (api_version, kind_name) = kind.api();
        let path = path(api_version, kind_name, namespace, name);
        match kind {
            Kind::Pod => self.owned_pods(workload, None),
            Kind::Rollout | Kind::Queue => {
                let uid = self.choice.uid();
                self.add(json!({"apiVersion": api_version, "kind": kind_name,
                    "metadata": {"namespace": namespace, "name": name, "uid": uid}, "spec": {"replicas": workload.replicas}}));
                self.owned_pods(workload, Some(&controller(api_version, kind_name, name, &uid)));
            }
            _ => {
                let object = declared(workload);
                self.add(object);
            }
        }
        path
    }

    /// Adds pods that are created one by one.
    fn owned_pods(&mut self, workload: &Workload, owner: Option<&Value>) {
        for i in 0..workload.replicas {
            let Value::Object(template) = &workload.template.0 else { return };
            let mut pod = Value::Object(template.clone());
            pod["apiVersion"] = json!("v1");
            pod["kind"] = json!("Pod");
            pod["metadata"]["namespace"] = json!(workload.namespace);
            pod["metadata"]["name"] = json!(format!("{}-{i}", workload.name));
            pod["metadata"]["uid"] = json!(self.choice.uid());
            if let Some(owner) = owner {
                pod["metadata"]["ownerReferences"] = json!([owner]);
            }
            self.add(pod);
        }
    }

    /// Pods whose owner the garbage collector does not know and `kubectl drain` does not find: a DaemonSet's that is gone.
    pub fn lost_daemon(&mut self, namespace: &str, name: &str, template: Template) {
        let owner = controller("apps/v1beta1", "DaemonSet", "gone", &self.choice.uid());
        let workload = Workload {
            kind: Kind::Pod,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            replicas: 1,
            template,
            spec: json!({}),
        };
        self.owned_pods(&workload, Some(&owner));
    }

    /// Adds an autoscaler of a Deployment or StatefulSet. There are no metrics here, so it holds the count within its
    /// bounds and does nothing more.
    pub fn autoscaler(&mut self, kind: Kind, namespace: &str, name: &str, min: i64, max: i64) {
        let (api_version, kind) = kind.api();
        self.add(json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"namespace": namespace, "name": name},
            "spec": {"minReplicas": min, "maxReplicas": max,
                "scaleTargetRef": {"apiVersion": api_version, "kind": kind, "name": name},
                "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}]}}));
    }

    /// Adds a static pod's mirror, which no drain touches.
    pub fn static_pod(&mut self, namespace: &str, node: &str) {
        let uid = self.choice.uid();
        self.change_node(node, |node| node["metadata"]["uid"] = json!(uid));
        let mut template = Template::new(self, "static", "50m");
        template.spec()["nodeName"] = json!(node);
        template.spec()["automountServiceAccountToken"] = json!(false);
        template.0["metadata"]["annotations"]["kubernetes.io/config.mirror"] = json!("0123456789abcdef");
        let owner = controller("v1", "Node", node, &uid);
        let workload = Workload {
            kind: Kind::Pod,
            namespace: namespace.to_owned(),
            name: "static".to_owned(),
            replicas: 1,
            template,
            spec: json!({}),
        };
        self.owned_pods(&workload, Some(&owner));
    }

    /// Adds a volume of some node for each pod of a StatefulSet, and gives the template of their claims.
    pub fn volume_each(&mut self, namespace: &str, name: &str, replicas: i64) -> Value {
        for i in 0..replicas {
            let node = self.some_node();
            let claim = format!("data-{name}-{i}");
            self.local_volume(namespace, &claim, &node);
        }
        json!([{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local",
            "resources": {"requests": {"storage": "1Gi"}}}}])
    }

    /// Adds a claim that is bound to a volume of one node: its pods can run nowhere else.
    pub fn local_claim(&mut self, namespace: &str, name: &str, node: &str) {
        let volume = self.local_volume(namespace, name, node);
        self.add(json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"namespace": namespace, "name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local", "volumeName": volume,
                "resources": {"requests": {"storage": "1Gi"}}}}));
    }

    /// Adds a volume of one node for a claim, and gives its name.
    fn local_volume(&mut self, namespace: &str, name: &str, node: &str) -> String {
        let volume = self.named(&format!("pv-{name}"));
        self.add(json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                "persistentVolumeReclaimPolicy": "Retain", "local": {"path": "/data"},
                "claimRef": {"namespace": namespace, "name": name},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions":
                    [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}}}));
        volume
    }

    /// The workload's template changes right before the question: a rollout is under way.
    pub fn roll(&mut self, path: &str, annotations: &Value) {
        self.last(Step::Merge(
            path.to_owned(),
            json!({"spec": {"template": {"metadata": {"annotations": annotations}}}}),
        ));
    }
}

/// The object of a workload whose controller runs.
fn declared(all: &Workload) -> Value {
    let Workload { kind, namespace, name, replicas, template, spec } = all;
    let counted = !matches!(kind, Kind::DaemonSet | Kind::Job);
    let mut object = workload(kind.api(), namespace, name, counted.then_some(*replicas), &json!({"app": name}));
    object["spec"]["template"] = template.0.clone();
    match kind {
        Kind::StatefulSet => object["spec"]["serviceName"] = json!(name),
        Kind::Job => {
            if let Some(spec) = object["spec"].as_object_mut() {
                spec.remove("selector");
            }
            object["spec"]["parallelism"] = json!(replicas);
            object["spec"]["template"]["spec"]["restartPolicy"] = json!("Never");
        }
        _ => {}
    }
    for (field, value) in spec.as_object().into_iter().flatten() {
        object["spec"][field] = value.clone();
    }
    object
}
