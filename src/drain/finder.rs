//! Where a new pod goes, found quickly: for the judgement of every node of a large cluster. Any node that the filters
//! take will do; what counts is whether there is one.

use super::ground::Ground;
use crate::sched::State;
use crate::sched::cycle::Cycle;
use crate::sched::kin::Kin;
use crate::sched::node::{NodeId, NodeInfo};
use crate::sched::nowhere::Nowhere;
use crate::sched::search::Move;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::collections::HashMap;
use std::sync::Arc;

/// So many nodes are tried before the whole cluster is looked at.
const TRIED: usize = 150;

/// Filters made ready once for each shape of pods.
pub struct Finder<'g> {
    ground: &'g Ground<'g>,
    known: HashMap<Kin, Known<'g>>,
}

struct Known<'g> {
    cycle: Cycle<'g>,
    /// The node found last: often good again.
    last: Option<NodeId>,
    /// What is known where it fits nowhere as the snapshot has it, once that is asked.
    nowhere: Option<Option<Nowhere>>,
}

impl<'g> Finder<'g> {
    /// Knows nothing yet.
    pub fn new(ground: &'g Ground<'g>) -> Self {
        Self { ground, known: HashMap::new() }
    }

    fn known(&mut self, pod: &Arc<Pod>) -> Option<&mut Known<'g>> {
        let state = &self.ground.state;
        let make = || Known { cycle: Cycle::new(state, pod), last: None, nowhere: None };
        Some(self.known.entry(Kin::of(pod)?).or_insert_with(make))
    }

    /// Whether it is known that no node takes the pod in such a state, nor can be made to: once a look at all nodes has
    /// found none.
    pub fn fits_nowhere(&mut self, state: &State, pod: &Arc<Pod>) -> bool {
        let nowhere = self.known(pod).and_then(|k| k.nowhere.as_ref()?.as_ref());
        nowhere.is_some_and(|n| n.still_holds(state, pod))
    }

    /// Takes note that a look at all nodes has found none.
    pub fn found_none(&mut self, pod: &Arc<Pod>) {
        if let Some(known) = self.known(pod) {
            known.nowhere.get_or_insert_with(|| Nowhere::new(&mut known.cycle));
        }
    }

    /// The scheduler's first sentence about a pod that is known to fit nowhere.
    pub fn words(&mut self, state: &State, pod: &Arc<Pod>) -> Option<String> {
        let known = self.known(pod)?;
        let nowhere = known.nowhere.as_ref()?.as_ref()?;
        Some(nowhere.words(&mut known.cycle, state, pod))
    }

    /// A node that takes the pod, near the node that it had; `None` where the first nodes tried do not take it, which
    /// says nothing of the others.
    pub fn find(&mut self, state: &State, moves: &[Move], pod: &Arc<Pod>, had: Option<&NodeInfo>) -> Option<Str> {
        let known = self.known(pod)?;
        let nodes = state.nodes();
        let start = had.map_or(0, |n| n.id as usize + 1);
        let ahead = nodes.iter().skip(start).chain(nodes.iter().take(start));
        let spread: Vec<&Str> =
            pod.spec.topology_spread.iter().filter(|c| c.required).map(|c| &c.topology_key).collect();
        // Counts per domain are exact only within the domain that the pod leaves.
        let same_place = |n: &&Arc<NodeInfo>| {
            spread.iter().all(|key| had.is_some_and(|had| had.node.meta.labels.get(key) == n.node.meta.labels.get(key)))
        };
        let last: Option<&Arc<NodeInfo>> = known.last.and_then(|id| state.node(id));
        let tried = last.into_iter().chain(ahead).filter(same_place).take(TRIED);
        let found = known.cycle.first_fit_after(moves, tried)?;
        known.last = Some(found.id);
        Some(found.name().clone())
    }
}
