//! `NodeVolumeLimits`: a CSI driver can attach so many volumes to a node. Mirrors `plugins/nodevolumelimits/csi.go`.

use super::claims::{self, claim_of};
use super::{Filter, Incoming, Prepared};
use crate::sched::node::NodeInfo;
use crate::sched::status::{Plugin, Reason, Verdict};
use crate::snapshot::object::Object;
use crate::snapshot::pod::{Pod, VolumeSource};
use crate::snapshot::{Claim, Snapshot, Volume};
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
            let volume = volume.and_then(|name| snapshot.volumes.named("", name));
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
            Some(r) => self.claimed(self.snapshot.claims.named(pod.meta.ns(), &r.name)?, csi_node),
            None => {
                inline(&v.source).filter(|(plugin, _)| migrated(csi_node, plugin.0)).map(|(p, id)| (p.1.to_owned(), id))
            }
        });
        attached.collect()
    }

    fn claimed(&self, claim: &Claim, csi_node: Option<&Arc<Object<CSINode>>>) -> Option<Attached> {
        match self.snapshot.volumes.named("", claims::volume_name(claim)) {
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
    let VolumeSource::Disk { id, .. } = source else { return None };
    let (kind, id) = id.split_once('/')?;
    let plugin = match kind {
        "aws" => "kubernetes.io/aws-ebs",
        "gce" => "kubernetes.io/gce-pd",
        _ => return None,
    };
    Some((in_tree(plugin)?, id.to_owned()))
}

fn from_volume(volume: &Volume, csi_node: Option<&Arc<Object<CSINode>>>) -> Option<Attached> {
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
