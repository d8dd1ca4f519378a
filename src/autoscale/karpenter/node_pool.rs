//! A NodePool as Karpenter reads it. Mirrors `NewNodeClaimTemplate` (`provisioning/scheduling/nodeclaimtemplate.go`),
//! `utils/nodepool`, and what `Provisioner.NewScheduler` leaves out.

use super::labels::{INITIALIZED, NODE_POOL, Provider, REGISTERED};
use super::requirement::{Operator, Requirement};
use super::requirements::Requirements;
use crate::sched::resources::Sums;
use crate::snapshot::intern::Interner;
use crate::snapshot::node::Taint;
use crate::snapshot::object::Object;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::{Snapshot, Str};
use crate::wire::karpenter::{self as wire, NodeSelectorRequirementWithMinValues};
use crate::wire::scalar;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A NodePool.
#[derive(Debug, Clone)]
pub struct NodePool {
    /// As it was read.
    pub object: Arc<Object<wire::NodePool>>,
    /// Who makes its nodes.
    pub provider: Provider,
    /// What its template says of its nodes' labels: its requirements and its labels.
    pub requirements: Requirements,
    /// What its nodes' labels are: what its template says, and what Karpenter adds.
    pub labels: Requirements,
    /// What its nodes keep away.
    pub taints: Vec<Taint>,
    /// How large it may become.
    pub limits: Vec<(Str, Quantity)>,
    /// Fields that hold what cannot be read.
    pub unread: Vec<String>,
}

/// Why Karpenter takes no new node from a pool, whatever a pod asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// It is being deleted.
    Deleting,
    /// `spec.replicas`: it has a fixed number of nodes.
    Static,
    /// Its Ready condition is not True; what the condition says.
    NotReady(Str),
    /// It holds what cannot be read; where.
    Unread(Str),
}

impl NodePool {
    /// Every NodePool, in the order in which Karpenter tries them: by weight, then the name that is later in the
    /// alphabet first. Mirrors `OrderByWeight`.
    pub fn all(snapshot: &Snapshot) -> Vec<Self> {
        let mut pools: Vec<Self> = snapshot.node_pools.iter().map(Self::read).collect();
        let weight = |p: &Self| p.object.spec.weight.unwrap_or(0);
        pools.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| b.name().cmp(a.name())));
        pools
    }

    /// Reads one.
    pub fn read(object: &Arc<Object<wire::NodePool>>) -> Self {
        let template = &object.spec.template;
        let class = &template.spec.node_class_ref;
        let provider = Provider::of_group(&class.group);
        let mut unread = Vec::new();
        let mut requirements = requirements(&template.spec.requirements, provider, &mut unread);
        for (key, value) in &template.metadata.labels {
            requirements.add(Requirement::equals(provider.normalized(key), value.as_str().into()));
        }
        let mut labels = requirements.clone();
        if !class.group.is_empty() {
            let key = format!("{}/{}", class.group, class.kind.to_ascii_lowercase());
            labels.add(Requirement::equals(&key, class.name.as_str().into()));
        }
        labels.add(Requirement::equals(NODE_POOL, object.meta.name.clone()));
        for key in [REGISTERED, INITIALIZED] {
            labels.add(Requirement::equals(key, "true".into()));
        }
        let mut i = Interner::default();
        Self {
            provider,
            requirements,
            labels,
            taints: template.spec.taints.iter().map(|t| Taint::read(t, &mut i)).collect(),
            limits: quantities(&object.spec.limits).collect(),
            unread,
            object: object.clone(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &Str {
        &self.object.meta.name
    }

    /// What its nodes have together, as its status says.
    pub fn reported(&self) -> Sums {
        quantities(&self.object.status.resources).collect()
    }

    /// Why no new node comes from it, whatever a pod asks.
    pub fn unusable(&self) -> Option<Unusable> {
        let pool = &self.object;
        if pool.meta.is_terminating() {
            return Some(Unusable::Deleting);
        }
        if pool.spec.replicas.is_some() {
            return Some(Unusable::Static);
        }
        match pool.status.conditions.iter().find(|c| c.type_ == "Ready") {
            None => return Some(Unusable::NotReady("Karpenter has not looked at it yet".into())),
            Some(c) if c.status != "True" => return Some(Unusable::NotReady(c.message.as_str().into())),
            Some(_) => {}
        }
        self.unread.first().map(|field| Unusable::Unread(field.as_str().into()))
    }
}

/// Requirements as NodePools write them.
fn requirements(
    list: &[NodeSelectorRequirementWithMinValues],
    provider: Provider,
    unread: &mut Vec<String>,
) -> Requirements {
    let mut all = Requirements::default();
    for r in list {
        let Some(operator) = Operator::read(&r.operator) else {
            unread.push(format!("the operator {} of its requirement on {}", r.operator, r.key));
            continue;
        };
        let key = provider.normalized(&r.key).into();
        let values = r.values.iter().map(|v| Str::from(v.as_str()));
        all.add(Requirement::new(key, operator, values).with_min_values(r.min_values));
    }
    all
}

/// Amounts as NodePools and NodeClaims write them.
pub(super) fn quantities(map: &BTreeMap<String, scalar::Quantity>) -> impl Iterator<Item = (Str, Quantity)> {
    map.iter().map(|(name, quantity)| (name.as_str().into(), quantity.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, object};
    use serde_json::{Value, json};

    fn pool(more: Value) -> NodePool {
        let ready = json!([{"type": "Ready", "status": "True"}]);
        let pool = object("karpenter.sh/v1", "NodePool", "main").status(json!({"conditions": ready})).with(more);
        NodePool::all(&cluster().add(pool).snapshot()).remove(0)
    }

    #[test]
    fn pools_that_karpenter_does_not_look_at() {
        let condition = |status: &str| json!({"status": {"conditions": [{"type": "Ready", "status": status, "message": "no class"}]}});
        for (more, want) in [
            (json!({}), None),
            (condition("False"), Some(Unusable::NotReady("no class".into()))),
            (condition("Unknown"), Some(Unusable::NotReady("no class".into()))),
            (json!({"metadata": {"deletionTimestamp": "2026-01-01T12:00:00Z"}}), Some(Unusable::Deleting)),
            (json!({"spec": {"replicas": 0}}), Some(Unusable::Static)),
        ] {
            assert_eq!(pool(more.clone()).unusable(), want, "{more}");
        }
    }

    #[test]
    fn heavier_pools_come_first_and_later_names_before_earlier() {
        let named =
            |name: &str, weight: Value| object("karpenter.sh/v1", "NodePool", name).spec(json!({"weight": weight}));
        let pools = [named("b", Value::Null), named("c", json!(10)), named("a", json!(1)), named("d", json!(10))];
        let order: Vec<String> =
            NodePool::all(&cluster().all(pools).snapshot()).iter().map(|p| p.name().to_string()).collect();
        assert_eq!(order, ["d", "c", "a", "b"]);
    }

    #[test]
    fn its_nodes_have_the_labels_that_karpenter_gives_them() {
        let pool = pool(json!({"spec": {"template": {
        "metadata": {"labels": {"team": "web"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
            "requirements": [{"key": "beta.kubernetes.io/arch", "operator": "In", "values": ["amd64"]}],
        }}}}));
        let labels: Vec<String> = pool.labels.iter().map(ToString::to_string).collect();
        assert_eq!(
            labels,
            [
                "karpenter.kwok.sh/kwoknodeclass=default",
                "karpenter.sh/initialized=true",
                "karpenter.sh/nodepool=main",
                "karpenter.sh/registered=true",
                "kubernetes.io/arch=amd64",
                "team=web",
            ]
        );
    }
}
