//! What happens after the disruption controller has looked and before it looks again: pods fail, go and change, rules
//! and scales move, evictions are under way. The eviction endpoint then judges on old statuses.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::budgets::{budget_spec, disrupted};
use crate::health::Health;
use crate::random::Choice;
use crate::snapshot::items;

/// One change to the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A merge patch of the object at the path.
    Merge(String, Value),
    /// A new object in the collection at the path.
    Create(String, Value),
    /// A deletion with a grace period in seconds.
    Delete(String, i64),
}

/// Changes to about half of the namespaces of a snapshot.
pub fn changes(seed: u64, now: Timestamp, list: &Value) -> Vec<Change> {
    let mut choice = Choice::new(seed ^ 0x5eed);
    let mut changes = Vec::new();
    for namespace in items(list).iter().filter(|i| i["kind"] == "Namespace") {
        let name = namespace["metadata"]["name"].as_str().unwrap_or_default();
        if name.starts_with("ns") && choice.chance(55) {
            let objects: Vec<&Value> = items(list).iter().filter(|i| i["metadata"]["namespace"] == name).collect();
            in_namespace(&mut choice, now, name, &objects, &mut changes);
        }
    }
    changes
}

fn in_namespace(choice: &mut Choice, now: Timestamp, namespace: &str, objects: &[&Value], changes: &mut Vec<Change>) {
    let named = |kind: &str| -> Vec<String> {
        let of_kind = objects.iter().filter(|o| o["kind"] == kind);
        of_kind.filter_map(|o| o["metadata"]["name"].as_str().map(str::to_owned)).collect()
    };
    let pods = named("Pod");
    for object in objects {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        match object["kind"].as_str().unwrap_or_default() {
            "Pod" => changes.extend(pod(choice, &format!("/api/v1/namespaces/{namespace}/pods/{name}"), object)),
            "PodDisruptionBudget" => {
                let path = format!("/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets/{name}");
                budget(choice, now, &path, object, &pods, changes);
            }
            kind @ ("Deployment" | "StatefulSet" | "ReplicaSet") if choice.chance(15) => {
                let path = format!("/apis/apps/v1/namespaces/{namespace}/{}s/{name}", kind.to_lowercase());
                changes.push(match choice.chance(80) {
                    true => Change::Merge(path, json!({"spec": {"replicas": choice.number(0, 6)}})),
                    false => Change::Delete(path, 0),
                });
            }
            _ => {}
        }
    }
    if choice.chance(15) {
        let spec = budget_spec(choice, 2);
        let late = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "late"}, "spec": spec});
        changes.push(Change::Create(format!("/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"), late));
    }
}

fn pod(choice: &mut Choice, path: &str, pod: &Value) -> Option<Change> {
    let running = pod["status"]["phase"] == "Running";
    match choice.number(0, 99) {
        0..12 if running => {
            let health = choice.weighted(&[
                (3, Health::Ready),
                (3, Health::Crashing),
                (2, Health::Unready),
                (1, Health::Failed),
            ]);
            Some(Change::Merge(format!("{path}/status"), json!({"status": health.status()})))
        }
        12..18 => Some(Change::Delete(path.to_owned(), 120)),
        18..21 => Some(Change::Delete(path.to_owned(), 0)),
        21..24 => Some(Change::Merge(
            path.to_owned(),
            json!({"metadata": {"labels": {"app": choice.one(&["a0", "a1", "b"])}}}),
        )),
        _ => None,
    }
}

fn budget(choice: &mut Choice, now: Timestamp, path: &str, budget: &Value, pods: &[String], changes: &mut Vec<Change>) {
    if choice.chance(20) {
        // A merge patch leaves what it does not name, and a budget has one rule only.
        let mut spec = budget_spec(choice, 2);
        for field in ["minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy"] {
            if spec[field].is_null() {
                spec[field] = Value::Null;
            }
        }
        spec["selector"] = budget["spec"]["selector"].clone();
        changes.push(Change::Merge(path.to_owned(), json!({"spec": spec})));
    }
    if choice.chance(20) {
        let entries = disrupted(choice, now, pods);
        changes.push(Change::Merge(format!("{path}/status"), json!({"status": {"disruptedPods": entries}})));
    } else if choice.chance(10) {
        changes.push(Change::Merge(
            format!("{path}/status"),
            json!({"status": {"disruptionsAllowed": choice.number(0, 2)}}),
        ));
    }
}
