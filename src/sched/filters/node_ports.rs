//! `NodePorts`: two pods of a node cannot have the same host port. Mirrors `plugins/nodeports/node_ports.go`
//! (`PreFilter`, `Filter`) and `HostPortInfo.CheckConflict`.

use super::{Incoming, Prepared, simple};
use crate::sched::node::{NodeInfo, host_ports};
use crate::sched::status::{Plugin, Reason, Verdict};
use crate::snapshot::pod::{HostPort, Pod};

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    if !incoming.info.has_ports {
        return Prepared::Skip;
    }
    simple(Plugin::NodePorts, incoming, |incoming, node| {
        conflicts(incoming.pod(), node).next().map(|_| (Reason::Ports, Verdict::Unschedulable))
    })
}

/// The ports that are taken, and by whom.
pub fn conflicts<'a>(pod: &'a Pod, node: &'a NodeInfo) -> impl Iterator<Item = (&'a HostPort, &'a Pod)> {
    let takers = node.pods.iter().filter(|s| s.info.has_ports).map(|s| &*s.info.pod);
    takers.flat_map(move |other| {
        host_ports(pod).filter(|p| host_ports(other).any(|q| conflict(p, q))).map(move |p| (p, other))
    })
}

/// Port and protocol are the same, and so is the address, or one of them takes all addresses.
fn conflict(a: &HostPort, b: &HostPort) -> bool {
    let any = |p: &HostPort| &*p.ip == "0.0.0.0";
    a.port == b.port && a.protocol == b.protocol && (a.ip == b.ip || any(a) || any(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_conflict_as_upstream() {
        // After TestHostPortInfo_Check.
        let port = |protocol: &str, ip: &str, port| HostPort { port, protocol: protocol.into(), ip: ip.into() };
        for (a, b, want) in [
            (port("TCP", "127.0.0.1", 80), port("TCP", "127.0.0.1", 80), true),
            (port("TCP", "127.0.0.1", 80), port("TCP", "127.0.0.2", 80), false),
            (port("TCP", "0.0.0.0", 80), port("TCP", "127.0.0.2", 80), true),
            (port("TCP", "127.0.0.1", 80), port("TCP", "0.0.0.0", 80), true),
            (port("TCP", "127.0.0.1", 80), port("UDP", "127.0.0.1", 80), false),
            (port("TCP", "127.0.0.1", 80), port("TCP", "127.0.0.1", 81), false),
        ] {
            assert_eq!(conflict(&a, &b), want, "{a:?} {b:?}");
        }
    }
}
