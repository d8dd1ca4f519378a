//! What Cluster API holds of how a node is drained: its Machine, and MachineDrainRules. They stand in the management cluster,
//! which may be the same. Mirrors `core/reconcilers/machine/machine_controller.go` and its `drain/` of
//! `sigs.k8s.io/cluster-api` v1.14.

use crate::duration;
use crate::finding::Ref;
use crate::snapshot::intern::{Interner, Map};
use crate::snapshot::object::Object;
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Snapshot, Str};
use crate::wire::machines as wire;
use crate::wire::meta as wire_meta;
use crate::wire::time::Time;
use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;

/// The annotation of a node that names its Machine. Mirrors `MachineAnnotation` of `api/core/v1beta2/common_types.go`.
const MACHINE: &str = "cluster.x-k8s.io/machine";
/// The annotation by which a Machine is deleted without a drain. Mirrors `ExcludeNodeDrainingAnnotation`.
pub const EXCLUDE_DRAIN: &str = "machine.cluster.x-k8s.io/exclude-node-draining";

/// The Machines of nodes, and the rules for draining them.
#[derive(Debug, Default)]
pub struct Machines {
    by_node: HashMap<Str, Arc<Object<wire::Machine>>>,
    rules: Vec<Rule>,
}

/// What is done with a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behavior {
    /// It is evicted, those of a lower order before it.
    Drain(i64),
    /// It is left alone.
    Skip,
    /// It is waited for, and not evicted.
    WaitCompleted,
}

/// A MachineDrainRule.
#[derive(Debug)]
struct Rule {
    namespace: Str,
    behavior: Behavior,
    machines: Vec<(Option<LabelSelector>, Option<LabelSelector>)>,
    pods: Vec<(Option<LabelSelector>, Option<LabelSelector>)>,
}

impl Machines {
    /// Those of a snapshot.
    pub fn new(snapshot: &Snapshot) -> Self {
        let mut by_node: HashMap<Str, Arc<Object<wire::Machine>>> = HashMap::new();
        for machine in snapshot.machines.iter() {
            let node: Str = Str::from(&*machine.status.node_ref.name);
            // Nodes of several clusters may have one name: the node names its Machine.
            let named = snapshot.nodes.named("", &node).and_then(|n| n.meta.annotations.get(MACHINE));
            if !node.is_empty() && named.is_none_or(|name| **name == *machine.meta.name) {
                by_node.entry(node).or_insert_with(|| machine.clone());
            }
        }
        // The table is sorted by name, and the first rule that matches is the one.
        let rules = snapshot.machine_drain_rules.iter().filter_map(|rule| Rule::read(rule)).collect();
        Self { by_node, rules }
    }

    /// The Machine of a node.
    pub fn of(&self, node: &str) -> Option<&Arc<Object<wire::Machine>>> {
        self.by_node.get(node)
    }

    /// What is done with a pod by the first MachineDrainRule that matches. Mirrors `machineDrainRulesFilter` of
    /// `drain/filters.go` and `getMatchingMachineDrainRules` of `drain/drain.go`.
    pub fn rule(&self, snapshot: &Snapshot, pod: &Pod) -> Option<Behavior> {
        if self.rules.is_empty() {
            return None;
        }
        let machine = self.of(pod.node.as_deref()?)?;
        let cluster = snapshot.cluster_api_clusters.named(machine.meta.ns(), &machine.spec.cluster_name);
        let none = Map::default();
        let namespace = snapshot.namespaces.named("", pod.meta.ns()).map_or(&none, |n| &n.meta.labels);
        let cluster = cluster.map_or(&none, |c| &c.meta.labels);
        let both = |pairs: &[(Option<LabelSelector>, Option<LabelSelector>)], one: &Map, other: &Map| {
            let matches =
                |selector: &Option<LabelSelector>, labels: &Map| selector.as_ref().is_none_or(|s| s.matches(labels));
            pairs.is_empty() || pairs.iter().any(|(a, b)| matches(a, one) && matches(b, other))
        };
        let applies = |rule: &&Rule| {
            *rule.namespace == *machine.meta.ns()
                && both(&rule.machines, &machine.meta.labels, cluster)
                && both(&rule.pods, &pod.meta.labels, namespace)
        };
        self.rules.iter().find(applies).map(|rule| rule.behavior)
    }
}

impl Rule {
    fn read(rule: &Object<wire::MachineDrainRule>) -> Option<Self> {
        let behavior = match &*rule.spec.drain.behavior {
            "Drain" => Behavior::Drain(i64::from(rule.spec.drain.order.unwrap_or_default())),
            "Skip" => Behavior::Skip,
            "WaitCompleted" => Behavior::WaitCompleted,
            _ => return None,
        };
        let mut i = Interner::default();
        let mut read = |selector: &Option<wire_meta::LabelSelector>| {
            selector.as_ref().map(|s| LabelSelector::read(Some(s), &mut i))
        };
        Some(Self {
            namespace: rule.meta.ns().into(),
            behavior,
            machines: rule.spec.machines.iter().map(|m| (read(&m.selector), read(&m.cluster_selector))).collect(),
            pods: rule.spec.pods.iter().map(|p| (read(&p.selector), read(&p.namespace_selector))).collect(),
        })
    }
}

/// What a finding about a Machine points to.
pub fn reference(machine: &Object<wire::Machine>) -> Ref {
    Ref::new("cluster.x-k8s.io/v1beta2", "Machine", machine.meta.ns(), &machine.meta.name)
}

/// How long a drain lasts at most, in seconds; `None` without end. Mirrors `nodeDrainTimeoutExceeded`.
pub fn drain_timeout(machine: &wire::Machine) -> Option<i64> {
    let spec = &machine.spec;
    timeout(spec.deletion.node_drain_timeout_seconds, spec.node_drain_timeout.as_deref())
}

/// How long attached volumes are waited for after a drain; `None` without end. Mirrors `nodeVolumeDetachTimeoutExceeded`.
pub fn detach_timeout(machine: &wire::Machine) -> Option<i64> {
    let spec = &machine.spec;
    timeout(spec.deletion.node_volume_detach_timeout_seconds, spec.node_volume_detach_timeout.as_deref())
}

fn timeout(seconds: Option<i64>, duration: Option<&str>) -> Option<i64> {
    let written = || i64::try_from(duration::parse(duration?).ok()?.as_secs()).ok();
    seconds.or_else(written).filter(|seconds| *seconds > 0)
}

/// When the drain of a Machine that is being deleted began.
pub fn drain_began(machine: &Object<wire::Machine>) -> Option<Timestamp> {
    machine.meta.deletion_timestamp?;
    machine.status.deletion.node_drain_start_time.and_then(Time::timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Object as Json, cluster, node, object, pod};
    use serde_json::{Value, json};

    fn machine() -> Json {
        let machine = object("cluster.x-k8s.io/v1beta2", "Machine", "fleet/m1").label("role", "worker");
        machine.with(json!({"spec": {"clusterName": "c1"}, "status": {"nodeRef": {"name": "n1"}}}))
    }

    fn rule(name: &str, spec: Value) -> Json {
        object("cluster.x-k8s.io/v1beta2", "MachineDrainRule", name).spec(spec)
    }

    #[test]
    fn the_first_rule_that_matches_is_the_one() {
        // After TestGetPodsForEviction and TestMachineDrainRulesFilter of drain/{drain,filters}_test.go: rules are taken by
        // name; within a list of selectors one is enough, and of it both parts must match.
        let skip = json!({"behavior": "Skip"});
        let labels = |key: &str, value: &str| json!({"matchLabels": {key: value}});
        let matching = json!([{"selector": labels("app", "web"), "namespaceSelector": labels("team", "shop")}]);
        let other = json!([{"selector": labels("app", "web"), "namespaceSelector": labels("team", "else")}]);
        for (title, rules, want) in [
            ("no rule", vec![], None),
            ("for every pod", vec![("fleet/a", json!({"drain": skip}))], Some(Behavior::Skip)),
            ("of another namespace", vec![("else/a", json!({"drain": skip}))], None),
            (
                "an order",
                vec![("fleet/a", json!({"drain": {"behavior": "Drain", "order": 7}}))],
                Some(Behavior::Drain(7)),
            ),
            (
                "its pod and namespace",
                vec![("fleet/a", json!({"drain": skip, "pods": matching}))],
                Some(Behavior::Skip),
            ),
            ("another namespace's labels", vec![("fleet/a", json!({"drain": skip, "pods": other}))], None),
            (
                "its machine",
                vec![("fleet/a", json!({"drain": skip, "machines": [{"selector": labels("role", "worker")}]}))],
                Some(Behavior::Skip),
            ),
            (
                "another machine",
                vec![("fleet/a", json!({"drain": skip, "machines": [{"selector": labels("role", "control-plane")}]}))],
                None,
            ),
            (
                "its cluster",
                vec![("fleet/a", json!({"drain": skip, "machines": [{"clusterSelector": labels("env", "prod")}]}))],
                Some(Behavior::Skip),
            ),
            (
                "by name",
                vec![("fleet/b", json!({"drain": skip})), ("fleet/a", json!({"drain": {"behavior": "WaitCompleted"}}))],
                Some(Behavior::WaitCompleted),
            ),
        ] {
            let web = pod("shop/web").on("n1").label("app", "web");
            let namespace = object("v1", "Namespace", "shop").label("team", "shop");
            let of = object("cluster.x-k8s.io/v1beta2", "Cluster", "fleet/c1").label("env", "prod");
            let world = cluster().add(node("n1")).add(machine()).add(web).add(namespace).add(of);
            let world = rules.iter().fold(world, |world, (name, spec)| world.add(rule(name, spec.clone())));
            let snapshot = world.snapshot();
            let web = snapshot.pods.named("shop", "web").unwrap();
            assert_eq!(Machines::new(&snapshot).rule(&snapshot, web), want, "{title}");
        }
    }

    #[test]
    fn timeouts_are_read_of_both_versions() {
        for (spec, want) in [
            (json!({}), None),
            (json!({"deletion": {"nodeDrainTimeoutSeconds": 300}}), Some(300)),
            (json!({"nodeDrainTimeout": "5m0s"}), Some(300)),
            // 0 is without end.
            (json!({"deletion": {"nodeDrainTimeoutSeconds": 0}}), None),
            (json!({"nodeDrainTimeout": "0s"}), None),
        ] {
            let snapshot = cluster().add(node("n1")).add(machine().spec(spec.clone())).snapshot();
            let machines = Machines::new(&snapshot);
            assert_eq!(machines.of("n1").and_then(|m| drain_timeout(m)), want, "{spec}");
        }
    }
}
