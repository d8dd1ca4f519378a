//! What a pod's volumes refer to: claims, their volumes and classes. Mirrors `component-helpers/storage`
//! (`ephemeral.VolumeClaimName`, `volume.GetPersistentVolumeClaimClass`, `volume.GetPersistentVolumeClass`,
//! `volume.CheckNodeAffinity`) and
//! `volumebinding/binder.go` (`GetPodVolumeClaims`).

use crate::snapshot::PersistentVolume;
use crate::snapshot::intern::Interner;
use crate::snapshot::meta::Meta;
use crate::snapshot::node::Node;
use crate::snapshot::pod::{Pod, Volume, VolumeSource};
use crate::snapshot::selector::NodeSelector;
use crate::snapshot::{PersistentVolumeClaim, Snapshot, StorageClass};
use std::sync::Arc;

/// A volume of a pod that is a claim.
#[derive(Debug, Clone)]
pub struct ClaimRef {
    /// The claim's name.
    pub name: String,
    /// Made for this pod from a template in the pod.
    pub ephemeral: bool,
}

/// The claims that a pod's volumes name, in the order of the volumes.
pub fn claims_of(pod: &Pod) -> impl Iterator<Item = ClaimRef> {
    pod.volumes.iter().filter_map(|v| claim_of(pod, v))
}

/// The claim that a volume names.
pub fn claim_of(pod: &Pod, volume: &Volume) -> Option<ClaimRef> {
    match &volume.source {
        VolumeSource::Claim { name, .. } => Some(ClaimRef { name: name.to_string(), ephemeral: false }),
        VolumeSource::Ephemeral { .. } => {
            Some(ClaimRef { name: format!("{}-{}", pod.meta.name, volume.name), ephemeral: true })
        }
        _ => None,
    }
}

/// Whether a claim made from a template belongs to this pod. Mirrors `ephemeral.VolumeIsForPod` and
/// `resourceclaim.IsForPod`; a file may lack uids.
pub fn is_for_pod(claim: &Meta, pod: &Pod) -> bool {
    claim.controller.as_ref().is_some_and(|o| {
        &*o.kind == "Pod" && o.name == pod.meta.name && pod.meta.uid.as_ref().is_none_or(|uid| *uid == o.uid)
    })
}

/// The class that an annotation of old named, for claims and volumes.
fn annotated_class(meta: &Meta) -> Option<&str> {
    meta.annotations.get("volume.beta.kubernetes.io/storage-class").map(|s| &**s)
}

/// The name of a claim's class, empty where it has none.
pub fn class_name(claim: &PersistentVolumeClaim) -> &str {
    let stated = || claim.spec.as_ref()?.storage_class_name.as_deref();
    annotated_class(&claim.meta).or_else(stated).unwrap_or_default()
}

/// The name of a volume's class, empty where it has none.
pub fn volume_class_name(volume: &PersistentVolume) -> &str {
    let stated = || volume.spec.as_ref()?.storage_class_name.as_deref();
    annotated_class(&volume.meta).or_else(stated).unwrap_or_default()
}

/// The class of a claim.
pub fn class<'a>(claim: &PersistentVolumeClaim, snapshot: &'a Snapshot) -> Option<&'a Arc<StorageClass>> {
    snapshot.storage_classes.named("", class_name(claim))
}

/// Whether volumes of a class are bound only when a pod needs them.
pub fn waits_for_pod(class: &StorageClass) -> bool {
    class.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer")
}

/// The name of the volume that a claim is bound to, or is to be bound to; empty where there is none.
pub fn volume_name(claim: &PersistentVolumeClaim) -> &str {
    claim.spec.as_ref().map_or("", |s| &s.volume_name)
}

/// Whether the claim is bound for good. Upstream looks at the annotation; a file may have lost it and keep the phase.
pub fn is_bound(claim: &PersistentVolumeClaim) -> bool {
    !volume_name(claim).is_empty()
        && (claim.meta.annotations.has("pv.kubernetes.io/bind-completed") || phase(claim) == "Bound")
}

/// The phase of a claim.
pub fn phase(claim: &PersistentVolumeClaim) -> &str {
    claim.status.as_ref().map_or("", |s| &s.phase)
}

/// From which nodes a volume can be reached; `None` means from all.
pub fn reachable_from(volume: &PersistentVolume) -> Option<NodeSelector> {
    let affinity = volume.spec.as_ref()?.node_affinity.as_ref()?;
    affinity.required.as_ref().map(|s| NodeSelector::read(s, &mut Interner::default()))
}

/// Whether a node can reach a volume. Only labels are looked at, not the node's name.
pub fn reaches(selector: Option<&NodeSelector>, node: &Node) -> bool {
    selector.is_none_or(|s| s.matches("", &node.meta.labels))
}

/// A pod's claims by how far they are.
#[derive(Debug, Default)]
pub struct Claims {
    /// Bound for good.
    pub bound: Vec<Arc<PersistentVolumeClaim>>,
    /// To be bound when the pod has a node.
    pub delayed: Vec<Arc<PersistentVolumeClaim>>,
    /// To be bound before the pod gets a node.
    pub immediate: Vec<Arc<PersistentVolumeClaim>>,
    /// Not in the input.
    pub missing: Vec<ClaimRef>,
}

impl Claims {
    /// The claims of a pod.
    pub fn of(pod: &Pod, snapshot: &Snapshot) -> Self {
        let mut claims = Self::default();
        for r in claims_of(pod) {
            let Some(claim) = snapshot.persistent_volume_claims.named(pod.meta.ns(), &r.name) else {
                claims.missing.push(r);
                continue;
            };
            let list = if is_bound(claim) {
                &mut claims.bound
            } else if class(claim, snapshot).is_some_and(|c| waits_for_pod(c)) && volume_name(claim).is_empty() {
                &mut claims.delayed
            } else {
                &mut claims.immediate
            };
            list.push(claim.clone());
        }
        claims
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bound.is_empty() && self.delayed.is_empty() && self.immediate.is_empty() && self.missing.is_empty()
    }
}
