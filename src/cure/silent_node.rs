//! What can be done about a node whose kubelet does not answer, so that no deletion of its pods ends.

use super::{Change, Cure, Remedy};
use crate::shell::Kubectl;
use crate::snapshot::Snapshot;
use crate::snapshot::node::{Node, Taint};
use std::sync::Arc;

/// The taint of a node that is surely off: the pod garbage collector then deletes its terminating pods without their kubelet.
/// Mirrors `gcTerminating` of `pkg/controller/podgc/gc_controller.go`.
pub const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// Repairs a node.
pub fn repair(snapshot: &Snapshot, node: &str) -> Remedy {
    let look = Kubectl::of(snapshot).line("", &["describe", "node", node]);
    Remedy::advice(format!("repair node {node}")).command(look)
}

/// Says of a node that it is off for good.
pub fn out_of_service(node: &Arc<Node>) -> Cure {
    let taint =
        Taint { key: OUT_OF_SERVICE.into(), value: "nodeshutdown".into(), effect: "NoExecute".into(), since: None };
    let text =
        format!("only if node {} is powered off: give it the taint {taint}, and its pods are deleted", node.meta.name);
    Cure::from(Change::AddTaint(node.clone(), taint))
        .text(text)
        .risk("a container that still runs on the node writes to the same volumes as its replacement")
}
