//! Builders of objects as a cluster holds them, statuses included.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The time that generated conditions carry: long ago, so that nothing is young by chance.
pub const LONG_AGO: &str = "2026-01-05T08:00:00Z";

/// A node that is Ready, with room for many pods.
pub fn node(name: &str, zone: &str, cpu: &str, memory: &str, pods: i64) -> Value {
    let condition = |kind: &str, status: &str, reason: &str| json!({"type": kind, "status": status, "reason": reason, "message": "", "lastHeartbeatTime": LONG_AGO, "lastTransitionTime": LONG_AGO});
    let resources = json!({"cpu": cpu, "memory": memory, "pods": pods.to_string(), "ephemeral-storage": "100Gi"});
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64", "topology.kubernetes.io/zone": zone}},
        "spec": {},
        "status": {"capacity": resources, "allocatable": resources,
            "conditions": [condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID"),
                condition("Ready", "True", "KubeletReady")],
            "nodeInfo": {"machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "6.8.0", "osImage": "Linux",
                "containerRuntimeVersion": "containerd://2.1.0", "kubeletVersion": "v1.36.3", "kubeProxyVersion": "",
                "operatingSystem": "linux", "architecture": "amd64"}}})
}

/// A pod's spec with one container that asks for `cpu`.
pub fn pod_spec(cpu: &str) -> Value {
    json!({"containers": [{"name": "app", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu}}}],
        "terminationGracePeriodSeconds": 30})
}

/// How a pod is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// Running and Ready.
    Ready,
    /// Running, in CrashLoopBackOff.
    Crashing,
    /// Running, its readiness probe fails.
    Unready,
    /// Running, its containers are ready and a readiness gate is not.
    Gated,
    /// Running, with a Ready condition of status Unknown.
    Unknown,
    /// Running, with no condition at all.
    Bare,
    /// On a node, its containers are being made.
    Creating,
    /// Pending, with a Ready condition that is True: what a kubelet never writes, and the API takes.
    PendingReady,
    /// On no node.
    Unscheduled,
    /// Phase Succeeded.
    Succeeded,
    /// Phase Failed.
    Failed,
}

impl Health {
    /// The phase in the status.
    pub fn phase(self) -> &'static str {
        match self {
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Creating | Self::PendingReady | Self::Unscheduled => "Pending",
            _ => "Running",
        }
    }

    /// The pod's status, as kubelet and scheduler would have left it long ago.
    pub fn status(self) -> Value {
        self.status_at(LONG_AGO)
    }

    /// The pod's status, as kubelet and scheduler would leave it now.
    pub fn status_since(self, now: &Timestamp) -> Value {
        // Time in the API has no fraction.
        self.status_at(&now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
    }

    fn status_at(self, at: &str) -> Value {
        let condition = |kind: &str, status: &str, reason: Option<&str>| {
            let mut c = json!({"type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": at});
            if let Some(reason) = reason {
                c["reason"] = json!(reason);
            }
            c
        };
        let not_ready = Some("ContainersNotReady");
        let (containers, ready) = match self {
            Self::Ready | Self::PendingReady => {
                (condition("ContainersReady", "True", None), condition("Ready", "True", None))
            }
            Self::Gated => (
                condition("ContainersReady", "True", None),
                condition("Ready", "False", Some("ReadinessGatesNotReady")),
            ),
            Self::Unknown => (condition("ContainersReady", "Unknown", None), condition("Ready", "Unknown", None)),
            Self::Succeeded => (
                condition("ContainersReady", "False", Some("PodCompleted")),
                condition("Ready", "False", Some("PodCompleted")),
            ),
            _ => (condition("ContainersReady", "False", not_ready), condition("Ready", "False", not_ready)),
        };
        let conditions = match self {
            Self::Bare => json!([]),
            Self::Unscheduled => json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/1 nodes are available: 1 Insufficient cpu.", "lastProbeTime": null, "lastTransitionTime": at}]),
            _ => json!([
                condition("PodScheduled", "True", None),
                condition("Initialized", "True", None),
                containers,
                ready
            ]),
        };
        let mut status = json!({"phase": self.phase(), "conditions": conditions});
        if self != Self::Unscheduled {
            status["startTime"] = json!(at);
            status["containerStatuses"] = json!([self.container(at)]);
        }
        status
    }

    fn container(self, at: &str) -> Value {
        let running = json!({"running": {"startedAt": at}});
        let ended = |code: i64, reason: &str| json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": at, "finishedAt": at}});
        let state = match self {
            Self::Crashing => {
                json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}})
            }
            Self::Creating => json!({"waiting": {"reason": "ContainerCreating"}}),
            Self::Succeeded => ended(0, "Completed"),
            Self::Failed => ended(1, "Error"),
            _ => running,
        };
        let ready = matches!(self, Self::Ready | Self::PendingReady | Self::Gated);
        let restarts = if self == Self::Crashing { 9 } else { 0 };
        json!({"name": "app", "image": "registry.example/app:1", "imageID": "", "ready": ready, "started": ready,
            "restartCount": restarts, "state": state, "lastState": {}})
    }
}

/// An owner reference to a controller.
pub fn controller(api_version: &str, kind: &str, name: &str, uid: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true})
}

/// `{"a": "b", …}` from pairs.
pub fn labels(pairs: &[(&str, &str)]) -> Value {
    Value::Object(pairs.iter().map(|&(k, v)| (k.to_owned(), json!(v))).collect::<Map<_, _>>())
}

/// A workload with the one-container template: its selector and its pods' labels are `own`.
pub fn workload(group_kind: (&str, &str), namespace: &str, name: &str, replicas: Option<i64>, own: &Value) -> Value {
    let (api_version, kind) = group_kind;
    let selector = match kind {
        "ReplicationController" => own.clone(),
        _ => json!({"matchLabels": own}),
    };
    let mut object = json!({"apiVersion": api_version, "kind": kind,
        "metadata": {"namespace": namespace, "name": name, "labels": own},
        "spec": {"selector": selector, "template": {"metadata": {"labels": own}, "spec": pod_spec("10m")}}});
    if let Some(replicas) = replicas {
        object["spec"]["replicas"] = json!(replicas);
    }
    object
}

/// A CustomResourceDefinition of a namespaced kind in `apps.example.com/v1`, with a scale subresource when `scale`.
pub fn definition(kind: &str, plural: &str, scale: bool) -> Value {
    let mut version = json!({"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}});
    version["subresources"] = match scale {
        true => {
            json!({"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}})
        }
        false => json!({"status": {}}),
    };
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.apps.example.com")},
        "spec": {"group": "apps.example.com", "scope": "Namespaced", "versions": [version],
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")}}})
}
