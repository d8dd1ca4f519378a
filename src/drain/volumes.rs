//! Volumes that one node at a time has attached: a pod on another node waits in ContainerCreating (`Multi-Attach error`)
//! until no pod of the first node uses the volume.
//!
//! Mirrors `IsMultiAttachAllowed` of `pkg/volume/util/util.go` and `CanAttach` of `pkg/volume/csi/csi_plugin.go`.

use crate::sched::filters::claims::{claims_of, volume_name};
use crate::snapshot::meta::Meta;
use crate::snapshot::pod::Pod;
use crate::snapshot::{Kind, PersistentVolume, PersistentVolumeClaim, Snapshot, Str};
use std::collections::HashMap;
use std::sync::Arc;

/// The namespace and the name of a claim.
pub type Claim = (Str, Str);

/// Who uses which volumes that only one node at a time has attached.
#[derive(Debug, Default)]
pub struct SingleAttach {
    /// The pods of the snapshot that name a claim (namespace, name) of such a volume.
    users: HashMap<Claim, Vec<Arc<Pod>>>,
}

impl SingleAttach {
    /// Looks at all claims and pods.
    pub fn new(snapshot: &Snapshot) -> Self {
        let single = snapshot.persistent_volume_claims.iter().filter(|claim| is_single(snapshot, claim));
        let key = |meta: &Meta| (meta.ns().into(), meta.name.clone());
        let mut users: HashMap<Claim, Vec<Arc<Pod>>> = single.map(|claim| (key(&claim.meta), Vec::new())).collect();
        if users.is_empty() {
            return Self::default();
        }
        for pod in snapshot.pods.iter().filter(|p| !p.is_finished()) {
            for claim in claims_of(pod) {
                if let Some(pods) = users.get_mut(&(pod.meta.ns().into(), claim.name.as_str().into())) {
                    pods.push(pod.clone());
                }
            }
        }
        Self { users }
    }

    /// The claims of such volumes that a pod names, each with the pods of the snapshot that name it, too.
    pub fn of<'s>(&'s self, pod: &Pod) -> Vec<(&'s Claim, &'s [Arc<Pod>])> {
        if self.users.is_empty() {
            return Vec::new();
        }
        let ns = pod.meta.ns();
        let known = |name: &str| self.users.get_key_value(&(ns.into(), name.into()));
        claims_of(pod).filter_map(|c| known(&c.name)).map(|(key, pods)| (key, &**pods)).collect()
    }
}

/// Whether a claim's volume can be attached to one node alone. Where the volume is not in the input, the claim's modes tell.
fn is_single(snapshot: &Snapshot, claim: &PersistentVolumeClaim) -> bool {
    let name = volume_name(claim);
    let volume = (!name.is_empty()).then(|| snapshot.persistent_volumes.named("", name)).flatten();
    let spec = volume.and_then(|v| v.spec.as_ref());
    let modes = spec.map(|s| &s.access_modes).or(claim.spec.as_ref().map(|s| &s.access_modes));
    let shared = |mode: &String| mode == "ReadWriteMany" || mode == "ReadOnlyMany";
    modes.is_some_and(|m| !m.is_empty() && !m.iter().any(shared)) && volume.is_none_or(|v| is_attached(snapshot, v))
}

/// Whether a volume is attached to nodes at all: one of a path, of NFS, or of a CSI driver without attachRequired is not.
fn is_attached(snapshot: &Snapshot, volume: &PersistentVolume) -> bool {
    let Some(source) = volume.spec.as_ref().and_then(|s| s.persistent_volume_source.as_ref()) else { return false };
    if let Some(csi) = &source.csi {
        let driver = snapshot.csi_drivers.named("", &csi.driver).and_then(|d| d.spec.as_ref());
        let attachment = || {
            let of = |name: Option<&str>| name == Some(&*volume.meta.name);
            snapshot
                .volume_attachments
                .iter()
                .filter_map(|a| a.spec.as_ref()?.source.as_ref())
                .any(|s| of(s.persistent_volume_name.as_deref()))
        };
        return match driver {
            Some(spec) => spec.attach_required != Some(false),
            // A driver that is not known is attached (`skipAttach`); where drivers were not read, an attachment tells.
            None => {
                snapshot.coverage.has(Kind::CSIDriver) || !snapshot.coverage.has(Kind::VolumeAttachment) || attachment()
            }
        };
    }
    source.gce_persistent_disk.is_some()
        || source.aws_elastic_block_store.is_some()
        || source.azure_disk.is_some()
        || source.rbd.is_some()
        || source.iscsi.is_some()
}
