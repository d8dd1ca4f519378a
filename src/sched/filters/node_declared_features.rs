//! `NodeDeclaredFeatures`: the node's kubelet must declare every feature that the pod's spec shows it to need. Mirrors
//! `plugins/nodedeclaredfeatures`, on by default since 1.36, and `InferForScheduling` of the features registered in
//! `component-helpers/nodedeclaredfeatures`, which the scheduler asks without looking at the features' own gates.
//!
//! | feature | gate in 1.36 and 1.37 | asked of a pod |
//! |---|---|---|
//! | RestartAllContainersOnContainerExits | on | a container has a restart rule with that action |
//! | UserNamespacesHostNetworkSupport | off | not judged: the API server refuses `hostUsers: false` on the host's network |
//! | VolumeBindMountOptions (1.37) | off | not judged: the API server drops the field |
//!
//! All the others (resizes in place, web sockets to the kubelet, devices) are asked of updates alone, or of nothing.

use super::{Incoming, Prepared, simple};
use crate::sched::status::{Plugin, Reason, Verdict};
use crate::snapshot::node::Node;
use crate::snapshot::pod::{Container, Pod};

/// The plugin is on by default since this minor version.
const SINCE: u32 = 36;

const RESTART_ALL: &str = "RestartAllContainersOnContainerExits";

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    if incoming.state.minor() < SINCE || needed(incoming.pod()).next().is_none() {
        return Prepared::Skip;
    }
    simple(Plugin::NodeDeclaredFeatures, incoming, |incoming, node| {
        let lacks = undeclared(incoming.pod(), &node.node).next().is_some();
        lacks.then_some((Reason::DeclaredFeatures, Verdict::Unresolvable))
    })
}

/// A feature that a pod needs of its node's kubelet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need<'a> {
    /// The feature's name, as kubelets declare it.
    pub feature: &'static str,
    /// The container that asks for it.
    pub container: &'a Container,
}

/// The features that a pod needs.
pub fn needed(pod: &Pod) -> impl Iterator<Item = Need<'_>> {
    let mut containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    let restarts_all = containers.find(|c| c.restarts_all);
    restarts_all.map(|container| Need { feature: RESTART_ALL, container }).into_iter()
}

/// Those of them that a node's kubelet does not declare.
pub fn undeclared<'a>(pod: &'a Pod, node: &'a Node) -> impl Iterator<Item = Need<'a>> {
    needed(pod).filter(|n| node.declared_features.iter().all(|declared| **declared != *n.feature))
}

#[cfg(test)]
mod tests {
    use crate::sched::Plugin::NodeDeclaredFeatures;
    use crate::sched::testing::{node, pod, refusal, refusals, says_in};
    use serde_json::{Value, json};

    /// A container with a rule for the exit code 1.
    fn container(action: &str) -> Value {
        json!({"name": "c", "restartPolicy": "Never", "restartPolicyRules":
            [{"action": action, "exitCodes": {"operator": "In", "values": [1]}}]})
    }

    fn declares(features: &[&str]) -> Value {
        node("n", json!({"status": {"declaredFeatures": features}}))
    }

    #[test]
    fn features_are_inferred_as_upstream() {
        // After TestInferForScheduling (restartallcontainers) and TestFilter (nodedeclaredfeatures).
        const ALL: &str = "RestartAllContainersOnContainerExits";
        let plain = || json!([{"name": "plain"}]);
        let all = || json!([container("RestartAllContainers")]);
        let refused = || refusal(NodeDeclaredFeatures, false, &["node(s) didn't match Pod's required features"]);
        for (title, spec, declared, want) in [
            ("no rules", json!({"containers": plain(), "initContainers": plain()}), &[][..], vec![]),
            ("a container", json!({"containers": all(), "initContainers": plain()}), &[], refused()),
            ("an init container", json!({"containers": plain(), "initContainers": all()}), &[], refused()),
            (
                "one of two containers",
                json!({"containers": [{"name": "a"}, container("RestartAllContainers")]}),
                &[],
                refused(),
            ),
            ("another action", json!({"containers": [container("Restart")]}), &[], vec![]),
            ("declared", json!({"containers": all()}), &[ALL], vec![]),
            ("declared among others", json!({"containers": all()}), &["A", ALL, "Z"], vec![]),
            ("others alone are declared", json!({"containers": all()}), &["A", "RestartAllContainers"], refused()),
        ] {
            assert_eq!(refusals(&[declares(declared), pod("p", json!({"spec": spec}))]), want, "{title}");
        }
    }

    #[test]
    fn the_plugin_is_on_since_1_36() {
        const REFUSED: &str = "0/1 nodes are available: 1 node(s) didn't match Pod's required features.";
        let objects = [declares(&[]), pod("p", json!({"spec": {"containers": [container("RestartAllContainers")]}}))];
        for (version, refused) in [("v1.35.9", false), ("v1.36.0", true), ("v1.37.2", true)] {
            assert_eq!(says_in(&objects, version).starts_with(REFUSED), refused, "{version}");
        }
    }
}
