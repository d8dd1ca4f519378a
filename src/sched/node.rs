//! A node with what runs on it, summed up. Mirrors `framework.NodeInfo`.

use super::catalogue::{Catalogue, ClassId, RepelId};
use super::class::Class;
use super::resources::{self, Of, Request, Room};
use super::terms::Term;
use crate::snapshot::Str;
use crate::snapshot::node::{Node, Taint};
use crate::snapshot::pod::{HostPort, Pod};
use crate::snapshot::quantity::Quantity;
use std::sync::Arc;

/// The number of a node within a state.
pub type NodeId = u32;

/// The taint that the node controller sets on a cordoned node.
pub const CORDON_TAINT: &str = "node.kubernetes.io/unschedulable";

/// A pod with what filters need of it, computed once.
#[derive(Debug, Clone)]
pub struct PodInfo {
    /// The pod.
    pub pod: Arc<Pod>,
    /// What it takes of its node.
    pub request: Arc<Request>,
    /// Its namespace and labels.
    pub class: ClassId,
    /// Its required anti-affinity terms, where it has any.
    pub repels: Option<(RepelId, Arc<[Term]>)>,
    /// Whether it takes ports of its node.
    pub has_ports: bool,
}

impl PodInfo {
    /// `request` is what the pod counts as on a node.
    pub(super) fn new(pod: &Arc<Pod>, request: Arc<Request>, catalogue: &Catalogue) -> Self {
        let class = Class::of(pod);
        let terms: Arc<[Term]> = pod.spec.pod_anti_affinity.iter().map(|t| Term::new(t, &class.namespace)).collect();
        Self {
            class: catalogue.class(&class),
            repels: (!terms.is_empty()).then(|| (catalogue.repel(&terms), terms)),
            has_ports: host_ports(pod).next().is_some(),
            pod: pod.clone(),
            request,
        }
    }

    /// A pod as it counts on its node.
    pub(super) fn running(pod: &Arc<Pod>, catalogue: &Catalogue, minor: u32) -> Self {
        let request = Request::new(&resources::requests(pod, Of::Running, minor), catalogue);
        Self::new(pod, Arc::new(request), catalogue)
    }
}

/// The ports that a pod takes of its node while it runs. Mirrors `util.GetHostPorts`.
pub fn host_ports(pod: &Pod) -> impl Iterator<Item = &HostPort> {
    let sidecars = pod.spec.init_containers.iter().filter(|c| c.sidecar);
    sidecars.chain(&pod.spec.containers).flat_map(|c| &c.host_ports)
}

/// A pod on a node, with what is asked of every pod standing beside it.
#[derive(Debug, Clone)]
pub struct Slot {
    /// The pod.
    pub info: Arc<PodInfo>,
    /// Its namespace and labels.
    pub class: ClassId,
    /// Its priority.
    pub priority: i32,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// Whether it belongs to its node: a static pod, or one of a DaemonSet.
    pub of_node: bool,
    /// Whether it counts in full for a resize that its node has no room for.
    pub resize_deferred: bool,
}

impl Slot {
    pub(super) fn new(info: Arc<PodInfo>) -> Self {
        let pod = &info.pod;
        Self {
            class: info.class,
            priority: pod.priority(),
            terminating: pod.is_terminating(),
            of_node: pod.is_of_node(),
            resize_deferred: pod.condition("PodResizePending").is_some_and(|c| &*c.reason == "Deferred"),
            info,
        }
    }
}

/// A node with what runs on it.
#[derive(Debug, Clone)]
pub struct NodeInfo {
    /// Its number within the state.
    pub id: NodeId,
    /// The node.
    pub node: Arc<Node>,
    /// Its pods: bound and not finished.
    pub pods: Vec<Slot>,
    /// What pods may have of it.
    pub allocatable: Room,
    /// How many pods it may have.
    pub pod_slots: i64,
    /// What its pods take.
    pub requested: Room,
    /// The lowest priority of a pod that it has.
    lowest: Option<i32>,
}

impl NodeInfo {
    pub(super) fn new(id: NodeId, node: &Arc<Node>, catalogue: &Catalogue) -> Self {
        Self {
            id,
            node: node.clone(),
            pods: Vec::new(),
            allocatable: Room::allocatable(&node.allocatable, catalogue),
            pod_slots: node.allocatable.get("pods").map_or(0, Quantity::value),
            requested: Room::default(),
            lowest: None,
        }
    }

    /// The node with some of its pods only.
    pub fn keeping(&self, keep: impl Fn(&Slot) -> bool) -> Self {
        let mut left = Self {
            node: self.node.clone(),
            allocatable: self.allocatable.clone(),
            pods: Vec::new(),
            requested: Room::default(),
            lowest: None,
            ..*self
        };
        self.pods.iter().filter(|s| keep(s)).for_each(|s| left.add(s.info.clone()));
        left
    }

    /// Its name.
    pub fn name(&self) -> &Str {
        &self.node.meta.name
    }

    /// Adds a pod.
    pub fn add(&mut self, info: Arc<PodInfo>) {
        self.requested.count(&info.request, 1);
        let slot = Slot::new(info);
        self.lowest = Some(self.lowest.map_or(slot.priority, |lowest| lowest.min(slot.priority)));
        self.pods.push(slot);
    }

    /// Whether it has a pod of lower priority than this.
    pub fn has_below(&self, priority: i32) -> bool {
        self.lowest.is_some_and(|lowest| lowest < priority)
    }

    /// Takes a pod away, and returns it if it was there.
    pub fn remove(&mut self, pod: &Pod) -> Option<Slot> {
        let same = |s: &Slot| {
            std::ptr::eq(&*s.info.pod, pod)
                || (s.info.pod.meta.name == pod.meta.name && s.info.pod.meta.namespace == pod.meta.namespace)
        };
        let at = self.pods.iter().position(same)?;
        let slot = self.pods.remove(at);
        self.requested.count(&slot.info.request, -1);
        if self.lowest == Some(slot.priority) {
            self.lowest = self.pods.iter().map(|s| s.priority).min();
        }
        Some(slot)
    }

    /// Sets it unschedulable, with the taint that follows.
    pub(super) fn cordon(&mut self) {
        let node = Arc::make_mut(&mut self.node);
        node.unschedulable = true;
        if !node.taints.iter().any(|t| &*t.key == CORDON_TAINT) {
            let taint = Taint { key: CORDON_TAINT.into(), value: "".into(), effect: "NoSchedule".into(), since: None };
            node.taints = node.taints.iter().cloned().chain([taint]).collect();
        }
    }

    /// Takes the cordon back.
    pub(super) fn uncordon(&mut self) {
        let node = Arc::make_mut(&mut self.node);
        node.unschedulable = false;
        node.taints = node.taints.iter().filter(|t| &*t.key != CORDON_TAINT).cloned().collect();
    }
}
