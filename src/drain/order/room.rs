//! Room for the replacements of many nodes drained at once, counted in sum: for clusters too large to try every round.

use super::drainable::Drainable;
use crate::drain::context::DrainContext;
use crate::drain::filters::Decision;
use crate::sched::resources::{Of, requests};
use crate::snapshot::Str;
use std::collections::HashSet;

/// What pods ask for, or nodes have free: thousandths of a core, bytes, pods.
type Sum = [i128; 3];

/// Halves a round until what its pods ask for fits into what the other nodes have free.
pub fn split(context: &DrainContext<'_>, round: Vec<&Drainable<'_>>) -> Vec<Vec<Str>> {
    let total = free_on(context, |_| true);
    let mut queue = vec![round];
    let mut done = Vec::new();
    while let Some(round) = queue.pop() {
        let names: HashSet<&Str> = round.iter().map(|n| &n.node).collect();
        let here = free_on(context, |n| names.contains(n));
        let asked = asked(context, &round);
        let fits = (0..3).all(|i| asked[i] <= total[i] - here[i]);
        if fits || round.len() < 2 {
            done.push(round.iter().map(|n| n.node.clone()).collect());
        } else {
            let half = round.len() / 2;
            queue.push(round.get(half..).unwrap_or_default().to_vec());
            queue.push(round.get(..half).unwrap_or_default().to_vec());
        }
    }
    done
}

fn free_on(context: &DrainContext<'_>, takes: impl Fn(&Str) -> bool) -> Sum {
    let mut sum = [0; 3];
    let open = context.state.nodes().iter().filter(|n| !n.node.unschedulable && n.node.is_ready() && takes(n.name()));
    for n in open {
        sum[0] += i128::from(n.allocatable.cpu - n.requested.cpu).max(0);
        sum[1] += i128::from(n.allocatable.memory - n.requested.memory).max(0);
        sum[2] += i128::from(n.pod_slots).saturating_sub(n.pods.len() as i128).max(0);
    }
    sum
}

fn asked(context: &DrainContext<'_>, round: &[&Drainable<'_>]) -> Sum {
    let mut sum = [0; 3];
    let leaving = round
        .iter()
        .flat_map(|n| n.pods)
        .filter(|c| c.status.decision == Decision::Delete && !c.pod.is_finished() && c.pod.meta.controller.is_some());
    for c in leaving {
        let asked = requests(&c.pod, Of::Incoming, context.state.minor());
        sum[0] += asked.get("cpu").map_or(0, |q| i128::from(q.milli_value()));
        sum[1] += asked.get("memory").map_or(0, |q| i128::from(q.value()));
        sum[2] += 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::node_pod::NodePod;
    use crate::drain::options::DrainOptions;
    use crate::drain::rules::Rules;
    use crate::drain::testing::{Cluster, owned_by, with_context};

    #[test]
    fn rounds_are_halved_until_the_other_nodes_have_room() {
        // Nodes have 4 cpu, 8Gi and room for 110 pods; those of the round hold one pod each.
        let (set, daemon) = (owned_by("apps/v1", "ReplicaSet", "web"), owned_by("apps/v1", "DaemonSet", "netd"));
        let (cpu2, cpu3) = (r#""cpu": "2""#, r#""cpu": "3""#);
        let (gi3, gi6) = (r#""memory": "3Gi""#, r#""memory": "6Gi""#);
        let (open, cordoned) = ("{}", r#"{"unschedulable": true}"#);
        let done = r#""phase": "Succeeded""#;
        for (title, round, asks, meta, status, others, want) in [
            // Two ask for 4 cpu and two empty nodes have 8.
            ("there is room", 2, cpu2, &*set, "", &[open, open][..], &[2][..]),
            // Three ask for 6 cpu, one empty node has 4; then 4 - 2 on each node of the other half besides.
            ("half by half", 3, cpu2, &set, "", &[open], &[1, 2]),
            // Five ask for 10 of 4; then two for 4 of 4 + 3 * 2, and three for 6 of 4 + 2 * 2.
            ("five", 5, cpu2, &set, "", &[open], &[2, 3]),
            // Four ask for 12 of 0, two for 6 of 2 * 1, and one alone is a round whatever it requests for.
            ("one by one", 4, cpu3, &set, "", &[], &[1, 1, 1, 1]),
            ("memory that is there", 2, gi3, &set, "", &[open], &[2]),
            ("memory that is not there", 2, gi6, &set, "", &[open], &[1, 1]),
            ("no room on a cordoned node", 2, cpu2, &set, "", &[cordoned], &[1, 1]),
            ("no new pods without a controller", 2, cpu2, "", "", &[], &[2]),
            ("no new pods of a DaemonSet", 2, cpu2, &daemon, "", &[], &[2]),
            ("no new pods for what has ended", 2, cpu2, &set, done, &[], &[2]),
        ] {
            let mut c = Cluster::new();
            c.add("apps/v1", "DaemonSet", "a", "netd", "{}");
            let container = format!(r#"{{"name": "c", "resources": {{"requests": {{{asks}}}}}}}"#);
            let names: Vec<String> = (0..round).map(|i| format!("n{i}")).collect();
            for name in &names {
                c.node(name, "{}");
                c.push_pod(&container, "a", &format!("p-{name}"), name, (meta, "", status));
            }
            others.iter().enumerate().for_each(|(i, spec)| c.node(&format!("other{i}"), spec));
            let snapshot = c.snapshot();
            let rounds = with_context(&snapshot, &DrainOptions::default(), |context| {
                let rules = Rules::new(context);
                let lists: Vec<Vec<NodePod>> = names.iter().map(|n| rules.node_pods(n)).collect();
                let nodes: Vec<Drainable<'_>> =
                    names.iter().zip(&lists).map(|(n, pods)| Drainable { node: (&**n).into(), pods }).collect();
                split(context, nodes.iter().collect())
            });
            assert_eq!(rounds.iter().map(Vec::len).collect::<Vec<_>>(), want, "{title}");
            let all: Vec<&str> = rounds.iter().flatten().map(|n| &**n).collect();
            assert_eq!(all, names, "{title}");
        }
    }
}
