//! DaemonSets. Mirrors `podsShouldBeOnNode` and `NodeShouldRunDaemonPod` of
//! `pkg/controller/daemon/daemon_controller.go`, and `CreatePodTemplate` and `ReplaceDaemonSetPodNodeNameNodeAffinity`
//! of its `util`.

use super::controller::{self, Controller, WorkloadStatus, pod_of};
use crate::finding::{Code, Ref};
use crate::lists::some;
use crate::sched::filters::{node_affinity, taint_toleration};
use crate::snapshot::node::Node;
use crate::snapshot::pod::{Pod, Toleration};
use crate::snapshot::selector::{NodeSelector, NodeTerm, Requirement};
use crate::snapshot::{Kind, Str};
use crate::wire::apps::DaemonSetStatus;
use std::collections::HashMap;
use std::sync::Arc;

pub(super) fn sync(c: &Controller<'_>, status: &DaemonSetStatus) -> WorkloadStatus {
    let pods = c.pods();
    let template = c.workload.template.as_ref().filter(|_| c.snapshot.coverage.has(Kind::Node));
    let Some(template) = template else { return by_status(c, status, &pods) };
    let pod = pod_of(c.workload, template);
    let tolerant = with_daemon_tolerations(&pod);
    let wanted: Vec<&Arc<Node>> = c.snapshot.nodes.iter().filter(|n| should_run(&tolerant, n)).collect();
    let mut by_node: HashMap<&Str, &Arc<Pod>> = HashMap::new();
    for p in &pods {
        if let Some(node) = node_of(p) {
            // A pod that stays counts before one that leaves.
            let known = by_node.entry(node).or_insert(p);
            if p.is_active() {
                *known = p;
            }
        }
    }
    let mut found = WorkloadStatus::having(&pods, wanted.len());
    let without: Vec<&&Arc<Node>> =
        wanted.iter().filter(|n| by_node.get(&n.meta.name).is_none_or(|p| !p.is_active())).collect();
    found.missing = without.len();
    if wanted.is_empty() {
        found.findings.push(none_wanted(c, &tolerant));
    } else if let Some(node) = without.first() {
        let on = some(without.iter().map(|n| n.meta.name.clone()), 3);
        match by_node.get(&node.meta.name) {
            Some(old) => {
                let message = format!("{} waits on {on} for its old pod to end, such as {}", c.name(), old.meta.name);
                found.findings.push(c.finding(Code::Ordered, message).about([Ref::pod(old)]));
            }
            None => {
                found.findings = c.refused();
                if found.findings.is_empty() {
                    found.findings.extend(c.behind(status.observed_generation, &format!(": no pod on {on}")));
                }
                if found.findings.is_empty() {
                    let mut f = c.unexplained(&found);
                    f.message.push_str(&format!("; without a pod: {on}"));
                    found.findings.push(f.about(without.iter().take(10).map(|n| Ref::node(&n.meta.name))));
                }
            }
        }
    }
    found
}

/// Without nodes to look at, what the controller reports counts.
fn by_status(c: &Controller<'_>, status: &DaemonSetStatus, pods: &[&Arc<Pod>]) -> WorkloadStatus {
    let wanted = controller::count(status.desired_number_scheduled);
    let mut found = WorkloadStatus::having(pods, wanted);
    found.missing = wanted.saturating_sub(found.current.max(controller::count(status.current_number_scheduled)));
    if found.missing > 0 {
        found.findings = c.refused();
    }
    found
}

/// The node that a DaemonSet's pod is for: its own, or the one that its affinity names.
pub fn node_of(pod: &Pod) -> Option<&Str> {
    pod.node.as_ref().or_else(|| {
        let terms = &pod.spec.node_affinity.as_ref()?.0;
        let field = terms.first()?.fields.first()?;
        (&*field.key == "metadata.name").then(|| field.values.first()).flatten()
    })
}

/// Why no node is to run a pod of it.
fn none_wanted(c: &Controller<'_>, pod: &Pod) -> crate::finding::Finding {
    let nodes = &c.snapshot.nodes;
    let (matching, other): (Vec<&Arc<Node>>, Vec<&Arc<Node>>) =
        nodes.iter().partition(|n| node_affinity::matches(pod, n));
    let (code, why) = if nodes.is_empty() {
        (Code::NoNodes, "the cluster has no nodes".to_owned())
    } else if matching.is_empty() {
        let rules = crate::pending::explain::nodes::selection(pod);
        (Code::NodeAffinity, format!("none of {} matches {rules}", crate::pending::facts::count(other.len(), "node")))
    } else {
        let first = matching.first().and_then(|n| Some((n, taint_toleration::untolerated(pod, n).next()?)));
        let taint = first.map(|(n, t)| format!(", such as {t} on {}", n.meta.name)).unwrap_or_default();
        (Code::Taint, format!("no node that it selects has only taints that it tolerates{taint}"))
    };
    c.finding(code, format!("{} wants no pods: {why}", c.name())).severity(crate::finding::Severity::Info)
}

/// Whether the controller makes a pod on a node: the pod has the controller's tolerations. Mirrors
/// `NodeShouldRunDaemonPod`.
pub fn should_run(pod: &Pod, node: &Node) -> bool {
    pod.node.as_ref().is_none_or(|name| *name == node.meta.name)
        && node_affinity::matches(pod, node)
        && taint_toleration::untolerated(pod, node).next().is_none()
}

/// The pod with the tolerations that the controller adds. Mirrors `AddOrUpdateDaemonPodTolerations`.
pub fn with_daemon_tolerations(pod: &Pod) -> Pod {
    let mut pod = pod.clone();
    let spec = Arc::make_mut(&mut pod.spec);
    let keys = ["not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"];
    let network = spec.host_network.then_some("network-unavailable");
    let added = keys.into_iter().chain(network).map(|key| Toleration {
        key: format!("node.kubernetes.io/{key}").into(),
        operator: "Exists".into(),
        value: "".into(),
        effect: if matches!(key, "not-ready" | "unreachable") { "NoExecute" } else { "NoSchedule" }.into(),
        seconds: None,
    });
    spec.tolerations = spec.tolerations.iter().cloned().chain(added).collect();
    pod
}

/// A DaemonSet's pod for one node, with what its controller adds.
pub fn for_node(one: &Pod, node: &Str) -> Pod {
    let mut pod = with_daemon_tolerations(one);
    pod.meta.name = format!("{}-{node}", one.meta.name).into();
    let spec = Arc::make_mut(&mut pod.spec);
    let field = Requirement::equals("metadata.name".into(), node.clone());
    let terms: Vec<NodeTerm> = match &spec.node_affinity {
        Some(a) => a.0.iter().map(|t| NodeTerm { fields: Box::new([field.clone()]), ..t.clone() }).collect(),
        None => vec![NodeTerm { fields: Box::new([field]), ..NodeTerm::default() }],
    };
    spec.node_affinity = Some(NodeSelector(terms.into()));
    pod
}
