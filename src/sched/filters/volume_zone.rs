//! `VolumeZone`: zone labels on a volume must agree with the node's. Mirrors `plugins/volumezone/volume_zone.go`.

use super::claims;
use super::{Filter, Incoming, Prepared};
use crate::sched::node::NodeInfo;
use crate::sched::status::{Plugin, Reason, Status, Verdict};
use crate::snapshot::Str;
use crate::snapshot::pod::VolumeSource;

/// Old and new labels of zones and regions.
const TOPOLOGY: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// A zone label of a volume.
#[derive(Debug, Clone)]
pub struct Zone {
    /// The volume.
    pub volume: Str,
    /// The label.
    pub key: &'static str,
    /// Its present form.
    pub new_key: &'static str,
    /// The zones; several are joined by `__`.
    pub zones: Vec<String>,
}

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    match zones(incoming) {
        Err(words) => Prepared::Rejects(Status::unresolvable(Plugin::VolumeZone, Reason::Words(words.into()))),
        Ok(zones) if zones.is_empty() => Prepared::Skip,
        Ok(zones) => Prepared::Runs(Box::new(VolumeZone(zones))),
    }
}

/// The zone labels of the pod's bound volumes; the error is what upstream says of a claim it cannot judge.
pub fn zones(incoming: &Incoming<'_>) -> Result<Vec<Zone>, String> {
    let (pod, snapshot) = (incoming.pod(), incoming.snapshot());
    let mut zones = Vec::new();
    for v in pod.volumes.iter() {
        let VolumeSource::Claim { name, .. } = &v.source else { continue };
        let claim = snapshot.persistent_volume_claims.named(pod.meta.ns(), name);
        let claim = claim.ok_or_else(|| format!("persistentvolumeclaim {:?} not found", &**name))?;
        let volume_name = claims::volume_name(claim);
        if volume_name.is_empty() {
            let class_name = claims::class_name(claim);
            if class_name.is_empty() {
                return Err("PersistentVolumeClaim had no pv name and storageClass name".to_owned());
            }
            let class = claims::class(claim, snapshot);
            let class = class.ok_or_else(|| format!("storageclass.storage.k8s.io {class_name:?} not found"))?;
            if claims::waits_for_pod(class) {
                continue;
            }
            return Err("PersistentVolume had no name".to_owned());
        }
        let volume = snapshot.persistent_volumes.named("", volume_name);
        let volume = volume.ok_or_else(|| format!("persistentvolume {volume_name:?} not found"))?;
        for (key, new_key) in TOPOLOGY {
            if let Some(value) = volume.meta.labels.get(key) {
                let zones_of = value.split("__").map(str::to_owned).collect();
                zones.push(Zone { volume: volume.meta.name.clone(), key, new_key, zones: zones_of });
            }
        }
    }
    Ok(zones)
}

struct VolumeZone(Vec<Zone>);

/// Whether a node agrees with a volume's zone label.
pub fn agrees(zone: &Zone, node: &NodeInfo) -> bool {
    let labels = &node.node.meta.labels;
    let value = labels.get(zone.key).or_else(|| labels.get(zone.new_key));
    value.is_some_and(|v| zone.zones.iter().any(|z| **z == **v))
}

impl Filter for VolumeZone {
    fn plugin(&self) -> Plugin {
        Plugin::VolumeZone
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        // A cluster in one zone may have no labels at all.
        let labelled = TOPOLOGY.iter().any(|(key, _)| node.node.meta.labels.has(key));
        if !labelled || self.0.iter().all(|z| agrees(z, node)) {
            return Verdict::Fits;
        }
        reasons.push(Reason::VolumeZone);
        Verdict::Unresolvable
    }
}

#[cfg(test)]
mod tests {
    use crate::sched::Plugin::VolumeZone;
    use crate::sched::testing::{node, pod, refusal, refusals};
    use serde_json::json;

    #[test]
    fn labels_are_compared_as_upstream() {
        // After TestSingleZone and TestMultiZone: the volume's labels, the node's, whether the node is refused.
        const OLD_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
        const OLD_REGION: &str = "failure-domain.beta.kubernetes.io/region";
        const ZONE: &str = "topology.kubernetes.io/zone";
        const REGION: &str = "topology.kubernetes.io/region";
        for (volume, labels, refused) in [
            (json!({}), json!({OLD_ZONE: "a"}), false),
            (json!({OLD_ZONE: "a"}), json!({}), false),
            (json!({OLD_ZONE: "a"}), json!({OLD_ZONE: "a", "useless": "none"}), false),
            (json!({OLD_REGION: "r", "useless": "none"}), json!({OLD_REGION: "r"}), false),
            (json!({OLD_REGION: "r"}), json!({OLD_REGION: "no"}), true),
            (json!({OLD_ZONE: "a"}), json!({OLD_ZONE: "no"}), true),
            (json!({ZONE: "a"}), json!({ZONE: "a", "useless": "none"}), false),
            (json!({REGION: "r"}), json!({REGION: "r"}), false),
            (json!({REGION: "r"}), json!({REGION: "no"}), true),
            (json!({ZONE: "a"}), json!({ZONE: "no"}), true),
            (json!({ZONE: "a", REGION: "r"}), json!({ZONE: "a"}), true),
            (json!({ZONE: "a"}), json!({OLD_ZONE: "a"}), true),
            (json!({OLD_ZONE: "a"}), json!({ZONE: "a"}), false),
            (json!({OLD_ZONE: "a"}), json!({ZONE: "b"}), true),
            (json!({OLD_ZONE: "c__a"}), json!({OLD_ZONE: "a"}), false),
            (json!({OLD_ZONE: "c__b"}), json!({OLD_ZONE: "a"}), true),
            (json!({ZONE: "c__a"}), json!({ZONE: "a"}), false),
            (json!({ZONE: "c__b"}), json!({ZONE: "a"}), true),
        ] {
            let volumes = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]);
            let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "a"},
                "spec": {"volumeName": "v"}, "status": {"phase": "Bound"}});
            let title = format!("{volume} on {labels}");
            let objects = [
                node("n", json!({"metadata": {"labels": labels}})),
                json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v", "labels": volume}}),
                claim,
                pod("p", json!({"spec": {"volumes": volumes}})),
            ];
            let want =
                if refused { refusal(VolumeZone, false, &["node(s) had no available volume zone"]) } else { vec![] };
            assert_eq!(refusals(&objects), want, "{title}");
        }
    }
}
