//! Pods that a kubelet refused. After `pkg/kubelet/lifecycle/predicate.go`, `pkg/kubelet/cm/{admission,cpumanager,topologymanager,
//! devicemanager}`, `pkg/kubelet/eviction/eviction_manager.go` and `pkg/kubelet/sysctl/allowlist.go`.

use super::words::{Known, has, place};
use crate::pending::context::Context;
use crate::snapshot::pod::Pod;

/// What the reason and its words mean; `None` where they say it all.
pub(super) fn known(pod: &Pod, reason: &str, said: &str, cx: &Context<'_>) -> Option<Known> {
    let words = said.to_lowercase();
    let node = pod.node.as_deref().unwrap_or_default();
    let whose = place(pod, cx);
    Some(match reason {
        "UnexpectedAdmissionError"
            if has(&words, &["unhealthy devices", "no healthy devices", "devices unavailable", "device plugin"]) =>
        {
            let resource = said
                .rsplit(' ')
                .map(|w| w.trim_end_matches([',', '.', ';']))
                .find(|w| w.contains('/') && w.contains('.'))
                .map(|w| format!(" for {w}"))
                .unwrap_or_default();
            let advice = format!(
                "see to the device plugin{resource} on node {node} and to its devices; cordon the node until they are healthy, as new \
                 pods are sent there, too"
            );
            Known::new(format!("node {node} has no healthy device{resource} to give it"), advice)
                .command(cx.kubectl.line("", &["cordon", node]))
        }
        "SMTAlignmentError" => {
            let threads = said.rsplit("per core = ").next().and_then(|n| n.trim().parse::<u32>().ok());
            let of = threads.map_or_else(|| "whole cores".to_owned(), |n| format!("a multiple of {n}"));
            let advice = format!("request {of} as cpu in {whose}, requests equal to limits");
            Known::new(
                format!(
                    "the kubelet of node {node} gives whole cores only (CPU manager policy option full-pcpus-only)"
                ),
                advice,
            )
        }
        "TopologyAffinityError" => {
            let advice = format!(
                "request less than one NUMA node has in {whose}, or use nodes whose kubelet has another topologyManagerPolicy: the \
                 default scheduler does not know NUMA nodes and sends the pod to the same node again"
            );
            Known::new(
                format!(
                    "no single NUMA node of {node} has all that it asks for, and its Topology Manager insists on one"
                ),
                advice,
            )
        }
        "Evicted" => {
            let advice =
                format!("free what node {node} is short of; the taint of that condition keeps later pods away");
            Known::new(format!("node {node} is short of memory, disk or process ids"), advice)
                .command(cx.kubectl.line("", &["describe", "node", node]))
        }
        "SysctlForbidden" => {
            let advice = format!(
                "allow the sysctl in the kubelets' configuration (allowedUnsafeSysctls) of the nodes that are meant for it, or remove \
                 it from {whose} (securityContext.sysctls)"
            );
            Known::new(format!("the kubelet of node {node} does not allow that sysctl"), advice)
        }
        "AppArmor" => {
            let advice =
                format!("load the AppArmor profile on the nodes that are meant for the pod, or correct it in {whose}");
            Known::new(format!("node {node} cannot apply the pod's AppArmor profile"), advice)
        }
        "NodeAffinity" => {
            let advice = format!(
                "see which label of node {node} was removed or changed since the pod was bound; the pod that replaces it is scheduled anew"
            );
            Known::new(format!("the labels of node {node} do not match the pod's nodeSelector or nodeAffinity"), advice)
                .command(cx.kubectl.line("", &["get", "node", node, "--show-labels"]))
        }
        _ => return None,
    })
}
