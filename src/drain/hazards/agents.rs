//! Where a pod's credentials come from: an agent of the node that the new pod needs on its node, too.

use super::Look;
use crate::drain::note::Note;
use crate::finding::{Code, Ref};
use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Str};
use std::sync::Arc;

/// The environment variable that EKS Pod Identity sets; the address in it is that of an agent on the node.
const POD_IDENTITY: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
const AGENT: &str = "eks-pod-identity-agent";

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let env = |name: &str| {
        let all = look.pod.spec.containers.iter().chain(&look.pod.spec.init_containers);
        all.flat_map(|c| &c.env).any(|e| if name == "KAFKA" { e.contains(name) } else { **e == *name })
    };
    if !look.is_running() || !env(POD_IDENTITY) {
        return;
    }
    let missing = look.facts.without_agent.get_or_init(|| without_agent(look.snapshot));
    let agents = match &missing[..] {
        [] => "it runs on every node".to_owned(),
        nodes => format!("it is absent or not Ready on {}", crate::words::some(nodes.iter().map(|n| &**n), 3)),
    };
    let text = format!(
        "its credentials come from EKS Pod Identity: the new pod needs the agent {AGENT} on its node ({agents})"
    );
    notes.push(Note::new(Code::IdentityAgent, text).about(missing.iter().map(|n| Ref::node(n))));
    if env("KAFKA") {
        let text = "it looks like a Kafka client with IAM under EKS Pod Identity: the new pod has another session name, and \
                    a client that re-authenticates to MSK does not survive that; a role for the service account (IRSA) \
                    keeps the name";
        notes.push(Note::new(Code::IdentityAgent, text));
    }
}

/// Nodes on which pods may be put and no agent is Ready.
fn without_agent(snapshot: &Snapshot) -> Vec<Str> {
    let is_agent = |p: &Arc<Pod>| {
        p.meta.labels.get("app.kubernetes.io/name").is_some_and(|v| &**v == AGENT)
            || p.meta.controller.as_ref().is_some_and(|o| &*o.name == AGENT)
    };
    let serves = |node: &str| snapshot.pods_on(node).any(|p| is_agent(p) && p.is_ready() && !p.is_terminating());
    let open = snapshot.nodes.iter().filter(|n| !n.unschedulable && n.is_ready());
    open.filter(|n| !serves(&n.meta.name)).map(|n| n.meta.name.clone()).collect()
}
