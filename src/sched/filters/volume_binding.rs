//! `VolumeBinding`: bound volumes must be reachable from the node, and for unbound claims a volume must be there or be
//! possible to make. Mirrors `plugins/volumebinding/{volume_binding,binder}.go`.

use super::claims::{self, Claims, claims_of};
use super::storage_capacity::Reported;
use super::{Filter, Incoming, Prepared};
use crate::sched::node::NodeInfo;
use crate::sched::status::{Plugin, Reason, Status, Verdict};
use crate::snapshot::intern::Interner;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::selector::{LabelSelector, NodeSelector, topology_terms};
use crate::snapshot::{Kind, PersistentVolume, PersistentVolumeClaim, Snapshot, StorageClass};
use foldhash::{HashSet, HashSetExt};
use std::sync::Arc;

/// A class with this provisioner makes no volumes.
pub const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    let (pod, snapshot) = (incoming.pod(), incoming.snapshot());
    let rejects =
        |words: String| Prepared::Rejects(Status::unresolvable(Plugin::VolumeBinding, Reason::Words(words.into())));
    for r in claims_of(pod) {
        match snapshot.persistent_volume_claims.named(pod.meta.ns(), &r.name) {
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
                if r.ephemeral && !claims::is_for_pod(&claim.meta, pod) {
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
fn unusable(claim: &PersistentVolumeClaim) -> Option<String> {
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
    claim: Arc<PersistentVolumeClaim>,
    size: Quantity,
    /// The node chosen for it already.
    selected_node: Option<String>,
    /// Volumes of its class that it could be bound to, and from where each can be reached; the smallest first.
    volumes: Vec<Offer>,
    provision: Provision,
}

struct Offer {
    volume: Arc<PersistentVolume>,
    reachable_from: Option<NodeSelector>,
    /// The volume names the claim already.
    reserved: bool,
}

/// Whether a volume could be made.
struct Provision {
    possible: bool,
    topologies: NodeSelector,
    /// The storage left, where the driver reports it.
    reported: Option<Reported>,
}

impl VolumeBinding {
    fn new(claims: &Claims, snapshot: &Snapshot) -> Self {
        let volume = |c: &Arc<PersistentVolumeClaim>| {
            let volume = snapshot.persistent_volumes.named("", claims::volume_name(c))?;
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
        let mut taken: HashSet<&str> = HashSet::new();
        let mut to_make: Vec<&Delayed> = self.delayed.iter().filter(|d| d.selected_node.is_some()).collect();
        for d in self.delayed.iter().filter(|d| d.selected_node.is_none()) {
            match d.find(node, &taken) {
                Some(name) => {
                    taken.insert(name);
                }
                None => to_make.push(d),
            }
        }
        to_make.iter().find_map(|d| d.provision.refusal(node))
    }
}

impl Delayed {
    fn new(claim: &Arc<PersistentVolumeClaim>, snapshot: &Snapshot) -> Self {
        let size = request(claim);
        let class_name = claims::class_name(claim);
        let selector = claim.spec.as_ref().and_then(|s| s.selector.as_ref());
        let selector = selector.map(|s| LabelSelector::read(Some(s), &mut Interner::default()));
        let offers =
            snapshot.persistent_volumes.iter().filter_map(|v| offer(v, claim, class_name, size, selector.as_ref()));
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
    fn find(&self, node: &NodeInfo, taken: &HashSet<&str>) -> Option<&str> {
        let free = self.volumes.iter().filter(|o| !taken.contains(&*o.volume.meta.name));
        let mut fitting = free.skip_while(|o| !o.reserved && !claims::reaches(o.reachable_from.as_ref(), &node.node));
        let first = fitting.next()?;
        claims::reaches(first.reachable_from.as_ref(), &node.node).then_some(&*first.volume.meta.name)
    }
}

/// How much a claim asks for.
pub fn request(claim: &PersistentVolumeClaim) -> Quantity {
    let requests = claim.spec.as_ref().and_then(|s| s.resources.as_ref()).map(|r| &r.requests);
    requests.and_then(|r| r.get("storage")).map(|q| q.value).unwrap_or_default()
}

fn capacity(volume: &PersistentVolume) -> Quantity {
    let capacity = volume.spec.as_ref().map(|s| &s.capacity);
    capacity.and_then(|c| c.get("storage")).map(|q| q.value).unwrap_or_default()
}

/// Whether a volume could be bound to a claim, apart from the node.
fn offer(
    volume: &Arc<PersistentVolume>,
    claim: &PersistentVolumeClaim,
    class: &str,
    size: Quantity,
    selector: Option<&LabelSelector>,
) -> Option<Offer> {
    let reserved = suits(volume, claim, class, size, selector).ok()?;
    Some(Offer { volume: volume.clone(), reachable_from: claims::reachable_from(volume), reserved })
}

/// Why a volume cannot be bound to a claim, whatever the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsuited {
    /// It is of another class.
    Class,
    /// It is smaller than what is asked for.
    Size,
    /// The volume attributes class differs.
    Attributes,
    /// One is a file system, the other a block device.
    Mode,
    /// It is being deleted.
    Terminating,
    /// It names another claim, or one of this name that was there before.
    Claimed,
    /// It is not Available.
    Phase,
    /// It lacks an access mode.
    AccessModes,
    /// The claim's selector does not match its labels.
    Labels,
}

/// Whether a volume could be bound to a claim, apart from the node: `Ok(true)` where it names the claim already. Mirrors
/// `FindMatchingVolume`.
fn suits(
    volume: &PersistentVolume,
    claim: &PersistentVolumeClaim,
    class: &str,
    size: Quantity,
    selector: Option<&LabelSelector>,
) -> Result<bool, Unsuited> {
    let (Some(spec), Some(wanted)) = (volume.spec.as_ref(), claim.spec.as_ref()) else {
        return Err(Unsuited::Phase);
    };
    if claims::volume_class_name(volume) != class {
        return Err(Unsuited::Class);
    }
    if capacity(volume) < size {
        return Err(Unsuited::Size);
    }
    let attributes = |name: &Option<String>| name.clone().unwrap_or_default();
    if attributes(&spec.volume_attributes_class_name) != attributes(&wanted.volume_attributes_class_name) {
        return Err(Unsuited::Attributes);
    }
    let mode = |m: &Option<String>| m.clone().unwrap_or_else(|| "Filesystem".to_owned());
    if mode(&spec.volume_mode) != mode(&wanted.volume_mode) {
        return Err(Unsuited::Mode);
    }
    if volume.meta.is_terminating() {
        return Err(Unsuited::Terminating);
    }
    match &spec.claim_ref {
        Some(r) if r.name == *claim.meta.name && r.namespace == claim.meta.ns() => {
            let same = r.uid.is_empty() || claim.meta.uid.as_deref().is_none_or(|uid| r.uid == uid);
            return if same { Ok(true) } else { Err(Unsuited::Claimed) };
        }
        Some(_) => return Err(Unsuited::Claimed),
        None => {}
    }
    if volume.status.as_ref().is_none_or(|s| s.phase != "Available") {
        return Err(Unsuited::Phase);
    }
    if !wanted.access_modes.iter().all(|m| spec.access_modes.contains(m)) {
        return Err(Unsuited::AccessModes);
    }
    if selector.is_some_and(|s| !s.matches(&volume.meta.labels)) { Err(Unsuited::Labels) } else { Ok(false) }
}

/// Why a volume cannot be bound to a claim, whatever the node; `None` where it can.
pub fn unsuited(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> Option<Unsuited> {
    let selector = claim.spec.as_ref().and_then(|s| s.selector.as_ref());
    let selector = selector.map(|s| LabelSelector::read(Some(s), &mut Interner::default()));
    suits(volume, claim, claims::class_name(claim), request(claim), selector.as_ref()).err()
}

impl Provision {
    fn new(class: Option<&Arc<StorageClass>>, size: Quantity, snapshot: &Snapshot) -> Self {
        let Some(class) = class.filter(|c| !c.provisioner.is_empty() && c.provisioner != NO_PROVISIONER) else {
            return Self { possible: false, topologies: NodeSelector::default(), reported: None };
        };
        Self {
            possible: true,
            topologies: topology_terms(&class.allowed_topologies, &mut Interner::default()),
            reported: Reported::of(class, size, snapshot),
        }
    }

    /// Mirrors `checkVolumeProvisions`.
    fn refusal(&self, node: &NodeInfo) -> Option<Reason> {
        let labels = &node.node.meta.labels;
        let allowed = self.topologies.0.is_empty() || self.topologies.matches("", labels);
        if !self.possible || !allowed {
            return Some(Reason::NoVolumeToBind);
        }
        let reported = self.reported.as_ref().filter(|r| !r.is_enough(labels))?;
        Some(match reported.is_unread() {
            true => Reason::NotJudged(format!("{} could not be read", Kind::CSIStorageCapacity.resource()).into()),
            false => Reason::NotEnoughStorage,
        })
    }
}

/// What is reported of the storage from which a volume for the claim would be made.
pub fn reported(claim: &PersistentVolumeClaim, snapshot: &Snapshot) -> Option<Reported> {
    Reported::of(claims::class(claim, snapshot)?, request(claim), snapshot)
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
    use crate::sched::Plugin::VolumeBinding;
    use crate::sched::testing::{merged, node, pod, refusal, refusals, says};
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

    /// A pod with claims of these names.
    fn with(claims: &[&str]) -> Value {
        let volume = |c: &&str| json!({"name": c, "persistentVolumeClaim": {"claimName": c}});
        pod("p", json!({"spec": {"volumes": claims.iter().map(volume).collect::<Vec<_>>()}}))
    }

    fn named(name: &str, object: Value) -> Value {
        merged(object, json!({"metadata": {"name": name}}))
    }

    const NODE: &str = "node(s) didn't match PersistentVolume's node affinity";
    const BIND: &str = "node(s) didn't find available persistent volumes to bind";
    const SPACE: &str = "node(s) did not have enough free storage";
    const GONE: &str = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

    fn refused(words: &[&str]) -> Vec<(crate::sched::Plugin, bool, Vec<String>)> {
        if words.is_empty() { vec![] } else { refusal(VolumeBinding, false, words) }
    }

    #[test]
    fn volumes_are_found_as_upstream() {
        // After TestVolumeBinding, TestFindPodVolumesWithoutProvisioning and TestFindPodVolumesWithProvisioning. Node n looks
        // for volumes; claims ask 2Gi (`small`) and 5Gi (`large`).
        let small = || named("small", claim(json!({})));
        let large = || named("large", claim(json!({"spec": {"resources": {"requests": {"storage": "5Gi"}}}})));
        let to = |name: &str, volume: &str| {
            let bound = json!({"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
                "spec": {"volumeName": volume}, "status": {"phase": "Bound"}});
            named(name, claim(bound))
        };
        let bound = || to("bound", "pv-bound");
        let pv_bound = |on: &str| named("pv-bound", volume("1Gi", on));
        let here = |name: &str, size: &str| named(name, volume(size, "n"));
        let there = || named("there", volume("5Gi", "m"));
        let prebound = |on: &str, claim: &str| {
            let reference = json!({"spec": {"claimRef": {"namespace": "a", "name": claim}}});
            merged(named("pre", volume("5Gi", on)), reference)
        };
        let making = |more: Value| named("made", class(merged(json!({"provisioner": "disk.example.com"}), more)));
        let made = || named("to-make", claim(json!({"spec": {"storageClassName": "made"}})));
        let selected =
            |on: &str| merged(made(), json!({"metadata": {"annotations": {"volume.kubernetes.io/selected-node": on}}}));
        let zone =
            json!({"allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["elsewhere"]}]}]});
        for (title, claims, objects, words) in [
            ("bound, volume is gone", &["bound"][..], vec![bound()], &[GONE][..]),
            ("bound, wrong node", &["bound"], vec![bound(), pv_bound("m")], &[NODE]),
            ("unbound, on the same node", &["small"], vec![small(), there(), here("a", "2Gi"), here("b", "5Gi")], &[]),
            ("unbound, on a different node", &["small"], vec![small(), there()], &[BIND]),
            ("two unbound", &["small", "large"], vec![small(), large(), here("a", "2Gi"), here("b", "5Gi")], &[]),
            (
                "the order is by size",
                &["large", "small"],
                vec![small(), large(), here("a", "2Gi"), here("b", "5Gi")],
                &[],
            ),
            ("two unbound, one volume", &["small", "large"], vec![small(), large(), here("a", "5Gi")], &[BIND]),
            (
                "one bound, one unbound",
                &["small", "bound"],
                vec![small(), bound(), pv_bound("n"), here("a", "2Gi")],
                &[],
            ),
            ("one bound, one unmatched", &["small", "bound"], vec![small(), bound(), pv_bound("n"), there()], &[BIND]),
            ("neither is satisfied", &["small", "bound"], vec![small(), bound(), pv_bound("m")], &[NODE, BIND]),
            ("unmatched, and one is gone", &["small", "bound"], vec![small(), bound()], &[BIND, GONE]),
            ("reserved for it here", &["small"], vec![small(), prebound("n", "small")], &[]),
            ("reserved for it elsewhere", &["small"], vec![small(), prebound("m", "small"), here("a", "2Gi")], &[BIND]),
            ("reserved for another", &["small"], vec![small(), prebound("n", "large")], &[BIND]),
            (
                "of another class",
                &["small"],
                vec![small(), merged(here("a", "2Gi"), json!({"spec": {"storageClassName": "x"}}))],
                &[BIND],
            ),
            (
                "of its class by the old annotation",
                &["small"],
                vec![
                    small(),
                    merged(
                        here("a", "2Gi"),
                        json!({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "wait"}},
                            "spec": {"storageClassName": "x"}}),
                    ),
                ],
                &[],
            ),
            (
                "of another mode",
                &["small"],
                vec![small(), merged(here("a", "2Gi"), json!({"spec": {"volumeMode": "Block"}}))],
                &[BIND],
            ),
            (
                "of other attributes",
                &["small"],
                vec![small(), merged(here("a", "2Gi"), json!({"spec": {"volumeAttributesClassName": "gold"}}))],
                &[BIND],
            ),
            (
                "released",
                &["small"],
                vec![small(), merged(here("a", "2Gi"), json!({"status": {"phase": "Released"}}))],
                &[BIND],
            ),
            ("one to make", &["to-make"], vec![made(), making(json!({}))], &[]),
            (
                "one matched, one to make",
                &["small", "to-make"],
                vec![small(), here("a", "2Gi"), made(), making(json!({}))],
                &[],
            ),
            ("being made for this node", &["to-make"], vec![selected("n"), making(json!({}))], &[]),
            ("being made for another", &["to-make"], vec![selected("m"), making(json!({}))], &[BIND]),
            (
                "no provisioner",
                &["to-make"],
                vec![made(), making(json!({"provisioner": "kubernetes.io/no-provisioner"}))],
                &[BIND],
            ),
            ("its topology is elsewhere", &["to-make"], vec![made(), making(zone)], &[BIND]),
        ] {
            let all: Vec<Value> =
                [node("n", json!({})), with(claims), class(json!({}))].into_iter().chain(objects).collect();
            // Where a volume is gone, VolumeZone has its own words.
            let ours: Vec<_> = refusals(&all).into_iter().filter(|(plugin, ..)| *plugin == VolumeBinding).collect();
            assert_eq!(ours, refused(words), "{title}");
        }
    }

    #[test]
    fn storage_that_is_left_counts_as_upstream() {
        // After TestCapacity: the claim asks 2Gi; each row has the capacities and whether they are too little for a driver
        // that tracks them. For one that does not they never are.
        let capacity = |class: &str, on: &str, capacity: Value, most: Value| {
            json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
                "metadata": {"name": format!("{on}-{capacity}"), "namespace": "a"}, "storageClassName": class,
                "nodeTopology": {"matchLabels": {"kubernetes.io/hostname": on}}, "capacity": capacity,
                "maximumVolumeSize": most})
        };
        let everywhere =
            merged(capacity("wait", "net", json!("9Gi"), json!(null)), json!({"nodeTopology": {"matchLabels": null}}));
        let here = || capacity("wait", "n", json!("9Gi"), json!(null));
        let there = || capacity("wait", "m", json!("9Gi"), json!(null));
        for (title, capacities, short) in [
            ("network-attached", vec![everywhere.clone()], false),
            ("local", vec![here()], false),
            ("several", vec![everywhere, there(), here()], false),
            ("none", vec![], true),
            ("another node's", vec![there()], true),
            ("another class's", vec![capacity("other", "n", json!("9Gi"), json!(null))], true),
            ("too little", vec![capacity("wait", "n", json!("1Mi"), json!(null))], true),
            ("volumes too small", vec![capacity("wait", "n", json!("9Gi"), json!("1Mi"))], true),
            ("nothing left", vec![capacity("wait", "n", json!("0"), json!(null))], true),
            ("volumes of no size", vec![capacity("wait", "n", json!(null), json!("0"))], true),
            ("not told", vec![capacity("wait", "n", json!(null), json!(null))], true),
        ] {
            for tracks in [true, false] {
                let mut all = vec![node("n", json!({})), using("c"), claim(json!({}))];
                all.push(class(json!({"provisioner": "disk.example.com"})));
                all.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
                    "metadata": {"name": "disk.example.com"}, "spec": {"storageCapacity": tracks}}));
                all.extend(capacities.iter().cloned());
                let words: &[&str] = if short && tracks { &[SPACE] } else { &[] };
                assert_eq!(refusals(&all), refused(words), "{title}, tracked: {tracks}");
            }
        }
    }

    #[test]
    fn a_volume_of_the_pod_s_own_must_be_its_own() {
        // After TestFindPodVolumesWithoutProvisioning, "generic-ephemeral".
        let own =
            pod("p", json!({"spec": {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]}}));
        let claim = |owner: &str| {
            let bound = json!({"metadata": {"name": "p-v", "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": owner, "controller": true}]},
                "spec": {"volumeName": "v"}, "status": {"phase": "Bound"}});
            claim(bound)
        };
        for (objects, want) in [
            (
                vec![],
                "0/1 nodes are available: waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\". not found",
            ),
            (vec![claim("p"), volume("2Gi", "n")], ""),
            (
                vec![claim("other"), volume("2Gi", "n")],
                "0/1 nodes are available: PVC a/p-v was not created for pod a/p (pod is not owner). not found",
            ),
        ] {
            let all: Vec<Value> =
                [node("n", json!({})), own.clone(), class(json!({}))].into_iter().chain(objects).collect();
            assert_eq!(says(&all), want);
        }
    }
}
