//! `NodeVolumeLimits`: a CSI driver can attach so many volumes to a node. Mirrors `plugins/nodevolumelimits/csi.go`.

use super::claims::{self, claim_of};
use super::{Filter, Incoming, Prepared};
use crate::sched::node::NodeInfo;
use crate::sched::status::{Plugin, Reason, Verdict};
use crate::snapshot::object::Object;
use crate::snapshot::pod::{Pod, VolumeSource};
use crate::snapshot::{PersistentVolume, PersistentVolumeClaim, Snapshot};
use crate::wire::storage::CSINode;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    if incoming.pod().volumes.iter().all(|v| claim_of(incoming.pod(), v).is_none() && inline(&v.source).is_none()) {
        return Prepared::Skip;
    }
    Prepared::Runs(Box::new(Limits::new(incoming)))
}

/// A volume as a driver knows it: the driver, and its own name for the volume.
type Attached = (String, String);

/// How full a node is of a driver's volumes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Full {
    /// The driver.
    pub driver: String,
    /// How many it can attach.
    pub limit: usize,
    /// How many are attached, or belong to pods of the node.
    pub attached: usize,
    /// How many more the pod needs.
    pub more: usize,
}

/// Attach limits as they bear on one pod.
pub struct Limits<'a> {
    snapshot: &'a Snapshot,
    pod: Arc<Pod>,
    by_scaling: bool,
    /// Attachments by node, which outlive the pods they were made for.
    attachments: HashMap<&'a str, Vec<Attached>>,
}

impl<'a> Limits<'a> {
    /// The limits for a pod.
    pub fn new(incoming: &Incoming<'a>) -> Self {
        let snapshot = incoming.snapshot();
        let mut attachments: HashMap<&str, Vec<Attached>> = HashMap::new();
        for a in snapshot.volume_attachments.iter().filter_map(|a| a.spec.as_ref()) {
            let volume = a.source.as_ref().and_then(|s| s.persistent_volume_name.as_deref());
            let volume = volume.and_then(|name| snapshot.persistent_volumes.named("", name));
            let csi = volume.and_then(|v| v.spec.as_ref()?.persistent_volume_source.as_ref()?.csi.as_ref());
            if let (Some(csi), false) = (csi, a.attacher.is_empty()) {
                let attached = (a.attacher.clone(), csi.volume_handle.clone());
                attachments.entry(&a.node_name).or_default().push(attached);
            }
        }
        // VolumeLimitScaling is on since 1.37.
        Self { snapshot, pod: incoming.pod().clone(), by_scaling: incoming.state.minor() >= 37, attachments }
    }

    fn csi_node(&self, node: &NodeInfo) -> Option<&'a Arc<Object<CSINode>>> {
        self.snapshot.csi_nodes.named("", node.name())
    }

    /// A driver that the pod needs, that says that pods must not go where it is missing, and that is missing.
    fn missing_driver(&self, node: Option<&CSINode>, wanted: &HashSet<Attached>) -> Option<String> {
        let mut drivers: Vec<&String> = wanted.iter().map(|(d, _)| d).collect();
        drivers.sort();
        let insists = |name: &str| {
            let driver = self.snapshot.csi_drivers.named("", name);
            driver.is_some_and(|d| d.spec.as_ref().is_some_and(|s| s.prevent_pod_scheduling_if_missing))
        };
        let there =
            |name: &str| node.and_then(|n| n.spec.as_ref()).is_some_and(|s| s.drivers.iter().any(|d| d.name == name));
        drivers.into_iter().find(|d| insists(d) && !there(d)).cloned()
    }

    /// The first driver whose limit the pod would exceed on a node.
    pub fn exceeded(&self, node: &NodeInfo) -> Option<Full> {
        let csi_node = self.csi_node(node);
        let mut wanted = self.volumes_of(&self.pod, csi_node);
        let limits = limits(csi_node);
        if wanted.is_empty() || limits.is_empty() {
            return None;
        }
        let mut there: HashSet<Attached> = HashSet::new();
        for slot in &node.pods {
            there.extend(self.volumes_of(&slot.info.pod, csi_node));
        }
        wanted.retain(|v| !there.contains(v));
        there.extend(self.attachments.get(&**node.name()).into_iter().flatten().cloned());
        let count = |set: &HashSet<Attached>, driver: &str| set.iter().filter(|(d, _)| d == driver).count();
        limits.into_iter().find_map(|(driver, limit)| {
            let (more, attached) = (count(&wanted, &driver), count(&there, &driver));
            (more > 0 && attached + more > limit).then_some(Full { driver, limit, attached, more })
        })
    }

    /// The volumes of a pod that its drivers attach. Mirrors `filterAttachableVolumes`.
    fn volumes_of(&self, pod: &Pod, csi_node: Option<&Arc<Object<CSINode>>>) -> HashSet<Attached> {
        let attached = pod.volumes.iter().filter_map(|v| match claim_of(pod, v) {
            Some(r) => self.claimed(self.snapshot.persistent_volume_claims.named(pod.meta.ns(), &r.name)?, csi_node),
            None => {
                inline(&v.source).filter(|(plugin, _)| migrated(csi_node, plugin.0)).map(|(p, id)| (p.1.to_owned(), id))
            }
        });
        attached.collect()
    }

    fn claimed(&self, claim: &PersistentVolumeClaim, csi_node: Option<&Arc<Object<CSINode>>>) -> Option<Attached> {
        match self.snapshot.persistent_volumes.named("", claims::volume_name(claim)) {
            Some(volume) => from_volume(volume, csi_node),
            None => {
                let provisioner = &claims::class(claim, self.snapshot)?.provisioner;
                let to_be = format!("to-be-made/{}", claim.meta.path());
                match IN_TREE.iter().find(|(plugin, _)| plugin == provisioner) {
                    Some((plugin, driver)) => migrated(csi_node, plugin).then(|| ((*driver).to_owned(), to_be)),
                    None => Some((provisioner.clone(), to_be)),
                }
            }
        }
    }
}

/// Plugins that moved to a CSI driver.
const IN_TREE: &[(&str, &str)] = &[
    ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
];

type InTree = &'static (&'static str, &'static str);

fn in_tree(name: &str) -> Option<InTree> {
    IN_TREE.iter().find(|(plugin, _)| *plugin == name)
}

/// An inline disk that a CSI driver may have taken over.
fn inline(source: &VolumeSource) -> Option<(InTree, String)> {
    let VolumeSource::Disk { ids, .. } = source else { return None };
    let (kind, id) = ids.first()?.split_once('/')?;
    let plugin = match kind {
        "aws" => "kubernetes.io/aws-ebs",
        "gce" => "kubernetes.io/gce-pd",
        _ => return None,
    };
    Some((in_tree(plugin)?, id.to_owned()))
}

fn from_volume(volume: &PersistentVolume, csi_node: Option<&Arc<Object<CSINode>>>) -> Option<Attached> {
    let source = volume.spec.as_ref()?.persistent_volume_source.as_ref()?;
    if let Some(csi) = &source.csi {
        return Some((csi.driver.clone(), csi.volume_handle.clone()));
    }
    let (plugin, id) = match (&source.aws_elastic_block_store, &source.gce_persistent_disk, &source.azure_disk) {
        (Some(d), ..) => ("kubernetes.io/aws-ebs", &d.volume_id),
        (_, Some(d), _) => ("kubernetes.io/gce-pd", &d.pd_name),
        (.., Some(d)) => ("kubernetes.io/azure-disk", &d.disk_name),
        _ => return None,
    };
    let (plugin, driver) = in_tree(plugin)?;
    migrated(csi_node, plugin).then(|| ((*driver).to_owned(), id.clone()))
}

fn migrated(csi_node: Option<&Arc<Object<CSINode>>>, plugin: &str) -> bool {
    let list = csi_node.and_then(|n| n.meta.annotations.get("storage.alpha.kubernetes.io/migrated-plugins"));
    list.is_some_and(|l| l.split(',').any(|p| p == plugin))
}

/// What each driver can attach, sorted by driver.
fn limits(csi_node: Option<&Arc<Object<CSINode>>>) -> Vec<(String, usize)> {
    let drivers = csi_node.and_then(|n| n.spec.as_ref()).map(|s| &*s.drivers).unwrap_or_default();
    let mut limits: Vec<(String, usize)> = drivers
        .iter()
        .filter_map(|d| Some((d.name.clone(), usize::try_from(d.allocatable.as_ref()?.count?).ok()?)))
        .collect();
    limits.sort();
    limits
}

impl Filter for Limits<'_> {
    fn plugin(&self) -> Plugin {
        Plugin::NodeVolumeLimits
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        if self.by_scaling {
            let csi_node = self.csi_node(node);
            let wanted = self.volumes_of(&self.pod, csi_node);
            if let Some(driver) = self.missing_driver(csi_node.map(|n| &n.body), &wanted) {
                reasons.push(Reason::DriverNotInstalled(driver.into()));
                return Verdict::Unschedulable;
            }
        }
        if self.exceeded(node).is_none() {
            return Verdict::Fits;
        }
        reasons.push(Reason::MaxVolumeCount);
        Verdict::Unschedulable
    }
}

#[cfg(test)]
mod tests {
    use crate::sched::testing::{merged, node, pod, says_in};
    use serde_json::{Value, json};

    const EBS: &str = "ebs.csi.aws.com";
    const GCE: &str = "pd.csi.storage.gke.io";
    const IN_TREE: &str = "kubernetes.io/aws-ebs";

    /// Claims and volumes in the form of upstream's fakes: `DRIVER/N` is bound to a volume of that driver (`aws/N` to an
    /// in-tree disk, `host/N` to a path), `wait/N` waits for a class of the first driver, `gone/N` is bound to a volume
    /// that does not exist, `none/N` has no class.
    fn claim(name: &str) -> Vec<Value> {
        let (kind, _) = name.split_once('/').unwrap();
        let class = if kind == "none" { Value::Null } else { json!("class") };
        let claim = |spec: Value, phase: &str| {
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "a"},
                "spec": merged(json!({"storageClassName": class}), spec), "status": {"phase": phase}})
        };
        let source = match kind {
            "wait" | "none" => return vec![claim(json!({}), "Pending")],
            "gone" => return vec![claim(json!({"volumeName": "gone"}), "Bound")],
            "aws" => json!({"awsElasticBlockStore": {"volumeID": name}}),
            "host" => json!({"hostPath": {"path": "/"}}),
            driver => json!({"csi": {"driver": driver, "volumeHandle": name}}),
        };
        let volume =
            json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": source});
        vec![claim(json!({"volumeName": name}), "Bound"), volume]
    }

    /// A pod with such claims, or with an inline disk of the in-tree plugin (`inline/ID`).
    fn with(name: &str, claims: &[&str], more: Value) -> Value {
        let volume = |c: &&str| match c.strip_prefix("inline/") {
            Some(id) => json!({"name": c, "awsElasticBlockStore": {"volumeID": id}}),
            None => json!({"name": c, "persistentVolumeClaim": {"claimName": c}}),
        };
        let volumes: Vec<Value> = claims.iter().map(volume).collect();
        pod(name, merged(json!({"spec": {"volumes": volumes}}), more))
    }

    /// What is said of a pod with these claims, on a node with these pods and a CSINode.
    fn said(claims: &[&str], others: &[&[&str]], csi_node: Option<Value>, more: &[Value], version: &str) -> String {
        let mut all = vec![node("n", json!({})), with("p", claims, json!({}))];
        for (i, other) in others.iter().enumerate() {
            all.push(with(&format!("other-{i}"), other, json!({"spec": {"nodeName": "n"}})));
        }
        let mut names: Vec<&str> = claims.iter().chain(others.iter().copied().flatten()).copied().collect();
        names.sort_unstable();
        names.dedup();
        all.extend(names.into_iter().filter(|n| !n.starts_with("inline/")).flat_map(claim));
        all.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "class"},
            "provisioner": EBS, "volumeBindingMode": "WaitForFirstConsumer"}));
        all.extend(csi_node);
        all.extend(more.iter().cloned());
        let said = says_in(&all, version);
        let part = said.strip_prefix("0/1 nodes are available: 1 ").and_then(|s| s.split_once(". ")).map(|(s, _)| s);
        part.unwrap_or(&said).to_owned()
    }

    fn csi_node(limit: Option<i32>) -> Option<Value> {
        let driver = |name: &str| {
            let allocatable = limit.map_or(json!({}), |n| json!({"count": n}));
            json!({"name": name, "nodeID": "n", "topologyKeys": [], "allocatable": allocatable})
        };
        Some(json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
            "metadata": {"name": "n", "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": IN_TREE}},
            "spec": {"drivers": [driver(EBS), driver(GCE)]}}))
    }

    const FULL: &str = "node(s) exceed max volume count";
    const E: [&str; 4] = ["ebs.csi.aws.com/0", "ebs.csi.aws.com/1", "ebs.csi.aws.com/2", "ebs.csi.aws.com/3"];
    const G: [&str; 2] = ["pd.csi.storage.gke.io/1", "pd.csi.storage.gke.io/2"];
    const A: [&str; 3] = ["aws/0", "aws/1", "aws/2"];

    #[test]
    fn volumes_are_counted_as_upstream() {
        // After TestCSILimits: title, the pod's claims, those of pods on the node, the limit, and whether it is exceeded.
        for (title, claims, others, limit, full) in [
            ("fits when the limit is above", &[E[0]][..], &[&[E[3]][..], &[E[1], E[2]]][..], csi_node(Some(4)), false),
            ("does not when it is below", &[E[0]], &[&[E[3]], &[E[1], E[2]]], csi_node(Some(2)), true),
            ("no limit is told", &[E[0]], &[&[E[3]], &[E[1], E[2]]], csi_node(None), false),
            ("pending claims count", &[E[0]], &[&["wait/4"], &[E[1], E[2]]], csi_node(Some(2)), true),
            (
                "one claim of two pods counts once",
                &[E[0]],
                &[&["wait/4"], &["wait/4"], &[E[1], E[2]]],
                csi_node(Some(4)),
                false,
            ),
            (
                "a volume that is gone counts by its class",
                &[E[0]],
                &[&["gone/6"], &[E[1], E[2]]],
                csi_node(Some(3)),
                true,
            ),
            ("a claim without class does not count", &[E[0]], &[&[E[3]], &["none/5"]], csi_node(Some(2)), false),
            ("another driver's do not count", &G, &[&[E[1], E[2]], &[E[3]]], csi_node(Some(2)), false),
            ("its own driver's do", &[E[0]], &[&G, &[E[1], E[2]]], csi_node(Some(2)), true),
            ("in-tree disks count where migrated", &[A[0]], &[&[A[1], A[2]]], csi_node(Some(2)), true),
            ("no CSINode", &["inline/i1"], &[&[A[1], A[2]]], None, false),
            ("unbound claims count beside in-tree disks", &["wait/4"], &[&[A[1], A[2]]], csi_node(Some(2)), true),
            ("in-tree disks without a limit", &[A[0]], &[&[A[1], A[2]]], csi_node(None), false),
            ("a path is no disk", &["host/0"], &[&[E[1], E[2]]], csi_node(Some(2)), false),
            ("inline disks count", &["inline/i1"], &[&[A[1], A[2]]], csi_node(Some(2)), true),
            ("in-tree beside CSI", &[A[0]], &[&[E[1], E[2]]], csi_node(Some(2)), true),
            ("inline beside in-tree and CSI", &["inline/i1"], &[&[E[1], E[2]], &[A[0]]], csi_node(Some(3)), true),
            (
                "the same disk is there already",
                &["inline/ebs.csi.aws.com/1"],
                &[&[E[1], E[2]], &[A[0]]],
                csi_node(Some(3)),
                false,
            ),
            ("CSI beside in-tree", &[E[0]], &[&[A[1], A[2]]], csi_node(Some(2)), true),
        ] {
            let want = if full { FULL } else { "" };
            assert_eq!(said(claims, others, limit, &[], "v1.36.3"), want, "{title}");
        }
    }

    #[test]
    fn attachments_count_as_upstream() {
        // After the first two rows of TestCSILimits: volumes attached to the node, of no pod of it; the limit is 2.
        for (attached, want) in [(1, ""), (2, FULL)] {
            let of = |i: i32| {
                let name = format!("left-{i}");
                [
                    json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
                        "spec": {"csi": {"driver": EBS, "volumeHandle": name}}}),
                    json!({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": name},
                        "spec": {"attacher": EBS, "nodeName": "n", "source": {"persistentVolumeName": name}}}),
                ]
            };
            let more: Vec<Value> = (0..attached).flat_map(of).collect();
            assert_eq!(said(&[E[0]], &[], csi_node(Some(2)), &more, "v1.36.3"), want, "{attached}");
        }
    }

    #[test]
    fn a_missing_driver_counts_as_upstream() {
        // After TestVolumeLimitScalingGate; the feature is on since 1.37. The CSINode may lack the driver.
        let driver = |insists: bool| {
            json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": EBS},
                "spec": {"preventPodSchedulingIfMissing": insists}})
        };
        let empty = || Some(merged(csi_node(None).unwrap(), json!({"spec": {"drivers": []}})));
        const MISSING: &str = "ebs.csi.aws.com CSI driver is not installed on the node";
        for (title, csi_node, drivers, version, want) in [
            ("it does not insist", empty(), vec![driver(false)], "v1.37.2", ""),
            ("it insists", empty(), vec![driver(true)], "v1.37.2", MISSING),
            ("before the feature", empty(), vec![driver(true)], "v1.36.3", ""),
            ("it is there", csi_node(Some(2)), vec![driver(true)], "v1.37.2", ""),
            ("there is no CSIDriver", empty(), vec![], "v1.37.2", ""),
        ] {
            assert_eq!(said(&[E[0]], &[], csi_node, &drivers, version), want, "{title}");
        }
    }
}
