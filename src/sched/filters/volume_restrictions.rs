//! `VolumeRestrictions`: a disk that cannot be shared within a node, and a claim that only one pod at all may use.
//! Mirrors `plugins/volumerestrictions/volume_restrictions.go`.

use super::claims::claims_of;
use super::{Filter, Incoming, Prepared};
use crate::sched::node::{NodeInfo, PodInfo};
use crate::sched::status::{Plugin, Reason, Status, Verdict};
use crate::snapshot::Str;
use crate::snapshot::pod::{Pod, VolumeSource};
use std::sync::Arc;

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    let pod = incoming.pod();
    let mut exclusive: Vec<Str> = Vec::new();
    for name in direct_claims(pod) {
        let Some(claim) = incoming.snapshot().claims.named(pod.meta.ns(), name) else {
            let words = format!("persistentvolumeclaim {:?} not found", &**name);
            return Prepared::Rejects(Status::unresolvable(Plugin::VolumeRestrictions, Reason::Words(words.into())));
        };
        let modes = claim.spec.as_ref().map(|s| &*s.access_modes).unwrap_or_default();
        if modes.iter().any(|m| m == "ReadWriteOncePod") {
            exclusive.push(name.clone());
        }
    }
    let users = i64::try_from(exclusive.iter().filter(|c| is_used(incoming, c)).count()).unwrap_or(i64::MAX);
    if users == 0 && disks(pod).next().is_none() {
        return Prepared::Skip;
    }
    Prepared::Runs(Box::new(VolumeRestrictions { pod: pod.clone(), exclusive, users }))
}

fn direct_claims(pod: &Pod) -> impl Iterator<Item = &Str> {
    pod.volumes.iter().filter_map(|v| match &v.source {
        VolumeSource::Claim { name, .. } => Some(name),
        _ => None,
    })
}

fn disks(pod: &Pod) -> impl Iterator<Item = (&Str, bool)> {
    pod.volumes.iter().filter_map(|v| match &v.source {
        VolumeSource::Disk { id, read_only } => Some((id, *read_only)),
        _ => None,
    })
}

/// The pods with a node that use a claim.
pub fn users<'a>(incoming: &'a Incoming<'_>, claim: &'a str) -> impl Iterator<Item = &'a Arc<Pod>> {
    let all = incoming.state.nodes().iter().flat_map(|n| &n.pods).map(|s| &s.info.pod);
    all.filter(move |p| p.meta.namespace == incoming.pod().meta.namespace && claims_of(p).any(|c| c.name == claim))
}

fn is_used(incoming: &Incoming<'_>, claim: &str) -> bool {
    users(incoming, claim).next().is_some()
}

struct VolumeRestrictions {
    pod: Arc<Pod>,
    /// Claims of the pod that only one pod may use.
    exclusive: Vec<Str>,
    /// How many of them are used.
    users: i64,
}

impl VolumeRestrictions {
    /// Inline disks that are the same, unless both are mounted read-only.
    fn disk_conflict(&self, node: &NodeInfo) -> bool {
        let taken = |id: &Str, read_only: bool| {
            node.pods.iter().flat_map(|s| disks(&s.info.pod)).any(|(other, ro)| other == id && !(read_only && ro))
        };
        disks(&self.pod).any(|(id, read_only)| taken(id, read_only))
    }
}

impl Filter for VolumeRestrictions {
    fn plugin(&self) -> Plugin {
        Plugin::VolumeRestrictions
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        let reason = if self.disk_conflict(node) {
            Reason::DiskConflict
        } else if self.users > 0 {
            Reason::ReadWriteOncePod
        } else {
            return Verdict::Fits;
        };
        reasons.push(reason);
        Verdict::Unschedulable
    }

    fn count(&mut self, pod: &PodInfo, _node: &NodeInfo, sign: i64) {
        // As upstream, namespaces are not compared here.
        let uses = direct_claims(&pod.pod).filter(|c| self.exclusive.contains(c)).count();
        self.users += sign * i64::try_from(uses).unwrap_or_default();
    }
}
