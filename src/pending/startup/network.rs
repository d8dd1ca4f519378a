//! Sandboxes that are not made: the network, the pause image, a runtime's handler. After the words of containerd and CRI-O,
//! and of the network plugins that are named at each row.

use super::words::{Known, has};
use crate::pending::components::Component;
use crate::pending::context::Context;
use crate::pending::facts::quoted;
use crate::snapshot::pod::Pod;

/// What the words mean; `None` where they are not known.
pub(super) fn known(pod: &Pod, said: &str, cx: &Context<'_>) -> Option<Known> {
    let words = said.to_lowercase();
    let node = pod.node.as_deref().unwrap_or_default();
    if words.contains("no runtime for ") {
        let class = pod.spec.runtime_class.as_deref().unwrap_or_default();
        let advice = format!(
            "configure the handler of RuntimeClass {class} in the container runtime of node {node}, or name in the class \
             (scheduling.nodeSelector) the nodes that have it: without that the scheduler places its pods anywhere"
        );
        return Some(Known::new(format!("node {node} does not have the runtime of RuntimeClass {class}"), advice));
    }
    if let Some((_, after)) = said.split_once("cannot find a network-attachment-definition (") {
        let name = after.split(')').next().unwrap_or_default();
        let ns = after.split_once("in namespace (").and_then(|(_, n)| n.split(')').next()).unwrap_or_default();
        let advice = format!(
            "create NetworkAttachmentDefinition {ns}/{name}, or correct the pod's annotation k8s.v1.cni.cncf.io/networks (of another \
             namespace: NAMESPACE/NAME)"
        );
        return Some(Known::new(format!("NetworkAttachmentDefinition {ns}/{name} does not exist"), advice));
    }
    if has(&words, &["failed to get sandbox image", "pause image"]) {
        let advice = format!(
            "let node {node} pull its sandbox image (sandbox_image of its container runtime) from a registry that it reaches, or load \
             it onto the node"
        );
        return Some(Known::new(format!("node {node} cannot pull the image of the sandbox itself"), advice));
    }
    if has(&words, USED_UP) {
        return Some(used_up(said, &words, node));
    }
    plugin(said, &words, node, cx)
}

/// How network plugins say that no address is left: amazon-vpc-cni (`AddNetwork`), host-local (`allocator.go`), Calico
/// (`ipam.go`), whereabouts, azure-ipam, Cilium (`pool.go`).
const USED_UP: &[&str] = &[
    "failed to assign an ip address",
    "no ip addresses available",
    "no ips available in pool",
    "assigned 0 out of ",
    "could not allocate ip in range",
    "no available addresses",
    "no more ips available",
    "range is full",
    "insufficientfreeaddressesinsubnet",
    "insufficientcidrblocks",
];

fn used_up(said: &str, words: &str, node: &str) -> Known {
    let means = format!("no address is left for a pod of node {node}");
    let advice = if words.contains("aws-cni") || words.contains("failed to assign an ip address") {
        "give the nodes' subnets more addresses (a secondary CIDR block), or assign prefixes (ENABLE_PREFIX_DELEGATION of \
         amazon-vpc-cni); fewer pods on the node (maxPods) help where its network interfaces are full"
            .to_owned()
    } else if words.contains("calico") {
        "add an IPPool to Calico, or enlarge it; addresses of pods that are gone are freed by calicoctl ipam check"
            .to_owned()
    } else if let Some((_, range)) = said.split_once("range set: ") {
        format!(
            "free addresses of range {} on node {node}, or lower the number of pods that its kubelet accepts (maxPods); addresses of \
             pods that are gone can be left in /var/lib/cni/networks",
            range.split([' ', ',']).next().unwrap_or_default()
        )
    } else {
        format!(
            "free or add addresses for pods of node {node} (its subnet or address range is used up), or lower the number of pods that \
             its kubelet accepts (maxPods)"
        )
    };
    Known::new(means, advice)
}

/// A network plugin fails, or is not there.
fn plugin(said: &str, words: &str, node: &str, cx: &Context<'_>) -> Option<Known> {
    let named = quoted(said, "plugin type=\"");
    if named.is_none() && !has(words, &["cni", "network plugin", "networkpluginnotready", "setup network"]) {
        return None;
    }
    let on = format!("--field-selector=spec.nodeName={node}");
    let list = cx.kubectl.line("kube-system", &["get", "pods", "-o", "wide", &on]);
    let Some(plugin) = named else {
        let advice = format!("bring up the network plugin on node {node}");
        return Some(Known::new(format!("the network of node {node} is not set up"), advice).command(list));
    };
    let word = plugin.trim_end_matches("-cni").trim_end_matches("-shim").trim_start_matches("aws");
    let word = if word.len() < 3 { plugin } else { word };
    let pods: Component<'_> = cx.components.containing(&[word]).on(node);
    if pods.runs() && has(words, &["unauthorized", "forbidden"]) {
        // Calico's and Multus' plugins write the token of their pod to the node; it is not renewed once that hangs.
        let runs = pods.pods.iter().find(|p| p.is_ready());
        let known = Known::new(
            format!("the API server refuses the credentials that network plugin {plugin} has on node {node}"),
            format!("restart the pod of {word} on node {node}: it writes new credentials for the plugin"),
        );
        return Some(match runs {
            Some(p) => known
                .command(cx.kubectl.line(p.meta.ns(), &["delete", "pod", &p.meta.name]))
                .risk("until the pod runs again no new pod on that node gets its network"),
            None => known,
        });
    }
    let there = super::words::component_on(word, node, cx);
    let (means, verb) = match pods.runs() {
        true => (format!("network plugin {plugin} of node {node} fails although its pod there runs"), "look at"),
        false => (format!("network plugin {plugin} does not work on node {node}"), "bring up"),
    };
    Some(Known::new(means, format!("{verb} the network plugin {plugin} on node {node}{there}")).command(list))
}
