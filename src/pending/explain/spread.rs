//! Topology spread: how many matching pods each domain has, which domain holds the minimum, and what would change it.

use super::neighbours::place;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::pending::facts::{Facts, count, some_nodes};
use crate::sched::filters::pod_topology_spread::{Constraint, constraints};
use crate::sched::node::NodeInfo;
use crate::sched::{Plugin, Reason};
use crate::snapshot::pod::TopologySpread;
use std::sync::Arc;

/// Of more constraints than these that stand in the way no cures are tried: each trial looks at all constraints.
const MOST: usize = 10;

/// One finding for each constraint that stands in the way.
pub fn findings(f: &Facts<'_>) -> Vec<Finding> {
    let nodes = f.nodes_where(|r| matches!(r, Reason::Spread | Reason::SpreadLabel));
    if nodes.is_empty() {
        return Vec::new();
    }
    let required: Vec<usize> =
        f.pod().spec.topology_spread.iter().enumerate().filter(|(_, c)| c.required).map(|(i, _)| i).collect();
    let counted = constraints(&f.incoming);
    let mut found: Vec<Finding> = Vec::new();
    for (at, c) in required.iter().zip(&counted) {
        found.extend(one(f, *at, c, &nodes, found.len() < MOST));
    }
    found
}

fn one(f: &Facts<'_>, at: usize, c: &Constraint, nodes: &[&Arc<NodeInfo>], tries: bool) -> Option<Finding> {
    let refused = |n: &&&Arc<NodeInfo>| c.skew(n).is_none_or(|s| s > c.max_skew);
    let refused: Vec<&Arc<NodeInfo>> = nodes.iter().filter(refused).copied().collect();
    let (unlabelled, full): (Vec<&Arc<NodeInfo>>, Vec<&Arc<NodeInfo>>) =
        refused.into_iter().partition(|n| c.skew(n).is_none());
    if unlabelled.is_empty() && full.is_empty() {
        return None;
    }
    let spec = f.pod().spec.topology_spread.get(at)?;
    let what = place(&c.topology_key);
    let mut parts = Vec::new();
    if !full.is_empty() {
        parts.push(format!(
            "{} would be too full: {} over {what} can differ by at most {}, and has {}{}",
            count(full.len(), "node"),
            c_selector(spec),
            c.max_skew,
            counts(c),
            holders_of_minimum(f, c)
        ));
    }
    // One domain is the default: without any, the label that is missing is the cause.
    if c.min_domains > 1 && c.domains_counted() < c.min_domains {
        parts.push(format!(
            "minDomains {} wants more than the {} there are, so the least counts as 0",
            c.min_domains,
            count(c.domains_counted(), what)
        ));
    }
    if !unlabelled.is_empty() {
        let names = some_nodes(unlabelled.iter().copied());
        parts.push(format!(
            "{names} {} the label {}",
            if unlabelled.len() == 1 { "lacks" } else { "lack" },
            c.topology_key
        ));
    }
    let objects = full.iter().chain(&unlabelled).take(10).map(|n| Ref::node(n.name()));
    let mut finding = Finding::new(Code::TopologySpread, parts.join("; ")).about(objects);
    if tries {
        finding.remedies = remedies(f, at, spec);
    }
    Some(finding)
}

fn c_selector(spec: &TopologySpread) -> String {
    format!("the spread of {}", spec.selector)
}

/// `a 3, b 3, c 0`, the fullest first; long lists are cut in the middle.
fn counts(c: &Constraint) -> String {
    let mut all: Vec<(i64, &str)> =
        c.domains.values.iter().zip(&c.counts).filter_map(|(v, n)| Some(((*n)?, &**v))).collect();
    all.sort_by_key(|(n, v)| (-n, *v));
    let shown = |(n, v): &(i64, &str)| format!("{v} {n}");
    if all.len() <= 8 {
        return all.iter().map(shown).collect::<Vec<_>>().join(", ");
    }
    let (head, tail) = (all.iter().take(3), all.iter().skip(all.len() - 3));
    let between = format!("… {} more", all.len() - 6);
    head.map(shown).chain([between]).chain(tail.map(shown)).collect::<Vec<_>>().join(", ")
}

/// The domains that hold the minimum and cannot take the pod: which, and why.
fn holders_of_minimum(f: &Facts<'_>, c: &Constraint) -> String {
    let least = c.counts.iter().flatten().min().copied().unwrap_or(0);
    let mut words = Vec::new();
    for node in f.state.nodes() {
        let Some(domain) = c.domains.of(node.id) else { continue };
        if c.counts.get(domain).copied().flatten() != Some(least) || words.len() >= 4 {
            continue;
        }
        let why = f.refusals(node.id).iter().find(|s| s.plugin != Plugin::PodTopologySpread);
        if let Some(why) = why.and_then(|s| s.reasons.first()) {
            let value = c.domains.values.get(domain).map(|v| &**v).unwrap_or_default();
            let name = if value == &**node.name() { String::new() } else { format!(" by {}", node.name()) };
            words.push(format!("{value} is kept at {least}{name} ({})", short(why)));
        }
    }
    if words.is_empty() { String::new() } else { format!("; {}", words.join(", ")) }
}

fn short(reason: &Reason) -> String {
    match reason {
        Reason::Unschedulable => "cordoned".to_owned(),
        Reason::Taint => "tainted".to_owned(),
        Reason::NodeAffinity => "the pod's rules exclude it".to_owned(),
        other => other.text().into_owned(),
    }
}

/// Changes of the constraint that let the pod fit, each tried, least first.
fn remedies(f: &Facts<'_>, at: usize, spec: &TopologySpread) -> Vec<Remedy> {
    type Change = fn(&mut TopologySpread);
    let mut candidates: Vec<(String, Change, &str)> = Vec::new();
    if !spec.honor_taints {
        let text = "set nodeTaintsPolicy: Honor, so that nodes the pod does not tolerate are no domains";
        candidates.push((text.to_owned(), |c| c.honor_taints = true, ""));
    }
    if !spec.honor_affinity {
        let text = "set nodeAffinityPolicy: Honor, so that nodes its rules exclude are no domains";
        candidates.push((text.to_owned(), |c| c.honor_affinity = true, ""));
    }
    if spec.min_domains.is_some_and(|n| n > 1) {
        candidates.push(("remove minDomains".to_owned(), |c| c.min_domains = None, "fewer domains can be used"));
    }
    if spec.match_label_keys.is_empty() && f.pod().meta.labels.has("pod-template-hash") {
        let text = "set matchLabelKeys: [pod-template-hash], so that only pods of the same revision are counted";
        candidates.push((text.to_owned(), |c| c.match_label_keys = Box::new(["pod-template-hash".into()]), ""));
    }
    let risk = "the pods are spread less evenly";
    candidates.push((format!("raise maxSkew to {}", spec.max_skew + 1), |c| c.max_skew += 1, risk));
    let text = "set whenUnsatisfiable: ScheduleAnyway, so that the spread is a wish";
    candidates.push((text.to_owned(), |c| c.required = false, risk));
    let whose = f.owner.map_or_else(|| "the pod".to_owned(), |w| format!("{} {}", w.kind, w.meta.path()));
    let tried = candidates.into_iter().filter_map(|(text, change, risk)| {
        let pod = f.pod_with(|s| {
            if let Some(c) = s.topology_spread.get_mut(at) {
                change(c);
            }
        });
        let node = f.taken_by(f.state, &pod)?;
        let advice =
            Remedy::advice(format!("{text} (topologySpreadConstraints of {whose}): the pod then fits on {node}"));
        if risk.is_empty() { advice } else { advice.risk(risk) }.tried(|| true)
    });
    tried.collect()
}
