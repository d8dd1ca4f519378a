//! Whatever number an object holds, and however many objects there are of a kind, every command ends: pods are counted,
//! and not made one by one.

use serde_json::{Value, json};

use crate::program::run_on;

/// The API takes it wherever a count is an int32.
const MAX: i64 = 2_147_483_647;

const COMMANDS: [&[&str]; 7] = [
    &["status", "-A"],
    &["status", "-A", "-o", "json"],
    &["drain-plan"],
    &["drain-plan", "n1", "-o", "json"],
    &["drain-plan", "n1", "n2", "--force", "--after", "gone"],
    &["why-pending", "-A"],
    &["why-pending", "-A", "-o", "json"],
];

/// Every command gives an answer.
fn all_end(title: &str, objects: &[Value]) {
    let input = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    for args in COMMANDS {
        ends(title, args, &input);
    }
}

fn ends(title: &str, args: &[&str], input: &str) {
    let ran = run_on(input, &[args, &["--from", "-"]].concat());
    assert!(matches!(ran.status, 0 | 2 | 3), "{title}: {args:?}: {} {} {}", ran.status, ran.out, ran.err);
}

fn meta(name: &str) -> Value {
    json!({"name": name, "namespace": "shop", "uid": name, "generation": 1, "creationTimestamp": "2026-01-01T00:00:00Z"})
}

fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn workload(api_version: &str, kind: &str, name: &str, spec: &Value) -> Value {
    let mut all = json!({"selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}}});
    merge(&mut all, spec);
    json!({"apiVersion": api_version, "kind": kind, "metadata": meta(name), "spec": all, "status": {"observedGeneration": 1}})
}

fn merge(into: &mut Value, from: &Value) {
    for (key, value) in from.as_object().into_iter().flatten() {
        into[key] = value.clone();
    }
}

/// A pod on a node, or Pending where that is empty, and its owner: API version, kind, name.
fn pod(name: &str, on: &str, (api_version, kind, owner): (&str, &str, &str), spec: &Value) -> Value {
    let mut metadata = meta(name);
    metadata["labels"] = json!({"app": "web"});
    metadata["ownerReferences"] =
        json!([{"apiVersion": api_version, "kind": kind, "name": owner, "uid": owner, "controller": true}]);
    let mut all = json!({"containers": [{"name": "c"}]});
    let status = if on.is_empty() {
        json!({"phase": "Pending"})
    } else {
        all["nodeName"] = json!(on);
        json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})
    };
    merge(&mut all, spec);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": all, "status": status})
}

fn budget(name: &str, rule: &Value) -> Value {
    let mut spec = json!({"selector": {"matchLabels": {"app": "web"}}});
    merge(&mut spec, rule);
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta(name), "spec": spec,
        "status": {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 1, "desiredHealthy": 0,
            "expectedPods": 1}})
}

fn web(api_version: &str, kind: &str, spec: &Value, rule: &Value) -> Vec<Value> {
    let own = (api_version, kind, "web");
    vec![
        node("n1"),
        node("n2"),
        workload(api_version, kind, "web", spec),
        pod("web-0", "n1", own, &json!({})),
        pod("web-1", "", own, &json!({})),
        budget("b", rule),
    ]
}

#[test]
fn counts_are_not_walked_through() {
    let one = json!({"maxUnavailable": 1});
    let replicas = json!({"replicas": MAX});
    let job = json!({"parallelism": MAX, "completions": MAX});
    for (api_version, kind, spec) in [
        ("apps/v1", "StatefulSet", replicas.clone()),
        ("apps/v1", "StatefulSet", json!({"replicas": MAX, "podManagementPolicy": "Parallel"})),
        ("apps/v1", "StatefulSet", json!({"replicas": MAX, "ordinals": {"start": MAX}})),
        ("apps/v1", "ReplicaSet", replicas.clone()),
        ("apps/v1", "Deployment", json!({"replicas": MAX, "strategy": {"rollingUpdate": {"maxSurge": MAX}}})),
        ("batch/v1", "Job", job),
        ("batch/v1", "Job", json!({"parallelism": MAX, "completions": MAX, "completionMode": "Indexed"})),
        ("batch/v1", "Job", json!({"parallelism": MAX})),
    ] {
        let mut objects = web(api_version, kind, &spec, &one);
        all_end(&format!("{kind} {spec}"), &objects);
        // What would become of it, too.
        let manifest = std::env::temp_dir().join(format!("kubectl-pdb-numbers-{}-{kind}.json", std::process::id()));
        std::fs::write(&manifest, objects.remove(2).to_string()).unwrap();
        let input = json!({"apiVersion": "v1", "kind": "List", "items": [node("n1")]}).to_string();
        let pods = r#"{"apiVersion": "v1", "kind": "PodList", "items": []}"#;
        let args = ["why-pending", "-f", manifest.to_str().unwrap()];
        ends(&format!("{kind} {spec}"), &args, &format!("{input}\n{pods}"));
        std::fs::remove_file(manifest).unwrap();
    }
    for rule in [
        json!({"minAvailable": MAX}),
        json!({"maxUnavailable": MAX}),
        json!({"minAvailable": "99%"}),
        json!({"maxUnavailable": "2147483647%"}),
    ] {
        let mut objects = web("apps/v1", "Deployment", &replicas, &rule);
        objects.push(json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta("h"),
            "spec": {"minReplicas": MAX, "maxReplicas": MAX,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}}));
        all_end(&rule.to_string(), &objects);
    }
}

#[test]
fn times_and_claims_may_be_as_large_as_their_types() {
    let most = i64::MAX;
    let probe =
        json!({"initialDelaySeconds": MAX, "periodSeconds": MAX, "failureThreshold": MAX, "successThreshold": MAX});
    let slow = json!({"terminationGracePeriodSeconds": most, "activeDeadlineSeconds": most,
        "containers": [{"name": "c", "readinessProbe": probe, "startupProbe": probe,
            "lifecycle": {"preStop": {"sleep": {"seconds": most}}}}]});
    let spread = json!({"topologySpreadConstraints": [{"maxSkew": MAX, "minDomains": MAX,
        "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]});
    let own = ("apps/v1", "StatefulSet", "web");
    for spec in [slow, spread] {
        let set = workload("apps/v1", "StatefulSet", "web", &json!({"replicas": 2, "minReadySeconds": MAX}));
        let pods = [pod("web-0", "n1", own, &spec), pod("web-1", "n2", own, &spec), pod("web-2", "", own, &spec)];
        let rest = [node("n1"), node("n2"), set, budget("b", &json!({"maxUnavailable": 1}))];
        all_end(&spec.to_string(), &[&rest[..], &pods].concat());
    }
}

#[test]
fn many_objects_of_a_kind_are_gone_through_once() {
    const MANY: usize = 100;
    let one = json!({"maxUnavailable": 1});
    let base = || web("apps/v1", "StatefulSet", &json!({"replicas": 2}), &one);
    let with = |more: &mut dyn Iterator<Item = Value>| [base(), more.collect()].concat();
    let name = |what: &str, at: usize| format!("{what}{at}");
    all_end("budgets over one pod", &with(&mut (0..MANY).map(|at| budget(&name("b", at), &one))));
    let pods = |at: usize| {
        let own = name("w", at);
        let set = workload("apps/v1", "StatefulSet", &own, &json!({"replicas": 1}));
        [set, pod(&format!("{own}-0"), "n1", ("apps/v1", "StatefulSet", &own), &json!({}))]
    };
    all_end("workloads under one budget", &with(&mut (0..MANY).flat_map(pods)));
    let mut ring = |at: usize| {
        let [mut set, pod] = pods(at);
        set["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "StatefulSet", "controller": true,
            "name": name("w", (at + 1) % MANY), "uid": name("w", (at + 1) % MANY)}]);
        [set, pod]
    };
    all_end("a ring of owners", &with(&mut (0..MANY).flat_map(&mut ring)));
    let taint = |at: usize| json!({"key": name("k", at), "value": "v", "effect": "NoSchedule"});
    let mut tainted = node("n3");
    tainted["spec"] = json!({"taints": (0..100_000).map(taint).collect::<Vec<_>>()});
    all_end("taints", &with(&mut [tainted].into_iter()));
}
