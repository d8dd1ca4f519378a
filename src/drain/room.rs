//! Room for the replacements of many nodes drained at once, counted in sum: for clusters too large to try every round.

use super::filters::Decision;
use super::ground::Ground;
use super::order::Drainable;
use crate::sched::resources::{Of, requests};
use crate::snapshot::Str;
use std::collections::HashSet;

/// What pods ask for, or nodes have free: thousandths of a core, bytes, pods.
type Sum = [i128; 3];

/// Halves a round until what its pods ask for fits into what the other nodes have free.
pub fn split(ground: &Ground<'_>, round: Vec<&Drainable<'_>>) -> Vec<Vec<Str>> {
    let total = free_on(ground, |_| true);
    let mut queue = vec![round];
    let mut done = Vec::new();
    while let Some(round) = queue.pop() {
        let names: HashSet<&Str> = round.iter().map(|n| &n.node).collect();
        let here = free_on(ground, |n| names.contains(n));
        let asked = asked(ground, &round);
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

fn free_on(ground: &Ground<'_>, takes: impl Fn(&Str) -> bool) -> Sum {
    let mut sum = [0; 3];
    let open = ground.state.nodes().iter().filter(|n| !n.node.unschedulable && n.node.is_ready() && takes(n.name()));
    for n in open {
        sum[0] += i128::from(n.allocatable.cpu - n.requested.cpu).max(0);
        sum[1] += i128::from(n.allocatable.memory - n.requested.memory).max(0);
        sum[2] += i128::from(n.pod_slots).saturating_sub(n.pods.len() as i128).max(0);
    }
    sum
}

fn asked(ground: &Ground<'_>, round: &[&Drainable<'_>]) -> Sum {
    let mut sum = [0; 3];
    let leaving = round
        .iter()
        .flat_map(|n| n.candidates)
        .filter(|c| c.filtered.decision == Decision::Goes && !c.pod.is_finished() && c.pod.meta.controller.is_some());
    for c in leaving {
        let asked = requests(&c.pod, Of::Incoming, ground.state.minor());
        sum[0] += asked.get("cpu").map_or(0, |q| i128::from(q.milli_value()));
        sum[1] += asked.get("memory").map_or(0, |q| i128::from(q.value()));
        sum[2] += 1;
    }
    sum
}
