//! What a pod's volumes require of a node. Mirrors `provisioning/scheduling/volumetopology.go`.

use super::labels::{HOSTNAME, Provider};
use super::requirements::{Requirements, of_term};
use crate::sched::State;
use crate::sched::filters::claims::{ClaimRef, claims_of};
use crate::snapshot::intern::Interner;
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::{NodeSelector, NodeTerm, topology_terms};
use crate::snapshot::{PersistentVolume, PersistentVolumeClaim, Snapshot, Str};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why Karpenter does not look for a node for a pod: something is wrong with a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The claim is not there.
    NoClaim(Str),
    /// The claim is being deleted.
    ClaimDeleted(Str),
    /// The claim has lost its volume.
    ClaimLost(Str),
    /// The claim names a volume that is not there.
    NoVolume(Str),
    /// The claim's volume is being deleted.
    VolumeDeleted(Str),
    /// The claim names a volume and is not bound to it yet.
    Unbound(Str),
    /// The claim has neither a volume nor a class.
    NoClass(Str),
    /// The claim's class is not there.
    ClassMissing(Str),
    /// The claim's class binds at once, and the claim is not bound.
    Immediate(Str),
}

/// Whether the pod's claims let Karpenter look for a node. Mirrors `ValidatePersistentVolumeClaims`.
pub fn validate(pod: &Pod, snapshot: &Snapshot) -> Result<(), Fault> {
    for r in claims_of(pod) {
        let name = Str::from(&*r.name);
        let claim = find(pod, &r, snapshot).ok_or_else(|| Fault::NoClaim(name.clone()))?;
        if claim.meta.is_terminating() {
            return Err(Fault::ClaimDeleted(name));
        }
        if claim.status.as_ref().is_some_and(|s| s.phase == "Lost") {
            return Err(Fault::ClaimLost(name));
        }
        if !volume_name(claim).is_empty() {
            let volume = snapshot.persistent_volumes.named("", volume_name(claim));
            let volume = volume.ok_or_else(|| Fault::NoVolume(name.clone()))?;
            if volume.meta.is_terminating() {
                return Err(Fault::VolumeDeleted(name));
            }
            if !claim.meta.annotations.has("pv.kubernetes.io/bind-completed") {
                return Err(Fault::Unbound(name));
            }
            continue;
        }
        if class_name(claim).is_empty() {
            return Err(Fault::NoClass(name));
        }
        let class = snapshot.storage_classes.named("", class_name(claim));
        let class = class.ok_or_else(|| Fault::ClassMissing(name.clone()))?;
        // The API fills the mode in; a file may have left it out.
        if class.volume_binding_mode.as_deref().unwrap_or("Immediate") == "Immediate" {
            return Err(Fault::Immediate(name));
        }
    }
    Ok(())
}

/// The combinations of places in which all volumes of the pod can be reached; empty where they are everywhere. Mirrors
/// `GetRequirements`.
pub fn alternatives(pod: &Pod, snapshot: &Snapshot, provider: Provider) -> Vec<Requirements> {
    let mut all: Vec<Option<Requirements>> = vec![None];
    for r in claims_of(pod) {
        let of_volume = find(pod, &r, snapshot).map(|c| places(c, snapshot, provider)).unwrap_or_default();
        if of_volume.is_empty() {
            continue;
        }
        let together = |fits: &dyn Fn(&Requirements, &Requirements) -> bool| -> Vec<Option<Requirements>> {
            let pairs = all.iter().flat_map(|a| of_volume.iter().map(move |b| (a, b)));
            let kept = pairs.filter(|(a, b)| a.as_ref().is_none_or(|a| fits(a, b)));
            kept.map(|(a, b)| {
                let mut merged = a.clone().unwrap_or_default();
                merged.add_all(b);
                Some(merged)
            })
            .collect()
        };
        let compatible = together(&|a, b| a.intersects(b));
        // Where no combination is possible all are kept, and each is refused later.
        all = if compatible.is_empty() { together(&|_, _| true) } else { compatible };
    }
    all.into_iter().flatten().collect()
}

/// The places from which a claim's volume can be reached, or in which it can be made.
fn places(claim: &PersistentVolumeClaim, snapshot: &Snapshot, provider: Provider) -> Vec<Requirements> {
    if !volume_name(claim).is_empty() {
        let volume = snapshot.persistent_volumes.named("", volume_name(claim));
        return volume.map(|v| of_volume(v, provider)).unwrap_or_default();
    }
    let Some(class) = snapshot.storage_classes.named("", class_name(claim)) else { return Vec::new() };
    let terms = topology_terms(&class.allowed_topologies, &mut Interner::default());
    terms.0.iter().filter(|t| !t.labels.is_empty()).map(|t| of_term(t, provider)).collect()
}

fn of_volume(volume: &PersistentVolume, provider: Provider) -> Vec<Requirements> {
    let Some(spec) = &volume.spec else { return Vec::new() };
    let Some(required) = spec.node_affinity.as_ref().and_then(|a| a.required.as_ref()) else { return Vec::new() };
    let source = spec.persistent_volume_source.as_ref();
    // A disk of one node does not hold the pod's successor there, for Karpenter.
    let of_node = source.is_some_and(|s| s.local.is_some() || s.host_path.is_some());
    let selector = NodeSelector::read(required, &mut Interner::default());
    let terms = selector.0.iter().filter(|t| !t.labels.is_empty());
    let term = |t: &NodeTerm| {
        let all = of_term(t, provider);
        if of_node { all.iter().filter(|r| *r.key != *HOSTNAME).cloned().collect() } else { all }
    };
    terms.map(term).collect()
}

/// Whether a node would have more volumes of some driver than it can attach, with those of a pod. Mirrors
/// `VolumeUsage.ExceedsLimits` (`pkg/scheduling/volumeusage.go`).
pub fn too_many(node: &str, pod: &Pod, state: &State) -> bool {
    let snapshot = state.snapshot();
    if claims_of(pod).next().is_none() {
        return false;
    }
    let Some(limits) = snapshot.csi_nodes.named("", node).and_then(|n| n.spec.as_ref()) else { return false };
    let pods = state.node_named(node).into_iter().flat_map(|n| &n.pods).map(|s| &*s.info.pod);
    let mut volumes: BTreeMap<&str, BTreeSet<(&str, &Str)>> = BTreeMap::new();
    for pod in pods.chain([pod]) {
        for claim in claims_of(pod).filter_map(|r| find(pod, &r, snapshot)) {
            if let Some(driver) = driver(claim, snapshot) {
                volumes.entry(driver).or_default().insert((claim.meta.ns(), &claim.meta.name));
            }
        }
    }
    limits.drivers.iter().any(|d| {
        let most = d.allocatable.as_ref().and_then(|a| a.count).and_then(|n| usize::try_from(n).ok());
        let there = volumes.get(&*d.name).map_or(0, BTreeSet::len);
        most.is_some_and(|most| there > most)
    })
}

/// The driver that attaches a claim's volume. Mirrors `ResolveDriver`.
fn driver<'a>(claim: &PersistentVolumeClaim, snapshot: &'a Snapshot) -> Option<&'a str> {
    if volume_name(claim).is_empty() {
        return snapshot.storage_classes.named("", class_name(claim)).map(|c| &*c.provisioner);
    }
    let volume = snapshot.persistent_volumes.named("", volume_name(claim))?;
    let source = volume.spec.as_ref()?.persistent_volume_source.as_ref()?;
    let in_tree = || source.aws_elastic_block_store.as_ref().map(|_| "ebs.csi.aws.com");
    source.csi.as_ref().map(|c| &*c.driver).or_else(in_tree)
}

fn find<'a>(pod: &Pod, r: &ClaimRef, snapshot: &'a Snapshot) -> Option<&'a Arc<PersistentVolumeClaim>> {
    snapshot.persistent_volume_claims.named(pod.meta.ns(), &r.name)
}

fn volume_name(claim: &PersistentVolumeClaim) -> &str {
    claim.spec.as_ref().map_or("", |s| &s.volume_name)
}

/// Karpenter does not know the annotation that older claims name their class by.
fn class_name(claim: &PersistentVolumeClaim) -> &str {
    claim.spec.as_ref().and_then(|s| s.storage_class_name.as_deref()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::requirement::Requirement;
    use super::*;
    use crate::testing::{cluster, find as find_pod, object, pod};
    use serde_json::{Value, json};

    fn term(key: &str, values: &[&str]) -> Value {
        json!({"matchExpressions": [{"key": key, "operator": "In", "values": values}]})
    }

    fn volume(name: &str, spec: Value, terms: &[Value]) -> crate::testing::Object {
        object("v1", "PersistentVolume", name)
            .spec(json!({"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}))
            .spec(spec)
    }

    fn claim(name: &str, spec: Value) -> crate::testing::Object {
        object("v1", "PersistentVolumeClaim", &format!("a/{name}"))
            .annotation("pv.kubernetes.io/bind-completed", "yes")
            .spec(spec)
    }

    fn user(claims: &[&str]) -> crate::testing::Object {
        let volumes: Vec<Value> =
            claims.iter().map(|c| json!({"name": c, "persistentVolumeClaim": {"claimName": c}})).collect();
        pod("a/p").spec(json!({"volumes": volumes}))
    }

    #[test]
    fn places_of_volumes_are_combined_as_upstream() {
        // After `volumetopology_test.go`: two volumes with alternatives; only combinations that go together are kept,
        // and all where none does.
        let zone = "topology.kubernetes.io/zone";
        let (a, b, c) = (term(zone, &["a"]), term(zone, &["b"]), term(zone, &["c"]));
        let host = term(HOSTNAME, &["n1"]);
        let (local, any) = (json!({"local": {"path": "/x"}}), json!({}));
        for (title, first, second, want) in [
            ("one zone each", (&any, vec![a.clone()]), (&any, vec![a.clone()]), vec!["a"]),
            ("alternatives", (&any, vec![a.clone(), b.clone()]), (&any, vec![b.clone(), c.clone()]), vec!["b"]),
            ("none goes together", (&any, vec![a]), (&any, vec![b]), vec!["-"]),
            ("a disk of a node", (&local, vec![host]), (&any, vec![c]), vec!["c"]),
        ] {
            let snapshot = cluster()
                .add(volume("v1", first.0.clone(), &first.1))
                .add(volume("v2", second.0.clone(), &second.1))
                .add(claim("c1", json!({"volumeName": "v1"})))
                .add(claim("c2", json!({"volumeName": "v2"})))
                .add(user(&["c1", "c2"]))
                .snapshot();
            let all = alternatives(&find_pod(&snapshot, "a/p"), &snapshot, Provider::Kwok);
            let zones: Vec<String> = all
                .iter()
                .map(|r| r.get(zone).and_then(Requirement::only).map_or("-".to_owned(), ToString::to_string))
                .collect();
            assert_eq!(zones, want, "{title}");
        }
    }

    #[test]
    fn claims_are_validated_as_upstream() {
        let class = |name: &str, mode: &str| {
            object("storage.k8s.io/v1", "StorageClass", name).with(json!({"volumeBindingMode": mode}))
        };
        let c = || Str::from("c");
        for (title, object, want) in [
            ("late", claim("c", json!({"storageClassName": "late"})), Ok(())),
            ("at once", claim("c", json!({"storageClassName": "now"})), Err(Fault::Immediate(c()))),
            ("no such class", claim("c", json!({"storageClassName": "x"})), Err(Fault::ClassMissing(c()))),
            ("neither", claim("c", json!({})), Err(Fault::NoClass(c()))),
            ("bound", claim("c", json!({"volumeName": "v"})), Ok(())),
            ("no such volume", claim("c", json!({"volumeName": "x"})), Err(Fault::NoVolume(c()))),
            ("not bound yet", object_without_annotation(json!({"volumeName": "v"})), Err(Fault::Unbound(c()))),
            (
                "lost",
                claim("c", json!({"volumeName": "v"})).status(json!({"phase": "Lost"})),
                Err(Fault::ClaimLost(c())),
            ),
            ("another's", claim("other", json!({})), Err(Fault::NoClaim(c()))),
        ] {
            let snapshot = cluster()
                .add(class("late", "WaitForFirstConsumer"))
                .add(class("now", "Immediate"))
                .add(volume("v", json!({}), &[]))
                .add(object)
                .add(user(&["c"]))
                .snapshot();
            assert_eq!(validate(&find_pod(&snapshot, "a/p"), &snapshot), want, "{title}");
        }
    }

    fn object_without_annotation(spec: Value) -> crate::testing::Object {
        object("v1", "PersistentVolumeClaim", "a/c").spec(spec)
    }
}
