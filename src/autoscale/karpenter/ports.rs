//! Ports of the node. Mirrors `pkg/scheduling/hostportusage.go`: init containers do not count, sidecars among them.

use crate::snapshot::pod::{HostPort, Pod};

/// The ports that a pod takes of its node, for Karpenter.
pub fn of(pod: &Pod) -> impl Iterator<Item = &HostPort> {
    pod.spec.containers.iter().flat_map(|c| &c.host_ports)
}

/// Whether a port that the pod takes is taken already.
pub fn conflict(pod: &Pod, there: &[HostPort]) -> bool {
    of(pod).any(|new| there.iter().any(|t| meet(new, t)))
}

fn meet(a: &HostPort, b: &HostPort) -> bool {
    let any = |p: &HostPort| matches!(&*p.ip, "0.0.0.0" | "::");
    a.port == b.port && a.protocol == b.protocol && (a.ip == b.ip || any(a) || any(b))
}
