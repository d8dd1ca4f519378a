//! `VolumeRestrictions`: a disk that cannot be shared within a node, and a claim that only one pod at all may use.
//! Mirrors `plugins/volumerestrictions/volume_restrictions.go`.

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
        let Some(claim) = incoming.snapshot().persistent_volume_claims.named(pod.meta.ns(), name) else {
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

fn disks(pod: &Pod) -> impl Iterator<Item = (&[Str], bool)> {
    pod.volumes.iter().filter_map(|v| match &v.source {
        VolumeSource::Disk { ids, read_only } => Some((&**ids, *read_only)),
        _ => None,
    })
}

/// The pods with a node that name a claim. Those made for a pod from its own template do not count, as upstream.
pub fn users<'a>(incoming: &'a Incoming<'_>, claim: &'a str) -> impl Iterator<Item = &'a Arc<Pod>> {
    let all = incoming.state.nodes().iter().flat_map(|n| &n.pods).map(|s| &s.info.pod);
    all.filter(move |p| p.meta.namespace == incoming.pod().meta.namespace && direct_claims(p).any(|c| **c == *claim))
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
        let taken = |ids: &[Str], read_only: bool| {
            let others = node.pods.iter().flat_map(|s| disks(&s.info.pod));
            others.filter(|(_, ro)| !(read_only && *ro)).any(|(other, _)| other.iter().any(|id| ids.contains(id)))
        };
        disks(&self.pod).any(|(ids, read_only)| taken(ids, read_only))
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

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]
mod tests {
    use crate::sched::Plugin::VolumeRestrictions;
    use crate::sched::testing::{merged, node, pod, refusal, refusals};
    use serde_json::{Value, json};

    fn using(name: &str, volumes: Value, more: Value) -> Value {
        pod(name, merged(json!({"spec": {"volumes": volumes}}), more))
    }

    fn on_node() -> Value {
        json!({"spec": {"nodeName": "n"}})
    }

    #[test]
    fn disks_are_shared_as_upstream() {
        // After TestGCEDiskConflicts, TestAWSDiskConflicts, TestRBDDiskConflicts and TestISCSIDiskConflicts; what is read-only
        // by the words above upstream's Filter.
        let gce = |disk: &str, read_only: bool| json!({"gcePersistentDisk": {"pdName": disk, "readOnly": read_only}});
        let aws =
            |disk: &str, read_only: bool| json!({"awsElasticBlockStore": {"volumeID": disk, "readOnly": read_only}});
        let rbd = |monitors: [&str; 2], image: &str, read_only: bool| json!({"rbd": {"monitors": monitors, "pool": "foo", "image": image, "readOnly": read_only}});
        let iscsi = |iqn: &str, read_only: bool| json!({"iscsi": {"targetPortal": "127.0.0.1:3260", "iqn": iqn, "lun": 0, "readOnly": read_only}});
        for (one, other, conflict) in [
            (gce("foo", false), gce("foo", false), true),
            (gce("foo", true), gce("foo", false), true),
            (gce("foo", true), gce("foo", true), false),
            (gce("foo", false), gce("bar", false), false),
            (aws("foo", false), aws("foo", false), true),
            (aws("foo", true), aws("foo", true), true),
            (aws("foo", false), aws("bar", false), false),
            (rbd(["a", "b"], "bar", false), rbd(["a", "b"], "bar", false), true),
            (rbd(["a", "b"], "bar", false), rbd(["c", "d"], "bar", false), false),
            (rbd(["a", "b"], "bar", false), rbd(["b", "c"], "bar", false), true),
            (rbd(["a", "b"], "bar", false), rbd(["a", "b"], "other", false), false),
            (rbd(["a", "b"], "bar", true), rbd(["a", "b"], "bar", true), false),
            (iscsi("storage.target01", false), iscsi("storage.target01", false), true),
            (iscsi("storage.target01", true), iscsi("storage.target01", true), false),
            (iscsi("storage.target01", false), iscsi("server:storage.target01", false), false),
            (gce("foo", false), aws("foo", false), false),
            (gce("foo", false), json!({"emptyDir": {}}), false),
        ] {
            let title = format!("{one} beside {other}");
            let named = |source: Value| json!([merged(json!({"name": "v"}), source)]);
            let objects =
                [node("n", json!({})), using("other", named(other), on_node()), using("p", named(one), json!({}))];
            let want =
                if conflict { refusal(VolumeRestrictions, true, &["node(s) had no available disk"]) } else { vec![] };
            assert_eq!(refusals(&objects), want, "{title}");
        }
    }

    #[test]
    fn claims_of_one_pod_are_kept_as_upstream() {
        // After TestAccessModeConflicts; all claims are bound to volumes that every node reaches.
        let bound = |name: &str, mode: &str| {
            [
                json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "a"},
                    "spec": {"accessModes": [mode], "volumeName": name}, "status": {"phase": "Bound"}}),
                json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}}),
            ]
        };
        let claims = |names: &[&str]| -> Value {
            names.iter().map(|n| json!({"name": n, "persistentVolumeClaim": {"claimName": n}})).collect()
        };
        let (one, two, shared) = ("rwop-1", "rwop-2", "rwx");
        for (title, wanted, used, namespace, conflict) in [
            ("nothing", &[][..], &[][..], "a", false),
            ("no access mode conflict", &[one][..], &[shared][..], "a", false),
            ("shared by both", &[shared], &[shared], "a", false),
            ("access mode conflict", &[one], &[one], "a", true),
            ("two conflicts", &[one, two], &[one, two], "a", true),
            ("of the same name elsewhere", &[one], &[one], "b", false),
        ] {
            let other = merged(on_node(), json!({"metadata": {"namespace": namespace}}));
            let mut objects =
                vec![node("n", json!({})), using("other", claims(used), other), using("p", claims(wanted), json!({}))];
            objects.extend(bound(one, "ReadWriteOncePod").into_iter().chain(bound(two, "ReadWriteOncePod")));
            objects.extend(bound(shared, "ReadWriteMany"));
            const WORDS: &str = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
            let want = if conflict { refusal(VolumeRestrictions, true, &[WORDS]) } else { vec![] };
            assert_eq!(refusals(&objects), want, "{title}");
        }
    }
}
