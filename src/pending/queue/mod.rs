//! The scheduler's queue, played to its end: every waiting pod has its turn, the highest priority first and then the
//! oldest, and what one gets the next ones do not find any more. Mirrors `plugins/queuesort/priority_sort.go` for the
//! order, and the cycle for each turn. A pod that preempts is nominated: its victims hold their room until the round is
//! over, and then every pod that waits has another turn, as the scheduler wakes them when pods are gone.
//!
//! Which of several nodes a pod gets is likely and not certain, as scores are mirrored in part ([`score`]), and equal ones
//! are drawn by lot.

mod finding;
pub mod shortfall;

use super::recorded::DEFAULT_SCHEDULER;
use super::scheduler_error;
use crate::sched::cycle::Cycle;
use crate::sched::gang::Gang;
use crate::sched::kin::Kin;
use crate::sched::node::PodInfo;
use crate::sched::preempt::{TERMINATING, terminating_by_preemption};
use crate::sched::{Candidate, NodeId, State, pre_enqueue, score};
use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Str};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What a pod's turn comes to.
#[derive(Debug, Clone)]
pub enum Turn {
    /// It gets this node.
    Placed {
        /// The node.
        node: NodeId,
        /// Whether no choice among several nodes had a part in it.
        certain: bool,
    },
    /// It gets this node once its victims are gone.
    Preempts {
        /// The node.
        node: NodeId,
        /// The pods that are evicted for it.
        victims: Vec<Arc<PodInfo>>,
    },
    /// It gets none.
    Waits,
}

/// The queue after every turn.
pub struct Queue {
    turns: HashMap<Key, Turn>,
    /// Where each pod stands in the queue.
    order: HashMap<Key, usize>,
    /// Who got each node, in order.
    takers: BTreeMap<NodeId, Vec<Arc<Pod>>>,
    /// The pods that get no node, in order.
    waiting: Vec<Arc<Pod>>,
    /// Whether neither a choice among nodes nor preemption had a part in who gets what.
    certain: bool,
    /// The cluster after all turns.
    state: State,
}

type Key = (Option<Str>, Str);

fn key(pod: &Pod) -> Key {
    (pod.meta.namespace.clone(), pod.meta.name.clone())
}

/// The pods that the scheduler has in its queue, in its order. A pod whose last attempt ended in an error is left out: it
/// takes no room while its cause lasts.
fn queued(snapshot: &Snapshot) -> Vec<Arc<Pod>> {
    let ours = |p: &&Arc<Pod>| {
        p.node.is_none()
            && !p.is_finished()
            && !p.is_terminating()
            && &*p.spec.scheduler_name == DEFAULT_SCHEDULER
            && scheduler_error::condition(p).is_none()
            && pre_enqueue::holds(p, snapshot).is_empty()
    };
    let mut pods: Vec<Arc<Pod>> = snapshot.pods.iter().filter(ours).cloned().collect();
    pods.sort_by(|a, b| {
        let at = |p: &Pod| (Reverse(p.priority()), p.meta.creation_timestamp);
        at(a).cmp(&at(b)).then_with(|| key(a).cmp(&key(b)))
    });
    pods
}

/// Whether pods that get a node can let this one fit: it has to run beside some, or its spread counts them.
fn is_helped_by_others(pod: &Pod) -> bool {
    !pod.spec.pod_affinity.is_empty() || pod.spec.topology_spread.iter().any(|c| c.required)
}

impl Queue {
    /// Plays the queue of a cluster.
    pub fn play(state: &State) -> Self {
        let mut waiting = queued(state.snapshot());
        let order = waiting.iter().enumerate().map(|(at, p)| (key(p), at)).collect();
        let mut play = Play {
            state: state.clone(),
            turns: HashMap::new(),
            takers: BTreeMap::new(),
            failed: HashSet::new(),
            victims: HashMap::new(),
            going: Vec::new(),
            certain: true,
        };
        for _ in 0..ROUNDS {
            let before = waiting.len();
            let evicted = play.round(&mut waiting);
            let woken = waiting.iter().any(|p| is_helped_by_others(p)) && waiting.len() < before;
            if waiting.is_empty() || !(evicted || woken) {
                break;
            }
        }
        let Play { state, mut turns, takers, certain, .. } = play;
        turns.extend(waiting.iter().map(|p| (key(p), Turn::Waits)));
        Self { turns, order, takers, waiting, certain, state }
    }

    /// What a pod's turn comes to; `None` for one that is not queued.
    pub fn turn(&self, pod: &Pod) -> Option<&Turn> {
        self.turns.get(&key(pod))
    }

    /// The pods before this one in the queue that get one of these nodes, in their order.
    fn before<'a>(&'a self, pod: &Pod, nodes: &[NodeId]) -> Vec<&'a Arc<Pod>> {
        let at = |p: &Pod| self.order.get(&key(p)).copied();
        let mine = at(pod);
        let on = nodes.iter().filter_map(|n| self.takers.get(n)).flatten();
        let mut found: Vec<&Arc<Pod>> = on.filter(|p| at(p) < mine).collect();
        found.sort_by_key(|p| at(p));
        found
    }
}

/// What the scheduler's cycle says of a pod.
enum Verdict {
    Fits {
        node: NodeId,
        alone: bool,
    },
    Preempts(Candidate),
    /// It has no node, perhaps until its victims are gone.
    Waits {
        for_victims: bool,
    },
}

/// Pods that preempt each other's room come to an end, or to this many rounds.
const ROUNDS: usize = 50;

/// The queue while it is played.
#[derive(Clone)]
struct Play {
    state: State,
    turns: HashMap<Key, Turn>,
    takers: BTreeMap<NodeId, Vec<Arc<Pod>>>,
    /// Pods like these fit nowhere since pods were last taken away.
    failed: HashSet<Kin>,
    /// What was evicted for each pod that preempts.
    victims: HashMap<Key, Vec<Arc<PodInfo>>>,
    /// Pods that are gone when the round is over, and their nodes.
    going: Vec<(Arc<PodInfo>, NodeId)>,
    /// Whether no choice among several nodes was made yet.
    certain: bool,
}

impl Play {
    /// Gives every waiting pod its turn, and leaves those that get no node. Whether pods were evicted that were not
    /// before.
    fn round(&mut self, waiting: &mut Vec<Arc<Pod>>) -> bool {
        let mut tried: HashSet<Gang> = HashSet::new();
        let all = std::mem::take(waiting);
        let mut left = Vec::new();
        for (at, pod) in all.iter().enumerate() {
            if self.turns.contains_key(&key(pod)) {
                continue;
            }
            let mut after = None;
            if let Some(gang) = Gang::of(pod, self.state.snapshot()) {
                if tried.insert(gang.clone()) {
                    self.together(&gang, all.get(at..).unwrap_or_default());
                }
            } else {
                after = self.turn(pod);
            }
            if !self.turns.contains_key(&key(pod)) {
                left.push(after.unwrap_or_else(|| pod.clone()));
            }
        }
        // A gang's later pods were placed with its first.
        left.retain(|p| !self.turns.contains_key(&key(p)));
        *waiting = left;
        let mut evicted = false;
        for (victim, node) in std::mem::take(&mut self.going) {
            let name = self.state.node(node).map(|n| n.name().clone());
            evicted |= name.is_some_and(|name| self.state.remove_from(&victim.pod, &name));
        }
        if evicted {
            self.failed.clear();
        }
        evicted
    }

    /// One pod's turn; the pod as it is nominated, where it preempts.
    fn turn(&mut self, pod: &Arc<Pod>) -> Option<Arc<Pod>> {
        let kin = Kin::of(pod).filter(|_| !is_helped_by_others(pod));
        if kin.as_ref().is_some_and(|k| self.failed.contains(k)) {
            return None;
        }
        match self.verdict(pod) {
            Verdict::Fits { node, alone } => {
                self.certain &= alone;
                let turn = match self.victims.remove(&key(pod)) {
                    Some(victims) => Turn::Preempts { node, victims },
                    None => Turn::Placed { node, certain: self.certain },
                };
                self.place(pod, node, turn);
                None
            }
            Verdict::Preempts(chosen) => {
                // Who comes first once the victims are gone is a matter of moments.
                self.certain = false;
                Some(self.nominate(pod, chosen.node, chosen.victims))
            }
            Verdict::Waits { for_victims: true } => {
                let node = pod.status.nominated_node.as_deref().and_then(|n| self.state.node_named(n))?.clone();
                let ends = |p: &Pod| terminating_by_preemption(p);
                let going = node.pods.iter().filter(|s| s.priority < pod.priority() && ends(&s.info.pod));
                let victims = going.map(|s| s.info.clone()).collect();
                Some(self.nominate(pod, node.id, victims))
            }
            Verdict::Waits { for_victims: false } => {
                // What was held for it is let go when an attempt fails and preemption finds nothing.
                self.failed.extend(kin);
                None
            }
        }
    }

    /// What the scheduler's cycle says of the pod in the present state.
    fn verdict(&self, pod: &Arc<Pod>) -> Verdict {
        let mut cycle = Cycle::new(&self.state, pod);
        let diagnosis = cycle.diagnose();
        // The node that is held for it is tried first.
        let held = pod.status.nominated_node.as_deref().and_then(|n| self.state.node_named(n)).map(|n| n.id);
        let held = held.filter(|n| diagnosis.fits.binary_search(n).is_ok());
        if let Some(node) = held.or_else(|| score::best(&self.state, pod, &diagnosis.fits)) {
            return Verdict::Fits { node, alone: held.is_some() || diagnosis.fits.len() == 1 };
        }
        let preemption = cycle.preempt(&diagnosis);
        let for_victims = preemption.message == TERMINATING;
        preemption.chosen.map_or(Verdict::Waits { for_victims }, Verdict::Preempts)
    }

    /// Holds the node for the pod, whose victims are gone when the round is over. The nominations of pods of lower
    /// priority there are taken back. Mirrors `prepareCandidate`.
    fn nominate(&mut self, pod: &Arc<Pod>, node: NodeId, victims: Vec<Arc<PodInfo>>) -> Arc<Pod> {
        self.going.extend(victims.iter().map(|v| (v.clone(), node)));
        let all = self.victims.entry(key(pod)).or_default();
        all.extend(victims.into_iter().filter(|v| !v.pod.is_terminating()));
        let mut nominated = (**pod).clone();
        nominated.status.nominated_node = self.state.node(node).map(|n| n.name().clone());
        let nominated = Arc::new(nominated);
        let lower = self.state.nominated_on(node).map(|info| &info.pod).filter(|p| p.priority() < pod.priority());
        let lower: Vec<Arc<Pod>> = lower.cloned().collect();
        lower.iter().for_each(|p| self.state.denominate(p));
        self.state.nominate(&nominated, node);
        nominated
    }

    fn place(&mut self, pod: &Arc<Pod>, node: NodeId, turn: Turn) {
        let Some(name) = self.state.node(node).map(|n| n.name().clone()) else { return };
        self.state.bind(pod, &name);
        self.takers.entry(node).or_default().push(pod.clone());
        self.turns.insert(key(pod), turn);
    }

    /// The turn of a gang: its waiting pods get nodes together, or none of them does.
    fn together(&mut self, gang: &Gang, queue: &[Arc<Pod>]) {
        let bound = gang.pods(self.state.snapshot()).filter(|p| p.node.is_some());
        let mut there = i64::try_from(bound.count()).unwrap_or(i64::MAX);
        let mut trial = self.clone();
        for pod in queue.iter().filter(|p| gang.has(p)) {
            trial.turn(pod);
            there = there.saturating_add(i64::from(trial.turns.contains_key(&key(pod))));
        }
        if there >= gang.wanted {
            *self = trial;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Object, cluster, find, node, object, pod};
    use serde_json::json;

    fn asks(name: &str, cpu: &str, priority: i32, created: &str) -> Object {
        pod(&format!("a/{name}"))
            .created(&format!("2026-01-01T{created}:00Z"))
            .requests("cpu", cpu)
            .spec(json!({"priority": priority}))
    }

    /// What becomes of each pod: its node, `node<victims`, or `-`.
    fn played(objects: Vec<Object>, names: &[&str]) -> Vec<String> {
        let snapshot = cluster().all(objects).snapshot();
        let state = State::new(&snapshot);
        let queue = Queue::play(&state);
        let node = |id: &NodeId| state.node(*id).map(|n| n.name().to_string()).unwrap_or_default();
        let of = |name: &&str| match queue.turn(&find(&snapshot, &format!("a/{name}"))) {
            Some(Turn::Placed { node: n, .. }) => node(n),
            Some(Turn::Preempts { node: n, victims }) => {
                let victims: Vec<&str> = victims.iter().map(|v| &*v.pod.meta.name).collect();
                format!("{}<{}", node(n), victims.join(","))
            }
            Some(Turn::Waits) => "-".to_owned(),
            None => "not queued".to_owned(),
        };
        names.iter().map(of).collect()
    }

    #[test]
    fn the_queue_has_the_scheduler_s_order() {
        // Nodes have 4 cpu. Judged by the `queue` run of tests/controlplane.
        let runs = |name: &str, cpu: &str, priority| asks(name, cpu, priority, "08:00").on("n1").ready();
        let group = |n: i64| {
            object("scheduling.k8s.io/v1beta1", "PodGroup", "a/g")
                .spec(json!({"schedulingPolicy": {"gang": {"minCount": n}}}))
        };
        let of_gang = |name: &str| asks(name, "2", 10, "09:00").spec(json!({"schedulingGroup": {"podGroupName": "g"}}));
        for (title, objects, names, want) in [
            (
                "the higher priority first",
                vec![node("n1"), asks("old", "3", 0, "09:00"), asks("high", "3", 10, "10:00")],
                vec!["old", "high"],
                vec!["-", "n1"],
            ),
            (
                "the older of two equals",
                vec![node("n1"), asks("young", "3", 0, "10:00"), asks("old", "3", 0, "09:00")],
                vec!["old", "young"],
                vec!["n1", "-"],
            ),
            (
                "a small one behind a large one that fits nowhere",
                vec![node("n1"), asks("large", "5", 10, "09:00"), asks("small", "1", 0, "10:00")],
                vec!["large", "small"],
                vec!["-", "n1"],
            ),
            (
                "the first preempts, and the second, too: what it leaves is enough",
                vec![
                    node("n1"),
                    runs("low", "4", 0),
                    asks("first", "2", 10, "09:00"),
                    asks("second", "2", 10, "10:00"),
                ],
                vec!["first", "second"],
                vec!["n1<low", "n1<low"],
            ),
            (
                "what the first takes by preemption is not there for the second",
                vec![node("n1"), runs("low", "4", 0), asks("first", "3", 10, "09:00"), asks("second", "2", 5, "10:00")],
                vec!["first", "second"],
                vec!["n1<low", "-"],
            ),
            (
                "a pod that has to run beside one of lower priority",
                vec![
                    node("n1"),
                    asks("cache", "1", 0, "10:00").label("app", "cache"),
                    asks("web", "1", 10, "09:00").spec(json!({"affinity": {"podAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname",
                            "labelSelector": {"matchLabels": {"app": "cache"}}}]}}})),
                ],
                vec!["web", "cache"],
                vec!["n1", "n1"],
            ),
            (
                "gated, of another scheduler, and being deleted",
                vec![
                    node("n1"),
                    asks("gated", "1", 0, "09:00").spec(json!({"schedulingGates": [{"name": "x"}]})),
                    asks("other", "1", 0, "09:00").spec(json!({"schedulerName": "x"})),
                    asks("going", "1", 0, "09:00").deleted("2026-01-01T12:00:00Z", 0),
                ],
                vec!["gated", "other", "going"],
                vec!["not queued"; 3],
            ),
            (
                "a gang that has no room for all of it leaves the room to others",
                vec![node("n1"), group(3), of_gang("g0"), of_gang("g1"), of_gang("g2"), asks("alone", "2", 0, "10:00")],
                vec!["g0", "g1", "g2", "alone"],
                vec!["-", "-", "-", "n1"],
            ),
            (
                "a gang with room",
                vec![node("n1"), group(2), of_gang("g0"), of_gang("g1"), asks("alone", "2", 0, "08:00")],
                vec!["g0", "g1", "alone"],
                vec!["n1", "n1", "-"],
            ),
        ] {
            assert_eq!(played(objects, &names), want, "{title}");
        }
    }
}
