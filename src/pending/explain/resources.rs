//! Room: what is short, on how many nodes, and which node is nearest.

use super::{absent, template};
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::pending::amounts::{self, decided_by, is_device, name, taken};
use crate::pending::facts::{Facts, count, some_nodes};
use crate::sched::Reason;
use crate::sched::filters::node_resources_fit::{Short, Shortage, shortages};
use crate::sched::filters::{node_affinity, taint_toleration};
use crate::sched::node::{CORDON_TAINT, NodeInfo, PodInfo};
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use crate::snapshot::quantity::{Amounts, Quantity};
use std::sync::Arc;

/// One finding for each resource of which nodes are short, and one where no node could ever hold the pod.
pub fn findings(f: &Facts<'_>) -> Vec<Finding> {
    let mut whats: Vec<Shortage> = Vec::new();
    let short_nodes = f.nodes_where(|r| matches!(r, Reason::Insufficient(_) | Reason::TooManyPods));
    for node in &short_nodes {
        for s in short_of(f, node) {
            if !whats.contains(&s.what) {
                whats.push(s.what);
            }
        }
    }
    let mut all: Vec<Finding> = whats.iter().filter_map(|what| one(f, *what, &short_nodes)).collect();
    all.extend(larger_than_any(f));
    all
}

/// What a node is short of.
pub fn short_of<'a>(f: &'a Facts<'_>, node: &'a NodeInfo) -> impl Iterator<Item = Short> + 'a {
    let offered = |id| {
        let name = f.state.catalogue().resource_name(id);
        f.state.minor() >= 36
            && crate::sched::filters::dynamic_resources::extended::class_of(f.snapshot(), &name).is_some()
    };
    shortages(&f.incoming, node, offered)
}

/// An amount as a person writes it.
fn shown(f: &Facts<'_>, what: Shortage, n: i64) -> String {
    amounts::shown(what, n, f.state.catalogue())
}

/// A node with its shortage of one resource.
struct Near<'a> {
    node: &'a Arc<NodeInfo>,
    short: Short,
    /// How many other things speak against the node.
    others: usize,
}

fn one(f: &Facts<'_>, what: Shortage, nodes: &[&Arc<NodeInfo>]) -> Option<Finding> {
    let near = |node: &&'_ Arc<NodeInfo>| {
        let all: Vec<Short> = short_of(f, node).collect();
        let short = all.iter().find(|s| s.what == what)?.clone();
        let others = f.refusals(node.id).len().saturating_sub(1) + all.len() - 1;
        Some((node.id, short, others))
    };
    let mut short: Vec<Near<'_>> = nodes
        .iter()
        .filter_map(near)
        .filter_map(|(id, short, others)| Some(Near { node: f.node(id)?, short, others }))
        .collect();
    short.sort_by_key(|n| (n.short.never(), n.others, n.short.asked - n.short.free(), n.node.id));
    let nearest = short.first()?;
    let catalogue = f.state.catalogue();
    let (code, resource) = match what {
        Shortage::Pods => (Code::TooManyPods, "pods".to_owned()),
        _ if is_device(what, catalogue) => (Code::ExtendedResource, name(what, catalogue)),
        _ => (Code::Insufficient, name(what, catalogue)),
    };
    let on = if short.len() == 1 { nearest.node.name().to_string() } else { count(short.len(), "node") };
    let message = match what {
        Shortage::Pods => format!(
            "{on} {}: {} holds {} of {} pods",
            if short.len() == 1 { "has no pod slot left" } else { "have no pod slot left" },
            nearest.node.name(),
            nearest.short.used,
            nearest.short.capacity
        ),
        _ => {
            let decided = decided_by(f.pod(), &resource).map(|d| format!(" ({d})")).unwrap_or_default();
            let asked = shown(f, what, nearest.short.asked);
            let have = if short.len() == 1 { "has" } else { "have" };
            format!(
                "it requests {asked} {resource}{decided}, and {on} {have} too little: {}",
                nearest_words(f, nearest, what)
            )
        }
    };
    let spread_out = fragmentation(f, &short, what, &resource).unwrap_or_default();
    let holders = holders(nearest.node, what);
    let held = held_words(f, &holders, what, nearest);
    let resizing = resizing(f, &short, what, &holders);
    let objects = [Ref::node(nearest.node.name())].into_iter().chain(holders.iter().map(|p| Ref::pod(&p.pod)));
    let absent = absent::of(f, &resource, what);
    let why = absent.as_ref().map(|a| &*a.words).unwrap_or_default();
    let mut finding = Finding::new(code, format!("{message}{why}{held}{resizing}{spread_out}")).about(objects);
    finding.remedies = remedies(f, &short, what, &resource);
    finding.remedies.extend(absent.map(|a| a.remedy));
    Some(finding)
}

fn nearest_words(f: &Facts<'_>, near: &Near<'_>, what: Shortage) -> String {
    let s = &near.short;
    let (free, capacity) = (shown(f, what, s.free().max(0)), shown(f, what, s.capacity));
    let node = near.node.name();
    if s.capacity == 0 {
        format!("{node} has none")
    } else if s.never() {
        format!(
            "{node}, the nearest, has {capacity} in all, {} less than requested",
            shown(f, what, s.asked - s.capacity)
        )
    } else {
        let gap = shown(f, what, s.asked - s.free());
        format!("on {node}, the nearest, {free} of {capacity} are free, {gap} short")
    }
}

/// The pods that take most of it on a node, the largest first.
fn holders(node: &NodeInfo, what: Shortage) -> Vec<Arc<PodInfo>> {
    let mut pods: Vec<&Arc<PodInfo>> = node.pods.iter().map(|s| &s.info).filter(|p| taken(what, p) > 0).collect();
    pods.sort_by_key(|p| (-taken(what, p), p.pod.meta.path()));
    pods.into_iter().take(3).cloned().collect()
}

fn held_words(f: &Facts<'_>, holders: &[Arc<PodInfo>], what: Shortage, near: &Near<'_>) -> String {
    if holders.is_empty() || near.short.capacity == 0 {
        return String::new();
    }
    let each = |p: &Arc<PodInfo>| {
        let state = if p.pod.is_terminating() {
            ", terminating"
        } else if p.pod.condition("PodResizePending").is_some_and(|c| &*c.reason == "Deferred") {
            ", a resize is deferred and counts in full"
        } else {
            ""
        };
        match what {
            Shortage::Pods => p.pod.meta.path(),
            _ => format!("{} ({}{state})", p.pod.meta.path(), shown(f, what, taken(what, p))),
        }
    };
    let names: Vec<String> = holders.iter().map(each).collect();
    let more = match near.node.pods.len().saturating_sub(holders.len()) {
        0 => String::new(),
        n => format!(" and {}", count(n, "more pod")),
    };
    format!("; taken there by {}{more}", names.join(", "))
}

/// Pods on the other short nodes that count with a raised request although their resize is deferred.
fn resizing(f: &Facts<'_>, short: &[Near<'_>], what: Shortage, named: &[Arc<PodInfo>]) -> String {
    let pods = short.iter().flat_map(|n| n.node.pods.iter().map(move |s| (n.node, s)));
    let deferred = pods
        .filter(|(_, s)| s.resize_deferred && taken(what, &s.info) > 0)
        .map(|(node, s)| (node, &s.info))
        .filter(|(_, p)| !named.iter().any(|n| Arc::ptr_eq(n, p)));
    let words: Vec<String> = deferred
        .take(3)
        .map(|(node, p)| format!("{} on {} ({})", p.pod.meta.path(), node.name(), shown(f, what, taken(what, p))))
        .collect();
    if words.is_empty() { String::new() } else { format!("; a deferred resize counts in full: {}", words.join(", ")) }
}

/// Free in total on the nodes that are short, where that would be enough if it were on one node.
fn fragmentation(f: &Facts<'_>, short: &[Near<'_>], what: Shortage, resource: &str) -> Option<String> {
    let free = |n: &Near<'_>| n.short.free().max(0);
    let total: i64 = short.iter().map(free).sum();
    let most = short.iter().max_by_key(|n| free(n))?;
    let enough = what != Shortage::Pods && short.len() > 1 && total >= most.short.asked;
    enough.then(|| {
        format!(
            "; {} {resource} are free in total, but at most {} on one of them ({})",
            shown(f, what, total),
            shown(f, what, free(most)),
            most.node.name()
        )
    })
}

fn remedies(f: &Facts<'_>, short: &[Near<'_>], what: Shortage, resource: &str) -> Vec<Remedy> {
    let mut all = Vec::new();
    let Some(near) = short.iter().find(|n| n.others == 0) else { return all };
    if let Some(r) = ask_less(f, short, near, what, resource) {
        all.push(r);
    }
    all.extend(make_room(f, near, what));
    all
}

/// A lower request, tried with the filters: one with which all pods of its workload that have no node fit, where there is one.
fn ask_less(f: &Facts<'_>, short: &[Near<'_>], near: &Near<'_>, what: Shortage, resource: &str) -> Option<Remedy> {
    let [container] = &*f.pod().spec.containers else { return None };
    let alone = f.pod().spec.init_containers.is_empty() && f.pod().spec.overhead.is_empty();
    if !alone || f.pod().spec.resources.is_some() || template::is_behind(f) {
        return None;
    }
    let homeless = homeless(f);
    // One pod a node, or several.
    let free = || short.iter().filter(|n| n.others == 0).map(|n| n.short.free());
    let mut requests: Vec<i64> = (1..=4).flat_map(|on_a_node| free().map(move |free| free / on_a_node)).collect();
    requests.retain(|request| *request > 0 && *request < near.short.asked);
    requests.sort_unstable_by_key(|free| std::cmp::Reverse(*free));
    requests.dedup();
    let all = requests.iter().take(TRIED).filter(|_| homeless > 1).find_map(|request| {
        let pod = asking(f, what, resource, *request)?;
        place(f, &pod, homeless).map(|node| (*request, node))
    });
    let together = all.is_some();
    let (request, node) = match all {
        Some(found) => found,
        None => {
            let request = near.short.free();
            (request, f.taken_by(f.state, &asking(f, what, resource, request)?)?)
        }
    };
    let (from, to) = (shown(f, what, near.short.asked), shown(f, what, request));
    let text = format!("lower the {resource} request of container {} from {from} to {to}", container.name);
    let promise = match homeless {
        n if together => format!("the {n} pods of its controller that have no node then fit, the first on {node}"),
        0 | 1 => format!("the pod then fits on {node}"),
        n => format!("the pod then fits on {node}; not all {n} pods of its controller that have no node do"),
    };
    let request = format!("--requests={resource}={to}");
    let args = ["-c", &*container.name, &*request];
    template::change(f, &text, &promise, ("resources", &args))
        .risk("the container can be slowed or killed when it needs more; its pods are replaced")
        .tried(|| true)
}

/// How many requests are tried, and with how many pods: both grow with the cluster otherwise.
const TRIED: usize = 16;

/// How many pods its controller wants that have no node yet, itself among them; 1 where that is not known.
fn homeless(f: &Facts<'_>) -> usize {
    let meta = &f.pod().meta;
    let wanted = f.snapshot().controller_of(meta).and_then(|w| w.wanted_pods());
    let uid = meta.controller.as_ref().map(|o| &*o.uid);
    let (Some(wanted), Some(uid)) = (wanted, uid) else { return 1 };
    let placed = f.snapshot().pods_of(uid).filter(|p| p.node.is_some() && !p.is_finished()).count();
    usize::try_from(wanted).unwrap_or_default().saturating_sub(placed).clamp(1, TRIED)
}

/// The pod, asking for so much of the resource; `None` for a resource that is no amount of one container.
fn asking(f: &Facts<'_>, what: Shortage, resource: &str, request: i64) -> Option<Arc<Pod>> {
    let quantity = match what {
        Shortage::Pods | Shortage::Scalar(_) => return None,
        Shortage::Cpu => Quantity::milli(request),
        Shortage::Memory | Shortage::Ephemeral => Quantity::bytes(request),
    };
    (request > 0).then(|| {
        f.pod_with(|spec| {
            for c in &mut spec.containers {
                let old = c.resources.requests.clone();
                let kept = old.iter().map(|(n, q)| (n.clone(), if **n == *resource { quantity } else { q }));
                c.resources.requests = kept.collect::<Amounts>();
            }
        })
    })
}

/// The node of the first of so many pods like this one, where all of them fit.
fn place(f: &Facts<'_>, pod: &Arc<Pod>, pods: usize) -> Option<Str> {
    let mut state = f.state.clone();
    let mut first = None;
    for _ in 0..pods {
        let node = f.taken_by(&state, pod)?;
        state.bind(pod, &node);
        first.get_or_insert(node);
    }
    first
}

/// Pods that could go from the nearest node, smallest first, until there is room: tried with the filters.
fn make_room(f: &Facts<'_>, near: &Near<'_>, what: Shortage) -> Option<Remedy> {
    if near.short.never() {
        return None;
    }
    let mut movable: Vec<&Arc<PodInfo>> =
        near.node.pods.iter().filter(|s| !s.of_node && !s.terminating).map(|s| &s.info).collect();
    movable.retain(|p| taken(what, p) > 0);
    movable.sort_by_key(|p| taken(what, p));
    let gap = near.short.asked - near.short.free();
    // One that is enough by itself, else the fewest.
    let chosen: Vec<&Arc<PodInfo>> = match movable.iter().find(|p| taken(what, p) >= gap) {
        Some(p) => vec![p],
        None => {
            let mut sum = 0;
            let mut fewest = movable.into_iter().rev();
            let take = fewest.by_ref().take_while(|p| {
                let wanted = sum < gap;
                sum += taken(what, p);
                wanted
            });
            take.collect()
        }
    };
    if chosen.is_empty() || chosen.len() > 5 {
        return None;
    }
    let mut state = f.state.clone();
    for p in &chosen {
        state.remove_from(&p.pod, near.node.name());
    }
    let node = f.taken_by(&state, f.pod())?;
    let names: Vec<String> =
        chosen.iter().map(|p| format!("{} ({})", p.pod.meta.path(), shown(f, what, taken(what, p)))).collect();
    let advice = Remedy::advice(format!("move or stop {}: the pod then fits on {node}", names.join(" and ")));
    advice.risk("these pods are disturbed, and need room elsewhere").tried(|| true)
}

/// Whether no node that the pod's own rules admit could hold it even when empty of all but its DaemonSet pods.
fn larger_than_any(f: &Facts<'_>) -> Option<Finding> {
    let pod = f.pod();
    let admits = |n: &&Arc<NodeInfo>| {
        node_affinity::matches(pod, &n.node)
            && pod.node.as_ref().is_none_or(|name| name == n.name())
            && taint_toleration::untolerated(pod, &n.node).all(|t| &*t.key == CORDON_TAINT)
    };
    let admitted: Vec<&Arc<NodeInfo>> = f.state.nodes().iter().filter(admits).collect();
    let mut best: Option<(i64, Short, &Arc<NodeInfo>)> = None;
    for node in &admitted {
        let empty = node.keeping(|s| s.of_node);
        let worst = short_of(f, &empty).filter(|s| s.what != Shortage::Pods).max_by_key(gap_in_thousandths)?;
        let gap = gap_in_thousandths(&worst);
        if best.as_ref().is_none_or(|(least, ..)| gap < *least) {
            best = Some((gap, worst, node));
        }
    }
    let (_, short, node) = best?;
    let what = short.what;
    let resource = name(what, f.state.catalogue());
    let decided = decided_by(pod, &resource).map(|d| format!(" ({d})")).unwrap_or_default();
    let nodes = match admitted.len() {
        1 => "the only node that it can use".to_owned(),
        n => format!("none of the {n} nodes that it can use"),
    };
    let message = format!(
        "it requests {} {resource}{decided}; {nodes} {} hold it even when empty: {} {} {}{}",
        shown(f, what, short.asked),
        if admitted.len() == 1 { "could not" } else { "could" },
        node.name(),
        if admitted.len() == 1 { "has" } else { "comes nearest with" },
        shown(f, what, short.capacity),
        if short.used > 0 {
            format!(", {} of it taken by DaemonSet pods", shown(f, what, short.used))
        } else {
            String::new()
        }
    );
    let nodes: Vec<Ref> = admitted.iter().take(10).map(|n| Ref::node(n.name())).collect();
    let mut finding = Finding::new(Code::LargerThanAnyNode, message).about(nodes);
    let can = some_nodes(admitted.iter().copied());
    let advice = match short.free() {
        // Nobody can ask for nothing; what no node offers is told with the shortage.
        ..=0 if absent::of(f, &resource, what).is_some() => None,
        ..=0 => Some(format!("add a node that has {resource} and that the pod can use (now it can use {can})")),
        free => {
            let free = shown(f, what, free);
            Some(format!("request at most {free} {resource}, or add a node that has more (now the pod can use {can})"))
        }
    };
    finding.remedies.extend(advice.map(Remedy::advice));
    if !template::is_behind(f) {
        finding.remedies.extend(template::then_delete(f));
    }
    Some(finding)
}

/// By how much a node is short, as a share of what is asked, so that different resources can be compared.
fn gap_in_thousandths(s: &Short) -> i64 {
    let gap = i128::from(s.asked - s.free()) * 1000;
    i64::try_from(gap / i128::from(s.asked.max(1))).unwrap_or(i64::MAX)
}
