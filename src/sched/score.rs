//! Which of the nodes that take a pod the scheduler would rather have. Mirrors the default scores and their weights
//! (`getDefaultPlugins`), as far as a snapshot tells: TaintToleration, PodTopologySpread (with the system's own
//! constraints), NodeResourcesFit (LeastAllocated) and NodeResourcesBalancedAllocation. Preferred affinity and images are
//! not read, and of equals upstream picks one by chance: it is a likely node and not a certain one.

use super::filters::taint_toleration;
use super::node::{NodeId, NodeInfo};
use super::resources::Request;
use super::state::State;
use crate::snapshot::Str;
use crate::snapshot::node::HOSTNAME;
use crate::snapshot::pod::{Pod, TopologySpread};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// The best score that a plugin gives.
const BEST: i64 = 100;

/// What a pod without a request counts as in scores: 100m cpu and 200Mi. Mirrors `util/pod_resources.go`.
const LEAST_CPU: i64 = 100;
const LEAST_MEMORY: i64 = 200 << 20;

/// Balance is judged by what the pod changes in it since this minor version.
const BALANCE_BY_CHANGE_SINCE: u32 = 35;

const ZONE: &str = "topology.kubernetes.io/zone";

/// The node that suits best of those that take the pod; of equals the first.
pub fn best(state: &State, pod: &Arc<Pod>, fits: &[NodeId]) -> Option<NodeId> {
    let nodes: Vec<&Arc<NodeInfo>> = fits.iter().filter_map(|id| state.node(*id)).collect();
    if let [one] = nodes[..] {
        return Some(one.id);
    }
    let request = state.incoming(pod).request.clone();
    let (taints, spread) = (taints(pod, &nodes), spread(state, pod, &nodes));
    let scored = nodes.iter().zip(taints).zip(spread).map(|((node, taints), spread)| {
        let resources = least_allocated(node, &request) + balanced(node, &request, state.minor());
        (3 * taints + 2 * spread + resources, Reverse(node.id))
    });
    scored.max().map(|(_, Reverse(id))| id)
}

/// Few taints that would rather not have it. Mirrors `TaintToleration.Score` and `DefaultNormalizeScore`, reversed.
fn taints(pod: &Pod, nodes: &[&Arc<NodeInfo>]) -> Vec<i64> {
    let averse = |n: &&Arc<NodeInfo>| {
        let soft = n.node.taints.iter().filter(|t| &*t.effect == "PreferNoSchedule");
        soft.filter(|t| !taint_toleration::tolerates(pod, &t.key, &t.value, &t.effect)).count() as i64
    };
    let counts: Vec<i64> = nodes.iter().map(averse).collect();
    let most = counts.iter().copied().max().unwrap_or_default();
    counts.into_iter().map(|n| if most == 0 { BEST } else { BEST - BEST * n / most }).collect()
}

/// A wish to be spread: of the pod, or the system's for pods that have none.
struct Wish<'a> {
    key: &'a str,
    max_skew: i32,
    counts: Box<dyn Fn(&Pod) -> bool + 'a>,
}

/// Mirrors `systemDefaultConstraints`, and `buildDefaultConstraints` where a pod has no constraint of its own: its like
/// are those that its controller's selector takes.
fn wishes(pod: &Pod) -> Vec<Wish<'_>> {
    if !pod.spec.topology_spread.is_empty() {
        let soft = pod.spec.topology_spread.iter().filter(|c| !c.required);
        return soft.map(|c| Wish { key: &c.topology_key, max_skew: c.max_skew, counts: selected(c) }).collect();
    }
    let kinds = ["ReplicaSet", "StatefulSet", "ReplicationController"];
    let Some(owner) = pod.meta.controller.as_ref().filter(|o| kinds.contains(&&*o.kind)) else { return Vec::new() };
    let like = move |p: &Pod| p.meta.controller.as_ref().is_some_and(|o| o.uid == owner.uid);
    [(HOSTNAME, 3), (ZONE, 5)].map(|(key, max_skew)| Wish { key, max_skew, counts: Box::new(like) }).into()
}

fn selected(c: &TopologySpread) -> Box<dyn Fn(&Pod) -> bool + '_> {
    Box::new(|p| c.selector.matches(&p.meta.labels))
}

/// Mirrors `initPreScoreState`, `PreScore`, `Score` and `NormalizeScore` of `podtopologyspread/scoring.go`.
fn spread(state: &State, pod: &Pod, nodes: &[&Arc<NodeInfo>]) -> Vec<i64> {
    let wishes = wishes(pod);
    if wishes.is_empty() {
        return vec![0; nodes.len()];
    }
    let own = !pod.spec.topology_spread.is_empty();
    let has_all = |n: &NodeInfo| wishes.iter().all(|w| n.node.meta.labels.has(w.key));
    let ignored: Vec<bool> = nodes.iter().map(|n| own && !has_all(n)).collect();
    let on = |w: &Wish<'_>, n: &NodeInfo| {
        let like = n.pods.iter().filter(|s| !s.terminating && s.info.pod.meta.namespace == pod.meta.namespace);
        like.filter(|s| (w.counts)(&s.info.pod)).count() as i64
    };
    let mut raw = vec![0.0; nodes.len()];
    for wish in &wishes {
        let mut domains: HashMap<&Str, i64> = HashMap::new();
        let scored = nodes.iter().zip(&ignored).filter(|(_, ignored)| !**ignored);
        let per_node = wish.key == HOSTNAME;
        if !per_node {
            domains.extend(scored.clone().filter_map(|(n, _)| Some((n.node.meta.labels.get(wish.key)?, 0))));
            for node in state.nodes().iter().filter(|n| !own || has_all(n)) {
                if let Some(count) = node.node.meta.labels.get(wish.key).and_then(|value| domains.get_mut(value)) {
                    *count += on(wish, node);
                }
            }
        }
        let size = if per_node { scored.count() } else { domains.len() };
        let weight = (size as f64 + 2.0).ln();
        for (node, raw) in nodes.iter().zip(&mut raw) {
            let Some(value) = node.node.meta.labels.get(wish.key) else { continue };
            let count = if per_node { on(wish, node) } else { domains.get(value).copied().unwrap_or_default() };
            *raw += count as f64 * weight + (f64::from(wish.max_skew) - 1.0);
        }
    }
    let raw: Vec<Option<i64>> = raw.iter().zip(&ignored).map(|(r, i)| (!i).then_some(r.round() as i64)).collect();
    let (least, most) = (raw.iter().flatten().min().copied(), raw.iter().flatten().max().copied());
    let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
    let normal = |score: Option<i64>| match score {
        None => 0,
        Some(_) if most == 0 => BEST,
        Some(score) => BEST * (most + least - score) / most,
    };
    raw.into_iter().map(normal).collect()
}

/// What is used of a resource, and how much there is.
type Use = (i64, i64);

fn uses(node: &NodeInfo, request: &Request) -> [Use; 2] {
    let cpu = node.requested.cpu.saturating_add(request.cpu.max(LEAST_CPU));
    let memory = node.requested.memory.saturating_add(request.memory.max(LEAST_MEMORY));
    [(cpu, node.allocatable.cpu), (memory, node.allocatable.memory)]
}

/// Mirrors `leastResourceScorer`.
fn least_allocated(node: &NodeInfo, request: &Request) -> i64 {
    let free = |(used, all): Use| {
        let free = i128::from(all.saturating_sub(used).max(0)) * i128::from(BEST);
        i64::try_from(free / i128::from(all)).unwrap_or_default()
    };
    let scores: Vec<i64> = uses(node, request).into_iter().filter(|(_, all)| *all > 0).map(free).collect();
    scores.iter().sum::<i64>() / (scores.len() as i64).max(1)
}

/// Mirrors `balancedResourceScorer`.
fn balanced(node: &NodeInfo, request: &Request, minor: u32) -> i64 {
    if request.cpu == 0 && request.memory == 0 {
        return 0;
    }
    let cpu = (node.requested.cpu.saturating_add(request.cpu), node.allocatable.cpu);
    let memory = (node.requested.memory.saturating_add(request.memory), node.allocatable.memory);
    let with = evenness([cpu, memory]);
    if minor < BALANCE_BY_CHANGE_SINCE {
        return with;
    }
    let without = evenness([(node.requested.cpu, cpu.1), (node.requested.memory, memory.1)]);
    BEST / 2 + (BEST / 2 + with - without) / 2
}

/// Mirrors `balancedResourceScore`, for two resources.
fn evenness(uses: [Use; 2]) -> i64 {
    let shares: Vec<f64> =
        uses.iter().filter(|(_, all)| *all > 0).map(|(used, all)| (*used as f64 / *all as f64).min(1.0)).collect();
    let apart = if let [a, b] = shares[..] { (a - b).abs() / 2.0 } else { 0.0 };
    ((1.0 - apart) * BEST as f64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Object, cluster, deployment, find, node, pod};

    #[test]
    fn nodes_are_ranked_as_upstream_ranks_them() {
        // After TestLeastAllocatedScoringStrategy, TestPodTopologySpreadScore and TestTaintTolerationScore. Nodes have 4 cpu.
        let busy = |name: &str, on: &str, cpu: &str| pod(name).on(on).ready().requests("cpu", cpu);
        let of_web = |o: Object| o.label("app", "web").owned_by("apps/v1", "ReplicaSet/web-1");
        let zoned = |n: Object, zone: &str| n.label(ZONE, zone);
        for (title, n, m, others, want) in [
            ("the emptier one", node("n"), node("m"), vec![busy("a/x", "n", "2")], "m"),
            ("of equals the first", node("m"), node("n"), vec![], "m"),
            (
                "the one without its like, though it is fuller",
                node("n"),
                node("m"),
                vec![busy("a/x", "m", "1"), of_web(pod("a/web-1-8").on("n").ready())],
                "m",
            ),
            (
                "its like in another zone counts less than on the node",
                zoned(node("n"), "a"),
                zoned(node("m"), "b"),
                vec![
                    of_web(pod("a/web-1-8").on("n").ready()),
                    of_web(pod("a/web-1-9").on("m").ready()),
                    busy("a/x", "n", "1"),
                ],
                "m",
            ),
            (
                "a like pod that is being deleted does not count",
                node("n"),
                node("m"),
                vec![of_web(pod("a/web-1-8").on("n").deleted("2026-01-01T12:00:30Z", 30)), busy("a/x", "m", "1")],
                "n",
            ),
            (
                "a node that would rather not",
                node("n").taint("a:PreferNoSchedule"),
                node("m"),
                vec![busy("a/x", "m", "3")],
                "m",
            ),
        ] {
            let web = deployment("a/web").itself(|o| o);
            let p = of_web(pod("a/p"));
            let snapshot = cluster().add(n).add(m).add(web).all(others).add(p).snapshot();
            let state = State::new(&snapshot);
            let all: Vec<NodeId> = state.nodes().iter().map(|n| n.id).collect();
            let chosen = best(&state, &find(&snapshot, "a/p"), &all).and_then(|id| state.node(id));
            assert_eq!(chosen.map(|n| &**n.name()), Some(want), "{title}");
        }
    }
}
