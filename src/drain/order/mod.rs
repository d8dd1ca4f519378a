//! Which nodes to drain at the same time, and which after each other: few rounds, each without a refusal that draining
//! its nodes together causes.

mod drainable;
mod packing;
mod room;

pub use drainable::Drainable;

use super::context::DrainContext;
use super::drainer::Removes;
use super::filters::Decision;
use super::node_pod::NodePod;
use super::options::After;
use super::rules::Rules;
use super::simulation::drain::{Attempt, NodeRun};
use super::simulation::{Simulation, Stage};
use super::tracker::BudgetId;
use crate::budget::evict::PodView;
use crate::snapshot::Str;
use packing::{Demand, pack};
use std::collections::{HashMap, HashSet, VecDeque};

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
    pub without_place: Option<(usize, Vec<String>)>,
}

/// Up to so many nodes, every round is tried in a simulation that goes on from the one before.
const TRIED: usize = 60;

/// Puts nodes into rounds.
pub fn order(rules: &Rules<'_>, nodes: &[Drainable<'_>], after: After) -> Order {
    let context = rules.context();
    let demands: Vec<Demand> = nodes.iter().map(|n| demand(context, n.pods)).collect();
    let capacity = |id: BudgetId| context.budgets.tracker(id).map_or(0, |t| i64::from(t.numbers.allowed));
    let packing = pack(&demands, capacity);
    let rounds = packing.rounds.iter().map(|r| r.iter().filter_map(|at| nodes.get(*at)).collect::<Vec<_>>());
    if nodes.len() <= TRIED {
        let mut trial = Trial::new(rules, after, rounds.collect());
        trial.run();
        let Trial { done: rounds, left_out, without_place, .. } = trial;
        let lower_bound = packing.lower_bound.min(rounds.len());
        return Order { rounds, lower_bound, left_out, without_place };
    }
    let rounds = rounds.flat_map(|r| room::split(context, r)).collect();
    Order { rounds, lower_bound: packing.lower_bound, ..Order::default() }
}

/// What evicting the node's pods takes of each budget.
fn demand(context: &DrainContext<'_>, pods: &[NodePod]) -> Demand {
    let mut all: HashMap<BudgetId, i64> = HashMap::new();
    if context.drainer.removes == Removes::ByDeletion {
        return Demand::new();
    }
    let asks = |p: &&NodePod| {
        p.status.decision == Decision::Delete && !PodView::of(context.snapshot, &p.pod).ignores_budgets()
    };
    for p in pods.iter().filter(asks) {
        if let [id] = p.budgets[..]
            && p.pod.is_ready()
        {
            *all.entry(id).or_default() += 1;
        }
    }
    let mut all: Demand = all.into_iter().collect();
    all.sort_unstable();
    all
}

/// Rounds on trial, one after the other in one simulation.
struct Trial<'g, 'c> {
    rules: &'g Rules<'g>,
    after: After,
    sim: Simulation<'g>,
    queue: VecDeque<Vec<&'c Drainable<'c>>>,
    put_off: HashSet<Str>,
    done: Vec<Vec<Str>>,
    left_out: Vec<Str>,
    without_place: Option<(usize, Vec<String>)>,
}

impl<'g, 'c> Trial<'g, 'c> {
    fn new(rules: &'g Rules<'g>, after: After, rounds: Vec<Vec<&'c Drainable<'c>>>) -> Self {
        Self {
            rules,
            after,
            sim: Simulation::new(rules.context()),
            queue: rounds.into(),
            put_off: HashSet::new(),
            done: Vec::new(),
            left_out: Vec::new(),
            without_place: None,
        }
    }

    fn run(&mut self) {
        while let Some(round) = self.queue.pop_front() {
            let lists = self.lists(&round);
            let (sim, runs) = self.together(&lists);
            match (self.at_fault(&round, (&sim, &runs), &lists), &round[..]) {
                (bad, _) if bad.is_empty() => self.accept(sim, &round),
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
    fn lists(&self, round: &[&Drainable<'_>]) -> Vec<(Str, Vec<NodePod>)> {
        let list = |n: &&Drainable<'_>| (n.node.clone(), present(&self.sim, self.rules, &n.node, n.pods));
        round.iter().map(list).collect()
    }

    /// Drains the nodes of a round by as many commands, begun together.
    fn together(&self, lists: &Lists) -> (Simulation<'g>, Vec<NodeRun>) {
        let mut sim = self.sim.clone();
        let runs = sim.drain_together(&slices(lists));
        (sim, runs)
    }

    /// The nodes that hang where one command drains those of a round, as it does one after the other.
    fn hanging_in_turn(&self, lists: &Lists) -> impl Iterator<Item = Str> + use<'g, 'c> {
        let runs = self.sim.clone().drain(&slices(lists));
        runs.into_iter().filter(|run| run.attempts.iter().any(Attempt::stays)).map(|run| run.node)
    }

    /// The nodes of a round of which a pod stays, is refused only because the nodes are drained together, or finds no
    /// place for its new pod: such a node had better go by itself. Of a round of one node, whether it hangs.
    fn at_fault(
        &self,
        round: &[&Drainable<'_>],
        (sim, runs): (&Simulation<'g>, &[NodeRun]),
        lists: &Lists,
    ) -> HashSet<Str> {
        let mut together: HashMap<&Str, Toll> = HashMap::new();
        for run in runs {
            let toll = together.entry(&run.node).or_default();
            run.attempts.iter().for_each(|a| toll.add(sim, a));
        }
        if let [one] = round {
            return together.values().filter(|toll| toll.stays > 0).map(|_| one.node.clone()).collect();
        }
        let mut bad: HashSet<Str> = self.hanging_in_turn(lists).collect();
        for n in round {
            let together = together.get(&n.node).copied().unwrap_or_default();
            let (sim, runs) = self.together(&self.lists(&[n]));
            let mut alone = Toll::default();
            runs.iter().flat_map(|run| &run.attempts).for_each(|a| alone.add(&sim, a));
            if together.stays > 0 || together.waits > alone.waits || together.without_place > 0 {
                bad.insert(n.node.clone());
            }
        }
        bad
    }

    fn accept(&mut self, mut sim: Simulation<'g>, round: &[&Drainable<'_>]) {
        for node in round {
            match self.after {
                After::Back => sim.uncordon(&node.node),
                After::Gone => sim.take_away(&node.node),
            }
        }
        sim.settle();
        self.sim = sim;
        self.done.push(round.iter().map(|n| n.node.clone()).collect());
        if self.without_place.is_none() {
            let pods: Vec<String> = self.sim.without_place().map(|p| p.meta.path()).collect();
            self.without_place = (!pods.is_empty()).then_some((self.done.len(), pods));
        }
    }
}

/// Nodes with what is on them.
type Lists = [(Str, Vec<NodePod>)];

/// What draining costs the pods of a node.
#[derive(Debug, Clone, Copy, Default)]
struct Toll {
    /// How many of them stay.
    stays: usize,
    /// How many of them are refused first.
    waits: usize,
    /// For how many of them the new pod has no place.
    without_place: usize,
}

impl Toll {
    fn add(&mut self, sim: &Simulation<'_>, a: &Attempt) {
        let new = sim.replacement_of(a.pod);
        self.stays += usize::from(a.stays());
        self.waits += usize::from(a.refused_first);
        self.without_place += usize::from(new.is_some_and(|n| n.stage == Stage::Pending));
    }
}

fn slices(lists: &Lists) -> Vec<(Str, &[NodePod])> {
    lists.iter().map(|(n, c)| (n.clone(), &c[..])).collect()
}

/// The pods on a node by now, in the order of a list: those of the snapshot that are still there, and those that the
/// plan has put there.
fn present(sim: &Simulation<'_>, rules: &Rules<'_>, node: &str, known: &[NodePod]) -> Vec<NodePod> {
    let here = known.iter().filter(|p| !sim.has_left(&p.pod)).cloned();
    let new = sim.put_on(node).map(|p| rules.node_pod(&p.pod, p.budgets.clone()));
    let mut all: Vec<NodePod> = here.chain(new).collect();
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
        let (round, pods) = p.order.without_place.clone().unwrap();
        assert!(round < p.order.rounds.len() && !pods.is_empty());
        let said = p.findings.iter().find(|f| f.code == Code::ReplacementUnschedulable).unwrap();
        assert!(said.message.contains(&format!("plan anew before round {}", round + 1)), "{}", said.message);
    }
}
