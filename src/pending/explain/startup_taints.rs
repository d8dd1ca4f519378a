//! Taints that a component sets, or has set, until it runs on the node, and then takes off by itself. Who tolerates such a
//! taint runs without the network or the storage that the component brings.

use crate::cure::Remedy;
use crate::finding::{Code, Finding};
use crate::pending::components::Component;
use crate::pending::facts::{Facts, some_nodes};
use crate::sched::node::NodeInfo;
use crate::snapshot::node::Taint;
use std::sync::Arc;

/// Who takes a taint off.
struct Remover {
    /// In words.
    who: String,
    /// The names that its pods bear.
    names: Vec<String>,
    /// Whether it takes the taint off the node that its pod is on, and not off all nodes from one place.
    on_node: bool,
}

/// Start-up taints whose remover is known, from the components' own documentation: the taint's key, who removes it, the
/// names of its pods, whether these run on each node.
const KNOWN: &[(&str, &str, &[&str], bool)] = &[
    ("node.cilium.io/agent-not-ready", "the Cilium agent", &["cilium", "cilium-agent"], true),
    ("node.cloudprovider.kubernetes.io/uninitialized", "the cloud controller manager", &["cloud-controller"], false),
    (
        "node.kubernetes.io/network-unavailable",
        "the network plugin (or the cloud's route controller)",
        &["calico-node", "flannel", "canal", "weave-net", "kube-router", "cilium", "antrea-agent", "kindnet"],
        true,
    ),
    ("ebs.csi.aws.com/agent-not-ready", "the node plugin of the EBS CSI driver", &["ebs-csi-node"], true),
    ("efs.csi.aws.com/agent-not-ready", "the node plugin of the EFS CSI driver", &["efs-csi-node"], true),
    ("fsx.csi.aws.com/agent-not-ready", "the node plugin of the FSx CSI driver", &["fsx-csi-node"], true),
    ("s3.csi.aws.com/agent-not-ready", "the node plugin of the S3 CSI driver", &["s3-csi-node"], true),
    (
        "disk.csi.azure.com/agent-not-ready",
        "the node plugin of the Azure Disk CSI driver",
        &["csi-azuredisk-node"],
        true,
    ),
    (
        "file.csi.azure.com/agent-not-ready",
        "the node plugin of the Azure File CSI driver",
        &["csi-azurefile-node"],
        true,
    ),
    ("cni.istio.io/not-ready", "the Istio CNI node agent", &["istio-cni-node", "istio-cni"], true),
    ("karpenter.sh/unregistered", "Karpenter", &["karpenter"], false),
];

/// Marks of the Cluster Autoscaler for taints of which it knows that they pass.
const MARKED: [&str; 2] =
    ["startup-taint.cluster-autoscaler.kubernetes.io/", "ignore-taint.cluster-autoscaler.kubernetes.io/"];

fn remover(key: &str) -> Option<Remover> {
    if let Some((_, who, names, on_node)) = KNOWN.iter().find(|(known, ..)| *known == key) {
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        return Some(Remover { who: (*who).to_owned(), names, on_node: *on_node });
    }
    if let Some(rest) = MARKED.iter().find_map(|m| key.strip_prefix(m)) {
        let who = format!("the component that is meant by {rest:?}");
        return Some(Remover { who, names: Vec::new(), on_node: true });
    }
    // A convention of CSI drivers and of other agents.
    let driver = key.strip_suffix("/agent-not-ready")?;
    let word = driver.split('.').next().unwrap_or(driver);
    let names = if word.len() > 1 { vec![word.to_owned()] } else { Vec::new() };
    Some(Remover { who: format!("the agent of {driver}"), names, on_node: true })
}

/// One that the node's NodePool declares to pass.
fn declared(f: &Facts<'_>, taint: &Taint, node: &NodeInfo) -> Option<Remover> {
    let pool = node.node.meta.labels.get("karpenter.sh/nodepool")?;
    let found = f.snapshot().node_pools.named("", pool)?;
    let same = |t: &crate::wire::node::Taint| t.key == *taint.key && t.effect == *taint.effect;
    found.spec.template.spec.startup_taints.iter().any(same).then(|| Remover {
        who: format!("a component that NodePool {pool} counts on (spec.template.spec.startupTaints)"),
        names: Vec::new(),
        on_node: true,
    })
}

/// Where the taint is one of start-up: who takes it off, and whether that runs there.
pub fn finding(f: &Facts<'_>, taint: &Taint, nodes: &[&Arc<NodeInfo>]) -> Option<Finding> {
    let Remover { who, names, on_node } = remover(&taint.key).or_else(|| declared(f, taint, nodes.first()?))?;
    let names: Vec<&str> = names.iter().map(|n| &**n).collect();
    let pods = if names.is_empty() { Component::default() } else { f.cx.components.containing(&names) };
    let first = nodes.first()?;
    let state = match (names.is_empty(), on_node) {
        (true, _) => "whether it runs there is not known here".to_owned(),
        (false, false) => format!("it {}", pods.words(f.snapshot())),
        (false, true) => {
            let (there, without): (Vec<_>, Vec<_>) =
                nodes.iter().copied().partition(|n| !pods.on(n.name()).pods.is_empty());
            let none =
                (!without.is_empty()).then(|| format!("it has no pod on {}", some_nodes(without.iter().copied())));
            let some = there.first().map(|n| format!("on {} it {}", n.name(), pods.on(n.name()).words(f.snapshot())));
            none.into_iter().chain(some).collect::<Vec<_>>().join("; ")
        }
    };
    let message = format!(
        "{} is a start-up taint: {who} removes it once it runs{}, and {state}",
        taint.key,
        if on_node { " on the node" } else { "" }
    );
    let here = if on_node { format!(" on node {}", first.name()) } else { String::new() };
    let mut remedy = Remedy::advice(format!("see why {who} does not run{here}; do not tolerate the taint"));
    if on_node {
        let field = format!("spec.nodeName={}", first.name());
        remedy = remedy.command(f.kubectl.line("", &["get", "pods", "-A", "-o", "wide", "--field-selector", &field]));
    }
    Some(Finding::new(Code::StartupTaint, message).about(pods.refs(3)).remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taints_of_start_up_are_known() {
        for (key, who, names) in [
            ("node.cilium.io/agent-not-ready", Some("the Cilium agent"), 2),
            ("ebs.csi.aws.com/agent-not-ready", Some("the node plugin of the EBS CSI driver"), 1),
            ("topolvm.io/agent-not-ready", Some("the agent of topolvm.io"), 1),
            ("startup-taint.cluster-autoscaler.kubernetes.io/gpu", Some("the component that is meant by \"gpu\""), 0),
            ("karpenter.sh/unregistered", Some("Karpenter"), 1),
            ("dedicated", None, 0),
            ("node.kubernetes.io/not-ready", None, 0),
            ("node-role.kubernetes.io/control-plane", None, 0),
        ] {
            let found = remover(key);
            assert_eq!(found.as_ref().map(|r| &*r.who), who, "{key}");
            assert_eq!(found.map_or(0, |r| r.names.len()), names, "{key}");
        }
    }
}
