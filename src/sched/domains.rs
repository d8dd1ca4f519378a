//! The domains that a node label divides the nodes into: zones, hosts.

use super::node::{NodeId, NodeInfo};
use crate::snapshot::Str;
use crate::snapshot::node::Node;
use foldhash::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The domains of one label key.
#[derive(Debug, Clone, Default)]
pub struct Domains {
    /// Their values, by number.
    pub values: Vec<Str>,
    by_node: Vec<Option<u32>>,
}

impl Domains {
    fn new(key: &str, nodes: &[Arc<NodeInfo>]) -> Self {
        let mut domains = Self::default();
        let mut numbers: HashMap<Str, u32> = HashMap::default();
        for node in nodes {
            let number = node.node.meta.labels.get(key).map(|value| {
                *numbers.entry(value.clone()).or_insert_with(|| {
                    domains.values.push(value.clone());
                    u32::try_from(domains.values.len() - 1).unwrap_or(u32::MAX)
                })
            });
            domains.by_node.push(number);
        }
        domains
    }

    /// With one more node.
    fn with(&self, key: &str, node: &Node) -> Self {
        let mut more = self.clone();
        let number = node.meta.labels.get(key).map(|value| {
            let known = more.values.iter().position(|v| v == value);
            let at = known.unwrap_or_else(|| {
                more.values.push(value.clone());
                more.values.len() - 1
            });
            u32::try_from(at).unwrap_or(u32::MAX)
        });
        more.by_node.push(number);
        more
    }

    /// The domain of a node; `None` where it lacks the label.
    pub fn of(&self, node: NodeId) -> Option<usize> {
        self.by_node.get(node as usize).copied().flatten().map(|n| n as usize)
    }

    /// How many domains there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }
}

/// Domains by key, found when they are asked for first. Copies of a state share them, as labels do not change there.
#[derive(Debug, Clone, Default)]
pub(super) struct DomainCache(Arc<Mutex<HashMap<Str, Arc<Domains>>>>);

impl DomainCache {
    /// With one more node; what was shared stays as it is.
    pub(super) fn with(&self, node: &Node) -> Self {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let more = known.iter().map(|(key, domains)| (key.clone(), Arc::new(domains.with(key, node)))).collect();
        Self(Arc::new(Mutex::new(more)))
    }

    pub(super) fn get(&self, key: &Str, nodes: &[Arc<NodeInfo>]) -> Arc<Domains> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(key.clone()).or_insert_with(|| Arc::new(Domains::new(key, nodes))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::State;
    use crate::sched::testing::{cluster, node};
    use serde_json::json;

    #[test]
    fn a_node_that_is_added_has_its_domain() {
        let zone = |name: &str, zone: &str| node(name, json!({"metadata": {"labels": {"zone": zone}}}));
        let snapshot = cluster(&[zone("a", "one"), zone("b", "two")]);
        let added = cluster(&[zone("c", "one"), zone("d", "three"), node("e", json!({}))]);
        let key = Str::from("zone");
        let mut state = State::new(&snapshot);
        let before = state.domains(&key);
        added.nodes.iter().for_each(|n| {
            state.add_node(n);
        });
        let (quick, anew) = (state.domains(&key), Domains::new(&key, state.nodes()));
        assert_eq!((before.len(), &quick.values), (2, &anew.values));
        for id in 0..=5 {
            assert_eq!(quick.of(id), anew.of(id), "node {id}");
        }
    }
}
