//! The node side: cordons, taints, selectors, names, ports.

use super::{startup_taints, template};
use crate::autoscale::cluster_autoscaler::TO_BE_DELETED;
use crate::cure::{Change, Cure, Remedy};
use crate::finding::{Code, Finding, Ref, Severity};
use crate::pending::facts::{Facts, count, some, some_nodes};
use crate::sched::filters::{node_affinity, node_declared_features, node_ports, taint_toleration};
use crate::sched::node::{CORDON_TAINT, NodeInfo};
use crate::sched::{Plugin, Reason};
use crate::snapshot::age::age;
use crate::snapshot::node::Taint;
use crate::snapshot::pod::{Pod, Toleration, Truth};
use crate::snapshot::selector::{NodeSelector, NodeTerm};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Findings about the nodes themselves.
pub fn findings(f: &Facts<'_>) -> Vec<Finding> {
    let mut all: Vec<Finding> = cordoned(f).into_iter().collect();
    all.extend(taints(f));
    all.extend(affinity(f));
    all.extend(by_name(f));
    all.extend(ports(f));
    all.extend(features(f));
    all
}

fn refs<'a>(nodes: &[&'a Arc<NodeInfo>]) -> impl Iterator<Item = Ref> + use<'a> {
    nodes.iter().take(10).map(|n| Ref::node(n.name())).collect::<Vec<_>>().into_iter()
}

fn verb(n: usize, one: &'static str, many: &'static str) -> &'static str {
    if n == 1 { one } else { many }
}

fn cordoned(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::Unschedulable);
    if nodes.is_empty() {
        return None;
    }
    let roomy = f.nodes_only_refused_by(&[Plugin::NodeUnschedulable]);
    let room = match roomy.len() {
        0 => "; the pod would fit on none of them if they were uncordoned".to_owned(),
        n if n == nodes.len() => "; the pod would fit on all of them otherwise".to_owned(),
        _ => format!("; the pod would fit on {} otherwise", some_nodes(roomy.iter().copied())),
    };
    let room =
        if nodes.len() == 1 && !roomy.is_empty() { "; the pod would fit on it otherwise".to_owned() } else { room };
    let since = nodes.first().and_then(|n| n.node.taints.iter().find(|t| &*t.key == CORDON_TAINT)?.since);
    let since = since.map(|t| format!(" for {}", age(t, f.snapshot().now))).unwrap_or_default();
    let message = format!(
        "{} {} cordoned{since}: {}{room}",
        count(nodes.len(), "node"),
        verb(nodes.len(), "is", "are"),
        some_nodes(nodes.iter().copied())
    );
    let mut finding = Finding::new(Code::Cordoned, message).about(refs(&nodes));
    for node in roomy.iter().take(if f.tries { 3 } else { 0 }) {
        let mut state = f.state.clone();
        state.uncordon(node.name());
        let taken = f.taken_by(&state, f.pod());
        let cure = Cure::from(Change::Uncordon(node.node.clone()));
        let untried = cure.untried(f.snapshot());
        finding.remedies.push(untried.clone().tried(|| taken.as_ref() == Some(node.name())).unwrap_or(untried));
    }
    Some(finding)
}

/// One finding for each taint that is not tolerated.
fn taints(f: &Facts<'_>) -> Vec<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::Taint);
    let mut by_taint: BTreeMap<String, (Taint, Vec<&Arc<NodeInfo>>)> = BTreeMap::new();
    for node in nodes {
        for taint in taint_toleration::untolerated(f.pod(), &node.node) {
            if node.node.unschedulable && &*taint.key == CORDON_TAINT {
                continue;
            }
            let key = taint.to_string();
            by_taint.entry(key).or_insert_with(|| (taint.clone(), Vec::new())).1.push(node);
        }
    }
    // The control plane's own taint is there on purpose: what keeps a pod from a worker is the cause.
    let mut by_taint: Vec<(Taint, Vec<&Arc<NodeInfo>>)> = by_taint.into_values().collect();
    by_taint.sort_by_key(|(taint, _)| CONTROL_PLANE.contains(&&*taint.key));
    let each = by_taint.into_iter().flat_map(|(taint, nodes)| {
        let startup = startup_taints::finding(f, &taint, &nodes);
        std::iter::once(tainted(f, &taint, &nodes, startup.is_some())).chain(startup)
    });
    each.collect()
}

/// Taints of nodes that run the control plane.
const CONTROL_PLANE: [&str; 2] = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

fn is_lost(key: &str) -> bool {
    matches!(key, "node.kubernetes.io/not-ready" | "node.kubernetes.io/unreachable")
}

/// `passes`: whether some component takes the taint off by itself, so that nobody should tolerate it or take it off.
fn tainted(f: &Facts<'_>, taint: &Taint, nodes: &[&Arc<NodeInfo>], passes: bool) -> Finding {
    let names = some_nodes(nodes.iter().copied());
    let n = nodes.len();
    let now = f.snapshot().now;
    let since = |n: &NodeInfo| {
        let ready = n.node.condition("Ready").and_then(|c| c.since);
        taint.since.or(ready).map(|t| format!(" for {}", age(t, now))).unwrap_or_default()
    };
    let since = nodes.first().map(|n| since(n)).unwrap_or_default();
    let mut finding = if is_lost(&taint.key) {
        let state = if taint.key.ends_with("not-ready") { "not Ready (not-ready)" } else { "unreachable" };
        let heard = nodes.first().and_then(|n| n.node.heartbeat);
        let heard = heard.map(|t| format!("; last heard of {} ago", age(t, now))).unwrap_or_default();
        let ready = nodes.first().and_then(|n| n.node.condition("Ready"));
        let ready = ready.filter(|c| c.status == Truth::False && !c.message.is_empty());
        let said =
            ready.map(|c| format!("; its kubelet says: {}", c.message.trim_end_matches('.'))).unwrap_or_default();
        let message = format!("{} {} {state}{since}: {names}{heard}{said}", count(n, "node"), verb(n, "is", "are"));
        let finding = Finding::new(Code::NodeNotReady, message);
        match ready.and_then(|c| network(f, &c.message, nodes)) {
            Some(remedy) => finding.remedy(remedy),
            None => finding,
        }
    } else {
        let what = meaning(&taint.key).map(|m| format!(", {m}")).unwrap_or_default();
        let message = format!(
            "{} {} the taint {taint}, which the pod does not tolerate: {names}{what}{}",
            count(n, "node"),
            verb(n, "has", "have"),
            near_miss(f.pod(), taint)
        );
        Finding::new(Code::Taint, message)
    }
    .about(refs(nodes));
    // Kubernetes' own taints go when their cause goes; the control plane's are there on purpose.
    let own = ["node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "node-role.kubernetes.io/"];
    // Where every node runs the control plane there is no worker to wait for.
    let of_control_plane = |n: &Arc<NodeInfo>| n.node.taints.iter().any(|t| CONTROL_PLANE.contains(&&*t.key));
    let no_worker = CONTROL_PLANE.contains(&&*taint.key) && f.state.nodes().iter().all(of_control_plane);
    if !passes && (no_worker || !own.iter().any(|prefix| taint.key.starts_with(prefix))) {
        finding.remedies.extend(tolerate(f, taint));
        finding.remedies.extend(untaint(f, taint, nodes));
    }
    finding
}

/// The kubelet waits for a network plugin: its configuration is written by an agent's pod on the node.
fn network(f: &Facts<'_>, said: &str, nodes: &[&Arc<NodeInfo>]) -> Option<Remedy> {
    let node = nodes.first()?.name();
    if !["NetworkPluginNotReady", "cni plugin", "network plugin"].iter().any(|w| said.contains(w)) {
        return None;
    }
    let on = format!("--field-selector=spec.nodeName={node}");
    let text =
        format!("bring up the agent of the network plugin on node {node}: it writes the plugin's configuration there");
    Some(Remedy::advice(text).command(f.kubectl.line("kube-system", &["get", "pods", "-o", "wide", &on])))
}

/// A toleration that names the taint's key and does not bear the taint: what in it differs.
fn near_miss(pod: &Pod, taint: &Taint) -> String {
    let Some(t) = pod.spec.tolerations.iter().find(|t| t.key == taint.key) else { return String::new() };
    let differs = match &*t.operator {
        "Exists" | "Equal" | "" if !t.effect.is_empty() && t.effect != taint.effect => {
            format!("is for effect {}", t.effect)
        }
        "Equal" | "" if t.value.is_empty() => "has no value, and no operator Exists".to_owned(),
        "Equal" | "" => format!("is for value {}", t.value),
        operator => {
            format!("has operator {operator}, which kube-scheduler compares only with a feature that is off by default")
        }
    };
    format!("; its toleration of that key {differs}")
}

/// What Kubernetes' own taints mean.
fn meaning(key: &str) -> Option<&'static str> {
    Some(match key {
        "node.kubernetes.io/memory-pressure" => "as its kubelet reports memory pressure",
        "node.kubernetes.io/disk-pressure" => "as its kubelet reports disk pressure",
        "node.kubernetes.io/pid-pressure" => "as its kubelet is short of process numbers",
        "node.kubernetes.io/network-unavailable" => "as its network is not set up",
        "node.kubernetes.io/out-of-service" => "as somebody declared it out of service",
        "node.cloudprovider.kubernetes.io/uninitialized" => "until the cloud controller manager has initialised it",
        "node.cloudprovider.kubernetes.io/shutdown" => "as the cloud has shut it down",
        key if CONTROL_PLANE.contains(&key) => "as it runs the control plane",
        TO_BE_DELETED => "as the cluster autoscaler is removing it",
        "karpenter.sh/disrupted" | "karpenter.sh/disruption" => "as Karpenter is removing it",
        _ => return None,
    })
}

fn tolerate(f: &Facts<'_>, taint: &Taint) -> Option<Remedy> {
    let pod = f.pod_with(|spec| {
        let new = Toleration {
            key: taint.key.clone(),
            operator: "Equal".into(),
            value: taint.value.clone(),
            effect: taint.effect.clone(),
            seconds: None,
        };
        spec.tolerations = spec.tolerations.iter().cloned().chain([new]).collect();
    });
    let node = f.taken_by(f.state, &pod)?;
    let place = template::place(f);
    let advice = Remedy::advice(format!("tolerate {taint} (spec.tolerations {place}): the pod then fits on {node}"));
    advice.risk("the taint keeps pods away on purpose").tried(|| true)
}

fn untaint(f: &Facts<'_>, taint: &Taint, nodes: &[&Arc<NodeInfo>]) -> Option<Remedy> {
    let alone = f.nodes_only_refused_by(&[Plugin::TaintToleration]);
    let node = nodes.iter().find(|n| alone.iter().any(|a| a.id == n.id))?;
    let mut state = f.state.clone();
    state.change_node(node.name(), |n| {
        n.taints = n.taints.iter().filter(|t| t.to_string() != taint.to_string()).cloned().collect();
    });
    let taken = f.taken_by(&state, f.pod())?;
    let cure = Cure::from(Change::RemoveTaint(node.node.clone(), taint.clone()));
    let text = format!("remove the taint {taint} from node {}: the pod then fits on {taken}", node.name());
    cure.text(text).untried(f.snapshot()).tried(|| true)
}

/// What the pod's selector and its required affinity demand of a node.
pub fn selection(pod: &Pod) -> String {
    let pairs = pod.spec.node_selector.iter().map(|(k, v)| format!("nodeSelector {k}={v}"));
    let affinity = pod.spec.node_affinity.iter().map(|a| format!("node affinity {}", terms(a)));
    pairs.chain(affinity).collect::<Vec<_>>().join(", ")
}

/// What a required node affinity demands, in words.
pub fn terms(selector: &NodeSelector) -> String {
    let term = |t: &NodeTerm| {
        let all = t.labels.iter().chain(&t.fields).map(ToString::to_string);
        all.collect::<Vec<_>>().join(" and ")
    };
    selector.0.iter().map(term).collect::<Vec<_>>().join(", or ")
}

fn affinity(f: &Facts<'_>) -> Option<Finding> {
    let refused = |s: &crate::sched::Status| s.plugin == Plugin::NodeAffinity;
    let mut nodes: Vec<&Arc<NodeInfo>> = f
        .first_refusals()
        .filter(|(s, _)| refused(s))
        .flat_map(|(_, g)| g.nodes.iter().filter_map(|id| f.node(*id)))
        .collect();
    nodes.sort_by_key(|n| n.id);
    if nodes.is_empty() || f.diagnosis.rejection.is_some() {
        return None;
    }
    let pod = f.pod();
    let by_daemon = pod.is_of("DaemonSet");
    if let (Some(words), true) = (&pod.spec.node_affinity, f.diagnosis.left_out.is_some()) {
        let whose = if by_daemon { "a DaemonSet's pod for" } else { "bound by name to" };
        let message = format!(
            "the pod is {whose} one node ({}): {} left out",
            terms(words),
            if nodes.len() == 1 { "the other is".to_owned() } else { format!("the {} others are", nodes.len()) }
        );
        let severity = if by_daemon { Severity::Info } else { Severity::Error };
        return Some(Finding::new(Code::NodeAffinity, message).about(refs(&nodes)).severity(severity));
    }
    let message = format!(
        "{} {} the pod's rules: {}",
        count(nodes.len(), "node"),
        verb(nodes.len(), "does not match", "do not match"),
        mismatches(pod, &nodes)
    );
    let mut finding = Finding::new(Code::NodeAffinity, message).about(refs(&nodes));
    finding.remedies.extend(relabel(f));
    Some(finding)
}

/// Which rule rules out which nodes.
fn mismatches(pod: &Pod, nodes: &[&Arc<NodeInfo>]) -> String {
    let mut parts = Vec::new();
    for (key, value) in pod.spec.node_selector.iter() {
        let wrong: Vec<&&Arc<NodeInfo>> = nodes.iter().filter(|n| n.node.meta.labels.get(key) != Some(value)).collect();
        if wrong.is_empty() {
            continue;
        }
        let mut found: Vec<&str> = wrong.iter().filter_map(|n| n.node.meta.labels.get(key)).map(|v| &**v).collect();
        found.sort_unstable();
        found.dedup();
        let whose = some_nodes(wrong.iter().copied().copied());
        let there = match found.is_empty() {
            true => format!("{whose} {} the label", verb(wrong.len(), "lacks", "lack")),
            false => format!("{whose} {} {}", verb(wrong.len(), "has", "have"), some(found)),
        };
        parts.push(format!("the pod selects {key}={value}, and {there}"));
    }
    if let Some(affinity) = &pod.spec.node_affinity {
        let wrong: Vec<&&Arc<NodeInfo>> =
            nodes.iter().filter(|n| !affinity.matches(n.name(), &n.node.meta.labels)).collect();
        if !wrong.is_empty() {
            parts.push(format!(
                "the pod requires {}, which {} {} not match",
                terms(affinity),
                some_nodes(wrong.iter().copied().copied()),
                verb(wrong.len(), "does", "do")
            ));
        }
    }
    parts.join("; ")
}

/// Whether a label says what a node is, or which pool it is of, and so is set by the kubelet, a cloud or an autoscaler: the
/// domains that Kubernetes reserves (`kubernetes.io` and `k8s.io`, clouds' and Karpenter's own below them included), and
/// those of clouds, autoscalers and storage drivers beside them. A person who changes such a label makes it false.
fn is_given(key: &str) -> bool {
    const DOMAINS: &[&str] = &[
        "kubernetes.io",
        "k8s.io",
        "karpenter.sh",
        "karpenter.k8s.aws",
        "eks.amazonaws.com",
        "eksctl.io",
        "cloud.google.com",
        "kubernetes.azure.com",
        "digitalocean.com",
        "linode.com",
        "scaleway.com",
        "oraclecloud.com",
        "openshift.io",
        "cluster.x-k8s.io",
        "rancher.io",
        "gardener.cloud",
    ];
    key.split_once('/').is_some_and(|(domain, _)| {
        domain.starts_with("topology.")
            || DOMAINS.iter().any(|d| domain.strip_suffix(d).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    })
}

/// Labels of a node nothing else speaks against; where they say what a node is, another node.
fn relabel(f: &Facts<'_>) -> Option<Remedy> {
    let pod = f.pod();
    if pod.spec.node_selector.is_empty() || pod.spec.node_affinity.is_some() {
        return None;
    }
    let alone = f.nodes_only_refused_by(&[Plugin::NodeAffinity]);
    let node = *alone.first()?;
    let missing: Vec<(String, String)> = pod
        .spec
        .node_selector
        .iter()
        .filter(|(k, v)| node.node.meta.labels.get(k) != Some(v))
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect();
    let given: Vec<String> = missing.iter().filter(|(k, _)| is_given(k)).map(|(k, v)| format!("{k}={v}")).collect();
    if !given.is_empty() {
        return Some(Remedy::advice(format!(
            "add a node with {}, or change the pod's nodeSelector if the pod can run on {}",
            given.join(" "),
            some_nodes(alone.iter().copied())
        )));
    }
    let mut state = f.state.clone();
    state.change_node(node.name(), |n| {
        for (k, v) in &missing {
            n.meta.labels = n.meta.labels.with(k, v);
        }
    });
    debug_assert!(state.node_named(node.name()).is_some_and(|n| node_affinity::matches(pod, &n.node)));
    let taken = f.taken_by(&state, pod)?;
    let pairs: Vec<String> = missing.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let mut args = vec!["label", "node", &**node.name()];
    args.extend(pairs.iter().map(|p| &**p));
    let overwrites = missing.iter().any(|(k, _)| node.node.meta.labels.has(k));
    if overwrites {
        args.push("--overwrite");
    }
    Remedy::advice(format!("label node {} {}: the pod then fits on {taken}", node.name(), pairs.join(" ")))
        .command(f.kubectl.line("", &args))
        .risk("labels can tell what a node is for: other pods can then be scheduled there, too")
        .tried(|| true)
}

fn by_name(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::NodeName);
    let name = f.pod().node.as_ref()?;
    (!nodes.is_empty())
        .then(|| Finding::new(Code::NodeName, format!("the pod names node {name} itself")).about(refs(&nodes)))
}

fn ports(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::Ports);
    if nodes.is_empty() {
        return None;
    }
    let mut wanted: Vec<String> = Vec::new();
    let mut takers: Vec<String> = Vec::new();
    let mut objects: Vec<Ref> = refs(&nodes).collect();
    for node in &nodes {
        for (port, taker) in node_ports::conflicts(f.pod(), node) {
            let port = format!("{}/{}", port.port, port.protocol);
            if !wanted.contains(&port) {
                wanted.push(port);
            }
            let path = format!("{} ({})", taker.meta.path(), node.name());
            if !takers.contains(&path) {
                takers.push(path);
                objects.push(Ref::pod(taker));
            }
        }
    }
    let why = if f.pod().spec.host_network { ", as the pod uses the node's network" } else { "" };
    let message = format!(
        "host port {} is taken on {}{why}: by {}",
        wanted.join(", "),
        if nodes.len() == 1 { "1 node".to_owned() } else { count(nodes.len(), "node") },
        some(takers)
    );
    objects.truncate(20);
    Some(Finding::new(Code::HostPort, message).about(objects))
}

fn features(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::DeclaredFeatures);
    (!nodes.is_empty()).then(|| {
        let names = some_nodes(nodes.iter().copied());
        let needs = node_declared_features::needed(f.pod())
            .map(|n| format!("{} (for the restart rules of container {})", n.feature, n.container.name));
        let message = format!(
            "the pod needs a feature that the kubelet of {names} does not declare: {}; kubelets do since 1.36",
            some(needs)
        );
        Finding::new(Code::NodeFeature, message).about(refs(&nodes))
    })
}

#[cfg(test)]
mod tests {
    use super::is_given;

    /// After the reserved domains of kubernetes.io/docs/reference/labels-annotations-taints, and the labels of node groups
    /// that the autoscalers' documentation names.
    #[test]
    fn labels_that_nobody_sets_by_hand() {
        for (key, want) in [
            ("kubernetes.io/arch", true),
            ("kubernetes.io/hostname", true),
            ("topology.kubernetes.io/zone", true),
            ("node.kubernetes.io/instance-type", true),
            ("node-role.kubernetes.io/infra", true),
            ("failure-domain.beta.kubernetes.io/zone", true),
            ("topology.ebs.csi.aws.com/zone", true),
            ("kops.k8s.io/instancegroup", true),
            ("karpenter.sh/capacity-type", true),
            ("karpenter.k8s.aws/instance-family", true),
            ("eks.amazonaws.com/nodegroup", true),
            ("cloud.google.com/gke-nodepool", true),
            ("kubernetes.azure.com/agentpool", true),
            ("doks.digitalocean.com/node-pool", true),
            ("disk", false),
            ("example.com/disk", false),
            ("notkubernetes.io/arch", false),
            ("kubernetes.io.example.com/arch", false),
        ] {
            assert_eq!(is_given(key), want, "{key}");
        }
    }
}
