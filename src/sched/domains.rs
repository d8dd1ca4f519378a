//! The domains that a node label divides the nodes into: zones, hosts.

use super::node::{NodeId, NodeInfo};
use crate::snapshot::Str;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The domains of one label key.
#[derive(Debug, Default)]
pub struct Domains {
    /// Their values, by number.
    pub values: Vec<Str>,
    by_node: Vec<Option<u32>>,
}

impl Domains {
    fn new(key: &str, nodes: &[Arc<NodeInfo>]) -> Self {
        let mut domains = Self::default();
        let mut numbers: HashMap<Str, u32> = HashMap::new();
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
    pub(super) fn get(&self, key: &Str, nodes: &[Arc<NodeInfo>]) -> Arc<Domains> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(key.clone()).or_insert_with(|| Arc::new(Domains::new(key, nodes))).clone()
    }
}
