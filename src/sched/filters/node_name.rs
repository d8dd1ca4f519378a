//! `NodeName`: a pod that names its node goes nowhere else. Mirrors `plugins/nodename/node_name.go` (`Fits`).

use super::{Incoming, Prepared, simple};
use crate::sched::status::{Plugin, Reason, Verdict};

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    simple(Plugin::NodeName, incoming, |incoming, node| {
        let other = incoming.pod().node.as_ref().is_some_and(|name| name != node.name());
        other.then_some((Reason::NodeName, Verdict::Unresolvable))
    })
}
