//! Refusals before any node is looked at: claims that are missing, unbound or going away.

use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::pending::facts::Facts;
use crate::pending::storage;
use crate::sched::Plugin;
use crate::sched::filters::claims::{self, Claims};
use crate::sched::filters::volume_binding::NO_PROVISIONER;
use crate::snapshot::age::age;
use crate::snapshot::{Kind, PersistentVolumeClaim};
use std::sync::Arc;

/// What refused the pod before nodes were looked at.
pub fn rejection(f: &Facts<'_>) -> Vec<Finding> {
    let Some(status) = &f.diagnosis.rejection else { return Vec::new() };
    let words = status.reasons.first().map(|r| r.text().into_owned()).unwrap_or_default();
    match status.plugin {
        Plugin::VolumeRestrictions | Plugin::NodeVolumeLimits | Plugin::VolumeBinding | Plugin::VolumeZone => {
            volumes(f, &words)
        }
        Plugin::DynamicResources => vec![device_claims(f, &words)],
        Plugin::NodeAffinity => {
            let message = "its terms name nodes that exclude each other: no node can match all of them";
            vec![Finding::new(Code::NodeAffinity, message)]
        }
        _ => vec![Finding::new(Code::NodeAffinity, words)],
    }
}

/// A pod whose device claims are not there is not even queued: the scheduler writes nothing.
fn device_claims(f: &Facts<'_>, words: &str) -> Finding {
    if f.diagnosis.is_unknown() {
        return Finding::new(Code::NotJudged, format!("not known whether its device claims can be allocated: {words}"));
    }
    if f.diagnosis.not_enqueued().is_none() {
        return Finding::new(Code::ResourceClaim, format!("its device claims cannot be used: {words}"));
    }
    let pod = f.pod();
    let said = f.snapshot().events_about("Pod", pod.meta.ns(), &pod.meta.name);
    let said = said.filter(|e| &*e.reason == "FailedResourceClaimCreation").max_by_key(|e| e.last_seen);
    let said = said.map(|e| format!("; the claim was refused: {}", e.message)).unwrap_or_default();
    let message = format!(
        "the scheduler does not look at it, and writes nothing, as long as a device claim is missing: {words}{said}"
    );
    Finding::new(Code::ResourceClaim, message)
}

fn volumes(f: &Facts<'_>, words: &str) -> Vec<Finding> {
    let claims = Claims::of(f.pod(), f.snapshot());
    let mut all = Vec::new();
    let ns = f.pod().meta.ns();
    for r in &claims.missing {
        let message = if r.ephemeral {
            format!(
                "claim {} is made for this pod by the ephemeral volume controller (of kube-controller-manager), which has not \
                 made it yet",
                r.name
            )
        } else {
            format!("claim {} does not exist in namespace {ns}", r.name)
        };
        let object = Ref::new("v1", "PersistentVolumeClaim", ns, &r.name);
        let mut finding = Finding::new(Code::VolumeMissing, message).about([object]);
        finding.remedies.extend((!r.ephemeral).then(|| storage::claim_missing(ns, &r.name, f.cx)));
        all.push(finding);
    }
    let present = claims.bound.iter().chain(&claims.delayed).chain(&claims.immediate);
    for claim in present {
        let about = || [Ref::of(Kind::PersistentVolumeClaim, &claim.meta)];
        let name = &claim.meta.name;
        if claims::phase(claim) == "Lost" {
            let message = format!("claim {name} has lost its volume {}", claims::volume_name(claim));
            all.push(Finding::new(Code::VolumeMissing, message).about(about()).remedy(storage::make_anew(claim)));
        } else if claim.meta.is_terminating() {
            let message = format!("claim {name} is being deleted{}", held_by(f, claim));
            all.push(
                Finding::new(Code::VolumeDeleted, message).about(about()).remedy(storage::wait_and_make_anew(claim)),
            );
        }
    }
    for claim in claims.immediate.iter().filter(|c| claims::phase(c) != "Lost" && !c.meta.is_terminating()) {
        all.extend(unbound(f, claim));
    }
    if all.is_empty() {
        all.push(Finding::new(Code::VolumeUnbound, words));
    }
    all
}

fn held_by(f: &Facts<'_>, claim: &PersistentVolumeClaim) -> String {
    let users = f.snapshot().pods.in_namespace(claim.meta.ns()).iter();
    let users: Vec<String> = users
        .filter(|p| !p.is_finished() && p.node.is_some())
        .filter(|p| claims::claims_of(p).any(|c| *c.name == *claim.meta.name))
        .map(|p| p.meta.path())
        .collect();
    if users.is_empty() { String::new() } else { format!(", and still used by {}", users.join(", ")) }
}

/// Why a claim that is to be bound before the pod gets a node is not bound.
fn unbound(f: &Facts<'_>, claim: &Arc<PersistentVolumeClaim>) -> Vec<Finding> {
    let (name, class_name) = (&claim.meta.name, claims::class_name(claim));
    let object = || [Ref::of(Kind::PersistentVolumeClaim, &claim.meta)];
    let prebound = claims::volume_name(claim);
    let unbound = |message: String| Finding::new(Code::VolumeUnbound, message).about(object());
    if !prebound.is_empty() {
        let there = f.snapshot().persistent_volumes.named("", prebound).is_some();
        let state = if there { "is not bound to it yet" } else { "does not exist" };
        return vec![unbound(format!("claim {name} names volume {prebound}, which {state}"))];
    }
    let Some(class) = claims::class(claim, f.snapshot()) else {
        let message = match class_name {
            "" => format!(
                "claim {name} is unbound: it names no class, there is no default one, and no volume without a class fits"
            ),
            class => format!("claim {name} is unbound: its class {class} does not exist"),
        };
        if f.snapshot().coverage.hides(Kind::StorageClass) {
            return vec![unbound(message)];
        }
        let mut finding = unbound(message);
        finding.remedies = match class_name {
            "" => storage::no_default_class(claim, f.cx),
            _ => vec![storage::class_missing(claim, f.cx)],
        };
        return vec![finding];
    };
    if class.provisioner == NO_PROVISIONER {
        let elsewhere = f.snapshot().persistent_volumes.iter().filter(|v| {
            v.status.as_ref().is_some_and(|s| s.phase == "Available") && claims::volume_class_name(v) != class_name
        });
        let others: Vec<String> = elsewhere.take(3).map(|v| v.meta.name.to_string()).collect();
        let others = match others.is_empty() {
            true => String::new(),
            false => format!(" (free volumes of other classes: {})", others.join(", ")),
        };
        let message = format!(
            "claim {name} is unbound: class {class_name} makes no volumes, and {}{others}",
            storage::none_fits(claim, f.cx)
        );
        let mut finding = unbound(message);
        finding.remedies.extend(storage::released(claim, f.cx));
        let text = format!("make a PersistentVolume of class {class_name} that fits claim {name}");
        finding.remedies.push(Remedy::advice(text));
        return vec![finding];
    }
    let waits = claim.meta.creation_timestamp.map(|t| format!(" for {}", age(t, f.snapshot().now))).unwrap_or_default();
    let said = f
        .snapshot()
        .events_about("PersistentVolumeClaim", claim.meta.ns(), name)
        .filter(|e| e.warning)
        .max_by_key(|e| e.last_seen);
    let said = said.map(|e| format!("; it says: {}", e.message)).unwrap_or_default();
    let message = format!(
        "claim {name} waits{waits} for {}, the provisioner of class {class_name}, which has not made a volume{said}",
        class.provisioner
    );
    let provisioner = Finding::new(Code::VolumeProvisioner, message).about(object());
    vec![
        unbound(format!("claim {name} is not bound, and its class {class_name} binds before a pod is placed")),
        provisioner,
    ]
}
