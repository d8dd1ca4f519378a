//! What the comparison of both encodings is made with.

use serde_json::{Value, json};

/// Kinds of which both encodings are compared.
pub const BOTH: &[&str] = &[
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "CronJob",
    "DaemonSet",
    "Deployment",
    "DeviceClass",
    "HorizontalPodAutoscaler",
    "Job",
    "LimitRange",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "PriorityClass",
    "ReplicaSet",
    "ReplicationController",
    "ResourceClaim",
    "ResourceQuota",
    "ResourceSlice",
    "Service",
    "StatefulSet",
    "StorageClass",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
];

/// Objects of the kinds that no generated cluster has for sure.
pub fn others() -> Vec<Value> {
    let template = |restart: &str| {
        json!({"metadata": {"labels": {"app": "other"}}, "spec": {"restartPolicy": restart, "containers": [
            {"name": "c", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "1500m", "memory": "1Gi"}},
                "startupProbe": {"httpGet": {"port": 80}}, "lifecycle": {"preStop": {"sleep": {"seconds": 5}}}}]}})
    };
    let hook = json!([{"name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "failurePolicy": "Ignore", "namespaceSelector": {"matchExpressions": [{"key": "k", "operator": "Exists"}]},
        "clientConfig": {"service": {"name": "s", "namespace": "others", "port": 8443}},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}]}]);
    let object = |api: &str, kind: &str, body: Value| {
        let mut object = body;
        object["apiVersion"] = json!(api);
        object["kind"] = json!(kind);
        object["metadata"] = json!({"name": "other", "finalizers": ["example.com/f"]});
        if !kind.ends_with("Configuration") && !matches!(kind, "CSIDriver" | "VolumeAttachment") {
            object["metadata"]["namespace"] = json!("others");
        }
        object
    };
    let admission = "admissionregistration.k8s.io/v1";
    vec![
        object(
            "apps/v1",
            "DaemonSet",
            json!({"spec": {"selector": {"matchLabels": {"app": "other"}}, "template": template("Always")}}),
        ),
        object("batch/v1", "Job", json!({"spec": {"suspend": true, "parallelism": 2, "template": template("Never")}})),
        object(
            "batch/v1",
            "CronJob",
            json!({"spec": {"schedule": "0 0 1 1 *", "suspend": true, "jobTemplate": {"spec": {"template": template("Never")}}}}),
        ),
        object(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            json!({"spec": {"minReplicas": 1, "maxReplicas": 3,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "none"},
                "metrics": [{"type": "Resource", "resource": {"name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": 50}}}]}}),
        ),
        object(
            "v1",
            "ResourceQuota",
            json!({"spec": {"hard": {"requests.cpu": "3", "pods": "0"}, "scopeSelector": {"matchExpressions": [
                {"scopeName": "PriorityClass", "operator": "In", "values": ["p"]}]}}}),
        ),
        object(
            "v1",
            "LimitRange",
            json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}, "defaultRequest": {"cpu": "100m"}}]}}),
        ),
        object("v1", "Service", json!({"spec": {"selector": {"app": "other"}, "ports": [{"port": 80}]}})),
        object("storage.k8s.io/v1", "CSIDriver", json!({"spec": {"attachRequired": true, "storageCapacity": true}})),
        object(
            "storage.k8s.io/v1",
            "VolumeAttachment",
            json!({"spec": {"attacher": "other", "nodeName": "none", "source": {"persistentVolumeName": "none"}}}),
        ),
        object(
            "storage.k8s.io/v1",
            "CSIStorageCapacity",
            json!({"storageClassName": "none", "capacity": "1Gi", "nodeTopology": {"matchLabels": {"zone": "a"}}}),
        ),
        object(admission, "ValidatingWebhookConfiguration", json!({"webhooks": hook})),
        object(admission, "MutatingWebhookConfiguration", json!({"webhooks": hook})),
    ]
}

/// Without what protobuf writes and JSON leaves out: empty times, and numbers that are 0 for not being set. That the
/// model takes 0 and nothing for the same is for the answers to show, which are compared as well.
pub fn without_nothing(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| *field = without_nothing(field.take()));
            fields.retain(|_, value| !value.is_null() && *value != 0 && *value != json!({}));
        }
        Value::Array(list) => list.iter_mut().for_each(|one| *one = without_nothing(one.take())),
        _ => {}
    }
    value
}
