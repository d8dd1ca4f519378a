//! Storage: where volumes are, which claims are unbound, what is attached.

use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::pending::facts::{Facts, count, some, some_nodes};
use crate::pending::provisioners::provisioner;
use crate::pending::storage;
use crate::sched::Reason;
use crate::sched::filters::claims::{self, Claims};
use crate::sched::filters::node_volume_limits::Limits;
use crate::sched::filters::volume_binding::NO_PROVISIONER;
use crate::sched::filters::{volume_restrictions, volume_zone};
use crate::sched::node::NodeInfo;
use crate::snapshot::intern::Interner;
use crate::snapshot::selector::{NodeSelector, topology_terms};
use crate::snapshot::{Kind, PersistentVolume, PersistentVolumeClaim, StorageClass};
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
    let mut remedies = Vec::new();
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
            match gone(&selector, f) {
                Some(words) => words,
                None => unlabelled(&selector, &nodes, &volume),
            }
        ));
        if gone(&selector, f).is_some() {
            remedies.push(storage::make_anew(&claim));
        }
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
    let mut finding = Finding::new(Code::VolumeNodeAffinity, message).about(objects);
    finding.remedies = remedies;
    Some(finding)
}

/// The volume lies on one node, by that node's name, and no node is called so any more.
fn gone(selector: &NodeSelector, f: &Facts<'_>) -> Option<String> {
    let on_a_node =
        |t: &crate::snapshot::selector::NodeTerm| t.labels.iter().any(|r| &*r.key == "kubernetes.io/hostname");
    let there = |n: &Arc<NodeInfo>| claims::reaches(Some(selector), &n.node);
    let all = !selector.0.is_empty() && selector.0.iter().all(on_a_node) && !f.state.nodes().iter().any(there);
    all.then(|| " (no such node exists: what lies on its disks is out of reach)".to_owned())
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
    let driver = csi.map(|c| format!(": the driver {} is possibly not registered there", c.driver)).unwrap_or_default();
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
    let remedies = claims.iter().flat_map(|c| remedies(c, f));
    let message = format!(
        "on {} no volume is available: {}",
        if nodes.len() == 1 { nodes.first()?.name().to_string() } else { count(nodes.len(), "node") },
        words.join("; ")
    );
    let mut finding = Finding::new(Code::VolumeUnbound, message).about(objects);
    finding.remedies = remedies.collect();
    Some(finding)
}

fn remedies(claim: &PersistentVolumeClaim, f: &Facts<'_>) -> Vec<Remedy> {
    if let Some((_, remedy)) = storage::selected_node_gone(claim, f.cx) {
        return vec![remedy];
    }
    if claim.meta.annotations.has(storage::SELECTED_NODE) {
        return Vec::new();
    }
    let class = claims::class_name(claim);
    match claims::class(claim, f.snapshot()) {
        Some(c) if c.provisioner == NO_PROVISIONER => {
            let text = format!("make a PersistentVolume of class {class} that fits claim {}", claim.meta.path());
            storage::released(claim, f.cx).into_iter().chain([Remedy::advice(text)]).collect()
        }
        Some(c) if !c.allowed_topologies.is_empty() => {
            let text = format!(
                "add a node in {}, or make claim {} anew with a class that makes volumes where the nodes are",
                places(c),
                claim.meta.path()
            );
            vec![Remedy::advice(text)]
        }
        _ => Vec::new(),
    }
}

/// Where a class makes volumes: `topology.kubernetes.io/zone=c`.
fn places(class: &StorageClass) -> String {
    super::nodes::terms(&topology_terms(&class.allowed_topologies, &mut Interner::default()))
}

/// Why a claim that waits for its pod gets no volume.
fn waiting(claim: &PersistentVolumeClaim, f: &Facts<'_>) -> String {
    let name = &claim.meta.name;
    let class = claims::class_name(claim);
    if let Some((words, _)) = storage::selected_node_gone(claim, f.cx) {
        return format!("{words}{}", made_by(claim, f));
    }
    if let Some(node) = claim.meta.annotations.get(storage::SELECTED_NODE) {
        return format!(
            "claim {name} is being provisioned for node {node}, and the pod can be scheduled on no other until that is done or \
             has failed{}",
            made_by(claim, f)
        );
    }
    let size = claim.spec.as_ref().and_then(|s| Some(s.resources.as_ref()?.requests.get("storage")?.string.clone()));
    let size = size.map(|s| format!(" of {s}")).unwrap_or_default();
    match claims::class(claim, f.snapshot()) {
        None => format!("claim {name} names class {class:?}, which does not exist"),
        Some(c) if c.provisioner == NO_PROVISIONER => format!(
            "claim {name} of class {class} wants a volume{size}; the class makes none, and {}",
            storage::none_fits(claim, f.cx)
        ),
        Some(c) if !c.allowed_topologies.is_empty() => {
            format!(
                "claim {name}{size}: class {class} ({}) makes volumes only in {} (allowedTopologies)",
                c.provisioner,
                places(c)
            )
        }
        Some(c) => format!("claim {name}{size}: class {class} ({}) has too little storage there", c.provisioner),
    }
}

/// Whether the pods run that make the claim's volume.
fn made_by(claim: &PersistentVolumeClaim, f: &Facts<'_>) -> String {
    claims::class(claim, f.snapshot()).map(|c| provisioner(&c.provisioner, f.cx)).unwrap_or_default()
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
    let mut finding = Finding::new(Code::VolumeMissing, message).about(objects);
    finding.remedies = lost.iter().map(|c| storage::make_anew(c)).collect();
    Some(finding)
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
    let mut finding = Finding::new(Code::VolumeLimit, message).about(objects);
    if limits.exceeded(first).is_some() {
        let users = first.pods.iter().map(|s| &s.info.pod).filter(|p| claims::claims_of(p).next().is_some());
        let users: Vec<String> = users.map(|p| p.meta.path()).collect();
        let moved = if users.is_empty() { String::new() } else { format!(" (there: {})", some(users)) };
        let text = format!("add a node, or move pods with volumes off {}{moved}", first.name());
        finding.remedies.push(Remedy::advice(text).risk("pods that are moved are disturbed, and need room elsewhere"));
    }
    Some(finding)
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
    let mut remedies = Vec::new();
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
        words.push(format!("claim {} can be used by one pod only (ReadWriteOncePod), and {names} uses it", r.name));
        objects.push(Ref::of(Kind::PersistentVolumeClaim, &claim.meta));
        objects.extend(users.iter().map(|p| Ref::pod(p)));
        let text = format!(
            "let {names} end first (a Deployment with a ReadWriteOncePod claim needs strategy Recreate), or make claim {} anew \
             with access mode ReadWriteOnce, which several pods of one node can use",
            r.name
        );
        remedies.push(Remedy::advice(text));
    }
    let mut finding = Finding::new(Code::VolumeInUse, words.join("; ")).about(objects);
    finding.remedies = remedies;
    Some(finding)
}
