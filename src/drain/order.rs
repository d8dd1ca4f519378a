//! Which nodes to drain at the same time, and which after each other: few rounds, each without a refusal that draining
//! its nodes together causes.

use super::filters::Decision;
use super::ground::{Candidate, Ground};
use super::ledger::BudgetId;
use super::options::After;
use super::packing::{Demand, pack};
use super::simulate::{NodeRun, drain_together};
use super::world::World;
use crate::budget::evict;
use crate::snapshot::Str;
use std::collections::{HashMap, HashSet, VecDeque};

/// A node that can be drained by itself.
#[derive(Debug, Clone)]
pub struct Drainable<'c> {
    /// Its name.
    pub node: Str,
    /// Its pods.
    pub candidates: &'c [Candidate],
}

/// The order, and what it leaves out.
#[derive(Debug, Clone, Default)]
pub struct Order {
    /// Rounds of nodes.
    pub rounds: Vec<Vec<Str>>,
    /// No order can do with fewer rounds.
    pub lower_bound: usize,
    /// Nodes that can be drained by themselves, and not any more once the others have been.
    pub left_out: Vec<Str>,
}

/// Up to so many nodes, every round is tried in a simulation that goes on from the one before.
const TRIED: usize = 60;

/// Puts nodes into rounds.
pub fn order(ground: &Ground<'_>, nodes: &[Drainable<'_>], after: After) -> Order {
    let demands: Vec<Demand> = nodes.iter().map(|n| demand(ground, n.candidates)).collect();
    let capacity = |id: BudgetId| ground.book.entry(id).map_or(0, |e| i64::from(e.opening.allowed));
    let packing = pack(&demands, capacity);
    let rounds = packing.rounds.iter().map(|r| r.iter().filter_map(|at| nodes.get(*at)).collect::<Vec<_>>());
    if nodes.len() <= TRIED {
        let mut trial = Trial::new(ground, after, rounds.collect());
        trial.run();
        let (rounds, left_out) = (trial.done, trial.left_out);
        let lower_bound = packing.lower_bound.min(rounds.len());
        return Order { rounds, lower_bound, left_out };
    }
    let rounds = rounds.flat_map(|r| super::room::split(ground, r)).collect();
    Order { rounds, lower_bound: packing.lower_bound, left_out: Vec::new() }
}

/// What evicting the node's pods takes of each budget.
fn demand(ground: &Ground<'_>, candidates: &[Candidate]) -> Demand {
    let mut all: HashMap<BudgetId, i64> = HashMap::new();
    if ground.options.disable_eviction {
        return Demand::new();
    }
    for c in candidates.iter().filter(|c| c.filtered.decision == Decision::Goes && !evict::ignores_budgets(&c.pod)) {
        if let [id] = c.budgets[..]
            && c.pod.is_ready()
        {
            *all.entry(id).or_default() += 1;
        }
    }
    let mut all: Demand = all.into_iter().collect();
    all.sort_unstable();
    all
}

/// Rounds on trial, one after the other in one world.
struct Trial<'g, 'c> {
    ground: &'g Ground<'g>,
    after: After,
    world: World<'g>,
    queue: VecDeque<Vec<&'c Drainable<'c>>>,
    put_off: HashSet<Str>,
    done: Vec<Vec<Str>>,
    left_out: Vec<Str>,
}

impl<'g, 'c> Trial<'g, 'c> {
    fn new(ground: &'g Ground<'g>, after: After, rounds: Vec<Vec<&'c Drainable<'c>>>) -> Self {
        Self {
            ground,
            after,
            world: World::new(ground),
            queue: rounds.into(),
            put_off: HashSet::new(),
            done: Vec::new(),
            left_out: Vec::new(),
        }
    }

    fn run(&mut self) {
        while let Some(round) = self.queue.pop_front() {
            let (world, run, lists) = self.attempt(&round);
            match (self.at_fault(&round, &run, &lists), &round[..]) {
                (bad, _) if bad.is_empty() => self.accept(world, &round),
                // A node that hangs by itself may go once others are back.
                (_, [one]) => {
                    if !self.queue.is_empty() && self.put_off.insert(one.node.clone()) {
                        self.queue.push_back(round);
                    } else {
                        self.left_out.push(one.node.clone());
                    }
                }
                (bad, _) => {
                    let (later, now): (Vec<_>, Vec<_>) = round.iter().partition(|n| bad.contains(&n.node));
                    let (now, later) = match (now.is_empty(), later.split_first()) {
                        (true, Some((first, rest))) => (vec![*first], rest.to_vec()),
                        _ => (now, later),
                    };
                    self.queue.push_front(later);
                    self.queue.push_front(now);
                }
            }
        }
    }

    /// Drains the nodes of a round together, with all that is on them by now.
    fn attempt(&self, round: &[&Drainable<'_>]) -> (World<'g>, NodeRun, Vec<(Str, Vec<Candidate>)>) {
        let mut world = self.world.clone();
        let lists: Vec<(Str, Vec<Candidate>)> =
            round.iter().map(|n| (n.node.clone(), present(&world, self.ground, &n.node, n.candidates))).collect();
        let slices: Vec<(Str, &[Candidate])> = lists.iter().map(|(n, c)| (n.clone(), &c[..])).collect();
        let run = drain_together(&mut world, self.ground, &slices);
        (world, run, lists)
    }

    /// The nodes of a round of which a pod stays, is refused, or loses its replacement's place, only because the nodes
    /// are drained together; of a round of one node, whether it hangs.
    fn at_fault(&self, round: &[&Drainable<'_>], run: &NodeRun, lists: &[(Str, Vec<Candidate>)]) -> HashSet<Str> {
        let mut refused: HashMap<&Str, (usize, usize)> = HashMap::new();
        let mut owners = lists.iter().flat_map(|(node, list)| list.iter().map(move |_| node));
        let by_candidate: Vec<&Str> = owners.by_ref().collect();
        for a in &run.attempts {
            let Some(node) = by_candidate.get(a.candidate) else { continue };
            let (stays, waits) = refused.entry(node).or_default();
            *stays += usize::from(a.step.is_none() || !a.ends);
            *waits += usize::from(a.refused_first);
        }
        if let [one] = round {
            return refused.into_iter().filter(|(_, (stays, _))| *stays > 0).map(|_| one.node.clone()).collect();
        }
        let mut bad = HashSet::new();
        for n in round {
            let together = refused.get(&n.node).copied().unwrap_or_default();
            let (_, alone, _) = self.attempt(&[n]);
            let stays = alone.attempts.iter().filter(|a| a.step.is_none() || !a.ends).count();
            let waits = alone.attempts.iter().filter(|a| a.refused_first).count();
            if together.0 > stays || together.1 > waits || together.0 > 0 {
                bad.insert(n.node.clone());
            }
        }
        bad
    }

    fn accept(&mut self, mut world: World<'g>, round: &[&Drainable<'_>]) {
        for node in round {
            match self.after {
                After::Back => world.uncordon(&node.node),
                After::Gone => world.take_away(&node.node),
            }
        }
        world.settle();
        self.world = world;
        self.done.push(round.iter().map(|n| n.node.clone()).collect());
    }
}

/// The pods on a node by now: those of the snapshot that are still there, and those that the plan has put there.
fn present(world: &World<'_>, ground: &Ground<'_>, node: &str, known: &[Candidate]) -> Vec<Candidate> {
    let here = known.iter().filter(|c| !world.has_left(&c.pod)).cloned();
    here.chain(world.put_on(node).map(|a| Candidate::of_actor(ground, a))).collect()
}
