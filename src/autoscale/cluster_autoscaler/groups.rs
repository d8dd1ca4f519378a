//! Groups of nodes: what a cloud makes larger and smaller. The cloud alone knows them; here they are known by labels that
//! clouds set on nodes, and by the sizes that the autoscaler writes into the ConfigMap cluster-autoscaler-status.

use crate::snapshot::node::Node;
use crate::snapshot::{Snapshot, Str};
use std::collections::BTreeMap;

/// Labels with the name of a node's group: of EKS, eksctl, GKE, AKS, kOps, DigitalOcean, Linode, Scaleway, and kwok.
const LABELS: [&str; 9] = [
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "kops.k8s.io/instancegroup",
    "doks.digitalocean.com/node-pool",
    "lke.linode.com/pool-id",
    "k8s.scaleway.com/pool-name",
    "kwok-nodegroup",
];

/// The size of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// How many nodes it is to have.
    pub now: i64,
    /// As few it may have.
    pub least: i64,
}

/// The sizes of groups, by name, where they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups(BTreeMap<Str, Size>);

impl Groups {
    /// Groups of these sizes: name, nodes now, least.
    pub fn new(all: impl IntoIterator<Item = (Str, i64, i64)>) -> Self {
        Self(all.into_iter().map(|(name, now, least)| (name, Size { now, least })).collect())
    }

    /// Groups whose least sizes are known, each with as many nodes as there are that belong to it.
    pub fn counted(least: &[(Str, i64)], snapshot: &Snapshot) -> Self {
        let mut groups = Self::new(least.iter().map(|(name, least)| (name.clone(), 0, *least)));
        for node in snapshot.nodes.iter() {
            let Some(name) = groups.of(node).map(|(name, _)| name.clone()) else { continue };
            groups.0.entry(name).and_modify(|size| size.now += 1);
        }
        groups
    }

    /// Whether sizes are known at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The group of a node with its size, where that is known. Clouds put words of their own around the name.
    pub fn of(&self, node: &Node) -> Option<(&Str, Size)> {
        let name = name(node)?;
        let exact = self.0.get_key_value(name);
        let within = || {
            let mut found = self.0.iter().filter(|(group, _)| is_within(name, group));
            // Of several it may be any.
            found.next().filter(|_| found.next().is_none())
        };
        exact.or_else(within).map(|(group, size)| (group, *size))
    }
}

/// The name of a node's group, where a label tells.
pub fn name(node: &Node) -> Option<&Str> {
    LABELS.iter().find_map(|label| node.meta.labels.get(label))
}

/// Whether a node can be in a group: a label says so, or a cloud knows the machine.
pub fn has_group(node: &Node) -> bool {
    name(node).is_some() || node.provider_id.as_deref().is_some_and(|id| !id.is_empty())
}

/// Whether a name stands in another one as a word of its own: `workers` in `eks-workers-2ac5a0b8`.
fn is_within(name: &str, group: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    group.match_indices(name).any(|(at, _)| {
        let (before, rest) = group.split_at(at);
        ends(before.chars().next_back()) && ends(rest.chars().nth(name.chars().count()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, node};

    #[test]
    fn a_group_is_known_by_a_label_among_the_cloud_s_words() {
        let sizes = |names: &[&str]| Groups::new(names.iter().map(|n| ((*n).into(), 3, 1)));
        for (groups, want) in [
            (&["workers"][..], Some("workers")),
            (&["eks-workers-2ac5a0b8-11aa", "eks-spot-1ac5"][..], Some("eks-workers-2ac5a0b8-11aa")),
            (&["eks-workers-1", "eks-workers-2"][..], None),
            (&["eks-workers2-1"][..], None),
            (&[][..], None),
        ] {
            let snapshot = cluster().add(node("n1").label("eks.amazonaws.com/nodegroup", "workers")).snapshot();
            let node = snapshot.nodes.named("", "n1").expect("the node");
            assert_eq!(sizes(groups).of(node).map(|(name, _)| &**name), want, "{groups:?}");
        }
    }
}
