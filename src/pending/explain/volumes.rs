//! Storage: where volumes are, which claims are unbound, what is attached.

use crate::finding::{Code, Finding, Ref};
use crate::pending::facts::{Facts, count, some, some_nodes};
use crate::sched::Reason;
use crate::sched::filters::claims::{self, Claims};
use crate::sched::filters::node_volume_limits::Limits;
use crate::sched::filters::volume_binding::NO_PROVISIONER;
use crate::sched::filters::{volume_restrictions, volume_zone};
use crate::sched::node::NodeInfo;
use crate::snapshot::selector::NodeSelector;
use crate::snapshot::{Kind, PersistentVolume, PersistentVolumeClaim};
use std::sync::Arc;

/// Findings about volumes on the nodes that refuse for them.
pub fn findings(f: &Facts<'_>) -> Vec<Finding> {
    let mut all = Vec::new();
    all.extend(unreachable(f));
    all.extend(nothing_to_bind(f));
    all.extend(not_there(f));
    all.extend(zones(f));
    all.extend(limits(f));
    all.extend(in_use(f));
    all
}

fn bound(f: &Facts<'_>) -> Vec<(Arc<PersistentVolumeClaim>, Option<Arc<PersistentVolume>>)> {
    let claims = Claims::of(f.pod(), f.snapshot());
    let volume =
        |c: &Arc<PersistentVolumeClaim>| f.snapshot().persistent_volumes.named("", claims::volume_name(c)).cloned();
    claims.bound.iter().map(|c| (c.clone(), volume(c))).collect()
}

fn unreachable(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::VolumeNodeAffinity);
    if nodes.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    let mut objects: Vec<Ref> = nodes.iter().take(10).map(|n| Ref::node(n.name())).collect();
    for (claim, volume) in bound(f) {
        let Some(volume) = volume else { continue };
        let Some(selector) = claims::reachable_from(&volume) else { continue };
        let cannot = nodes.iter().filter(|n| !claims::reaches(Some(&selector), &n.node)).count();
        if cannot == 0 {
            continue;
        }
        parts.push(format!(
            "claim {} is volume {}, which only nodes with {} reach{}",
            claim.meta.name,
            volume.meta.name,
            super::nodes::terms(&selector),
            unlabelled(&selector, &nodes, &volume)
        ));
        objects.push(Ref::of(Kind::PersistentVolumeClaim, &claim.meta));
        objects.push(Ref::of(Kind::PersistentVolume, &volume.meta));
    }
    let all = nodes.len() == f.diagnosis.total && parts.len() > 1;
    let apart = if all { "; no node reaches all of them" } else { "" };
    let message = format!(
        "{} cannot reach the pod's data: {}{apart}",
        if nodes.len() == 1 { nodes.first()?.name().to_string() } else { count(nodes.len(), "node") },
        parts.join("; ")
    );
    Some(Finding::new(Code::VolumeNodeAffinity, message).about(objects))
}

/// Nodes that lack a driver's own label altogether: it is not registered there.
fn unlabelled(selector: &NodeSelector, nodes: &[&Arc<NodeInfo>], volume: &PersistentVolume) -> String {
    let keys: Vec<&str> = selector.0.iter().flat_map(|t| &t.labels).map(|r| &*r.key).collect();
    let without = |n: &&&Arc<NodeInfo>| keys.iter().any(|k| !n.node.meta.labels.has(k));
    let lacking: Vec<&Arc<NodeInfo>> = nodes.iter().filter(without).copied().collect();
    if lacking.is_empty() {
        return String::new();
    }
    let csi = volume.spec.as_ref().and_then(|s| s.persistent_volume_source.as_ref()?.csi.as_ref());
    let driver = csi.map(|c| format!(": the driver {} may not be registered there", c.driver)).unwrap_or_default();
    let verb = if lacking.len() == 1 { "lacks" } else { "lack" };
    format!(" ({} {verb} that label{driver})", some_nodes(lacking.iter().copied()))
}

fn nothing_to_bind(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| matches!(r, Reason::NoVolumeToBind | Reason::NotEnoughStorage));
    if nodes.is_empty() {
        return None;
    }
    let claims = Claims::of(f.pod(), f.snapshot()).delayed;
    let words: Vec<String> = claims.iter().map(|c| waiting(c, f)).collect();
    let objects = claims.iter().map(|c| Ref::of(Kind::PersistentVolumeClaim, &c.meta));
    let message = format!(
        "on {} no volume can be had: {}",
        if nodes.len() == 1 { nodes.first()?.name().to_string() } else { count(nodes.len(), "node") },
        words.join("; ")
    );
    Some(Finding::new(Code::VolumeUnbound, message).about(objects))
}

/// Why a claim that waits for its pod gets no volume.
fn waiting(claim: &PersistentVolumeClaim, f: &Facts<'_>) -> String {
    let name = &claim.meta.name;
    let class = claims::class_name(claim);
    if let Some(node) = claim.meta.annotations.get("volume.kubernetes.io/selected-node") {
        return format!("claim {name} is being provisioned for node {node}, and no other may take the pod until then");
    }
    let size = claim.spec.as_ref().and_then(|s| Some(s.resources.as_ref()?.requests.get("storage")?.string.clone()));
    let size = size.map(|s| format!(" of {s}")).unwrap_or_default();
    let volumes = f.snapshot().persistent_volumes.iter();
    let of_class = volumes.filter(|v| claims::volume_class_name(v) == class);
    let free = of_class.filter(|v| v.status.as_ref().is_some_and(|s| s.phase == "Available")).count();
    match claims::class(claim, f.snapshot()) {
        None => format!("claim {name} names class {class:?}, which does not exist"),
        Some(c) if c.provisioner == NO_PROVISIONER => format!(
            "claim {name} of class {class} wants a volume{size}; the class makes none, and of its {} none fits there",
            count(free, "free volume")
        ),
        Some(c) if !c.allowed_topologies.is_empty() => {
            format!("claim {name}{size}: class {class} ({}) makes volumes in other places only", c.provisioner)
        }
        Some(c) => format!("claim {name}{size}: class {class} ({}) has too little storage there", c.provisioner),
    }
}

fn not_there(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::VolumeNotExist);
    if nodes.is_empty() {
        return None;
    }
    let lost: Vec<Arc<PersistentVolumeClaim>> =
        bound(f).into_iter().filter(|(_, v)| v.is_none()).map(|(c, _)| c).collect();
    let words: Vec<String> =
        lost.iter().map(|c| format!("claim {} is bound to volume {}", c.meta.name, claims::volume_name(c))).collect();
    let message = format!("{}, which does not exist", words.join("; "));
    let objects = lost.iter().map(|c| Ref::of(Kind::PersistentVolumeClaim, &c.meta));
    Some(Finding::new(Code::VolumeMissing, message).about(objects))
}

fn zones(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::VolumeZone);
    if nodes.is_empty() {
        return None;
    }
    let zones = volume_zone::zones(&f.incoming).unwrap_or_default();
    let wrong = zones.iter().filter(|z| nodes.iter().any(|n| !volume_zone::agrees(z, n)));
    let words: Vec<String> = wrong.map(|z| format!("volume {} is in {}", z.volume, z.zones.join(" and "))).collect();
    let names = some_nodes(nodes.iter().copied());
    let message =
        format!("{}, and {names} {} elsewhere", words.join("; "), if nodes.len() == 1 { "is" } else { "are" });
    let objects = nodes.iter().take(10).map(|n| Ref::node(n.name()));
    Some(Finding::new(Code::VolumeZone, message).about(objects))
}

fn limits(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| matches!(r, Reason::MaxVolumeCount | Reason::DriverNotInstalled(_)));
    let first = nodes.first()?;
    let limits = Limits::new(&f.incoming);
    let message = match limits.exceeded(first) {
        Some(full) => format!(
            "{} can attach no more volumes: {} has {} of {} that {} attaches, and the pod needs {} more",
            count(nodes.len(), "node"),
            first.name(),
            full.attached,
            full.limit,
            full.driver,
            full.more
        ),
        None => {
            format!("the CSI driver of the pod's volumes is not installed on {}", some_nodes(nodes.iter().copied()))
        }
    };
    let objects = nodes.iter().take(10).map(|n| Ref::node(n.name()));
    Some(Finding::new(Code::VolumeLimit, message).about(objects))
}

fn in_use(f: &Facts<'_>) -> Option<Finding> {
    let disks = f.nodes_where(|r| *r == Reason::DiskConflict);
    if !disks.is_empty() {
        let names = some_nodes(disks.iter().copied());
        let message = format!("an inline disk of the pod is used by another pod on {names}, and cannot be shared");
        return Some(
            Finding::new(Code::VolumeInUse, message).about(disks.iter().take(10).map(|n| Ref::node(n.name()))),
        );
    }
    if f.nodes_where(|r| *r == Reason::ReadWriteOncePod).is_empty() {
        return None;
    }
    let mut words = Vec::new();
    let mut objects = Vec::new();
    for r in claims::claims_of(f.pod()) {
        let Some(claim) = f.snapshot().persistent_volume_claims.named(f.pod().meta.ns(), &r.name) else { continue };
        let modes = claim.spec.as_ref().map(|s| &*s.access_modes).unwrap_or_default();
        if !modes.iter().any(|m| m == "ReadWriteOncePod") {
            continue;
        }
        let users: Vec<_> = volume_restrictions::users(&f.incoming, &r.name).collect();
        if users.is_empty() {
            continue;
        }
        let names = some(users.iter().map(|p| p.meta.path()));
        words.push(format!("claim {} may be used by one pod only (ReadWriteOncePod), and {names} uses it", r.name));
        objects.push(Ref::of(Kind::PersistentVolumeClaim, &claim.meta));
        objects.extend(users.iter().map(|p| Ref::pod(p)));
    }
    Some(Finding::new(Code::VolumeInUse, words.join("; ")).about(objects))
}
