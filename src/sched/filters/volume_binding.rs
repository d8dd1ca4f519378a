//! `VolumeBinding`: bound volumes must be reachable from the node, and for unbound claims a volume must be there or be
//! possible to make. Mirrors `plugins/volumebinding/{volume_binding,binder}.go`.

use super::claims::{self, Claims, claims_of};
use super::{Filter, Incoming, Prepared};
use crate::sched::node::NodeInfo;
use crate::sched::status::{Plugin, Reason, Status, Verdict};
use crate::snapshot::intern::Interner;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::selector::{LabelSelector, NodeSelector, topology_terms};
use crate::snapshot::{Claim, Snapshot, StorageClass, Volume};
use std::sync::Arc;

/// A class with this provisioner makes no volumes.
pub const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    let (pod, snapshot) = (incoming.pod(), incoming.snapshot());
    let rejects =
        |words: String| Prepared::Rejects(Status::unresolvable(Plugin::VolumeBinding, Reason::Words(words.into())));
    for r in claims_of(pod) {
        match snapshot.claims.named(pod.meta.ns(), &r.name) {
            None if r.ephemeral => {
                return rejects(format!(
                    "waiting for ephemeral volume controller to create the persistentvolumeclaim {:?}",
                    r.name
                ));
            }
            None => return rejects(format!("persistentvolumeclaim {:?} not found", r.name)),
            Some(claim) => {
                if let Some(words) = unusable(claim) {
                    return rejects(words);
                }
                if r.ephemeral && !claims::is_for_pod(claim, pod) {
                    return rejects(format!(
                        "PVC {} was not created for pod {} (pod is not owner)",
                        claim.meta.path(),
                        pod.meta.path()
                    ));
                }
            }
        }
    }
    let claims = Claims::of(pod, snapshot);
    if claims.is_empty() {
        return Prepared::Skip;
    }
    if !claims.immediate.is_empty() {
        return rejects("pod has unbound immediate PersistentVolumeClaims".to_owned());
    }
    Prepared::Runs(Box::new(VolumeBinding::new(&claims, snapshot)))
}

/// Why no pod can be given a node while it uses this claim.
fn unusable(claim: &Claim) -> Option<String> {
    let name = &*claim.meta.name;
    if claims::phase(claim) == "Lost" {
        let volume = claims::volume_name(claim);
        return Some(format!("persistentvolumeclaim {name:?} bound to non-existent persistentvolume {volume:?}"));
    }
    claim.meta.is_terminating().then(|| format!("persistentvolumeclaim {name:?} is being deleted"))
}

struct VolumeBinding {
    /// For each bound claim, from where its volume can be reached; `None` where the volume does not exist.
    bound: Vec<Option<Option<NodeSelector>>>,
    delayed: Vec<Delayed>,
}

/// A claim that waits for its pod.
struct Delayed {
    claim: Arc<Claim>,
    size: Quantity,
    /// The node chosen for it already.
    selected_node: Option<String>,
    /// Volumes of its class that it could be bound to, and from where each can be reached; the smallest first.
    volumes: Vec<Offer>,
    provision: Provision,
}

struct Offer {
    volume: Arc<Volume>,
    reachable_from: Option<NodeSelector>,
    /// The volume names the claim already.
    reserved: bool,
}

/// Whether a volume could be made.
struct Provision {
    possible: bool,
    topologies: NodeSelector,
    /// The storage left, where the driver tracks it: from which nodes, and whether it is enough.
    capacities: Option<Vec<LabelSelector>>,
}

impl VolumeBinding {
    fn new(claims: &Claims, snapshot: &Snapshot) -> Self {
        let volume = |c: &Arc<Claim>| {
            let volume = snapshot.volumes.named("", claims::volume_name(c))?;
            Some(claims::reachable_from(volume))
        };
        let mut delayed: Vec<Delayed> = claims.delayed.iter().map(|c| Delayed::new(c, snapshot)).collect();
        // Small claims are served first, so that they do not take the large volumes.
        delayed.sort_by_key(|d| d.size);
        Self { bound: claims.bound.iter().map(volume).collect(), delayed }
    }

    /// Mirrors `checkBoundClaims`: the first claim that does not fit decides.
    fn check_bound(&self, node: &NodeInfo) -> Option<Reason> {
        for volume in &self.bound {
            match volume {
                None => return Some(Reason::VolumeNotExist),
                Some(selector) if !claims::reaches(selector.as_ref(), &node.node) => {
                    return Some(Reason::VolumeNodeAffinity);
                }
                Some(_) => {}
            }
        }
        None
    }

    fn check_delayed(&self, node: &NodeInfo) -> Option<Reason> {
        let elsewhere = |d: &Delayed| d.selected_node.as_ref().is_some_and(|n| *n != **node.name());
        if self.delayed.iter().any(elsewhere) {
            return Some(Reason::NoVolumeToBind);
        }
        let mut taken: Vec<&str> = Vec::new();
        let mut to_make: Vec<&Delayed> = self.delayed.iter().filter(|d| d.selected_node.is_some()).collect();
        for d in self.delayed.iter().filter(|d| d.selected_node.is_none()) {
            match d.find(node, &taken) {
                Some(name) => taken.push(name),
                None => to_make.push(d),
            }
        }
        to_make.iter().find_map(|d| d.provision.refusal(node))
    }
}

impl Delayed {
    fn new(claim: &Arc<Claim>, snapshot: &Snapshot) -> Self {
        let size = request(claim);
        let class_name = claims::class_name(claim);
        let selector = claim.spec.as_ref().and_then(|s| s.selector.as_ref());
        let selector = selector.map(|s| LabelSelector::read(Some(s), &mut Interner::default()));
        let offers = snapshot.volumes.iter().filter_map(|v| offer(v, claim, class_name, size, selector.as_ref()));
        let mut volumes: Vec<Offer> = offers.collect();
        volumes.sort_by_key(|o| (!o.reserved, capacity(&o.volume)));
        let selected = claim.meta.annotations.get("volume.kubernetes.io/selected-node");
        let class = snapshot.storage_classes.named("", class_name);
        Self {
            claim: claim.clone(),
            size,
            selected_node: selected.map(ToString::to_string),
            volumes,
            provision: Provision::new(class, size, snapshot),
        }
    }

    /// The smallest volume that can be reached from the node. A volume reserved for the claim is taken or nothing is.
    fn find(&self, node: &NodeInfo, taken: &[&str]) -> Option<&str> {
        let free = self.volumes.iter().filter(|o| !taken.contains(&&*o.volume.meta.name));
        let mut fitting = free.skip_while(|o| !o.reserved && !claims::reaches(o.reachable_from.as_ref(), &node.node));
        let first = fitting.next()?;
        claims::reaches(first.reachable_from.as_ref(), &node.node).then_some(&*first.volume.meta.name)
    }
}

fn request(claim: &Claim) -> Quantity {
    let requests = claim.spec.as_ref().and_then(|s| s.resources.as_ref()).map(|r| &r.requests);
    requests.and_then(|r| Quantity::parse(&r.get("storage")?.string)).unwrap_or_default()
}

fn capacity(volume: &Volume) -> Quantity {
    let capacity = volume.spec.as_ref().map(|s| &s.capacity);
    capacity.and_then(|c| Quantity::parse(&c.get("storage")?.string)).unwrap_or_default()
}

/// Whether a volume could be bound to a claim, apart from the node. Mirrors `FindMatchingVolume`.
fn offer(
    volume: &Arc<Volume>,
    claim: &Claim,
    class: &str,
    size: Quantity,
    selector: Option<&LabelSelector>,
) -> Option<Offer> {
    let (spec, wanted) = (volume.spec.as_ref()?, claim.spec.as_ref()?);
    if spec.storage_class_name.as_deref().unwrap_or_default() != class || capacity(volume) < size {
        return None;
    }
    let mode = |m: &Option<String>| m.clone().unwrap_or_else(|| "Filesystem".to_owned());
    if mode(&spec.volume_mode) != mode(&wanted.volume_mode) || volume.meta.is_terminating() {
        return None;
    }
    let reserved = match &spec.claim_ref {
        Some(r) if r.name == *claim.meta.name && r.namespace == claim.meta.ns() => {
            r.uid.is_empty() || claim.meta.uid.as_deref().is_none_or(|uid| r.uid == uid)
        }
        Some(_) => return None,
        None => false,
    };
    let available = volume.status.as_ref().is_some_and(|s| s.phase == "Available");
    let modes = wanted.access_modes.iter().all(|m| spec.access_modes.contains(m));
    let labels = selector.is_none_or(|s| s.matches(&volume.meta.labels));
    let fits = reserved || (available && modes && labels);
    fits.then(|| Offer { volume: volume.clone(), reachable_from: claims::reachable_from(volume), reserved })
}

impl Provision {
    fn new(class: Option<&Arc<StorageClass>>, size: Quantity, snapshot: &Snapshot) -> Self {
        let Some(class) = class.filter(|c| !c.provisioner.is_empty() && c.provisioner != NO_PROVISIONER) else {
            return Self { possible: false, topologies: NodeSelector::default(), capacities: None };
        };
        let driver = snapshot.csi_drivers.named("", &class.provisioner);
        let tracked = driver.is_some_and(|d| d.spec.as_ref().is_some_and(|s| s.storage_capacity == Some(true)));
        Self {
            possible: true,
            topologies: topology_terms(&class.allowed_topologies, &mut Interner::default()),
            capacities: (tracked && size > Quantity::ZERO).then(|| sufficient(class, size, snapshot)),
        }
    }

    /// Mirrors `checkVolumeProvisions`.
    fn refusal(&self, node: &NodeInfo) -> Option<Reason> {
        let labels = &node.node.meta.labels;
        let allowed = self.topologies.0.is_empty() || self.topologies.matches("", labels);
        if !self.possible || !allowed {
            return Some(Reason::NoVolumeToBind);
        }
        let enough = self.capacities.as_ref().is_none_or(|c| c.iter().any(|s| s.matches(labels)));
        (!enough).then_some(Reason::NotEnoughStorage)
    }
}

/// From which nodes enough storage of the class is reported to be left.
fn sufficient(class: &StorageClass, size: Quantity, snapshot: &Snapshot) -> Vec<LabelSelector> {
    let enough = snapshot.csi_capacities.iter().filter(|c| {
        let limit = c.maximum_volume_size.as_ref().or(c.capacity.as_ref());
        c.storage_class_name.as_deref() == Some(&*class.meta.name)
            && limit.and_then(|q| Quantity::parse(&q.string)).is_some_and(|q| q.value() >= size.value())
    });
    enough.map(|c| LabelSelector::read(c.node_topology.as_ref(), &mut Interner::default())).collect()
}

impl Filter for VolumeBinding {
    fn plugin(&self) -> Plugin {
        Plugin::VolumeBinding
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        let bound = self.check_bound(node);
        let delayed = self.check_delayed(node);
        // Upstream's order of words: where a volume is, then whether one is to be had, then whether it exists at all.
        let (missing, place) = match bound {
            Some(Reason::VolumeNotExist) => (bound, None),
            other => (None, other),
        };
        reasons.extend(place.into_iter().chain(delayed).chain(missing));
        if reasons.is_empty() { Verdict::Fits } else { Verdict::Unresolvable }
    }
}

impl std::fmt::Debug for Delayed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Delayed").field("claim", &self.claim.meta.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::sched::testing::{merged, node, pod, says};
    use serde_json::{Value, json};

    fn using(claim: &str) -> Value {
        pod("p", json!({"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]}}))
    }

    fn claim(more: Value) -> Value {
        merged(
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "a"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}},
                         "storageClassName": "wait"}, "status": {"phase": "Pending"}}),
            more,
        )
    }

    fn class(more: Value) -> Value {
        merged(
            json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "wait"},
                "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}),
            more,
        )
    }

    fn volume(size: &str, on: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"},
            "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, "storageClassName": "wait",
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions":
                    [{"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}]}]}}},
            "status": {"phase": "Available"}})
    }

    #[test]
    fn claims_are_judged_as_upstream() {
        const NONE: &str = "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind. \
            no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
        const ELSEWHERE: &str = "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity. \
            no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
        let bound = json!({"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            "spec": {"volumeName": "v"}, "status": {"phase": "Bound"}});
        let deleted = json!({"metadata": {"deletionTimestamp": "2026-01-01T12:00:00Z"}});
        let making = json!({"provisioner": "disk.example.com"});
        let elsewhere = json!({"provisioner": "disk.example.com", "allowedTopologies":
            [{"matchLabelExpressions": [{"key": "kubernetes.io/hostname", "values": ["m"]}]}]});
        for (title, objects, want) in [
            ("missing", vec![], "0/1 nodes are available: persistentvolumeclaim \"c\" not found. not found"),
            (
                "binds before the pod",
                vec![claim(json!({})), class(json!({"volumeBindingMode": "Immediate"}))],
                "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
            ),
            (
                "being deleted",
                vec![claim(merged(deleted, bound.clone())), volume("2Gi", "n")],
                "0/1 nodes are available: persistentvolumeclaim \"c\" is being deleted. not found",
            ),
            ("bound and reachable", vec![claim(bound.clone()), volume("2Gi", "n")], ""),
            ("bound and elsewhere", vec![claim(bound), volume("2Gi", "m")], ELSEWHERE),
            ("a free volume there", vec![claim(json!({})), class(json!({})), volume("2Gi", "n")], ""),
            ("a free volume elsewhere", vec![claim(json!({})), class(json!({})), volume("2Gi", "m")], NONE),
            ("a free volume too small", vec![claim(json!({})), class(json!({})), volume("1Gi", "n")], NONE),
            ("one can be made", vec![claim(json!({})), class(making)], ""),
            ("one can be made elsewhere", vec![claim(json!({})), class(elsewhere)], NONE),
        ] {
            let all: Vec<Value> = [node("n", json!({})), using("c")].into_iter().chain(objects).collect();
            assert_eq!(says(&all), want, "{title}");
        }
    }
}
