//! Which nodes to drain at the same time, and which after each other: few rounds, each without a refusal that draining
//! its nodes together causes.

use super::actor::Stage;
use super::filters::Decision;
use super::ground::{Candidate, Ground};
use super::ledger::BudgetId;
use super::options::After;
use super::packing::{Demand, pack};
use super::simulate::{Attempt, NodeRun, drain_in, drain_together};
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
    /// The first round after which new pods have no place, with the pods that they replace: from then on it is chance
    /// which of them gets the next room, and so what later rounds meet.
    pub homeless: Option<(usize, Vec<String>)>,
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
        let Trial { done: rounds, left_out, homeless, .. } = trial;
        let lower_bound = packing.lower_bound.min(rounds.len());
        return Order { rounds, lower_bound, left_out, homeless };
    }
    let rounds = rounds.flat_map(|r| super::room::split(ground, r)).collect();
    Order { rounds, lower_bound: packing.lower_bound, ..Order::default() }
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
    homeless: Option<(usize, Vec<String>)>,
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
            homeless: None,
        }
    }

    fn run(&mut self) {
        while let Some(round) = self.queue.pop_front() {
            let lists = self.lists(&round);
            let (world, run) = self.together(&lists);
            match (self.at_fault(&round, (&world, &run), &lists), &round[..]) {
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

    /// All that is on the nodes of a round by now.
    fn lists(&self, round: &[&Drainable<'_>]) -> Vec<(Str, Vec<Candidate>)> {
        let list = |n: &&Drainable<'_>| (n.node.clone(), present(&self.world, self.ground, &n.node, n.candidates));
        round.iter().map(list).collect()
    }

    /// Drains the nodes of a round by as many commands, begun together.
    fn together(&self, lists: &Lists) -> (World<'g>, NodeRun) {
        let mut world = self.world.clone();
        let run = drain_together(&mut world, self.ground, &slices(lists));
        (world, run)
    }

    /// The nodes that hang where one command drains those of a round, as it does one after the other.
    fn hanging_in_turn(&self, lists: &Lists) -> impl Iterator<Item = Str> + use<'g, 'c> {
        let runs = drain_in(&mut self.world.clone(), self.ground, &slices(lists));
        runs.into_iter().filter(|run| run.attempts.iter().any(Attempt::stays)).map(|run| run.node)
    }

    /// The nodes of a round of which a pod stays, is refused only because the nodes are drained together, or finds no
    /// place for its new pod: such a node had better go by itself. Of a round of one node, whether it hangs.
    fn at_fault(&self, round: &[&Drainable<'_>], (world, run): (&World<'g>, &NodeRun), lists: &Lists) -> HashSet<Str> {
        let mut together: HashMap<&Str, Toll> = HashMap::new();
        let node_of: Vec<&Str> = lists.iter().flat_map(|(node, list)| list.iter().map(move |_| node)).collect();
        for a in &run.attempts {
            if let Some(node) = node_of.get(a.candidate) {
                together.entry(node).or_default().add(world, a);
            }
        }
        if let [one] = round {
            return together.values().filter(|toll| toll.stays > 0).map(|_| one.node.clone()).collect();
        }
        let mut bad: HashSet<Str> = self.hanging_in_turn(lists).collect();
        for n in round {
            let together = together.get(&n.node).copied().unwrap_or_default();
            let (world, run) = self.together(&self.lists(&[n]));
            let mut alone = Toll::default();
            run.attempts.iter().for_each(|a| alone.add(&world, a));
            if together.stays > 0 || together.waits > alone.waits || together.homeless > 0 {
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
        if self.homeless.is_none() {
            let pods: Vec<String> = self.world.homeless().map(|p| p.meta.path()).collect();
            self.homeless = (!pods.is_empty()).then_some((self.done.len(), pods));
        }
    }
}

/// Nodes with what is on them.
type Lists = [(Str, Vec<Candidate>)];

/// What draining costs the pods of a node.
#[derive(Debug, Clone, Copy, Default)]
struct Toll {
    /// How many of them stay.
    stays: usize,
    /// How many of them are refused first.
    waits: usize,
    /// For how many of them the new pod has no place.
    homeless: usize,
}

impl Toll {
    fn add(&mut self, world: &World<'_>, a: &Attempt) {
        let new = world.replacement_of(a.actor);
        self.stays += usize::from(a.stays());
        self.waits += usize::from(a.refused_first);
        self.homeless += usize::from(new.is_some_and(|n| n.stage == Stage::Pending));
    }
}

fn slices(lists: &Lists) -> Vec<(Str, &[Candidate])> {
    lists.iter().map(|(n, c)| (n.clone(), &c[..])).collect()
}

/// The pods on a node by now, in the order of a list: those of the snapshot that are still there, and those that the
/// plan has put there.
fn present(world: &World<'_>, ground: &Ground<'_>, node: &str, known: &[Candidate]) -> Vec<Candidate> {
    let here = known.iter().filter(|c| !world.has_left(&c.pod)).cloned();
    let mut all: Vec<Candidate> = here.chain(world.put_on(node).map(|a| Candidate::of_actor(ground, a))).collect();
    all.sort_by(|a, b| (a.pod.meta.ns(), &a.pod.meta.name).cmp(&(b.pod.meta.ns(), &b.pod.meta.name)));
    all
}

#[cfg(test)]
mod tests {
    use crate::budget::Selection;
    use crate::drain::options::{After, DrainOptions};
    use crate::drain::outcome::Verdict;
    use crate::drain::testing::Cluster;
    use crate::drain::{Plan, Request, plan};
    use crate::finding::Code;

    fn member(kind: &str, name: &str) -> String {
        format!(
            r#""labels": {{"app": "{name}"}}, "ownerReferences": [{{"apiVersion": "apps/v1", "kind": "{kind}",
                "name": "{name}", "uid": "a-{kind}-{name}", "controller": true}}]"#
        )
    }

    /// The plan for all nodes of a cluster of three with 4 cpu each, with a workload and its budget.
    fn planned(kind: &str, spec: &str, rule: &str, pods: &[(&str, &str, &str)]) -> Plan {
        let mut c = Cluster::new();
        ["n0", "n1", "n2"].iter().for_each(|n| c.node(n, "{}"));
        c.add("apps/v1", kind, "a", "web", spec);
        c.synced_budget("a", "web", &format!(r#"{{{rule}, "selector": {{"matchLabels": {{"app": "web"}}}}}}"#));
        for (name, node, cpu) in pods {
            c.pod_asking(cpu, "a", name, node, (&member(kind, "web"), "", ""));
        }
        let snapshot = c.snapshot();
        let nodes = snapshot.nodes.iter().cloned().collect();
        let request = Request { nodes, each_alone: true, options: DrainOptions::default(), after: After::Back };
        plan(&snapshot, &Selection::new(&snapshot), &request)
    }

    #[test]
    fn a_set_makes_the_ordinal_that_it_lacks() {
        // Two of three are there and two must be healthy: refused until web-1 is made and Ready.
        for policy in ["OrderedReady", "Parallel"] {
            let spec = format!(r#"{{"replicas": 3, "podManagementPolicy": "{policy}"}}"#);
            let pods = [("web-0", "n0", "1"), ("web-2", "n1", "1")];
            let p = planned("StatefulSet", &spec, r#""maxUnavailable": 1"#, &pods);
            let verdicts: Vec<Verdict> = p.nodes.iter().map(|n| n.verdict).collect();
            assert_eq!(verdicts, [Verdict::Waits, Verdict::Waits, Verdict::Drains], "{policy}");
        }
    }

    #[test]
    fn an_order_says_from_where_on_chance_decides() {
        // n0 and n1 hold three pods of 1.5 cpu, more than their 4: once drained and back, each has room for two.
        let pods: Vec<(String, &str)> = ["n0", "n0", "n0", "n1", "n1", "n1", "n2", "n2"]
            .iter()
            .enumerate()
            .map(|(i, n)| (format!("web-{i}"), *n))
            .collect();
        let pods: Vec<(&str, &str, &str)> = pods.iter().map(|(name, node)| (&**name, *node, "1500m")).collect();
        let p = planned("ReplicaSet", r#"{"replicas": 8}"#, r#""maxUnavailable": "100%""#, &pods);
        let (round, homeless) = p.order.homeless.clone().unwrap();
        assert!(round < p.order.rounds.len() && !homeless.is_empty());
        let said = p.findings.iter().find(|f| f.code == Code::ReplacementUnschedulable).unwrap();
        assert!(said.message.contains(&format!("plan anew before round {}", round + 1)), "{}", said.message);
    }
}
