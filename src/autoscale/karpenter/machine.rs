//! A node together with its NodeClaim, or either alone, as Karpenter sees it. Mirrors `StateNode` of
//! `pkg/controllers/state/statenode.go`.

use super::labels::{HOSTNAME, INITIALIZED, REGISTERED};
use super::node_claim::NodeClaim;
use super::taints::{DISRUPTED, is_of_the_start};
use crate::sched::State;
use crate::sched::node::NodeInfo;
use crate::sched::resources::{Sums, is_scalar};
use crate::snapshot::node::Taint;
use crate::snapshot::quantity::{Amounts, Quantity};
use crate::snapshot::{Map, Str};
use std::collections::HashMap;
use std::sync::Arc;

/// A node with its NodeClaim. One of the two is always there.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The node, once it has joined.
    pub node: Option<Arc<NodeInfo>>,
    /// The NodeClaim; a node without one is not Karpenter's.
    pub claim: Option<Arc<NodeClaim>>,
}

impl Machine {
    /// Every machine of a state: its nodes in their order, then NodeClaims whose node has not joined.
    pub fn all(state: &State) -> Vec<Self> {
        let claims = NodeClaim::all(state.snapshot());
        let by = |key: fn(&NodeClaim) -> &str| -> HashMap<&str, usize> {
            (0..).zip(&claims).map(|(at, c)| (key(c), at)).filter(|(key, _)| !key.is_empty()).collect()
        };
        let by_provider = by(|c| &c.object.status.provider_id);
        let by_node = by(|c| &c.object.status.node_name);
        let mut taken = vec![false; claims.len()];
        let mut all: Vec<Self> = Vec::with_capacity(state.nodes().len());
        for node in state.nodes() {
            let provider = node.node.provider_id.as_deref().and_then(|id| by_provider.get(id));
            let at = provider.or_else(|| by_node.get(&**node.name())).copied();
            if let Some(taken) = at.and_then(|at| taken.get_mut(at)) {
                *taken = true;
            }
            all.push(Self { node: Some(node.clone()), claim: at.and_then(|at| claims.get(at)).cloned() });
        }
        let alone = claims.into_iter().zip(taken).filter(|(_, taken)| !taken);
        all.extend(alone.map(|(claim, _)| Self { node: None, claim: Some(claim) }));
        all
    }

    /// Whether it is Karpenter's.
    pub fn is_managed(&self) -> bool {
        self.claim.is_some()
    }

    /// Whether its node has joined.
    pub fn is_registered(&self) -> bool {
        !self.is_managed() || self.node.as_ref().is_some_and(|n| is_true(&n.node.meta.labels, REGISTERED))
    }

    /// Whether pods may run on its node.
    pub fn is_initialized(&self) -> bool {
        !self.is_managed() || self.node.as_ref().is_some_and(|n| is_true(&n.node.meta.labels, INITIALIZED))
    }

    /// Whether Karpenter is taking it away: it counts as gone already. Mirrors `MarkedForDeletion`; what Karpenter
    /// holds in memory shows as its taint.
    pub fn is_going(&self) -> bool {
        let tainted = |n: &NodeInfo| n.node.taints.iter().any(|t| *t.key == *DISRUPTED && &*t.effect == "NoSchedule");
        match (&self.claim, &self.node) {
            (Some(claim), node) => {
                claim.meta().is_terminating()
                    || claim.is("InstanceTerminating")
                    || node.as_ref().is_some_and(|n| tainted(n))
            }
            (None, Some(node)) => node.node.meta.is_terminating(),
            (None, None) => false,
        }
    }

    /// Its name: that of its node once that has joined, else that of its NodeClaim.
    pub fn name(&self) -> &str {
        match (&self.node, &self.claim) {
            (Some(node), None) => node.name(),
            (Some(node), Some(_)) if self.is_registered() => node.name(),
            (_, Some(claim)) => claim.name(),
            (None, None) => "",
        }
    }

    /// Its labels: those of its node once that has joined, else those of its NodeClaim.
    pub fn labels(&self) -> Map {
        match (&self.node, &self.claim) {
            (Some(node), None) => node.node.meta.labels.clone(),
            (Some(node), Some(_)) if self.is_registered() => node.node.meta.labels.clone(),
            (_, Some(claim)) => claim.meta().labels.clone(),
            (None, None) => Map::default(),
        }
    }

    /// What its `kubernetes.io/hostname` is or will be.
    pub fn host(&self) -> Str {
        self.labels().get(HOSTNAME).filter(|h| !h.is_empty()).cloned().unwrap_or_else(|| self.name().into())
    }

    /// What it keeps away; what goes by itself while it starts does not count.
    pub fn taints(&self) -> Vec<Taint> {
        let (node, claim) = match (&self.node, &self.claim) {
            (Some(node), None) => return node.node.taints.to_vec(),
            (None, None) => return Vec::new(),
            (node, Some(claim)) => (node, claim),
        };
        let all: &[Taint] = match node {
            Some(node) if self.is_registered() => &node.node.taints,
            _ => &claim.taints,
        };
        let at_start = |t: &Taint| {
            is_of_the_start(t) || claim.startup_taints.iter().any(|s| s.key == t.key && s.effect == t.effect)
        };
        let starting = !self.is_initialized();
        all.iter().filter(|t| !(starting && at_start(t))).cloned().collect()
    }

    /// What it has. A node counts as one.
    pub fn capacity(&self) -> Sums {
        let mut all = self.amounts(|n| &n.node.capacity, |c| &c.capacity);
        all.set(&"nodes".into(), Quantity::units(1));
        all
    }

    /// What pods may have of it beside those that are there.
    pub fn available(&self, state: &State) -> Sums {
        let mut all = self.amounts(|n| &n.node.allocatable, |c| &c.allocatable);
        if let Some(node) = &self.node {
            let used: Vec<(Str, Quantity)> =
                all.iter().map(|(name, _)| (name.clone(), used(node, name, state))).collect();
            all.take_all(&used.into_iter().collect());
        }
        all
    }

    /// Until a node is ready for pods, its NodeClaim says what it does not.
    fn amounts(&self, of_node: fn(&NodeInfo) -> &Amounts, of_claim: fn(&NodeClaim) -> &Sums) -> Sums {
        let mut all = self.node.as_ref().map(|n| Sums::of(of_node(n))).unwrap_or_default();
        if let Some(claim) = self.claim.as_ref().filter(|_| !self.is_initialized()) {
            for (name, quantity) in of_claim(claim).iter() {
                if all.get(name).unwrap_or_default() == Quantity::ZERO {
                    all.set(name, quantity);
                }
            }
        }
        all
    }
}

/// What the pods of a node take of a resource.
fn used(node: &NodeInfo, name: &Str, state: &State) -> Quantity {
    match &**name {
        "cpu" => Quantity::milli(node.requested.cpu),
        "memory" => Quantity::units(node.requested.memory),
        "ephemeral-storage" => Quantity::units(node.requested.ephemeral),
        "pods" => Quantity::units(i64::try_from(node.pods.len()).unwrap_or(i64::MAX)),
        _ if is_scalar(name) => Quantity::units(node.requested.scalar(state.catalogue().resource(name))),
        _ => Quantity::ZERO,
    }
}

fn is_true(labels: &Map, key: &str) -> bool {
    labels.get(key).is_some_and(|v| &**v == "true")
}
