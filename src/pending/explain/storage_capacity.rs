//! Too little storage where a volume would be made: how much is left, and who says so.

use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::pending::facts::{Facts, count, some, some_nodes};
use crate::sched::Reason;
use crate::sched::filters::claims::{self, Claims};
use crate::sched::filters::storage_capacity::{Lack, Reported};
use crate::sched::filters::volume_binding::{reported, request};
use crate::sched::node::NodeInfo;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::{CSIStorageCapacity, Kind, PersistentVolumeClaim};
use std::sync::Arc;

/// So many causes are told for one claim.
const TOLD: usize = 3;

/// A finding for each claim of the pod for which storage lacks on nodes that refuse for it.
pub fn findings(f: &Facts<'_>) -> Vec<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::NotEnoughStorage);
    if nodes.is_empty() {
        return Vec::new();
    }
    let claims = Claims::of(f.pod(), f.snapshot()).delayed;
    claims.iter().filter_map(|c| finding(f, c, &reported(c, f.snapshot())?, &nodes)).collect()
}

fn finding(
    f: &Facts<'_>,
    claim: &Arc<PersistentVolumeClaim>,
    reported: &Reported,
    nodes: &[&Arc<NodeInfo>],
) -> Option<Finding> {
    let groups = groups(reported, nodes);
    let told = groups.iter().take(TOLD).map(|(lack, nodes)| {
        let on = if groups.len() == 1 && nodes.len() == f.diagnosis.total { "all nodes".to_owned() } else { on(nodes) };
        format!("on {on} {}", why(lack, reported))
    });
    let told: Vec<String> = told.collect();
    let more: usize = groups.iter().skip(TOLD).map(|(_, nodes)| nodes.len()).sum();
    let more = if more == 0 { String::new() } else { format!("; {} more", count(more, "node")) };
    let (lack, _) = groups.first()?;
    let driver = claims::class(claim, f.snapshot()).map(|c| c.provisioner.clone()).unwrap_or_default();
    let message = format!(
        "claim {} requests {} of class {} (driver {driver}): {}{more}",
        claim.meta.name,
        request(claim),
        claims::class_name(claim),
        told.join("; ")
    );
    let claims = [Ref::of(Kind::PersistentVolumeClaim, &claim.meta)];
    let reports = groups.iter().filter_map(|(lack, _)| by(lack)).map(|c| Ref::of(Kind::CSIStorageCapacity, &c.meta));
    let mut finding = Finding::new(Code::StorageCapacity, message).about(claims.into_iter().chain(reports.take(10)));
    finding.remedies.push(Remedy::advice(advice(lack, claim, &driver)));
    Some(finding)
}

/// Nodes with the same cause and amounts, most nodes first.
fn groups<'n>(reported: &Reported, nodes: &[&'n Arc<NodeInfo>]) -> Vec<(Lack, Vec<&'n Arc<NodeInfo>>)> {
    let mut groups: Vec<(Lack, Vec<&Arc<NodeInfo>>)> = Vec::new();
    for node in nodes {
        let Some(lack) = reported.lack(&node.node.meta.labels) else { continue };
        match groups.iter_mut().find(|(l, _)| same(l, &lack)) {
            Some((_, nodes)) => nodes.push(node),
            None => groups.push((lack, vec![node])),
        }
    }
    groups.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    groups
}

/// The same cause with the same amounts, whichever object says so.
fn same(a: &Lack, b: &Lack) -> bool {
    match (a, b) {
        (Lack::Maximum { most, left, .. }, Lack::Maximum { most: other, left: others, .. }) => {
            most == other && left == others
        }
        (Lack::TooLittle { left, .. }, Lack::TooLittle { left: others, .. }) => left == others,
        _ => a == b,
    }
}

fn on(nodes: &[&Arc<NodeInfo>]) -> String {
    some_nodes(nodes.iter().copied())
}

fn by(lack: &Lack) -> Option<&Arc<CSIStorageCapacity>> {
    match lack {
        Lack::Maximum { by, .. } | Lack::TooLittle { by, .. } => Some(by),
        Lack::NothingReported | Lack::Elsewhere => None,
    }
}

fn why(lack: &Lack, reported: &Reported) -> String {
    let free = |left: &Option<Quantity>| match left {
        Some(left) => format!("{left} free"),
        None => "no amount".to_owned(),
    };
    match lack {
        Lack::NothingReported => {
            "the scheduler assumes no free storage, as no CSIStorageCapacity of that class is published".to_owned()
        }
        Lack::Elsewhere => format!(
            "the scheduler assumes no free storage, as CSIStorageCapacity is published for other nodes only ({})",
            some(reported.places())
        ),
        Lack::Maximum { most, left, by } => format!(
            "a volume can have at most {most} (maximumVolumeSize of CSIStorageCapacity {}, which reports {})",
            by.meta.path(),
            free(left)
        ),
        Lack::TooLittle { left, by } => format!("CSIStorageCapacity {} reports {}", by.meta.path(), free(left)),
    }
}

fn advice(lack: &Lack, claim: &PersistentVolumeClaim, driver: &str) -> String {
    let name = &claim.meta.name;
    match lack {
        Lack::NothingReported | Lack::Elsewhere => format!(
            "look at the controller of {driver} (its external-provisioner publishes CSIStorageCapacity where it runs with \
             --enable-capacity), or at the class's parameters"
        ),
        Lack::Maximum { most, .. } => format!(
            "create claim {name} again with a request of at most {most} (the request of an existing claim cannot be lowered), \
             or name a class whose driver makes larger volumes"
        ),
        Lack::TooLittle { .. } => format!("free or add storage behind {driver}, or name another class in claim {name}"),
    }
}
