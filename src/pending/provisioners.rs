//! Who makes the volumes of a class, and whether that runs.

use super::components::{Component, LABELS, controller};
use super::context::Context;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// Parts of a provisioner's name that name nobody.
const NOBODY: [&str; 17] = [
    "csi",
    "com",
    "io",
    "org",
    "net",
    "dev",
    "k8s",
    "kubernetes",
    "sigs",
    "aws",
    "gke",
    "azure",
    "example",
    "storage",
    "driver",
    "cluster",
    "local",
];

/// The pods that seem to make the volumes of a provisioner, by the parts of its name: a container called after the
/// external provisioner, else a controller of a CSI driver.
pub fn provisioner_pods<'a>(provisioner: &str, cx: &Context<'a>) -> Component<'a> {
    let parts: Vec<&str> = provisioner.split(['.', '/', '_']).filter(|p| p.len() > 1 && !NOBODY.contains(p)).collect();
    let named = cx.components.containing(&parts);
    let has_provisioner = |p: &&&Arc<Pod>| p.spec.containers.iter().any(|c| c.name.contains("provisioner"));
    let pods: Vec<_> = named.pods.iter().filter(has_provisioner).copied().collect();
    if !pods.is_empty() {
        return Component { pods };
    }
    let called = |p: &&&Arc<Pod>| {
        let names = LABELS.iter().filter_map(|l| p.meta.labels.get(l)).cloned().chain(controller(p));
        names.into_iter().any(|n| ["csi", "provisioner", "controller"].iter().any(|w| n.contains(w)))
    };
    // A CSI driver's pods on the nodes make no volumes.
    let of_node = |p: &&&Arc<Pod>| !p.is_of_node();
    Component { pods: named.pods.iter().filter(called).filter(of_node).copied().collect() }
}

/// What follows a provisioner's name: whether its pods run; empty where none is known.
pub fn provisioner(name: &str, cx: &Context<'_>) -> String {
    let pods = provisioner_pods(name, cx);
    if pods.pods.is_empty() { String::new() } else { format!("; its provisioner {}", pods.words(cx.snapshot)) }
}
