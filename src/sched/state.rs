//! The scheduler's view of a cluster: nodes with their pods, summed up. Made once from a snapshot; a copy is cheap and
//! may be changed: pods bound and taken away, nodes cordoned. Mirrors `pkg/scheduler/backend/cache/snapshot.go`.

use super::catalogue::Catalogue;
use super::census::Census;
use super::devices::Devices;
use super::domains::{DomainCache, Domains};
use super::node::{NodeId, NodeInfo, PodInfo, Slot};
use super::resources::{self, Of, Request};
use crate::snapshot::node::Node;
use crate::snapshot::pod::{Pod, PodSpec};
use crate::snapshot::{Snapshot, Str};
use foldhash::HashMap;
use std::sync::{Arc, OnceLock};

/// The scheduler's view of a cluster.
#[derive(Debug, Clone)]
pub struct State {
    snapshot: Snapshot,
    minor: u32,
    catalogue: Arc<Catalogue>,
    nodes: Vec<Arc<NodeInfo>>,
    by_name: Arc<HashMap<Str, NodeId>>,
    /// Pods without a node for which one is held, in order of the nodes.
    nominated: Vec<(NodeId, Arc<PodInfo>)>,
    domains: DomainCache,
    census: Census,
    /// Nodes that have changed since the state was made from the snapshot.
    changed: Vec<NodeId>,
    /// Devices, once somebody has asked for them.
    devices: Arc<OnceLock<Devices>>,
    /// Pods that came and went since, where that is recorded.
    moves: Option<Vec<Move>>,
}

/// A pod that came to a node since the state was made from the snapshot, or went from it.
#[derive(Debug, Clone)]
pub struct Move {
    /// The pod.
    pub info: Arc<PodInfo>,
    /// The node.
    pub node: Arc<NodeInfo>,
    /// 1 for one that came, -1 for one that went.
    pub sign: i64,
}

impl State {
    /// The state of a snapshot.
    pub fn new(snapshot: &Snapshot) -> Self {
        let minor = snapshot.minor();
        let catalogue = Arc::new(Catalogue::default());
        let mut nodes: Vec<NodeInfo> =
            (0..).zip(snapshot.nodes.iter()).map(|(id, node)| NodeInfo::new(id, node, &catalogue)).collect();
        let by_name: HashMap<Str, NodeId> = nodes.iter().map(|n| (n.name().clone(), n.id)).collect();
        let mut requests = Requests::new(&catalogue, minor);
        let mut nominated = Vec::new();
        for pod in snapshot.pods.iter().filter(|p| !p.is_finished()) {
            let (name, bound) = match (&pod.node, &pod.status.nominated_node) {
                (Some(name), _) => (name, true),
                (None, Some(name)) => (name, false),
                (None, None) => continue,
            };
            let Some(node) = by_name.get(name).and_then(|id| nodes.get_mut(*id as usize)) else { continue };
            let info = Arc::new(requests.info(pod));
            if bound {
                node.add(info);
            } else {
                nominated.push((node.id, info));
            }
        }
        nominated.sort_by_key(|(node, _)| *node);
        Self {
            census: Census::new(nodes.iter().map(|n| (n.id, &*n.pods))),
            snapshot: snapshot.clone(),
            minor,
            nodes: nodes.into_iter().map(Arc::new).collect(),
            by_name: Arc::new(by_name),
            nominated,
            catalogue,
            domains: DomainCache::default(),
            changed: Vec::new(),
            devices: Arc::default(),
            moves: None,
        }
    }

    /// The same, which records the pods that come and go: see [`moves`](Self::moves).
    pub fn recording(snapshot: &Snapshot) -> Self {
        Self { moves: Some(Vec::new()), ..Self::new(snapshot) }
    }

    /// The same nodes and pods, with everything else as another snapshot has it.
    #[must_use]
    pub fn over(&self, snapshot: &Snapshot) -> Self {
        Self { snapshot: snapshot.clone(), devices: Arc::default(), ..self.clone() }
    }

    /// The same nodes, with the pods that came and went in a snapshot that was made from this one's, and everything else as
    /// it has it.
    #[must_use]
    pub fn after(&self, changed: &Snapshot) -> Self {
        let mut state = self.over(changed);
        if self.snapshot.pods.is_same(&changed.pods) {
            return state;
        }
        let mut there = vec![false; self.snapshot.pods.len()];
        let mut new = Vec::new();
        for (pod, place) in changed.pods.iter().zip(changed.pods.places_in(&self.snapshot.pods)) {
            match place.and_then(|at| there.get_mut(at)) {
                Some(known) => *known = true,
                None => new.push(pod),
            }
        }
        for (pod, _) in self.snapshot.pods.iter().zip(there).filter(|(_, there)| !there) {
            state.remove(pod);
        }
        for pod in new.into_iter().filter(|p| !p.is_finished()) {
            match (&pod.node, &pod.status.nominated_node) {
                (Some(node), _) => {
                    state.bind(pod, node);
                }
                (None, Some(node)) => {
                    if let Some(id) = state.by_name.get(node).copied() {
                        state.nominate(pod, id);
                    }
                }
                (None, None) => {}
            }
        }
        state
    }

    /// The snapshot it was made from. Claims, volumes, classes, budgets and namespaces are read from it; its pods and
    /// nodes may differ from the state's.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The minor version of the scheduler that is mirrored.
    pub fn minor(&self) -> u32 {
        self.minor
    }

    /// Names behind the small numbers.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// All nodes, in order of their numbers (and names).
    pub fn nodes(&self) -> &[Arc<NodeInfo>] {
        &self.nodes
    }

    /// A node by its number.
    pub fn node(&self, id: NodeId) -> Option<&Arc<NodeInfo>> {
        self.nodes.get(id as usize)
    }

    /// A node by its name.
    pub fn node_named(&self, name: &str) -> Option<&Arc<NodeInfo>> {
        self.by_name.get(name).and_then(|id| self.node(*id))
    }

    /// The pods for which a node is held: every pod without a node whose status nominates it, also
    /// where that node, or any, cannot take it any more. So it is in the scheduler at the moment of a snapshot: the
    /// nominator (`pkg/scheduler/backend/queue/nominator.go`) takes nominations from the status when pods are queued or
    /// updated, and gives one up only when that pod's own next attempt fails and preemption finds nothing for it, or it is
    /// bound or deleted. A pod that does not preempt (its policy, or a victim still ending) keeps it even then.
    pub fn nominated_on(&self, node: NodeId) -> impl Iterator<Item = &Arc<PodInfo>> {
        let from = self.nominated.partition_point(|(held, _)| *held < node);
        let held = self.nominated.get(from..).unwrap_or_default();
        held.iter().take_while(move |(held, _)| *held == node).map(|(_, info)| info)
    }

    /// The devices, and which claims have them.
    pub fn devices(&self) -> &Devices {
        self.devices.get_or_init(|| Devices::new(&self.snapshot))
    }

    /// The domains that a node label makes.
    pub(super) fn domains(&self, key: &Str) -> Arc<Domains> {
        self.domains.get(key, &self.nodes)
    }

    /// On which nodes pods of a kind run.
    pub fn census(&self) -> &Census {
        &self.census
    }

    /// The nodes that have changed, or whose pods have, since the state was made from the snapshot; some of them twice.
    pub(super) fn changed(&self) -> &[NodeId] {
        &self.changed
    }

    /// The pods that came and went since the state was made; none where that is not recorded.
    pub(super) fn moves(&self) -> &[Move] {
        self.moves.as_deref().unwrap_or_default()
    }

    fn record(&mut self, info: &Arc<PodInfo>, node: NodeId, sign: i64) {
        if let (Some(moves), Some(node)) = (&mut self.moves, self.nodes.get(node as usize)) {
            moves.push(Move { info: info.clone(), node: node.clone(), sign });
        }
    }

    /// What the filters need of a pod that looks for a node.
    pub(super) fn incoming(&self, pod: &Arc<Pod>) -> Arc<PodInfo> {
        let sums = resources::requests(pod, Of::Incoming, self.minor);
        Arc::new(PodInfo::new(pod, Arc::new(Request::new(&sums, &self.catalogue)), &self.catalogue))
    }

    /// Binds a pod to a node: it takes its room from now on, and a node held for it is let go. False where there is no
    /// such node.
    pub fn bind(&mut self, pod: &Arc<Pod>, node: &str) -> bool {
        self.let_go(pod);
        let info = Arc::new(PodInfo::running(pod, &self.catalogue, self.minor));
        let slot = Slot::new(info.clone());
        let id = self.change(node, |n| n.add(info));
        id.map(|id| {
            self.census.change(id, &slot, 1);
            self.record(&slot.info, id, 1);
        })
        .is_some()
    }

    /// Takes a pod away from its node. False where it is on none.
    pub fn remove(&mut self, pod: &Pod) -> bool {
        self.let_go(pod);
        let Some(node) = &pod.node else { return false };
        self.remove_from(pod, &node.clone())
    }

    /// Takes a pod away from a node to which it was bound by [`bind`](Self::bind).
    pub fn remove_from(&mut self, pod: &Pod, node: &str) -> bool {
        let mut gone = None;
        let id = self.change(node, |n| gone = n.remove(pod));
        id.zip(gone)
            .map(|(id, slot)| {
                self.census.change(id, &slot, -1);
                self.record(&slot.info, id, -1);
            })
            .is_some()
    }

    /// Holds a node for a pod, in the place of one held before. Mirrors `AddNominatedPod`.
    pub fn nominate(&mut self, pod: &Arc<Pod>, node: NodeId) {
        self.let_go(pod);
        let info = Arc::new(PodInfo::running(pod, &self.catalogue, self.minor));
        let at = self.nominated.partition_point(|(held, _)| *held <= node);
        self.nominated.insert(at, (node, info));
        self.changed.push(node);
    }

    /// Holds no node for the pod any more. Mirrors `DeleteNominatedPodIfExists`.
    pub fn denominate(&mut self, pod: &Pod) {
        self.let_go(pod);
    }

    /// Holds no node for the pod any more.
    fn let_go(&mut self, pod: &Pod) {
        let held = |(_, info): &&(NodeId, Arc<PodInfo>)| same(&info.pod, pod);
        self.changed.extend(self.nominated.iter().filter(held).map(|(node, _)| *node));
        self.nominated.retain(|(_, info)| !same(&info.pod, pod));
    }

    /// Cordons a node, with the taint that follows. False where there is no such node.
    pub fn cordon(&mut self, node: &str) -> bool {
        self.change(node, NodeInfo::cordon).is_some()
    }

    /// Takes a cordon back. False where there is no such node.
    pub fn uncordon(&mut self, node: &str) -> bool {
        self.change(node, NodeInfo::uncordon).is_some()
    }

    /// Adds a node that has no pods yet, and a name that no other has.
    pub fn add_node(&mut self, node: &Arc<Node>) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NodeId::MAX);
        self.domains = self.domains.with(node);
        self.nodes.push(Arc::new(NodeInfo::new(id, node, &self.catalogue)));
        Arc::make_mut(&mut self.by_name).insert(node.meta.name.clone(), id);
        self.changed.push(id);
        id
    }

    /// Changes a node itself: its labels, its taints. False where there is no such node.
    pub fn change_node(&mut self, name: &str, change: impl FnOnce(&mut Node)) -> bool {
        // Its labels decide to which domains it belongs.
        self.domains = DomainCache::default();
        self.change(name, |n| change(Arc::make_mut(&mut n.node))).is_some()
    }

    fn change(&mut self, node: &str, change: impl FnOnce(&mut NodeInfo)) -> Option<NodeId> {
        let id = *self.by_name.get(node)?;
        change(Arc::make_mut(self.nodes.get_mut(id as usize)?));
        if self.changed.last() != Some(&id) {
            self.changed.push(id);
        }
        Some(id)
    }
}

fn same(a: &Pod, b: &Pod) -> bool {
    a.meta.name == b.meta.name && a.meta.namespace == b.meta.namespace
}

/// Requests of running pods; those of one template that were never resized share one.
struct Requests<'a> {
    catalogue: &'a Catalogue,
    minor: u32,
    by_spec: HashMap<*const PodSpec, Arc<Request>>,
    /// What was found of the pod before: those of one template often stand together, and share their labels.
    last: Option<PodInfo>,
}

impl<'a> Requests<'a> {
    fn new(catalogue: &'a Catalogue, minor: u32) -> Self {
        Self { catalogue, minor, by_spec: HashMap::default(), last: None }
    }

    fn info(&mut self, pod: &Arc<Pod>) -> PodInfo {
        let request = self.of(pod);
        let alike = |last: &&PodInfo| {
            Arc::ptr_eq(&last.pod.spec, &pod.spec)
                && last.pod.meta.labels.is_same(&pod.meta.labels)
                && last.pod.meta.namespace == pod.meta.namespace
        };
        let info = match self.last.as_ref().filter(alike) {
            Some(last) => PodInfo { pod: pod.clone(), request, ..last.clone() },
            None => PodInfo::new(pod, request, self.catalogue),
        };
        self.last = Some(info.clone());
        info
    }

    fn of(&mut self, pod: &Pod) -> Arc<Request> {
        let compute = || Arc::new(Request::new(&resources::requests(pod, Of::Running, self.minor), self.catalogue));
        if resources::has_resize(pod) {
            return compute();
        }
        self.by_spec.entry(Arc::as_ptr(&pod.spec)).or_insert_with(compute).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::{cluster, find, node, pod};
    use serde_json::json;

    #[test]
    fn a_nomination_holds_room_until_the_scheduler_gives_it_up() {
        // Node n has 4 cpu. It is held for a pod of 3 cpu that its labels keep away by now.
        let held = json!({"spec": {"priority": 10, "nodeSelector": {"disk": "gone"}, "containers":
            [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}, "status": {"nominatedNodeName": "n"}});
        for (priority, fits) in [(0, false), (10, false), (11, true)] {
            let p = json!({"spec": {"priority": priority, "containers":
                [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}});
            let objects = [node("n", json!({})), pod("held", held.clone()), pod("p", p)];
            let snapshot = cluster(&objects);
            let mut state = State::new(&snapshot);
            let (held, p) = (find(&snapshot, "held"), find(&snapshot, "p"));
            assert!(state.fits(&held).is_empty(), "the pod it is held for fits nowhere");
            assert_eq!(!state.fits(&p).is_empty(), fits, "priority {priority}");
            state.remove(&held);
            assert_eq!(state.fits(&p), ["n".into()], "let go, priority {priority}");
        }
    }

    #[test]
    fn after_pods_came_and_went_it_is_as_if_made_anew() {
        let runs = |name: &str, on: &str, cpu: &str, priority: i32| {
            pod(
                name,
                json!({"spec": {"nodeName": on, "priority": priority,
                    "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}),
            )
        };
        let asks = |name: &str, cpu: &str| {
            let containers = json!([{"name": "c", "resources": {"requests": {"cpu": cpu}}}]);
            pod(name, json!({"spec": {"priority": 5, "containers": containers}}))
        };
        let held = |name: &str| {
            let containers = json!([{"name": "c", "resources": {"requests": {"cpu": "3"}}}]);
            pod(name, json!({"spec": {"priority": 9, "containers": containers}, "status": {"nominatedNodeName": "m"}}))
        };
        // Nodes have 4 cpu.
        let before = cluster(&[
            node("n", json!({})),
            node("m", json!({})),
            runs("x", "n", "3", 0),
            runs("y", "n", "1", 9),
            held("gone"),
            asks("p", "2"),
        ]);
        let new = cluster(&[runs("z", "m", "1", 9), held("held")]);
        let first = State::recording(&before);
        for (title, without, with, fits, below) in [
            ("as it is", &[][..], &[][..], &[][..], true),
            ("the low one goes", &["x"], &[], &["n"], false),
            ("what holds the node goes", &["gone"], &[], &["m"], true),
            ("another one holds it", &["gone"], &["held"], &[], true),
            ("another one comes", &["gone", "x"], &["z"], &["n", "m"], false),
        ] {
            let mut changed = before.clone();
            without.iter().for_each(|name| changed.pods.remove("a", name));
            with.iter().for_each(|name| changed.pods.put(find(&new, name)));
            changed.reindex();
            let (quick, anew) = (first.after(&changed), State::new(&changed));
            let p = find(&changed, "p");
            let sorted = |mut names: Vec<Str>| {
                names.sort();
                names
            };
            let mut want: Vec<Str> = fits.iter().map(|n| Str::from(*n)).collect();
            want.sort();
            for state in [quick, anew] {
                assert_eq!(sorted(state.fits(&p)), want, "{title}");
                assert_eq!(state.node_named("n").map(|n| n.has_below(5)), Some(below), "{title}");
            }
        }
    }
}
