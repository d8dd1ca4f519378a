//! Where a new pod goes, found quickly: for the judgement of every node of a large cluster. Any node that the filters
//! take will do; what counts is whether there is one.

use super::ground::Ground;
use crate::sched::State;
use crate::sched::cycle::Cycle;
use crate::sched::node::{NodeId, NodeInfo};
use crate::sched::search::Move;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::collections::HashMap;
use std::sync::Arc;

/// So many nodes are tried before the whole cluster is looked at.
const TRIED: usize = 150;

/// Pods for which the filters come out the same: of one controller, with the same template and volumes.
type Shape = (Str, usize, usize);

/// Filters made ready once for each shape of pods.
pub struct Finder<'g> {
    ground: &'g Ground<'g>,
    shapes: HashMap<Shape, Known<'g>>,
}

struct Known<'g> {
    cycle: Cycle<'g>,
    /// The node found last: often good again.
    last: Option<NodeId>,
}

impl<'g> Finder<'g> {
    /// Knows nothing yet.
    pub fn new(ground: &'g Ground<'g>) -> Self {
        Self { ground, shapes: HashMap::new() }
    }

    /// A node that takes the pod, near the node that it had; `None` where the first nodes tried do not take it, which
    /// says nothing of the others.
    pub fn find(&mut self, state: &State, moves: &[Move], pod: &Arc<Pod>, had: Option<&NodeInfo>) -> Option<Str> {
        let uid = pod.meta.controller.as_ref()?.uid.clone();
        let shape = (uid, Arc::as_ptr(&pod.spec) as usize, Arc::as_ptr(&pod.volumes) as usize);
        let ground = self.ground;
        let known =
            self.shapes.entry(shape).or_insert_with(|| Known { cycle: Cycle::new(&ground.state, pod), last: None });
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
