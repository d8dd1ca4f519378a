//! Nodes that an upgrade adds before it drains any: copies of those that are drained, as new nodes of their pools are.

use crate::autoscale::cluster_autoscaler::TO_BE_DELETED;
use crate::snapshot::meta::Meta;
use crate::snapshot::node::{HOSTNAME, Node, Taint};
use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Str};
use std::sync::Arc;

/// The taints of a node that is on its way in or out: a new node of the same pool does not have them.
const PASSING: &[&str] =
    &["node.kubernetes.io/", "karpenter.sh/", TO_BE_DELETED, "DeletionCandidateOfClusterAutoscaler"];

/// A cluster with so many nodes more, each like one of `like` in turn, with the pods that its DaemonSets would have there.
pub fn with_more(snapshot: &Snapshot, like: &[Arc<Node>], more: usize) -> Snapshot {
    let mut with = snapshot.clone();
    for (at, node) in like.iter().cycle().take(more).enumerate() {
        let name = name(snapshot, at);
        for pod in snapshot.pods_on(&node.meta.name).filter(|p| is_daemon(p)) {
            with.pods.put(Arc::new(daemon_pod(pod, &name, snapshot)));
        }
        with.nodes.put(Arc::new(new_node(node, &name, snapshot)));
    }
    with.reindex();
    with
}

/// The name of the `at`-th of them, from 0: one that no node has.
fn name(snapshot: &Snapshot, at: usize) -> Str {
    let plain = format!("surge-{}", at + 1);
    if snapshot.nodes.named("", &plain).is_none() { plain.into() } else { format!("{plain}+new").into() }
}

fn new_node(node: &Node, name: &Str, snapshot: &Snapshot) -> Node {
    let passes = |t: &Taint| PASSING.iter().any(|key| t.key.starts_with(key));
    let labels =
        if node.meta.labels.has(HOSTNAME) { node.meta.labels.with(HOSTNAME, name) } else { node.meta.labels.clone() };
    let ready = |c: &&crate::snapshot::pod::Condition| &*c.kind == "Ready";
    let conditions = node.conditions.iter().filter(ready).map(|c| {
        let mut c = c.clone();
        c.status = crate::snapshot::pod::Truth::True;
        c
    });
    Node {
        meta: Meta { labels, ..fresh(&node.meta, name, snapshot) },
        unschedulable: false,
        taints: node.taints.iter().filter(|t| !passes(t)).cloned().collect(),
        provider_id: None,
        conditions: conditions.collect(),
        heartbeat: Some(snapshot.now),
        ..node.clone()
    }
}

fn daemon_pod(pod: &Pod, node: &Str, snapshot: &Snapshot) -> Pod {
    let name: Str = format!("{}+{node}", pod.meta.name).into();
    Pod { meta: fresh(&pod.meta, &name, snapshot), node: Some(node.clone()), ..pod.clone() }
}

fn fresh(meta: &Meta, name: &Str, snapshot: &Snapshot) -> Meta {
    Meta {
        name: name.clone(),
        uid: None,
        creation_timestamp: Some(snapshot.now),
        deletion_timestamp: None,
        deletion_grace_period: None,
        ..meta.clone()
    }
}

fn is_daemon(pod: &Pod) -> bool {
    pod.is_of("DaemonSet") && !pod.is_finished() && !pod.is_terminating()
}

#[cfg(test)]
mod tests {
    use crate::budget::Selection;
    use crate::drain::options::{After, DrainOptions};
    use crate::drain::outcome::{Replacement, Verdict};
    use crate::drain::{Request, plan};
    use crate::testing::{budget, cluster, deployment, node};

    #[test]
    fn new_nodes_take_what_the_others_have_no_room_for() {
        // n1 is full, and so is n2: without a node more the second pod is never evicted.
        for (title, surge, requests, verdict, new) in [
            ("none", 0, "1", Verdict::Blocked, 0),
            ("one that takes both", 1, "1", Verdict::Waits, 2),
            // Its new pod is Ready there, so the other is evicted, too, and its own has no place.
            ("one that takes one of them", 1, "1500m", Verdict::Waits, 1),
            ("two, with one each", 2, "1500m", Verdict::Waits, 2),
        ] {
            let full = |name: &str| node(name).allocatable("cpu", "3").label("kubernetes.io/hostname", name);
            let web =
                deployment("shop/web").on(&["n1", "n1"]).pods(|_, p| p.label("app", "web").requests("cpu", requests));
            let other = deployment("shop/other").on(&["n2"]).pods(|_, p| p.requests("cpu", "3"));
            // With the agent beside them, a new node has no room for two of 1.5 cpu.
            let agent = crate::testing::pod("shop/agent").on("n1").ready().requests("cpu", "10m");
            let agent = agent.owned_by("apps/v1", "DaemonSet/agent");
            let snapshot = cluster()
                .add(full("n1").allocatable("cpu", "3"))
                .add(full("n2"))
                .add(web)
                .add(other)
                .add(crate::testing::workload("apps/v1", "DaemonSet", "shop/agent"))
                .add(agent)
                .add(budget("shop/web").selects("app=web").max_unavailable(1).allows(1))
                .snapshot();
            let nodes = vec![snapshot.nodes.named("", "n1").unwrap().clone()];
            let options = DrainOptions { surge, ..DrainOptions::default() };
            let request = Request { nodes, each_alone: false, options, after: After::Back };
            let planned = plan(&snapshot, &Selection::new(&snapshot), &request);
            let on_new = planned.nodes[0]
                .pods
                .iter()
                .filter(|p| matches!(&p.replacement, Some(Replacement::On(node)) if node.starts_with("surge-")));
            assert_eq!((planned.nodes[0].verdict, on_new.count()), (verdict, new), "{title}");
        }
    }
}
