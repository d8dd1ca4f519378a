//! The NodeClaims of nodes, by node, and when one that is being deleted takes the pods of its node along.

use super::node_claim::NodeClaim;
use super::taints::tolerates_disrupted;
use crate::autoscale::presence::{Autoscaler, Presence};
use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Str};
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;
use std::sync::Arc;

/// The NodeClaims of nodes, where Karpenter runs as far as can be seen.
#[derive(Debug, Default)]
pub struct NodeClaims(HashMap<Str, Arc<NodeClaim>>);

impl NodeClaims {
    /// Those of a snapshot, by the names of their nodes.
    pub fn new(snapshot: &Snapshot) -> Self {
        let claims = NodeClaim::all(snapshot);
        // Whether Karpenter runs is looked for among all pods.
        if claims.is_empty() || matches!(Autoscaler::Karpenter.presence(snapshot), Presence::Down(_)) {
            return Self::default();
        }
        let named = |c: Arc<NodeClaim>| (Str::from(&*c.object.status.node_name), c);
        Self(claims.into_iter().map(named).filter(|(node, _)| !node.is_empty()).collect())
    }

    /// That of a node.
    pub fn of(&self, node: &str) -> Option<&NodeClaim> {
        self.0.get(node).map(|c| &**c)
    }

    /// When Karpenter deletes a pod past its budget, as its NodeClaim is being deleted: so long before the deadline as
    /// the pod has grace. Mirrors `podDeleteTimeWithGracePeriod` of `node/termination/terminator/terminator.go`, and
    /// `IsDrainable` of `utils/pod/scheduling.go`.
    pub fn deletes(&self, pod: &Pod) -> Option<Timestamp> {
        let claim = self.of(pod.node.as_deref()?)?;
        if pod.is_mirror() || tolerates_disrupted(pod) {
            return None;
        }
        claim.deleted()?;
        let grace = SignedDuration::from_secs(pod.spec.termination_grace.max(0));
        claim.deadline()?.checked_sub(grace).ok()
    }
}
