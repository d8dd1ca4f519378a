//! What is seldom seen, and judged all the same: resizes under way, room promised to others, pods of nodes that are gone.

use serde_json::{Value, json};

use super::pending::Purpose;
use crate::health::Health;
use crate::objects::LONG_AGO;
use crate::random::Choice;

/// A running pod of which something is unusual.
pub fn of_running(choice: &mut Choice, pod: &mut Value) {
    match choice.number(0, 99) {
        0..6 => resize(choice, pod),
        6..9 => overhead(choice, pod),
        9..12 => pod_level(choice, pod),
        12..14 => pod["spec"]["nodeName"] = json!("gone"),
        _ => {}
    }
}

/// A Pending pod of which something is unusual.
pub fn of_pending(choice: &mut Choice, pod: &mut Value) {
    match choice.number(0, 99) {
        0..4 => overhead(choice, pod),
        4..8 => pod_level(choice, pod),
        8..10 => {
            pod["spec"]["volumes"] = json!([{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec":
                {"accessModes": ["ReadWriteOnce"], "storageClassName": "wait", "resources": {"requests": {"storage": "1Gi"}}}}}}]);
        }
        10..14 => {
            // Needs a feature that only some kubelets declare.
            pod["spec"]["containers"][0]["restartPolicy"] = json!("Never");
            pod["spec"]["containers"][0]["restartPolicyRules"] =
                json!([{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]);
        }
        _ => {}
    }
}

/// Containers whose resources are being changed in place: asked, allocated and used differ.
fn resize(choice: &mut Choice, pod: &mut Value) {
    let reason = choice.weighted(&[(3, Some("Deferred")), (2, Some("Infeasible")), (2, None)]);
    let allocated = json!({"cpu": choice.one(&["200m", "900m"]), "memory": "128Mi"});
    let used = json!({"requests": {"cpu": choice.one(&["200m", "400m"]), "memory": "128Mi"}});
    let containers = pod["spec"]["containers"].as_array().map_or(0, Vec::len);
    let mut statuses = Vec::new();
    for i in 0..containers {
        let container = &mut pod["spec"]["containers"][i];
        container["resources"] = json!({"requests": {"cpu": choice.one(&["300m", "1"]), "memory": "256Mi"}});
        statuses.push(
            json!({"name": container["name"], "image": "registry.example/app:1", "imageID": "", "ready": true,
            "started": true, "restartCount": 0, "state": {"running": {"startedAt": LONG_AGO}}, "lastState": {},
            "allocatedResources": allocated, "resources": used}),
        );
    }
    pod["status"]["containerStatuses"] = json!(statuses);
    if let (Some(reason), Some(conditions)) = (reason, pod["status"]["conditions"].as_array_mut()) {
        conditions.push(json!({"type": "PodResizePending", "status": "True", "reason": reason, "message": "",
            "lastProbeTime": null, "lastTransitionTime": LONG_AGO}));
    }
}

fn overhead(choice: &mut Choice, pod: &mut Value) {
    pod["spec"]["runtimeClassName"] = json!("sandbox");
    pod["spec"]["overhead"] = json!({"cpu": choice.one(&["100m", "500m"]), "memory": "64Mi"});
}

/// Requests of the pod as a whole, which stand in the place of its containers' sum.
fn pod_level(choice: &mut Choice, pod: &mut Value) {
    let containers = pod["spec"]["containers"].as_array_mut().into_iter().flatten();
    for container in containers {
        container["resources"] = json!({"requests": {"cpu": "50m", "memory": "16Mi"}});
    }
    if let Some(spec) = pod["spec"].as_object_mut() {
        spec.remove("initContainers");
    }
    pod["spec"]["resources"] = json!({"requests": {"cpu": choice.one(&["500m", "1500m"]), "memory": "256Mi"}});
}

/// Room that preemption has made on a node, and that is promised: a victim that still terminates, and the pod it goes
/// for. Others of lower or equal priority may not take the room.
pub fn promised_room(choice: &mut Choice, nodes: i64, make: &mut dyn FnMut(&mut Choice, &str) -> Value) -> Vec<Value> {
    let mut pods = Vec::new();
    for i in 0..choice.number(0, 2) {
        let node = format!("n{}", choice.number(0, nodes - 1));
        let mut victim = make(choice, &format!("victim-{i}"));
        victim["spec"]["nodeName"] = json!(node);
        victim["spec"]["priority"] = json!(0);
        victim["spec"]["containers"] = json!([container("900m")]);
        victim["status"] = Health::Ready.status();
        victim["metadata"]["deletionTimestamp"] = json!(LONG_AGO);
        victim["metadata"]["deletionGracePeriodSeconds"] = json!(600);
        if let Some(conditions) = victim["status"]["conditions"].as_array_mut() {
            conditions.push(json!({"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
                "message": "default-scheduler: preempting to accommodate a higher priority pod",
                "lastProbeTime": null, "lastTransitionTime": LONG_AGO}));
        }
        let mut waiting = make(choice, &format!("nominated-{i}"));
        waiting["spec"]["priority"] = json!(3000);
        waiting["spec"]["preemptionPolicy"] = json!("PreemptLowerPriority");
        // As much as the victim has, so that it waits for just that. (One that fits now is dropped with all that do; from
        // one that fits nowhere the scheduler would take the nomination.)
        waiting["spec"]["containers"] = json!([container("900m")]);
        waiting["status"] = json!({"phase": "Pending", "nominatedNodeName": node});
        pods.extend([victim, waiting]);
    }
    pods
}

fn container(cpu: &str) -> Value {
    json!({"name": "c0", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}})
}

/// Nodes of which something is unusual.
pub fn of_node(choice: &mut Choice, node: &mut Value, purpose: Purpose) {
    let odd = choice.number(0, 99);
    // Few, so that the pods that need it are refused by most.
    if odd % 16 == 0 {
        node["status"]["declaredFeatures"] = json!(["RestartAllContainersOnContainerExits"]);
    }
    match odd {
        // A label that is not the node's name.
        0..5 => node["metadata"]["labels"]["kubernetes.io/hostname"] = json!("host.example"),
        5..8 if purpose == Purpose::Messages => node["status"]["allocatable"]["cpu"] = json!("0"),
        8..11 if purpose == Purpose::Messages => {
            node["spec"]["taints"] = json!([
                {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"},
                {"key": "dedicated", "value": "a", "effect": "NoSchedule"}]);
        }
        _ => {}
    }
}
