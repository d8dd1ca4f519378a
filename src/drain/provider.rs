//! Whose node a blocked one is: the upgrade that its provider makes does not end as `kubectl drain` does.

use super::actor::Actor;
use super::actors::drainer;
use super::context::DrainContext;
use super::drainer::seconds;
use super::options::DrainOptions;
use super::outcome::Verdict;
use super::plan::NodePlan;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::snapshot::node::Node;

/// The labels by which nodes of managed pools are known, and who upgrades them.
const LABELS: &[(&str, Actor)] = &[
    ("eks.amazonaws.com/nodegroup", Actor::Eks),
    ("cloud.google.com/gke-nodepool", Actor::Gke),
    ("kubernetes.azure.com/agentpool", Actor::Aks),
    ("node.openshift.io/os_id", Actor::Openshift),
];

/// Who upgrades a node, and the label that says so.
fn of(node: &Node) -> Option<(&'static str, Actor)> {
    LABELS.iter().copied().find(|(label, _)| node.meta.labels.get(label).is_some())
}

/// Adds to the findings of nodes that `kubectl drain` never drains what their provider's upgrade does in that place.
pub fn tell(context: &DrainContext<'_>, nodes: &mut [NodePlan]) {
    if context.options.by.is_some() {
        return;
    }
    for node in nodes.iter_mut().filter(|n| n.verdict == Verdict::Blocked) {
        node.findings.extend(of(&node.node).map(|(label, actor)| by_provider(&node.node, label, actor)));
    }
}

fn by_provider(node: &Node, label: &str, actor: Actor) -> Finding {
    let theirs = drainer(&DrainOptions { by: Some(actor), ..DrainOptions::default() });
    let ends = match (theirs.deadline, theirs.reports) {
        (Some(deadline), _) => format!("after {} it {}", seconds(deadline.after), deadline.then.words()),
        (None, Some((after, what))) => format!("after {} {what}", seconds(after)),
        (None, None) => "it tries without end, too".to_owned(),
    };
    let name = &node.meta.name;
    let text = format!(
        "kubectl drain waits without end; {} of node {name} ({label}) does not: {ends}. Plan it with --by {} ({})",
        theirs.name,
        actor.as_str(),
        theirs.source.line()
    );
    Finding::new(Code::Timeout, text).about([Ref::node(name)]).severity(Severity::Warning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, node};

    #[test]
    fn the_provider_is_known_by_its_label() {
        for (label, want) in [
            ("eks.amazonaws.com/nodegroup", Some("PodEvictionFailure")),
            ("cloud.google.com/gke-nodepool", Some("after 1 h it removes the pods that are left")),
            ("kubernetes.azure.com/agentpool", Some("after 30 min it gives up")),
            ("node.openshift.io/os_id", Some("keeps trying")),
            ("kubernetes.io/os", None),
        ] {
            let snapshot = cluster().add(node("n1").label(label, "x")).snapshot();
            let node = snapshot.nodes.named("", "n1").unwrap();
            let said = of(node).map(|(label, actor)| by_provider(node, label, actor).message);
            assert_eq!(said.is_some(), want.is_some(), "{label}");
            assert!(want.is_none_or(|words| said.unwrap().contains(words)), "{label}");
        }
    }
}
