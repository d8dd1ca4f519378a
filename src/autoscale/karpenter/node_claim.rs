//! A NodeClaim: a machine that Karpenter has asked for, with the settings it had then. A NodePool's settings are those
//! of the next one.

use super::node_pool::quantities;
use crate::duration;
use crate::sched::resources::Sums;
use crate::snapshot::intern::Interner;
use crate::snapshot::meta::Meta;
use crate::snapshot::node::Taint;
use crate::snapshot::object::Object;
use crate::snapshot::{Snapshot, Str};
use crate::wire::karpenter as wire;
use crate::wire::meta::Condition;
use crate::wire::time::Time;
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// The annotation with the time by which a NodeClaim that is being deleted must be gone.
const TERMINATION_TIMESTAMP: &str = "karpenter.sh/nodeclaim-termination-timestamp";

/// A NodeClaim.
#[derive(Debug, Clone)]
pub struct NodeClaim {
    /// As it was read.
    pub object: Arc<Object<wire::NodeClaim>>,
    /// What its node keeps away.
    pub taints: Vec<Taint>,
    /// What its node keeps away while it starts.
    pub startup_taints: Vec<Taint>,
    /// What its node will have.
    pub capacity: Sums,
    /// What pods may have of it.
    pub allocatable: Sums,
}

impl NodeClaim {
    /// All of a snapshot.
    pub fn all(snapshot: &Snapshot) -> Vec<Arc<Self>> {
        snapshot.node_claims.iter().map(|c| Arc::new(Self::read(c))).collect()
    }

    fn read(object: &Arc<Object<wire::NodeClaim>>) -> Self {
        let mut i = Interner::default();
        let mut taints = |list: &[crate::wire::node::Taint]| list.iter().map(|t| Taint::read(t, &mut i)).collect();
        let (of_node, of_start) = (taints(&object.spec.taints), taints(&object.spec.startup_taints));
        Self {
            taints: of_node,
            startup_taints: of_start,
            capacity: quantities(&object.status.capacity).collect(),
            allocatable: quantities(&object.status.allocatable).collect(),
            object: object.clone(),
        }
    }

    /// Names, labels, age.
    pub fn meta(&self) -> &Meta {
        &self.object.meta
    }

    /// Its name.
    pub fn name(&self) -> &Str {
        &self.object.meta.name
    }

    /// The condition of a type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.object.status.conditions.iter().find(|c| c.type_ == kind)
    }

    /// Whether a condition is True.
    pub fn is(&self, kind: &str) -> bool {
        self.condition(kind).is_some_and(|c| c.status == "True")
    }

    /// Since when a condition is what it is.
    pub fn since(&self, kind: &str) -> Option<Timestamp> {
        self.condition(kind)?.last_transition_time.and_then(Time::timestamp)
    }

    /// How long a drain of its node lasts at most, from the NodeClaim's deletion; `None` where it has no end.
    pub fn termination_grace(&self) -> Option<SignedDuration> {
        span(self.object.spec.termination_grace_period.as_deref()?)
    }

    /// When it is deleted for its age, whatever stands in the way; `None` where never.
    pub fn expires(&self) -> Option<Timestamp> {
        let after = span(self.object.spec.expire_after.as_deref()?)?;
        self.meta().creation_timestamp?.checked_add(after).ok()
    }

    /// When it was deleted.
    pub fn deleted(&self) -> Option<Timestamp> {
        self.meta().deletion_timestamp
    }

    /// By when its node is emptied by force, where it is being deleted and has a `terminationGracePeriod`. Mirrors
    /// `nodeTerminationTime` and the annotation that `nodeclaim/lifecycle/controller.go` writes.
    pub fn deadline(&self) -> Option<Timestamp> {
        let noted = self.meta().annotations.get(TERMINATION_TIMESTAMP).and_then(|t| t.parse().ok());
        noted.or_else(|| self.deleted()?.checked_add(self.termination_grace()?).ok())
    }

    /// The same, were it deleted now, where it is not being deleted yet.
    pub fn deadline_from(&self, now: Timestamp) -> Option<Timestamp> {
        match self.deleted() {
            Some(_) => self.deadline(),
            None => now.checked_add(self.termination_grace()?).ok(),
        }
    }
}

/// A length of time as NodePools write it; `None` for `Never`.
pub fn span(text: &str) -> Option<SignedDuration> {
    SignedDuration::try_from(duration::parse(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, object};
    use serde_json::{Value, json};

    fn claim(more: Value) -> Arc<NodeClaim> {
        let claim = object("karpenter.sh/v1", "NodeClaim", "main-1").created("2026-01-01T00:00:00Z").with(more);
        NodeClaim::all(&cluster().add(claim).snapshot()).remove(0)
    }

    #[test]
    fn the_deadline_runs_from_the_deletion() {
        let deleted = json!({"deletionTimestamp": "2026-01-01T10:00:00Z"});
        let noted = json!({"deletionTimestamp": "2026-01-01T10:00:00Z",
            "annotations": {"karpenter.sh/nodeclaim-termination-timestamp": "2026-01-01T11:00:00Z"}});
        for (metadata, grace, want) in [
            (json!({}), json!("30m"), None),
            (deleted.clone(), Value::Null, None),
            (deleted, json!("30m"), Some("2026-01-01T10:30:00Z")),
            (noted, json!("30m"), Some("2026-01-01T11:00:00Z")),
        ] {
            let claim = claim(json!({"metadata": metadata, "spec": {"terminationGracePeriod": grace}}));
            assert_eq!(claim.deadline().map(|t| t.to_string()).as_deref(), want, "{metadata} {grace}");
        }
    }

    #[test]
    fn a_claim_expires_by_its_own_setting() {
        for (after, want) in
            [(json!("Never"), None), (Value::Null, None), (json!("1h30m"), Some("2026-01-01T01:30:00Z"))]
        {
            let claim = claim(json!({"spec": {"expireAfter": after}}));
            assert_eq!(claim.expires().map(|t| t.to_string()).as_deref(), want, "{after}");
        }
    }
}
