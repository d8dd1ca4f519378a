//! A cluster of 200 budgets, 78 nodes and 875 pods, with names as clouds give them: each command answers within a screen, and
//! says how to see the rest.

use crate::program::{Ran, program};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const NAMESPACES: [&str; 5] = ["checkout", "identity-platform", "payments", "recommendations", "search"];
const NOW: &str = "2026-12-01T12:00:00Z";
const BEFORE: &str = "2026-12-01T08:00:00Z";

fn node(at: usize) -> String {
    if at.is_multiple_of(2) {
        format!("ip-10-0-{at}-5.eu-west-1.compute.internal")
    } else {
        format!("gke-prod-pool-{}-4f1c9b7a-x{at:03}", at % 4)
    }
}

/// How the pods of an application are.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Ready,
    Crashing,
    Pending,
}

fn app(items: &mut Vec<Value>, namespace: &str, name: &str, pods: usize, how: How, asks: &Value) {
    let labels = json!({"app": name});
    let owner = |kind: &str, name: &str| json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": format!("{namespace}-{kind}-{name}"), "controller": true}]);
    let set = format!("{name}-7d4b9c6f58");
    let spec = json!({"replicas": pods, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": asks}});
    let status = json!({"replicas": pods, "observedGeneration": 1});
    items.push(json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec, "status": status,
        "metadata": {"namespace": namespace, "name": name, "uid": format!("{namespace}-Deployment-{name}"), "generation": 1}}));
    items.push(json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": spec, "status": status,
        "metadata": {"namespace": namespace, "name": set, "uid": format!("{namespace}-ReplicaSet-{set}"), "generation": 1,
            "ownerReferences": owner("Deployment", name)}}));
    for at in 0..pods {
        let is = if at < 2 { how } else { How::Ready };
        let name = format!("{set}-{at:05}");
        let mut spec = asks.clone();
        let status = match is {
            How::Pending => json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                "reason": "Unschedulable", "message": "", "lastTransitionTime": BEFORE}]}),
            _ => {
                let ready = is == How::Ready;
                let state = if ready {
                    json!({"running": {"startedAt": BEFORE}})
                } else {
                    json!({"waiting": {"reason": "CrashLoopBackOff"}})
                };
                spec["nodeName"] = json!(node(3 + (items.len() * 7) % 75));
                json!({"phase": "Running", "startTime": BEFORE,
                    "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }, "lastTransitionTime": BEFORE}],
                    "containerStatuses": [{"name": "app", "ready": ready, "restartCount": if ready { 0 } else { 40 }, "state": state}]})
            }
        };
        items.push(json!({"apiVersion": "v1", "kind": "Pod", "spec": spec, "status": status,
            "metadata": {"namespace": namespace, "name": name, "uid": format!("{namespace}-{name}"), "labels": labels,
                "creationTimestamp": BEFORE, "ownerReferences": owner("ReplicaSet", &set)}}));
    }
}

fn budget(items: &mut Vec<Value>, namespace: &str, name: &str, app: &str, rule: &Value, numbers: [i64; 4]) {
    let [allowed, expected, desired, healthy] = numbers;
    let mut spec = rule.clone();
    spec["selector"] = json!({"matchLabels": {"app": app}});
    items.push(json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": spec,
        "metadata": {"namespace": namespace, "name": name, "generation": 1, "creationTimestamp": BEFORE},
        "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "expectedPods": expected, "desiredHealthy": desired,
            "currentHealthy": healthy}}));
}

fn cluster() -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    for at in 0..78 {
        let taints = if at < 3 {
            json!([{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}])
        } else {
            json!([])
        };
        items.push(json!({"apiVersion": "v1", "kind": "Node", "spec": {"taints": taints},
            "metadata": {"name": node(at), "labels": {"kubernetes.io/hostname": node(at), "pool": "general"}},
            "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "58"},
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": BEFORE}]}}));
    }
    let asks = |more: Value| {
        let mut spec = json!({"schedulerName": "default-scheduler",
            "containers": [{"name": "app", "image": "a", "resources": {"requests": {"cpu": "100m"}}}]});
        for (field, value) in more.as_object().into_iter().flatten() {
            spec[field] = value.clone();
        }
        spec
    };
    let max = json!({"maxUnavailable": 1});
    for at in 0..200 {
        let (ns, name) = (NAMESPACES[at % 5], format!("frontend-service-{at}"));
        let plain = asks(json!({}));
        let mut with = |pods, how, asks: &Value, rule: &Value, numbers| {
            app(&mut items, ns, &name, pods, how, asks);
            budget(&mut items, ns, &name, &name, rule, numbers);
        };
        match at % 20 {
            0 => with(3, How::Ready, &plain, &json!({"minAvailable": 3}), [0, 3, 3, 3]),
            1 => with(1, How::Ready, &plain, &json!({"minAvailable": 1}), [0, 1, 1, 1]),
            2 => budget(&mut items, ns, &name, &name, &max, [0, 0, 0, 0]),
            3 => with(3, How::Crashing, &plain, &max, [0, 3, 2, 1]),
            4 => with(4, How::Pending, &asks(json!({"nodeSelector": {"pool": "highmem"}})), &max, [0, 4, 3, 2]),
            5 => {
                let large = json!([{"name": "app", "image": "a", "resources": {"requests": {"cpu": "12"}}}]);
                with(4, How::Pending, &asks(json!({"containers": large})), &max, [0, 4, 3, 2]);
            }
            6 => {
                app(&mut items, ns, &name, 2, How::Ready, &plain);
                budget(&mut items, ns, &format!("{name}-a"), &name, &max, [1, 2, 1, 2]);
            }
            7 => {
                // A second budget over the pods of the application before.
                let before = format!("frontend-service-{}", at - 1);
                budget(&mut items, NAMESPACES[(at - 1) % 5], &name, &before, &max, [1, 2, 1, 2]);
            }
            _ => with(4, How::Ready, &plain, &max, [1, 4, 3, 4]),
        }
    }
    let pods = items.iter().filter(|i| i["kind"] == "Pod").count();
    app(&mut items, "search", "indexer", 875 - pods, How::Ready, &asks(json!({})));
    items
}

/// Runs the program on a terminal of so many columns, as far as it can tell.
fn at(columns: usize, file: &Path, args: &[&str]) -> Ran {
    let mut command = program();
    command.env("KUBECTL_PDB_WIDTH", columns.to_string());
    Ran::from(command.args(args).args(["--now", NOW, "--from"]).arg(file).output().unwrap())
}

#[test]
fn many_are_answered_within_a_screen() {
    let items = cluster();
    let count = |kind: &str| items.iter().filter(|i| i["kind"] == kind).count();
    assert_eq!((count("PodDisruptionBudget"), count("Node"), count("Pod")), (200, 78, 875));
    let file = std::env::temp_dir().join(format!("kubectl-pdb-many-{}.json", std::process::id()));
    fs::write(&file, json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()).unwrap();
    let mut bad = Vec::new();
    for columns in [80, 100, 120, 200] {
        for args in [&["status", "-A"][..], &["drain-plan"], &["why-pending", "-A"]] {
            let ran = at(columns, &file, args);
            let lines = ran.out.lines().count();
            if !(8..=50).contains(&lines) {
                bad.push(format!("{args:?} at {columns}: {lines} lines"));
            }
            if !ran.out.contains(&format!("kubectl pdb {}", args[0])) {
                bad.push(format!("{args:?} at {columns} does not say how to see the rest:\n{}", ran.out));
            }
        }
        if columns > 120 {
            continue;
        }
        for args in [
            &["status", "-A", "--all"][..],
            &["drain-plan", "--all"],
            &["why-pending", "-A", "--all"],
            &["drain-plan", &node(8), &node(9)],
            &["why-pending", "-n", "search"],
            &["why-pending", "-n", "search", "deployment/frontend-service-44"],
        ] {
            let ran = at(columns, &file, args);
            // A command is never wrapped: it has to be pasted as it is.
            let long = |line: &&str| line.chars().count() > columns && !line.contains("kubectl ");
            if let Some(line) = ran.out.lines().find(long) {
                bad.push(format!("{args:?} at {columns}: {line}"));
            }
        }
    }
    fs::remove_file(&file).unwrap();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
