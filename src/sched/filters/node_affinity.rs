//! `NodeAffinity`: the pod's node selector and required node affinity.
//! Mirrors `plugins/nodeaffinity/node_affinity.go` (`PreFilter`, `Filter`).

use super::{Incoming, Prepared};
use crate::sched::node::{NodeId, NodeInfo};
use crate::sched::status::{Plugin, Reason, Status, Verdict};
use crate::snapshot::Str;
use crate::snapshot::node::Node;
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::{NodeSelector, NodeTerm, Operator};
use std::collections::BTreeSet;

/// Makes it ready. Affinity to nodes by name leaves out all others before they are looked at.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    let spec = &incoming.pod().spec;
    if spec.node_affinity.is_none() && spec.node_selector.is_empty() {
        return Prepared::Skip;
    }
    let filter = Box::new(NodeAffinity { incoming: incoming.clone() });
    match spec.node_affinity.as_ref().and_then(names) {
        None => Prepared::Runs(filter),
        Some(names) if names.is_empty() => {
            Prepared::Rejects(Status::unresolvable(Plugin::NodeAffinity, Reason::Words(CONFLICT.into())))
        }
        Some(names) => {
            let ids: Vec<NodeId> = names.iter().filter_map(|n| Some(incoming.state.node_named(n)?.id)).collect();
            Prepared::RunsOn(filter, ids)
        }
    }
}

const CONFLICT: &str = "pod affinity terms conflict";

/// The nodes named, where every term names some; `None` where some term allows any name.
fn names(selector: &NodeSelector) -> Option<BTreeSet<Str>> {
    let mut all = BTreeSet::new();
    if selector.0.is_empty() {
        return None;
    }
    for term in &selector.0 {
        all.extend(names_of_term(term)?);
    }
    Some(all)
}

fn names_of_term(term: &NodeTerm) -> Option<BTreeSet<Str>> {
    let lists = term.fields.iter().filter(|r| &*r.key == "metadata.name" && r.operator == Operator::In);
    lists
        .map(|r| r.values.iter().cloned().collect())
        .reduce(|a: BTreeSet<Str>, b| a.intersection(&b).cloned().collect())
}

struct NodeAffinity<'a> {
    incoming: Incoming<'a>,
}

impl super::Filter for NodeAffinity<'_> {
    fn plugin(&self) -> Plugin {
        Plugin::NodeAffinity
    }

    fn check(&self, node: &NodeInfo, reasons: &mut Vec<Reason>) -> Verdict {
        if matches(self.incoming.pod(), &node.node) {
            return Verdict::Fits;
        }
        reasons.push(Reason::NodeAffinity);
        Verdict::Unresolvable
    }
}

/// Whether the pod's selector and required affinity allow a node. Mirrors `RequiredNodeAffinity.Match`.
pub fn matches(pod: &Pod, node: &Node) -> bool {
    let labels = &node.meta.labels;
    pod.spec.node_selector.iter().all(|(k, v)| labels.get(k) == Some(v))
        && pod.spec.node_affinity.as_ref().is_none_or(|a| a.matches(&node.meta.name, labels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::selector::Requirement;

    fn term(lists: &[(Operator, &[&str])]) -> NodeTerm {
        let fields = lists.iter().map(|(operator, values)| Requirement {
            key: "metadata.name".into(),
            operator: *operator,
            values: values.iter().map(|v| Str::from(*v)).collect(),
        });
        NodeTerm { fields: fields.collect(), ..NodeTerm::default() }
    }

    #[test]
    fn nodes_named_as_upstream_takes_them() {
        // After TestNodeAffinity: terms are alternatives, the fields of one term must all hold.
        let set = |names: &[&str]| Some(names.iter().map(|n| Str::from(*n)).collect::<BTreeSet<_>>());
        for (terms, want) in [
            (vec![], None),
            (vec![term(&[(Operator::In, &["a"])])], set(&["a"])),
            (vec![term(&[(Operator::In, &["a", "b"]), (Operator::In, &["b", "c"])])], set(&["b"])),
            (vec![term(&[(Operator::In, &["a"]), (Operator::In, &["b"])])], set(&[])),
            (vec![term(&[(Operator::In, &["a"])]), term(&[(Operator::In, &["b"])])], set(&["a", "b"])),
            (vec![term(&[(Operator::In, &["a"])]), term(&[(Operator::NotIn, &["b"])])], None),
        ] {
            let selector = NodeSelector(terms.into());
            assert_eq!(names(&selector), want, "{selector:?}");
        }
    }
}
