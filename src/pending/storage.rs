//! What can be done about a claim that has no volume, and why the volumes that are there do not serve.

use super::context::Context;
use super::facts::{count, some};
use crate::cure::Remedy;
use crate::sched::filters::claims;
use crate::sched::filters::volume_binding::{Unsuited, unsuited};
use crate::snapshot::{Kind, PersistentVolume, PersistentVolumeClaim};
use serde_json::json;
use std::sync::Arc;

/// The class that a claim gets when it names none.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// The node for which the scheduler asked for a volume.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

fn classes(cx: &Context<'_>) -> Vec<String> {
    let mut names: Vec<String> = cx.snapshot.storage_classes.iter().map(|c| c.meta.name.to_string()).collect();
    names.sort_unstable();
    names
}

/// The class that a claim names is not there.
pub fn class_missing(claim: &PersistentVolumeClaim, cx: &Context<'_>) -> Remedy {
    let (name, class) = (claim.meta.path(), claims::class_name(claim));
    let known = classes(cx);
    let text = if known.is_empty() {
        format!("create StorageClass {class}: the cluster has no StorageClass at all")
    } else {
        format!(
            "create StorageClass {class}, or delete claim {name} and make it anew with a class that exists ({}): the class \
             of a claim cannot be changed",
            some(known)
        )
    };
    Remedy::advice(text).command(cx.kubectl.line("", &["get", "storageclass"]))
}

/// The claim leaves its class to the cluster, and the cluster has no default. Mirrors `assignDefaultStorageClass` of the
/// PersistentVolume controller, which gives a claim without a class the default one, also a claim that is older.
pub fn no_default_class(claim: &PersistentVolumeClaim, cx: &Context<'_>) -> Vec<Remedy> {
    let (name, known) = (claim.meta.path(), classes(cx));
    let stated = claim.spec.as_ref().and_then(|s| s.storage_class_name.as_deref());
    if stated == Some("") {
        let text = format!(
            "claim {name} states the empty class, which no default replaces: make a PersistentVolume without a class that \
             fits it, or make the claim anew with a class"
        );
        return vec![Remedy::advice(text)];
    }
    let set = |class: &str| {
        let patch = |value: serde_json::Value| {
            let patch = json!({"metadata": {"annotations": {DEFAULT_CLASS: value}}}).to_string();
            cx.kubectl.line("", &["patch", "storageclass", class, "--type=merge", "-p", &patch])
        };
        let text = format!("make StorageClass {class} the default: claim {name} then gets it");
        Remedy::advice(text)
            .command(patch(json!("true")))
            .risk("every later claim without a class gets it, too")
            .undo(patch(json!(null)))
    };
    match &*known {
        [] => vec![Remedy::advice("create a StorageClass: the cluster has none".to_owned())],
        [one] => vec![set(one)],
        several => {
            let text = format!(
                "set spec.storageClassName of claim {name} to a class that exists ({}), or make one of them the default",
                some(several)
            );
            let first = several.first().map(|s| &**s).unwrap_or_default();
            let patch = json!({"spec": {"storageClassName": first}}).to_string();
            let args = ["patch", "pvc", &*claim.meta.name, "--type=merge", "-p", &patch];
            let risk = format!("the line chooses class {first}; the class of a claim cannot be changed afterwards");
            vec![Remedy::advice(text).command(cx.kubectl.line(claim.meta.ns(), &args)).risk(risk)]
        }
    }
}

/// The node for which a volume was to be made, where that node is gone. Mirrors `rescheduleProvisioning`: whoever
/// provisions takes the annotation off once it sees that the node is not there.
pub fn selected_node_gone(claim: &PersistentVolumeClaim, cx: &Context<'_>) -> Option<(String, Remedy)> {
    let node = claim.meta.annotations.get(SELECTED_NODE)?;
    if cx.snapshot.coverage.hides(Kind::Node) || cx.snapshot.nodes.named("", node).is_some() {
        return None;
    }
    let words = format!(
        "claim {} was to be provisioned for node {node}, which does not exist any more, and no other node can take the pod \
         while annotation {SELECTED_NODE} names it; the provisioner removes the annotation when it runs",
        claim.meta.name
    );
    let ns = claim.meta.ns();
    let line = |value: &str| cx.kubectl.line(ns, &["annotate", "pvc", &claim.meta.name, value]);
    let text = format!(
        "remove annotation {SELECTED_NODE} from claim {}: the scheduler then chooses a node anew",
        claim.meta.path()
    );
    let remedy =
        Remedy::advice(text).command(line(&format!("{SELECTED_NODE}-"))).undo(line(&format!("{SELECTED_NODE}={node}")));
    Some((words, remedy))
}

/// Volumes of the claim's class that cannot be bound to it, each with the reason; those that name another claim are left
/// out unless that claim is gone.
pub fn unsuited_volumes(claim: &PersistentVolumeClaim, cx: &Context<'_>) -> Vec<String> {
    let class = claims::class_name(claim);
    let volumes = cx.snapshot.persistent_volumes.iter().filter(|v| claims::volume_class_name(v) == class);
    volumes.filter_map(|v| Some(format!("{} {}", v.meta.name, why(v, claim, cx)?))).collect()
}

fn why(volume: &PersistentVolume, claim: &PersistentVolumeClaim, cx: &Context<'_>) -> Option<String> {
    let spec = volume.spec.as_ref();
    Some(match unsuited(volume, claim)? {
        Unsuited::Class => return None,
        Unsuited::Size => {
            let has = spec.and_then(|s| s.capacity.get("storage")).map(|q| q.string.clone()).unwrap_or_default();
            format!("is too small ({has})")
        }
        Unsuited::Attributes => "has another volume attributes class".to_owned(),
        Unsuited::Mode => {
            let mode = |m: Option<&str>| m.unwrap_or("Filesystem").to_owned();
            let wanted = claim.spec.as_ref().and_then(|s| s.volume_mode.as_deref());
            let has = spec.and_then(|s| s.volume_mode.as_deref());
            format!("has volumeMode {}, and the claim {}", mode(has), mode(wanted))
        }
        Unsuited::Terminating => "is being deleted".to_owned(),
        Unsuited::Claimed => {
            let holder = spec.and_then(|s| s.claim_ref.as_ref())?;
            let there = cx.snapshot.persistent_volume_claims.named(&holder.namespace, &holder.name);
            match there {
                Some(c) if c.meta.path() == claim.meta.path() => {
                    "is kept for an earlier claim of the same name (claimRef with another uid)".to_owned()
                }
                Some(_) => return None,
                None => {
                    format!("is kept for claim {}/{}, which does not exist any more", holder.namespace, holder.name)
                }
            }
        }
        Unsuited::Phase => {
            let phase = volume.status.as_ref().map_or("", |s| &s.phase);
            format!("is {}", if phase.is_empty() { "not Available" } else { phase })
        }
        Unsuited::AccessModes => {
            let has = spec.map(|s| s.access_modes.join(", ")).unwrap_or_default();
            let wanted = claim.spec.as_ref().map(|s| s.access_modes.join(", ")).unwrap_or_default();
            format!("offers {has}, and the claim wants {wanted}")
        }
        Unsuited::Labels => "does not match the claim's selector".to_owned(),
    })
}

/// A volume that was given back and is kept for the claim that it had: it can be used once it forgets that claim.
pub fn released(claim: &PersistentVolumeClaim, cx: &Context<'_>) -> Option<Remedy> {
    let is_kept = |v: &&Arc<PersistentVolume>| {
        let phase = v.status.as_ref().is_some_and(|s| s.phase == "Released");
        claims::volume_class_name(v) == claims::class_name(claim)
            && phase
            && unsuited(v, claim) == Some(Unsuited::Claimed)
    };
    let volume = cx.snapshot.persistent_volumes.iter().find(is_kept)?;
    let patch = json!({"spec": {"claimRef": null}}).to_string();
    let args = ["patch", "pv", &*volume.meta.name, "--type=merge", "-p", &patch];
    let text = format!(
        "let volume {} forget the claim that it had (spec.claimRef): claim {} can then get it",
        volume.meta.name,
        claim.meta.path()
    );
    Some(Remedy::advice(text).command(cx.kubectl.line("", &args)).risk(
        "whoever gets the volume gets the data on it; with reclaim policy Delete its data is lost when that claim is deleted",
    ))
}

/// The claim's volume is gone.
pub fn make_anew(claim: &PersistentVolumeClaim) -> Remedy {
    let text = format!(
        "restore the volume from a backup or a snapshot, or delete claim {} and make it anew: the pod then begins with an empty \
         volume",
        claim.meta.path()
    );
    Remedy::advice(text).risk("the data that was on the volume is not on a new one")
}

/// The claim is being deleted.
pub fn wait_and_make_anew(claim: &PersistentVolumeClaim) -> Remedy {
    let text = format!("make claim {} anew once it is deleted: a deletion cannot be taken back", claim.meta.path());
    Remedy::advice(text).risk("with reclaim policy Delete the volume and its data are deleted with the claim")
}

/// The claim that a pod names is not there.
pub fn claim_missing(ns: &str, name: &str, cx: &Context<'_>) -> Remedy {
    let elsewhere = cx.snapshot.persistent_volume_claims.iter().filter(|c| &*c.meta.name == name);
    let elsewhere: Vec<String> = elsewhere.map(|c| c.meta.ns().to_owned()).collect();
    let elsewhere = match elsewhere.is_empty() {
        true => String::new(),
        false => format!(" (namespace {} has a claim of that name, which pods of {ns} cannot use)", some(elsewhere)),
    };
    Remedy::advice(format!("create claim {ns}/{name}, or correct the name in the pod's volumes{elsewhere}"))
        .command(cx.kubectl.line(ns, &["get", "pvc"]))
}

/// `of its 3 volumes none fits: pv-1 is too small (10Gi), …`.
pub fn none_fits(claim: &PersistentVolumeClaim, cx: &Context<'_>) -> String {
    let class = claims::class_name(claim);
    let of_class = cx.snapshot.persistent_volumes.iter().filter(|v| claims::volume_class_name(v) == class).count();
    let unsuited = unsuited_volumes(claim, cx);
    let why = if unsuited.is_empty() { String::new() } else { format!(" ({})", some(unsuited)) };
    match of_class {
        0 => "no PersistentVolume of the class exists".to_owned(),
        1 => format!("the only volume of the class cannot be used there{why}"),
        n => format!("none of the {} of the class can be used there{why}", count(n, "volume")),
    }
}
