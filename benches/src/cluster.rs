//! A made-up cluster of a given size, the same each time: objects as big and as alike as real ones.

use fastrand::Rng;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Pods of one workload; every tenth workload is a StatefulSet.
const REPLICAS: usize = 10;

/// Out of so many pods one is Pending.
const ONE_PENDING_OF: usize = 150;

/// Namespaces that the workloads are spread over.
const NAMESPACES: usize = 200;

/// Hands on every object: namespaces, nodes, workloads, budgets and pods.
pub fn each(pods: usize, nodes: usize, mut object: impl FnMut(Value) -> io::Result<()>) -> io::Result<()> {
    let mut rng = Rng::with_seed(1);
    for n in 0..NAMESPACES {
        object(namespace(n))?;
    }
    for n in 0..nodes {
        object(node(n))?;
    }
    for w in 0..pods.div_ceil(REPLICAS) {
        let ns = format!("team-{:03}", w % NAMESPACES);
        let name = format!("service-{w:05}");
        let stateful = w % 10 == 9;
        owners(&ns, &name, w, stateful).into_iter().try_for_each(&mut object)?;
        if w % 2 == 0 {
            object(budget(&ns, &name, w))?;
        }
        for r in 0..REPLICAS.min(pods - w * REPLICAS) {
            let at = w * REPLICAS + r;
            let node = (!at.is_multiple_of(ONE_PENDING_OF)).then(|| at % nodes);
            object(pod(&ns, &name, w, r, stateful, node, &mut rng))?;
        }
    }
    Ok(())
}

/// Writes all objects as a List, as kubectl does.
pub fn write(out: &mut impl Write, pods: usize, nodes: usize) -> io::Result<()> {
    out.write_all(b"{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n")?;
    let mut first = true;
    each(pods, nodes, |object| {
        if !std::mem::take(&mut first) {
            out.write_all(b",\n")?;
        }
        serde_json::to_writer_pretty(&mut *out, &object)?;
        Ok(())
    })?;
    out.write_all(b"\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\"resourceVersion\": \"\"}\n}\n")
}

const NOW: &str = "2026-11-30T12:00:00Z";
const MADE: &str = "2026-11-20T08:00:00Z";

fn namespace(n: usize) -> Value {
    let name = format!("team-{n:03}");
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": name, "uid": uid(6, n), "creationTimestamp": MADE, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    })
}

fn node(n: usize) -> Value {
    let name = format!("node-{n:05}");
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "uid": uid(1, n), "creationTimestamp": MADE, "labels": {
            "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
            "topology.kubernetes.io/zone": format!("zone-{}", n % 3), "topology.kubernetes.io/region": "region-1",
            "node.kubernetes.io/instance-type": "m6.4xlarge"}},
        "spec": if n % 50 == 49 { json!({"taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]}) } else { json!({}) },
        "status": {
            "capacity": {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "200Gi"},
            "allocatable": {"cpu": "15800m", "memory": "62Gi", "pods": "110", "ephemeral-storage": "180Gi"},
            "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": NOW, "lastTransitionTime": MADE,
                "reason": "KubeletReady", "message": "kubelet is posting ready status"}],
            "nodeInfo": {"kubeletVersion": "v1.36.3", "osImage": "Linux", "containerRuntimeVersion": "containerd://2.2.0"},
            "images": (0..40).map(|i| json!({"names": [format!("registry.example.com/app-{i}@sha256:{:064x}", i)], "sizeBytes": 100_000_000})).collect::<Vec<_>>(),
        },
    })
}

fn owners(ns: &str, name: &str, w: usize, stateful: bool) -> Vec<Value> {
    let template = json!({"metadata": {"labels": labels(name)}, "spec": pod_spec(name, None)});
    let selector = json!({"matchLabels": {"app": name}});
    let status = json!({"replicas": REPLICAS, "readyReplicas": REPLICAS, "observedGeneration": 1});
    let object = |kind: &str, name: &str, id: Value, owner: Option<Value>| {
        json!({
            "apiVersion": "apps/v1", "kind": kind,
            "metadata": {"name": name, "namespace": ns, "uid": id, "generation": 1, "creationTimestamp": MADE,
                "labels": labels(name), "ownerReferences": owner.into_iter().collect::<Vec<_>>(), "managedFields": managed_fields()},
            "spec": {"replicas": REPLICAS, "selector": selector, "template": template},
            "status": status,
        })
    };
    if stateful {
        return vec![object("StatefulSet", name, uid(3, w), None)];
    }
    let owner =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": uid(2, w), "controller": true});
    vec![object("Deployment", name, uid(2, w), None), object("ReplicaSet", &set_name(name, w), uid(3, w), Some(owner))]
}

fn budget(ns: &str, name: &str, w: usize) -> Value {
    let rule = if w.is_multiple_of(40) { json!({"minAvailable": "100%"}) } else { json!({"maxUnavailable": 1}) };
    let mut spec = rule;
    spec["selector"] = json!({"matchLabels": {"app": name}});
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": ns, "uid": uid(4, w), "generation": 1, "creationTimestamp": MADE},
        "spec": spec,
        "status": {"observedGeneration": 1, "expectedPods": REPLICAS, "currentHealthy": REPLICAS, "desiredHealthy": REPLICAS - 1,
            "disruptionsAllowed": 1, "conditions": [{"type": "DisruptionAllowed", "status": "True", "reason": "SufficientPods",
            "message": "", "lastTransitionTime": MADE, "observedGeneration": 1}]},
    })
}

fn pod(ns: &str, app: &str, w: usize, r: usize, stateful: bool, node: Option<usize>, rng: &mut Rng) -> Value {
    let name =
        if stateful { format!("{app}-{r}") } else { format!("{}-{:05x}", set_name(app, w), rng.u32(..0x000f_ffff)) };
    let (kind, owner) = if stateful { ("StatefulSet", app.to_owned()) } else { ("ReplicaSet", set_name(app, w)) };
    let condition = |kind: &str, status: bool| json!({"type": kind, "status": if status { "True" } else { "False" }, "lastProbeTime": null, "lastTransitionTime": MADE});
    let status = if node.is_some() {
        let conditions: Vec<Value> =
            ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]
                .map(|c| condition(c, true))
                .into();
        let containers = ["app", "proxy"].map(|c| {
            json!({"name": c, "ready": true, "started": true, "restartCount": 0,
                "image": format!("registry.example.com/{app}/{c}:v1.4.2"),
                "imageID": format!("registry.example.com/{app}/{c}@sha256:{w:064x}"), "containerID": format!("containerd://{:064x}", w * 31 + r),
                "state": {"running": {"startedAt": MADE}}, "lastState": {}})
        });
        json!({
            "phase": "Running", "startTime": MADE, "podIP": "10.0.0.1", "hostIP": "10.1.0.1", "qosClass": "Burstable",
            "conditions": conditions,
            "containerStatuses": containers,
        })
    } else {
        let mut scheduled = condition("PodScheduled", false);
        scheduled["reason"] = json!("Unschedulable");
        scheduled["message"] = json!("0/1 nodes are available: 1 Insufficient cpu.");
        json!({"phase": "Pending", "qosClass": "Burstable", "conditions": [scheduled]})
    };
    let mut spec = pod_spec(app, Some(rng.u32(..)));
    if let Some(n) = node {
        spec["nodeName"] = json!(format!("node-{n:05}"));
    } else {
        // Some of the Pending pods are too big for what is left, some fit nowhere.
        spec["containers"][0]["resources"]["requests"]["cpu"] = json!(if r.is_multiple_of(2) { "15" } else { "40" });
    }
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "generateName": format!("{owner}-"), "namespace": ns, "uid": uid(5, w * REPLICAS + r),
            "resourceVersion": "123456789", "creationTimestamp": MADE, "labels": labels(app),
            "annotations": {"kubectl.kubernetes.io/restartedAt": MADE, "prometheus.io/scrape": "true", "prometheus.io/port": "9090",
                "checksum/config": format!("{:064x}", w), "example.com/owner": "a-team-with-a-long-name@example.com"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": uid(3, w), "controller": true, "blockOwnerDeletion": true}],
            "managedFields": managed_fields()},
        "spec": spec,
        "status": status,
    })
}

fn pod_spec(app: &str, id: Option<u32>) -> Value {
    let token = format!("kube-api-access-{:05x}", id.unwrap_or_default() & 0x000f_ffff);
    let container = |name: &str, cpu: &str| {
        json!({
            "name": name, "image": format!("registry.example.com/{app}/{name}:v1.4.2"), "imagePullPolicy": "IfNotPresent",
            "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
            "env": (0..8).map(|i| json!({"name": format!("SETTING_{i}"), "value": format!("a value of setting {i} of {app}")})).collect::<Vec<_>>(),
            "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
            "readinessProbe": {"httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3},
            "volumeMounts": [{"name": "config", "mountPath": "/etc/app", "readOnly": true}, {"name": token, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true}],
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        })
    };
    json!({
        "containers": [container("app", "200m"), container("proxy", "50m")],
        "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst", "serviceAccountName": "default",
        "schedulerName": "default-scheduler", "priority": 0, "preemptionPolicy": "PreemptLowerPriority", "securityContext": {},
        "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm":
            {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}}]}},
        "topologySpreadConstraints": [{"maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app}}}],
        "volumes": [{"name": "config", "configMap": {"name": format!("{app}-config"), "defaultMode": 420}},
            {"name": token, "projected": {"defaultMode": 420, "sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}]}}],
    })
}

fn labels(app: &str) -> Value {
    json!({"app": app, "app.kubernetes.io/name": app, "app.kubernetes.io/part-of": "platform", "app.kubernetes.io/version": "v1.4.2",
        "tier": "backend"})
}

fn set_name(app: &str, w: usize) -> String {
    format!("{app}-{:08x}", (w as u32).wrapping_mul(2_654_435_761))
}

fn uid(kind: usize, n: usize) -> Value {
    json!(format!("{kind:08x}-0000-4000-8000-{n:012x}"))
}

/// As much as a server writes of who set which field.
fn managed_fields() -> Value {
    let fields: serde_json::Map<String, Value> =
        (0..40).map(|i| (format!("f:field-number-{i}"), json!({".": {}, "f:value": {}}))).collect();
    json!([
        {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "time": MADE, "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields}},
        {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "time": MADE, "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {"f:conditions": {}}}, "subresource": "status"},
    ])
}
