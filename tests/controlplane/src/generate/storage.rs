//! Claims, volumes and attach limits.

use serde_json::{Value, json};

use crate::objects::LONG_AGO;
use crate::random::Choice;

const WAIT: &str = "wait";
const IMMEDIATE: &str = "immediate";
const CSI: &str = "csi";
const PROVISIONED: &str = "provisioned";
const DRIVER: &str = "disk.example.com";

/// The claims of a cluster that pods may name.
pub struct Storage {
    /// Claims in namespace `shop` of pods to come.
    claims: Vec<String>,
    /// Bound claims of the CSI driver, by node.
    attached: i64,
}

impl Storage {
    /// Adds classes, volumes and claims to the items.
    pub fn make(choice: &mut Choice, nodes: i64, items: &mut Vec<Value>) -> Self {
        let later = "WaitForFirstConsumer";
        for (name, mode) in [(WAIT, later), (IMMEDIATE, "Immediate"), (CSI, later), (PROVISIONED, later)] {
            let provisioner = if [CSI, PROVISIONED].contains(&name) { DRIVER } else { "kubernetes.io/no-provisioner" };
            let mut class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
                "provisioner": provisioner, "volumeBindingMode": mode, "reclaimPolicy": "Delete"});
            if name == PROVISIONED {
                class["allowedTopologies"] = json!([{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone",
                    "values": [choice.one(&["za", "zb"])]}]}]);
            }
            items.push(class);
        }
        let mut claims = Vec::new();
        for i in 0..choice.number(2, 6) {
            let name = format!("c-{i}");
            make_claim(choice, &name, nodes, items);
            claims.push(name);
        }
        for i in 0..choice.number(0, 3) {
            let place = place(choice, nodes);
            items.push(volume(&format!("free-{i}"), WAIT, "ReadWriteOnce", Some(place), None));
        }
        if choice.chance(50) {
            for n in 0..nodes {
                if choice.chance(60) {
                    items.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": format!("n{n}")},
                        "spec": {"drivers": [{"name": DRIVER, "nodeID": format!("n{n}"), "topologyKeys": [],
                            "allocatable": {"count": choice.number(0, 2)}}]}}));
                }
            }
        }
        for i in 0..8 {
            let (claim, pv) = (format!("csi-{i}"), format!("csi-pv-{i}"));
            items.push(bound_claim(&claim, CSI, "ReadWriteOnce", &pv));
            items.push(volume(&pv, CSI, "ReadWriteOnce", None, Some(&claim)));
        }
        Self { claims, attached: 0 }
    }

    /// Some running pods have a volume of the CSI driver on their node.
    pub fn attach_running(&mut self, choice: &mut Choice, pod: &mut Value, _node: i64) {
        if self.attached < 6 && pod["metadata"]["namespace"] == "shop" && choice.chance(10) {
            add(pod, &format!("csi-{}", self.attached));
            self.attached += 1;
        } else if pod["metadata"]["namespace"] == "shop" && choice.chance(3) {
            // One that others cannot share: ReadWriteOncePod among them.
            if let Some(claim) = self.claims.first() {
                add(pod, claim);
            }
        }
    }

    /// Some Pending pods have a volume.
    pub fn attach_pending(&mut self, choice: &mut Choice, pod: &mut Value) {
        if pod["metadata"]["namespace"] != "shop" {
            return;
        }
        match choice.number(0, 99) {
            0..14 => {
                let all: Vec<&str> = self.claims.iter().map(String::as_str).collect();
                add(pod, choice.one(&all));
            }
            14..17 => add(pod, "missing"),
            17..24 => add(pod, &format!("csi-{}", choice.number(0, 7))),
            _ => {}
        }
    }
}

fn add(pod: &mut Value, claim: &str) {
    pod["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]);
}

fn make_claim(choice: &mut Choice, name: &str, nodes: i64, items: &mut Vec<Value>) {
    let mode = choice.weighted(&[(4, "ReadWriteOnce"), (2, "ReadWriteOncePod"), (1, "ReadWriteMany")]);
    match choice.number(0, 8) {
        0..3 => {
            // Bound, to a volume that is at one place.
            let pv = format!("pv-{name}");
            items.push(bound_claim(name, WAIT, mode, &pv));
            let place = place(choice, nodes);
            items.push(volume(&pv, WAIT, mode, Some(place), Some(name)));
        }
        3 => {
            // Bound, to a volume with a zone label as old cloud volumes have.
            let pv = format!("pv-{name}");
            items.push(bound_claim(name, WAIT, mode, &pv));
            let mut volume = volume(&pv, WAIT, mode, None, Some(name));
            volume["metadata"]["labels"] = json!({"topology.kubernetes.io/zone": choice.one(&["za", "zb", "zz"])});
            items.push(volume);
        }
        4 => items.push(claim(name, IMMEDIATE, mode)),
        5 => {
            // Going away, or bound to a volume that is gone.
            let mut odd =
                if choice.chance(50) { claim(name, WAIT, mode) } else { bound_claim(name, WAIT, mode, "gone") };
            if odd["spec"]["volumeName"].is_null() {
                odd["metadata"]["deletionTimestamp"] = json!(LONG_AGO);
                odd["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
            }
            items.push(odd);
        }
        6 => {
            // To be provisioned, where there is capacity.
            items.push(claim(name, PROVISIONED, mode));
        }
        _ => items.push(claim(name, WAIT, mode)),
    }
}

fn claim(name: &str, class: &str, mode: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"namespace": "shop", "name": name, "uid": format!("claim-{name}")},
        "spec": {"accessModes": [mode], "storageClassName": class, "volumeMode": "Filesystem", "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Pending"}})
}

fn bound_claim(name: &str, class: &str, mode: &str, volume: &str) -> Value {
    let mut claim = claim(name, class, mode);
    claim["metadata"]["annotations"] =
        json!({"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"});
    claim["spec"]["volumeName"] = json!(volume);
    claim["status"] = json!({"phase": "Bound", "accessModes": [mode], "capacity": {"storage": "1Gi"}});
    claim
}

/// A node selector for a volume's place.
fn place(choice: &mut Choice, nodes: i64) -> Value {
    match choice.chance(60) {
        true => {
            json!({"key": "kubernetes.io/hostname", "operator": "In", "values": [format!("n{}", choice.number(0, nodes))]})
        }
        false => {
            json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": [choice.one(&["za", "zb", "zz"])]})
        }
    }
}

fn volume(name: &str, class: &str, mode: &str, place: Option<Value>, claim: Option<&str>) -> Value {
    let mut volume = json!({"apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": name, "uid": format!("volume-{name}"), "creationTimestamp": LONG_AGO},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": [mode], "storageClassName": class,
            "persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
        "status": {"phase": if claim.is_some() { "Bound" } else { "Available" }}});
    if class == CSI {
        volume["spec"]["csi"] = json!({"driver": DRIVER, "volumeHandle": name});
    } else if place.is_some() {
        volume["spec"]["local"] = json!({"path": "/data"});
    } else {
        volume["spec"]["nfs"] = json!({"server": "nfs.example", "path": "/data"});
    }
    if let Some(place) = place {
        volume["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [place]}]}});
    }
    if let Some(claim) = claim {
        volume["spec"]["claimRef"] = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "shop",
            "name": claim, "uid": format!("claim-{claim}")});
    }
    volume
}
