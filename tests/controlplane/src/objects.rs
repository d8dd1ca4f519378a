//! Builders of objects as a cluster holds them, statuses included.

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
