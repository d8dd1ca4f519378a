//! Other pods: those it must be beside, those it must not be beside, and those that do not bear it.

use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::pending::facts::{Facts, count, some};
use crate::sched::Reason;
use crate::sched::class::Class;
use crate::sched::node::{NodeInfo, PodInfo};
use crate::sched::terms::Term;
use crate::snapshot::Str;
use crate::snapshot::pod::{Pod, PodAffinityTerm};
use std::sync::Arc;

/// Findings about affinity between pods.
pub fn findings(f: &Facts<'_>) -> Vec<Finding> {
    [near(f), apart(f), existing(f)].into_iter().flatten().collect()
}

fn namespace(pod: &Pod) -> Str {
    pod.meta.namespace.clone().unwrap_or_else(|| "".into())
}

fn terms(pod: &Pod, list: &[PodAffinityTerm]) -> Vec<Term> {
    list.iter().map(|t| Term::new(t, &namespace(pod))).collect()
}

/// Whether two nodes are the same place in terms of a key.
fn same_place(a: &NodeInfo, b: &NodeInfo, key: &str) -> bool {
    let value = |n: &NodeInfo| n.node.meta.labels.get(key).cloned();
    value(a).is_some() && value(a) == value(b)
}

/// `app=web`, and of which namespaces where that is not the pod's own.
fn described(term: &Term, own: &Str) -> String {
    let namespaces = match (&term.namespace_selector, &*term.namespaces) {
        (None, [one]) if one == own => String::new(),
        (Some(s), []) if s.is_everything() => " of any namespace".to_owned(),
        (Some(s), []) => format!(" of namespaces with {s}"),
        (_, names) => format!(" of {}", some(names)),
    };
    format!("{}{namespaces}", term.selector)
}

/// The place that a topology key means.
pub fn place(key: &str) -> &str {
    match key {
        "kubernetes.io/hostname" => "node",
        "topology.kubernetes.io/zone" => "zone",
        "topology.kubernetes.io/region" => "region",
        other => other,
    }
}

/// All pods with a node, beside their node.
fn placed<'a>(f: &Facts<'a>) -> impl Iterator<Item = (&'a Arc<NodeInfo>, &'a Arc<PodInfo>)> {
    f.state.nodes().iter().flat_map(|n| n.pods.iter().map(move |s| (n, &s.info)))
}

fn near(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::PodAffinity);
    if nodes.is_empty() {
        return None;
    }
    let own = namespace(f.pod());
    let terms = terms(f.pod(), &f.pod().spec.pod_affinity);
    let mut parts = Vec::new();
    let mut remedies = Vec::new();
    let mut objects: Vec<Ref> = nodes.iter().take(10).map(|n| Ref::node(n.name())).collect();
    for term in &terms {
        let matching: Vec<(&Arc<NodeInfo>, &Arc<PodInfo>)> =
            placed(f).filter(|(_, p)| term.matches(&Class::of(&p.pod), f.snapshot())).collect();
        let what = format!("{} (same {})", described(term, &own), place(&term.topology_key));
        let unlabelled = nodes.iter().filter(|n| !n.node.meta.labels.has(&term.topology_key)).count();
        let lacking = match unlabelled {
            0 => String::new(),
            n => format!("; {} without the label {}", count(n, "node"), term.topology_key),
        };
        if matching.is_empty() {
            let (words, remedy) = nowhere(term, f);
            parts.push(format!("it must be beside {what}, and {words}{lacking}"));
            remedies.push(remedy);
            continue;
        }
        let mut places: Vec<String> = matching
            .iter()
            .filter_map(|(n, _)| Some(n.node.meta.labels.get(&term.topology_key)?.to_string()))
            .collect();
        places.sort();
        places.dedup();
        parts.push(format!("it must be beside {what}, which is at {}{lacking}", some(places)));
        objects.extend(matching.iter().take(3).map(|(_, p)| Ref::pod(&p.pod)));
    }
    let message =
        format!("{} elsewhere: {}", if nodes.len() == 1 { "1 node is" } else { "nodes are" }, parts.join("; "));
    let message = if nodes.len() == 1 { message } else { format!("{} {message}", nodes.len()) };
    let mut finding = Finding::new(Code::PodAffinity, message).about(objects);
    finding.remedies = remedies;
    Some(finding)
}

/// Why a term matches no pod with a node: there is none at all, none with a node yet, or only in other namespaces; and what
/// can be done.
fn nowhere(term: &Term, f: &Facts<'_>) -> (String, Remedy) {
    let names = |pods: &[&Arc<Pod>]| some(pods.iter().map(|p| p.meta.path()));
    let alive = || f.snapshot().pods.iter().filter(|p| !p.is_finished() && !Arc::ptr_eq(p, f.pod()));
    let waiting: Vec<&Arc<Pod>> =
        alive().filter(|p| p.node.is_none() && term.matches(&Class::of(p), f.snapshot())).collect();
    if let [first, ..] = &*waiting {
        let remedy = Remedy::advice(format!("see why {} has no node: this pod follows it", first.meta.path()))
            .command(f.kubectl.line(first.meta.ns(), &["pdb", "why-pending", &first.meta.name]));
        return (format!("no such pod has a node yet ({} has none)", names(&waiting)), remedy);
    }
    let elsewhere: Vec<&Arc<Pod>> = alive().filter(|p| term.selector.matches(&p.meta.labels)).collect();
    match &*elsewhere {
        [] => (
            "no such pod exists".to_owned(),
            Remedy::advice(format!(
                "start what has {}, or correct labelSelector of podAffinity (required)",
                term.selector
            )),
        ),
        [first, ..] => (
            format!(
                "no such pod exists in the namespaces that the term names ({} has these labels: the term needs namespaces or \
                 namespaceSelector to see it)",
                names(&elsewhere)
            ),
            Remedy::advice(format!(
                "add namespaces: [{}] to that term of podAffinity: without it only namespace {} is looked at",
                first.meta.ns(),
                f.pod().meta.ns()
            )),
        ),
    }
}

fn apart(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::PodAntiAffinity);
    if nodes.is_empty() {
        return None;
    }
    let own = namespace(f.pod());
    let terms = terms(f.pod(), &f.pod().spec.pod_anti_affinity);
    let stands = |node: &NodeInfo| {
        placed(f).find(|(n, p)| {
            terms.iter().any(|t| same_place(n, node, &t.topology_key) && t.matches(&Class::of(&p.pod), f.snapshot()))
        })
    };
    let (there, objects) = in_the_way(&nodes, stands);
    let rules: Vec<String> =
        terms.iter().map(|t| format!("{} (same {})", described(t, &own), place(&t.topology_key))).collect();
    let message = format!(
        "it must not be beside {}, and {}: {there}",
        rules.join(" nor "),
        if nodes.len() == 1 {
            "1 node has such a pod".to_owned()
        } else {
            format!("{} nodes have such pods", nodes.len())
        }
    );
    Some(Finding::new(Code::PodAntiAffinity, message).about(objects))
}

fn existing(f: &Facts<'_>) -> Option<Finding> {
    let nodes = f.nodes_where(|r| *r == Reason::ExistingAntiAffinity);
    if nodes.is_empty() {
        return None;
    }
    let incoming = Class::of(f.pod());
    let repelling: Vec<(&Arc<NodeInfo>, &Arc<PodInfo>, &Term)> = placed(f)
        .filter_map(|(n, p)| {
            let terms = &p.repels.as_ref()?.1;
            let term = terms.iter().find(|t| t.matches(&incoming, f.snapshot()))?;
            Some((n, p, term))
        })
        .collect();
    let stands = |node: &NodeInfo| {
        let found = repelling.iter().find(|(n, _, t)| same_place(n, node, &t.topology_key));
        found.map(|(n, p, _)| (*n, *p))
    };
    let (there, objects) = in_the_way(&nodes, stands);
    let rule = repelling
        .first()
        .map(|(_, _, t)| format!(" (their rule: not beside {}, same {})", t.selector, place(&t.topology_key)));
    let message = format!(
        "pods that run on {} do not bear this one beside them{}: {there}",
        count(nodes.len(), "node"),
        rule.unwrap_or_default()
    );
    Some(Finding::new(Code::ExistingAntiAffinity, message).about(objects))
}

/// Which pod stands in the way of each node, in words and as references.
fn in_the_way<'a>(
    nodes: &[&'a Arc<NodeInfo>],
    stands: impl Fn(&NodeInfo) -> Option<(&'a Arc<NodeInfo>, &'a Arc<PodInfo>)>,
) -> (String, Vec<Ref>) {
    let found: Vec<_> = nodes.iter().take(10).filter_map(|n| Some((n, stands(n)?))).collect();
    let words: Vec<String> = found.iter().map(|(n, (_, p))| format!("{} on {}", p.pod.meta.path(), n.name())).collect();
    let mut refs: Vec<Ref> = nodes.iter().take(10).map(|n| Ref::node(n.name())).collect();
    for (_, (_, p)) in &found {
        let r = Ref::pod(&p.pod);
        if !refs.contains(&r) {
            refs.push(r);
        }
    }
    let more = if nodes.len() > 10 { " …" } else { "" };
    (format!("{}{more}", some(words)), refs)
}
