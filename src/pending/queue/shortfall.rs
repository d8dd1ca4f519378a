//! What the pods that get no node lack together, and how many nodes more would take them.

use super::Queue;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::pending::facts::{count, some};
use crate::sched::cycle::Cycle;
use crate::sched::kin::Kin;
use crate::sched::node::NodeInfo;
use crate::sched::resources::{Of, requests};
use crate::sched::{NodeId, State};
use crate::snapshot::node::HOSTNAME;
use crate::snapshot::node::Node;
use crate::snapshot::pod::Pod;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::{Map, Str};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What the pods that get no node lack together.
#[derive(Debug, Clone, PartialEq)]
pub struct Shortfall {
    /// How many pods get no node.
    pub pods: usize,
    /// What they request together, by resource.
    pub requests: Vec<(Str, Quantity)>,
    /// The best of the nodes that are there to have more of; `None` where none of them would help.
    pub more: Option<More>,
}

/// Nodes that would have to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct More {
    /// How many.
    pub nodes: usize,
    /// The node that they are like.
    pub like: Str,
    /// Pods that fit on none of them.
    pub left: Vec<String>,
}

/// Up to so many pods are tried on new nodes, and nodes of so many types.
const TRIED: usize = 1000;
const TYPES: usize = 3;
/// Nodes are told apart by this many types at most.
const KNOWN: usize = 50;

/// What is short after all turns; `None` where every pod of the queue gets a node.
pub fn shortfall(queue: &Queue) -> Option<Shortfall> {
    if queue.waiting.is_empty() {
        return None;
    }
    let mut sums: BTreeMap<Str, Quantity> = BTreeMap::new();
    for pod in &queue.waiting {
        for (name, quantity) in requests(pod, Of::Incoming, queue.state.minor()).iter() {
            let sum = sums.entry(name.clone()).or_default();
            *sum = *sum + quantity;
        }
    }
    let wanted = queue.waiting.get(..TRIED).unwrap_or(&queue.waiting);
    let tried = types(&queue.state).into_iter().map(|model| more(queue, wanted, &model));
    let best = tried.min_by_key(|m| (m.left.len(), m.nodes));
    Some(Shortfall {
        pods: queue.waiting.len(),
        requests: sums.into_iter().filter(|(_, q)| *q > Quantity::ZERO).collect(),
        more: best.filter(|m| m.nodes > 0),
    })
}

/// One node of each type that new pods may be given, those of which there are most first.
fn types(state: &State) -> Vec<Arc<NodeInfo>> {
    let mut by_type: Vec<(usize, &Arc<NodeInfo>)> = Vec::new();
    let open = |n: &&Arc<NodeInfo>| !n.node.unschedulable && n.node.is_ready();
    for node in state.nodes().iter().filter(open) {
        let same = |a: &Node, b: &Node| {
            a.allocatable == b.allocatable && a.taints == b.taints && unnamed(&a.meta.labels) == unnamed(&b.meta.labels)
        };
        match by_type.iter().position(|(_, n)| same(&n.node, &node.node)) {
            Some(at) => by_type.get_mut(at).into_iter().for_each(|(n, _)| *n += 1),
            None if by_type.len() < KNOWN => by_type.push((1, node)),
            None => {}
        }
    }
    by_type.sort_by_key(|(n, node)| (std::cmp::Reverse(*n), node.id));
    by_type.into_iter().take(TYPES).map(|(_, node)| node.clone()).collect()
}

fn unnamed(labels: &Map) -> Vec<(&Str, &Str)> {
    labels.iter().filter(|(k, _)| &***k != HOSTNAME).collect()
}

/// How many nodes like this one take the pods, one after the other.
fn more(queue: &Queue, pods: &[Arc<Pod>], model: &Arc<NodeInfo>) -> More {
    let mut state = queue.state.clone();
    let mut added: Vec<NodeId> = Vec::new();
    let mut left = Vec::new();
    let mut hopeless: HashSet<Kin> = HashSet::new();
    for pod in pods {
        let kin = Kin::of(pod);
        if kin.as_ref().is_some_and(|k| hopeless.contains(k)) {
            left.push(pod.meta.path());
            continue;
        }
        let found = {
            let mut cycle = Cycle::new(&state, pod);
            added.iter().copied().find(|id| state.node(*id).is_some_and(|n| cycle.takes(n)))
        };
        if let Some(id) = found {
            put(&mut state, pod, id);
            continue;
        }
        let mut wider = state.clone();
        let id = add(&mut wider, model, added.len());
        let takes = wider.node(id).is_some_and(|n| Cycle::new(&wider, pod).takes(n));
        if takes {
            state = wider;
            added.push(id);
            put(&mut state, pod, id);
        } else {
            left.push(pod.meta.path());
            hopeless.extend(kin);
        }
    }
    More { nodes: added.len(), like: model.name().clone(), left }
}

fn put(state: &mut State, pod: &Arc<Pod>, node: NodeId) {
    if let Some(name) = state.node(node).map(|n| n.name().clone()) {
        state.bind(pod, &name);
    }
}

/// A new node like the model, with the pods that every such node has.
fn add(state: &mut State, model: &NodeInfo, at: usize) -> NodeId {
    let name: Str = format!("{}+{}", model.name(), at + 1).as_str().into();
    let mut node = (*model.node).clone();
    node.meta.labels = node.meta.labels.with(HOSTNAME, &name);
    node.meta.name = name.clone();
    let id = state.add_node(&Arc::new(node));
    for slot in model.pods.iter().filter(|s| s.of_node && !s.terminating) {
        let mut pod = (*slot.info.pod).clone();
        pod.meta.name = format!("{}+{}", pod.meta.name, at + 1).as_str().into();
        state.bind(&Arc::new(pod), &name);
    }
    id
}

impl Shortfall {
    /// In words.
    pub fn finding(&self) -> Finding {
        let sums: Vec<String> = self.requests.iter().map(|(name, q)| format!("{q} {name}")).collect();
        let together =
            if sums.is_empty() { String::new() } else { format!("; together they request {}", sums.join(", ")) };
        let (get, all) = if self.pods == 1 { ("gets", "it") } else { ("get", "all of them") };
        let more = match &self.more {
            None => "; they would fit on no node like those that are there".to_owned(),
            Some(m) => {
                let nodes = count(m.nodes, "more node");
                let taken = match m.left.len() {
                    0 => all.to_owned(),
                    n => format!("{} of them, not {}", self.pods.min(TRIED).saturating_sub(n), some(&m.left)),
                };
                format!("; {nodes} like {} would have room for {taken} (not verified)", m.like)
            }
        };
        let message = format!("{} in the scheduler's queue {get} no node{together}{more}", count(self.pods, "pod"));
        let about = self.more.iter().map(|m| Ref::node(&m.like));
        Finding::new(Code::Insufficient, message).severity(Severity::Info).about(about)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Object, cluster, node, object, pod};
    use serde_json::json;

    #[test]
    fn new_nodes_are_filled_one_by_one() {
        // Nodes have 4 cpu.
        let asks = |name: &str, cpu: &str| pod(&format!("a/{name}")).requests("cpu", cpu);
        let full = || asks("full", "4").on("n1").ready();
        let set = || {
            vec![
                object("apps/v1", "DaemonSet", "a/agent").status(json!({"desiredNumberScheduled": 1})),
                asks("agent", "2").owned_by("apps/v1", "DaemonSet/agent").on("n1").ready(),
            ]
        };
        let rows: [(&str, Vec<Object>, Option<&str>); 6] = [
            ("nothing waits", vec![asks("p", "1")], None),
            (
                "two on each new node",
                vec![full(), asks("p", "2"), asks("q", "2"), asks("r", "2")],
                Some(
                    "3 pods in the scheduler's queue get no node; together they request 6 cpu; 2 more nodes like n1 would have room for all of them (not verified)",
                ),
            ),
            (
                "one is larger than any",
                vec![full(), asks("p", "2"), asks("q", "5")],
                Some(
                    "2 pods in the scheduler's queue get no node; together they request 7 cpu; 1 more node like n1 would have room for 1 of them, not a/q (not verified)",
                ),
            ),
            (
                "no node helps",
                vec![asks("p", "5")],
                Some(
                    "1 pod in the scheduler's queue gets no node; together they request 5 cpu; they would fit on no node like those that are there",
                ),
            ),
            (
                "one on each",
                vec![
                    full(),
                    asks("p", "1").label("app", "x").spec(json!({"affinity": apart()})),
                    asks("q", "1").label("app", "x").spec(json!({"affinity": apart()})),
                ],
                Some("2 more nodes like n1 would have room for all of them"),
            ),
            (
                "a DaemonSet's pod is on every new node",
                [set(), vec![asks("p", "2").created("2026-01-01T09:00:00Z"), asks("q", "2"), asks("r", "2")]].concat(),
                Some(
                    "2 pods in the scheduler's queue get no node; together they request 4 cpu; 2 more nodes like n1 would have room for all of them",
                ),
            ),
        ];
        for (title, objects, want) in rows {
            let snapshot = cluster().add(node("n1")).all(objects).snapshot();
            let found = shortfall(&Queue::play(&State::new(&snapshot))).map(|s| s.finding().message);
            match (want, found) {
                (None, None) => {}
                (Some(words), Some(said)) => assert!(said.contains(words), "{title}: {said}"),
                (want, found) => panic!("{title}: {want:?}, {found:?}"),
            }
        }
    }

    fn apart() -> serde_json::Value {
        json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "x"}}}]}})
    }
}
