//! On which nodes pods of a kind run: so that spread and affinity are counted from the pods they mean, and not from all
//! pods of the cluster. Upstream gets there by counting nodes in parallel, and by its lists of nodes that have pods with
//! (anti-)affinity (`HavePodsWithRequiredAntiAffinityList`).

use super::catalogue::{ClassId, RepelId};
use super::node::{NodeId, Slot};
use foldhash::{HashMap, HashMapExt};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many pods of a kind a node has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The node.
    pub node: NodeId,
    /// All of them.
    pub pods: i64,
    /// Those that are not being deleted.
    pub staying: i64,
}

impl Group {
    fn of(node: NodeId, slot: &Slot) -> Self {
        Self { node, pods: 1, staying: i64::from(!slot.terminating) }
    }

    fn add(&mut self, other: Self) {
        self.pods += other.pods;
        self.staying += other.staying;
    }
}

/// Groups by kind. What has changed since it was made stands beside it, so that a copy is cheap.
#[derive(Debug, Clone, Default)]
pub struct Census {
    classes: Tally,
    repels: Tally,
}

#[derive(Debug, Clone, Default)]
struct Tally {
    /// By kind, in order of the nodes.
    first: Arc<Vec<Vec<Group>>>,
    /// By kind and node: as many as there are nodes at the most, however often pods come and go.
    changes: HashMap<u32, BTreeMap<NodeId, Group>>,
}

impl Tally {
    fn start(first: &mut Vec<Vec<Group>>, kind: u32, group: Group) {
        let at = kind as usize;
        if first.len() <= at {
            first.resize_with(at + 1, Vec::new);
        }
        let Some(groups) = first.get_mut(at) else { return };
        match groups.last_mut().filter(|g| g.node == group.node) {
            Some(last) => last.add(group),
            None => groups.push(group),
        }
    }

    fn visit(&self, kinds: &[u32], mut visit: impl FnMut(u32, Group)) {
        for kind in kinds {
            self.first.get(*kind as usize).into_iter().flatten().for_each(|g| visit(*kind, *g));
            self.changes.get(kind).into_iter().flatten().for_each(|(_, change)| visit(*kind, *change));
        }
    }

    fn change(&mut self, kind: u32, change: Group) {
        let of_node = self.changes.entry(kind).or_default().entry(change.node);
        of_node.and_modify(|known| known.add(change)).or_insert(change);
    }
}

impl Census {
    /// Counts the pods of all nodes, which come in order of their numbers.
    pub fn new<'n>(nodes: impl Iterator<Item = (NodeId, &'n [Slot])>) -> Self {
        let (mut classes, mut repels) = (Vec::new(), Vec::new());
        for (node, pods) in nodes {
            for slot in pods {
                Tally::start(&mut classes, slot.class, Group::of(node, slot));
                if let Some((id, _)) = &slot.info.repels {
                    Tally::start(&mut repels, *id, Group::of(node, slot));
                }
            }
        }
        let made = |first| Tally { first: Arc::new(first), changes: HashMap::new() };
        Self { classes: made(classes), repels: made(repels) }
    }

    /// Notes a pod that came to a node (`sign` 1) or went from it (-1).
    pub fn change(&mut self, node: NodeId, slot: &Slot, sign: i64) {
        let one = Group::of(node, slot);
        let change = Group { pods: sign * one.pods, staying: sign * one.staying, ..one };
        self.classes.change(slot.class, change);
        if let Some((id, _)) = &slot.info.repels {
            self.repels.change(*id, change);
        }
    }

    /// Looks at every group of pods of some classes; a group may be negative, or come in parts.
    pub fn of_classes(&self, classes: &[ClassId], visit: impl FnMut(ClassId, Group)) {
        self.classes.visit(classes, visit);
    }

    /// The same for pods by their required anti-affinity terms.
    pub fn of_repels(&self, repels: &[RepelId], visit: impl FnMut(RepelId, Group)) {
        self.repels.visit(repels, visit);
    }
}
