//! Where the pods of nodes would go that Karpenter thinks of taking away. Mirrors `SimulateScheduling`
//! (`disruption/helpers.go`).

use super::super::machine::Machine;
use super::super::provision::Karpenter;
use super::super::solve::{Moving, NewNode, Place, Refusal, Solve};
use super::Keeps;
use super::blockers::{is_currently_reschedulable, is_pending, path};
use super::candidate::{Candidate, under_consolidate_after};
use crate::budget::selection::Selection;
use crate::sched::State;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is the same whichever nodes are thought of: found once, as it takes a look at every pod and every node.
#[derive(Debug)]
pub struct Standing {
    /// Pods that wait for a node already.
    waiting: Vec<Arc<Pod>>,
    /// Pods of nodes that are going already, which are taken out of the state below.
    going: Vec<Arc<Pod>>,
    /// The hosts that take no pods of other nodes for now.
    resting: BTreeSet<usize>,
    state: State,
}

impl Standing {
    /// That of a Karpenter.
    pub fn new(karpenter: &Karpenter, state: &State, selection: &Selection) -> Self {
        let snapshot = state.snapshot();
        let waits =
            |p: &&Arc<Pod>| p.node.is_none() && karpenter.looks_at(p).is_ok() && karpenter.validate(p, state).is_ok();
        let moves = |p: &&Arc<Pod>| is_currently_reschedulable(p, selection, snapshot);
        let going = karpenter.machines.iter().filter(|m| m.is_going()).filter_map(|m| m.node.as_ref());
        let going: Vec<Arc<Pod>> = going.flat_map(|n| snapshot.pods_on(n.name())).filter(moves).cloned().collect();
        let mut without = state.clone();
        going.iter().for_each(|p| {
            without.remove(p);
        });
        Self {
            waiting: snapshot.pods.iter().filter(waits).cloned().collect(),
            going,
            resting: resting(karpenter, snapshot.now),
            state: without,
        }
    }
}

/// Looks for places for the pods of candidates, together with those that wait for a node already. The new nodes that they
/// would need; or the first pod that has no place, and why.
pub fn reschedule(
    karpenter: &Karpenter,
    candidates: &[&Candidate<'_>],
    consolidating: bool,
    standing: &Standing,
    selection: &Selection,
) -> Result<Vec<NewNode>, Keeps> {
    let Standing { waiting, going, state, .. } = standing;
    let snapshot = state.snapshot();
    let moves = |p: &&Arc<Pod>| is_currently_reschedulable(p, selection, snapshot);
    let own: Vec<Arc<Pod>> = candidates.iter().flat_map(|c| &c.pods).filter(moves).cloned().collect();

    let mut without = state.clone();
    own.iter().for_each(|p| {
        without.remove(p);
    });
    let hosts = || karpenter.hosts.iter().enumerate();
    let leaves = |machine: usize| candidates.iter().any(|c| c.machine == machine);
    let own_numbers = (waiting.len()..).zip(&own);
    let moving = Moving {
        excluded: hosts().filter(|(_, h)| leaves(h.machine)).map(|(at, _)| at).collect(),
        resting: if consolidating { standing.resting.clone() } else { BTreeSet::new() },
        pods: own_numbers.filter(|(_, p)| !is_pending(p)).map(|(at, _)| at).collect(),
        counted: false,
    };
    let batch: Vec<Arc<Pod>> = waiting.iter().chain(&own).chain(going).cloned().collect();
    let solve = Solve::new(karpenter.ground(&without), karpenter.topology(&without), moving);
    let solution = solve.solve(&batch);
    let from_going = waiting.len() + own.len();
    for (number, (place, pod)) in solution.places.iter().zip(&batch).enumerate().skip(waiting.len()) {
        match place {
            Place::Nowhere(why) => return Err(Keeps::Nowhere(path(pod), words(why))),
            Place::Existing(at) if number < from_going => {
                let machine = karpenter.hosts.get(*at).and_then(|h| karpenter.machines.get(h.machine));
                if let Some(machine) = machine.filter(|m| !m.is_initialized()) {
                    return Err(Keeps::OntoStarting(path(pod), machine.name().into()));
                }
            }
            Place::Existing(_) | Place::New(_) => {}
        }
    }
    Ok(solution.new)
}

/// The hosts that take no pods of other nodes for now, as pods came or went there too recently.
fn resting(karpenter: &Karpenter, now: Timestamp) -> BTreeSet<usize> {
    let is_resting = |machine: &Machine, pool: Option<&Str>| {
        let pool = karpenter.pools.iter().find(|p| Some(p.name()) == pool);
        let until = machine.claim.as_ref().zip(pool).and_then(|(claim, pool)| under_consolidate_after(claim, pool));
        until.is_some_and(|until| now < until)
    };
    let hosts = karpenter.hosts.iter().enumerate();
    let hosts =
        hosts.filter(|(_, h)| karpenter.machines.get(h.machine).is_some_and(|m| is_resting(m, h.pool.as_ref())));
    hosts.map(|(at, _)| at).collect()
}

/// What each pool says, a few of many.
fn words(refusals: &[(Str, Refusal)]) -> String {
    let all: Vec<String> = refusals.iter().take(3).map(|(pool, why)| format!("NodePool {pool}: {why}")).collect();
    let more = if refusals.len() > 3 { format!("; and {} more", refusals.len() - 3) } else { String::new() };
    if all.is_empty() { "no NodePool gives a new node".to_owned() } else { format!("{}{more}", all.join("; ")) }
}
