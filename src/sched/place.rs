//! Which node takes a pod: the one answer that plans and what-if share. The filters decide, then the scores, then
//! preemption.
//!
//! Above [`SAMPLED`] nodes upstream itself scores only part of the nodes that fit (`numFeasibleNodesToFind`), from a
//! place in the list that goes round, so which one it takes is chance. There the first node that the filters allow is
//! taken, near the one that the pod leaves: whether there is one is exact, which one it is is not. [`Placer`] keeps what
//! it has learnt for pods of one template, and looks again only at what has changed.

use super::cycle::Cycle;
use super::diagnosis::Diagnosis;
use super::filters::pod_topology_spread::FEW_DOMAINS;
use super::kin::Kin;
use super::message::{self, first_sentence};
use super::node::{NodeId, NodeInfo};
use super::nowhere::Nowhere;
use super::preemption::PreemptionOutcome;
use super::score;
use super::state::State;
use crate::snapshot::Str;
use crate::snapshot::pod::{Pod, TopologySpread};
use std::collections::HashMap;
use std::sync::Arc;

/// From more nodes than this on, the scheduler scores only some. Mirrors `minFeasibleNodesToFind`.
pub const SAMPLED: usize = 100;

/// So many nodes near the last one are tried before the whole cluster is looked at.
const TRIED: usize = 150;

/// What the scheduler does with a pod.
#[derive(Debug, Clone, PartialEq)]
pub enum Placed {
    /// It fits.
    On(Str),
    /// It fits once these pods are taken away.
    Preempting {
        /// The node.
        node: Str,
        /// The pods that are taken away.
        victims: Vec<Arc<Pod>>,
    },
    /// No node takes it.
    Nowhere,
}

impl State {
    /// Where the scheduler would put the pod. The state is left as it is.
    pub fn place(&self, pod: &Arc<Pod>) -> Placed {
        place(self, pod, self.nodes().len() > SAMPLED)
    }

    /// What the scheduler would write into the pod's condition now; empty where the pod fits.
    pub fn refusal(&self, pod: &Arc<Pod>) -> String {
        let diagnosis = self.diagnose(pod);
        if !diagnosis.fits.is_empty() {
            return String::new();
        }
        message::message(&diagnosis, &self.preempt(pod, &diagnosis))
    }
}

fn place(state: &State, pod: &Arc<Pod>, sampled: bool) -> Placed {
    let diagnosis = state.diagnose(pod);
    let chosen = if sampled { diagnosis.fits.first().copied() } else { score::best(state, pod, &diagnosis.fits) };
    match chosen.and_then(|id| state.node(id)) {
        Some(node) => Placed::On(node.name().clone()),
        None => preempting(state, pod, &diagnosis).unwrap_or(Placed::Nowhere),
    }
}

fn preempting(state: &State, pod: &Arc<Pod>, diagnosis: &Diagnosis) -> Option<Placed> {
    let preemption = state.preempt(pod, diagnosis);
    let chosen = preemption.chosen.filter(|_| preemption.outcome == PreemptionOutcome::Found)?;
    let node = state.node(chosen.node)?.name().clone();
    Some(Placed::Preempting { node, victims: chosen.victims.iter().map(|v| v.pod.clone()).collect() })
}

/// Places pods in states that have come of one state.
pub struct Placer<'s> {
    first: &'s State,
    sampled: bool,
    known: HashMap<Kin, Known<'s>>,
}

/// What is known of pods of one template.
struct Known<'s> {
    /// Their filters, made ready in the first state.
    cycle: Cycle<'s>,
    /// The node found last: often good again.
    last: Option<NodeId>,
    /// What is known where they fit nowhere in the first state, once that is asked.
    nowhere: Option<Option<Nowhere>>,
}

impl<'s> Placer<'s> {
    /// Knows nothing yet.
    pub fn new(first: &'s State) -> Self {
        Self { first, sampled: first.nodes().len() > SAMPLED, known: HashMap::new() }
    }

    /// Whether the first node that fits is taken, and not the best one.
    pub fn is_sampled(&self) -> bool {
        self.sampled
    }

    /// Where the scheduler puts the pod in a state that has come of the first one. `near` is the node that it leaves.
    pub fn place(&mut self, state: &State, pod: &Arc<Pod>, near: Option<&str>) -> Placed {
        if !self.sampled {
            return place(state, pod, false);
        }
        let near = near.and_then(|name| self.first.node_named(name));
        let known = self.known(pod);
        if let Some(known) = known {
            let nowhere = known.nowhere.as_ref().and_then(Option::as_ref);
            if nowhere.is_some_and(|n| n.still_holds(state, pod)) {
                return Placed::Nowhere;
            }
            if let Some(node) = known.find(state, pod, near.map(|n| &**n)) {
                return Placed::On(node);
            }
        }
        if let Some(known) = self.known(pod)
            && known.nowhere.is_none()
        {
            let nowhere = known.nowhere.insert(Nowhere::new(&mut known.cycle));
            if nowhere.as_ref().is_some_and(|n| n.still_holds(state, pod)) {
                return Placed::Nowhere;
            }
        }
        place(state, pod, true)
    }

    /// The first sentence of what the scheduler would write of a pod that fits nowhere in such a state.
    pub fn words(&mut self, state: &State, pod: &Arc<Pod>) -> String {
        let sampled = self.sampled;
        let known = self.known(pod).filter(|_| sampled).and_then(|known| {
            let nowhere = known.nowhere.as_ref()?.as_ref()?;
            Some(nowhere.words(&mut known.cycle, state, pod))
        });
        known.unwrap_or_else(|| first_sentence(&state.diagnose(pod)))
    }

    fn known(&mut self, pod: &Arc<Pod>) -> Option<&mut Known<'s>> {
        let first = self.first;
        let make = || Known { cycle: Cycle::new(first, pod), last: None, nowhere: None };
        Some(self.known.entry(Kin::of(pod)?).or_insert_with(make))
    }
}

impl Known<'_> {
    /// A node that takes the pod, near the one that it leaves; `None` where the first nodes tried do not take it, which
    /// says nothing of the others.
    fn find(&mut self, state: &State, pod: &Arc<Pod>, near: Option<&NodeInfo>) -> Option<Str> {
        let nodes = state.nodes();
        let start = near.map_or(0, |n| n.id as usize + 1);
        let ahead = nodes.iter().skip(start).chain(nodes.iter().take(start));
        let last: Option<&Arc<NodeInfo>> = self.last.and_then(|id| state.node(id));
        let found = self.cycle.first_fit_after(state.moves(), last.into_iter().chain(ahead).take(TRIED))?;
        // What the filters were made ready for may be different by now: pods that keep others away have come, or of very
        // many domains another one is the emptiest, or a cordon takes one out.
        let repelled = state.moves().iter().any(|m| m.sign > 0 && m.info.repels.is_some());
        let apart = |c: &TopologySpread| c.honor_taints || state.domains(&c.topology_key).len() > FEW_DOMAINS;
        let doubtful = repelled || pod.spec.topology_spread.iter().any(|c| c.required && apart(c));
        if doubtful && !Cycle::new(state, pod).takes(found) {
            return None;
        }
        self.last = Some(found.id);
        Some(found.name().clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::{cluster, find, merged, node, pod};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn the_emptier_node_is_likely() {
        let all = [
            node("n", json!({})),
            node("m", json!({})),
            pod("x", json!({"spec": {"nodeName": "n"}})),
            pod("p", json!({})),
        ];
        let snapshot = cluster(&all);
        assert_eq!(State::new(&snapshot).place(&find(&snapshot, "p")), Placed::On("m".into()));
    }

    /// A running pod: its node, its app, its priority, whether it keeps away from its own kind.
    type Row = (usize, usize, i32, bool);

    fn spec((_, app, priority, apart): Row) -> Value {
        let selector = json!({"matchLabels": {"app": format!("app-{app}")}});
        let term = json!({"topologyKey": "zone", "labelSelector": selector});
        json!({"metadata": {"labels": {"app": format!("app-{app}")}}, "spec": {"priority": priority,
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                if apart { json!([term]) } else { json!([]) }}}}})
    }

    fn running(at: usize, row: Row) -> Value {
        let on = json!({"spec": {"nodeName": format!("n{}", row.0)}, "status": {"phase": "Running"}});
        merged(pod(&format!("r{at}"), spec(row)), on)
    }

    fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
        prop::collection::vec((0usize..5, 0usize..3, 0i32..3, any::<bool>()), 0..most)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// What is known of pods of one template and looked at again in part gives the answer of a look at everything:
        /// a node that takes the pod, the same preemption, or none.
        #[test]
        fn a_quick_look_finds_what_a_full_one_finds(
            before in rows(12),
            steps in prop::collection::vec((any::<bool>(), 0usize..12, (0usize..5, 0usize..3, 0i32..3, any::<bool>())), 0..6),
            row in (0usize..5, 0usize..3, 0i32..3, any::<bool>()),
            spread in any::<bool>(),
            near in 0usize..5,
        ) {
            let nodes = (0..5).map(|n| {
                let room = json!({"allocatable": {"cpu": "3", "pods": "10", "memory": "8Gi"}});
                node(&format!("n{n}"), json!({"metadata": {"labels": {"zone": format!("z{}", n / 2)}}, "status": room}))
            });
            let constraint = json!([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": format!("app-{}", row.1)}}}]);
            let constraints = if spread { constraint } else { json!([]) };
            let p = merged(pod("p", spec(row)), json!({"spec": {"topologySpreadConstraints": constraints}}));
            let all: Vec<Value> =
                nodes.chain(before.iter().enumerate().map(|(at, row)| running(at, *row))).chain([p]).collect();
            let snapshot = cluster(&all);
            let first = State::recording(&snapshot);
            let p = find(&snapshot, "p");
            let mut quick = Placer { first: &first, sampled: true, known: HashMap::new() };
            let mut state = first.clone();
            let near = format!("n{near}");
            for (at, (go, which, come)) in steps.into_iter().enumerate() {
                // Pods go and come, as in a drain; what was learnt in between must not mislead.
                if go && which < before.len() {
                    state.remove(&find(&snapshot, &format!("r{which}")));
                } else {
                    let late = cluster(&[running(100 + at, come)]);
                    state.bind(&late.pods[0], &format!("n{}", come.0));
                }
                let exact = state.diagnose(&p);
                match quick.place(&state, &p, Some(&near)) {
                    Placed::On(node) => {
                        let id = state.node_named(&node).map(|n| n.id).unwrap();
                        prop_assert!(exact.fits.contains(&id), "{node} does not take it");
                    }
                    other => {
                        prop_assert!(exact.fits.is_empty(), "{:?} fits, and not {other:?}", exact.fits);
                        prop_assert_eq!(&other, &place(&state, &p, true));
                        if other == Placed::Nowhere {
                            prop_assert_eq!(quick.words(&state, &p), first_sentence(&exact));
                        }
                    }
                }
            }
        }
    }
}
