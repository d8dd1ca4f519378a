//! Many Pending pods at once, of several priorities, for less room than they ask for: who gets a node at the end.

use serde_json::{Value, json};

use crate::health::Health;
use crate::objects::{labels, node};
use crate::random::Choice;

const NAMESPACE: &str = "shop";
const APPS: &[&str] = &["web", "db", "cache", "batch"];

/// The cluster of a seed. Names follow the order in which the pods are made, as the scheduler, which is started when all
/// are there, takes equals in the order of their list.
pub fn cluster(seed: u64) -> Vec<Value> {
    let mut choice = Choice::new(seed);
    let mut items = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})];
    let nodes = choice.number(2, 6);
    items.extend((0..nodes).map(|n| random_node(&mut choice, n)));
    let mut count = 0;
    for n in 0..nodes {
        let mut room = items.iter().find(|i| i["metadata"]["name"] == format!("n{n}").as_str()).map_or(0, cores) * 1000;
        for _ in 0..choice.number(1, 6) {
            let mut pod = random_pod(&mut choice, &format!("run-{count:03}"));
            let asked = pod["spec"]["containers"][0]["resources"]["requests"]["cpu"].as_str().map_or(0, thousandths);
            if asked > room {
                continue;
            }
            room -= asked;
            pod["spec"]["nodeName"] = json!(format!("n{n}"));
            pod["status"] = Health::Ready.status();
            // Among pods of equal priority and age chance decides: no two are of one age.
            pod["status"]["startTime"] = json!(format!("2026-02-01T08:{:02}:{:02}Z", count / 60, count % 60));
            items.push(pod);
            count += 1;
        }
    }
    for i in 0..choice.number(4, 30) {
        let mut pod = random_pod(&mut choice, &format!("wait-{i:03}"));
        constrain(&mut choice, &mut pod);
        if choice.chance(20) {
            pod["spec"]["preemptionPolicy"] = json!("Never");
        }
        items.push(pod);
    }
    for i in 0..choice.number(0, 3) {
        let app = choice.one(APPS);
        items.push(json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"namespace": NAMESPACE, "name": format!("budget-{i}"), "uid": choice.uid()},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}},
            "status": {"observedGeneration": 1, "disruptionsAllowed": choice.number(0, 2), "expectedPods": 3,
                "currentHealthy": 3, "desiredHealthy": 1}}));
    }
    items
}

fn random_node(choice: &mut Choice, n: i64) -> Value {
    let zone = choice.one(&["za", "zb"]).to_owned();
    let cpu = choice.one(&["2", "4", "4", "8"]).to_owned();
    let memory = choice.one(&["4Gi", "8Gi", "16Gi"]).to_owned();
    let mut node = node(&format!("n{n}"), &zone, &cpu, &memory, choice.weighted(&[(1, 5), (6, 30)]));
    node["metadata"]["labels"]["disk"] = json!(choice.one(&["ssd", "hdd"]));
    if choice.chance(15) {
        node["spec"]["taints"] = json!([{"key": "dedicated", "value": "a", "effect": "NoSchedule"}]);
    }
    if choice.chance(8) {
        node["spec"]["unschedulable"] = json!(true);
    }
    node
}

fn cores(node: &Value) -> i64 {
    node["status"]["allocatable"]["cpu"].as_str().and_then(|c| c.parse().ok()).unwrap_or(0)
}

fn thousandths(quantity: &str) -> i64 {
    match quantity.strip_suffix('m') {
        Some(milli) => milli.parse().unwrap_or(0),
        None => quantity.parse::<i64>().unwrap_or(0) * 1000,
    }
}

/// A pod that asks for both resources, so that scores need no assumed amounts.
fn random_pod(choice: &mut Choice, name: &str) -> Value {
    let app = choice.one(APPS).to_owned();
    let requests = json!({"cpu": choice.one(&["250m", "500m", "1", "1500m", "2", "3"]),
        "memory": choice.one(&["256Mi", "512Mi", "1Gi", "2Gi"])});
    let priority = choice.weighted(&[(4, 0), (3, 10), (2, 100), (1, 1000)]);
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": NAMESPACE, "name": name, "uid": choice.uid(), "labels": labels(&[("app", &app)])},
        "spec": {"terminationGracePeriodSeconds": 30, "priority": priority,
            "containers": [{"name": "app", "image": "registry.example/app:1", "resources": {"requests": requests}}]}})
}

/// What the pod demands beside room.
fn constrain(choice: &mut Choice, pod: &mut Value) {
    let app = pod["metadata"]["labels"]["app"].clone();
    let key = choice.one(&["kubernetes.io/hostname", "topology.kubernetes.io/zone"]).to_owned();
    match choice.number(0, 9) {
        0 | 1 => pod["spec"]["nodeSelector"] = json!({"disk": choice.one(&["ssd", "hdd"])}),
        2 => pod["spec"]["nodeSelector"] = json!({"kubernetes.io/hostname": format!("n{}", choice.number(0, 5))}),
        3 => pod["spec"]["tolerations"] = json!([{"key": "dedicated", "operator": "Exists"}]),
        4 => {
            pod["spec"]["affinity"] = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}]}});
        }
        5 => {
            let other = choice.one(APPS);
            pod["spec"]["affinity"] = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": key, "labelSelector": {"matchLabels": {"app": other}}}]}});
        }
        6 => {
            pod["spec"]["topologySpreadConstraints"] = json!([{"maxSkew": choice.number(1, 2), "topologyKey": key,
                "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": app}}}]);
        }
        _ => {}
    }
}
