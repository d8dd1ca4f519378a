//! Drains of nodes, one after the other or several at the same time, in one world.

use super::Simulation;
pub use super::attempt::{Attempt, End, NodeRun};
use super::pods::SimPod;
use super::run::Run;
use super::scheduler::NODE_STARTUP;
use crate::drain::drainer::Cordons;
use crate::drain::node_pod::NodePod;
use crate::drain::options::After;
use crate::snapshot::Str;

/// Nodes with what is on them.
pub type Nodes<'n> = [(Str, &'n [NodePod])];

/// How several nodes are drained: how many at a time, and what becomes of each.
pub struct Pace<'p> {
    /// So many drains are under way at the same time.
    pub parallel: usize,
    /// What becomes of a node that is drained, where its turn lasts until then; `None` leaves it as it is.
    pub after: Option<After>,
    /// What is known of a pod that the plan itself has put on a node before the node's turn; `None` leaves such pods out.
    pub arrived: Option<&'p dyn Fn(&SimPod) -> NodePod>,
}

impl<'c> Simulation<'c> {
    /// Drains nodes one after the other, as one command does; goes on after one that hangs, as a timeout would let it.
    pub fn drain(&mut self, nodes: &Nodes<'_>) -> Vec<NodeRun> {
        self.drain_at(nodes, &Pace { parallel: 1, after: None, arrived: None })
    }

    /// Drains nodes at the same time: as many commands, begun together.
    pub fn drain_together(&mut self, nodes: &Nodes<'_>) -> Vec<NodeRun> {
        nodes.iter().for_each(|(node, _)| self.cordon(node));
        self.drain_at(nodes, &Pace { parallel: nodes.len(), after: None, arrived: None })
    }

    /// Drains nodes in their order, a few at a time, in one world: a drain begins once an earlier one has ended.
    pub fn drain_at(&mut self, nodes: &Nodes<'_>, pace: &Pace<'_>) -> Vec<NodeRun> {
        if self.context.drainer.cordons == Cordons::All && pace.after.is_none() {
            nodes.iter().for_each(|(node, _)| self.cordon(node));
        }
        let mut waiting = nodes.iter().enumerate();
        let mut turns: Vec<Option<Turn>> = (0..pace.parallel.clamp(1, nodes.len().max(1))).map(|_| None).collect();
        let mut done: Vec<(usize, NodeRun)> = Vec::with_capacity(nodes.len());
        let mut freed_by: Vec<Option<Str>> = turns.iter().map(|_| None).collect();
        loop {
            for (lane, turn) in turns.iter_mut().enumerate().filter(|(_, turn)| turn.is_none()) {
                let Some((at, (node, known))) = waiting.next() else { break };
                self.cordon(node);
                let after = freed_by.get(lane).cloned().flatten();
                let arrived = pace.arrived.map(|know| self.put_on(node).map(know).collect::<Vec<_>>());
                let pods = known.iter().cloned().chain(arrived.into_iter().flatten()).collect();
                let mut run = Run::new(pods, node.clone());
                run.begin(self);
                *turn = Some(Turn { at, lane, after, stage: TurnStage::Draining(run) });
            }
            if turns.iter().all(Option::is_none) {
                break;
            }
            let mut ended = false;
            for (turn, freed) in turns.iter_mut().zip(&mut freed_by) {
                if let Some(over) = turn.take_if(|turn| turn.go(self, pace))
                    && let TurnStage::Ended(run, ..) = over.stage
                {
                    *freed = Some(run.node.clone());
                    done.push((over.at, *run));
                    ended = true;
                }
            }
            if !ended {
                self.let_time_pass(&mut turns);
            }
        }
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, run)| run).collect()
    }

    /// Goes on to when something happens, or a drain does something next; where neither comes, every drain hangs.
    fn let_time_pass(&mut self, turns: &mut [Option<Turn>]) {
        let mut all: Vec<&mut Turn> = turns.iter_mut().flatten().collect();
        let mut happened = self.advance(self.now);
        if !happened {
            let wakes = all.iter().filter_map(|turn| turn.wakes_at(self)).chain(self.next_event()).min();
            let Some(next) = wakes else {
                all.iter_mut().for_each(|turn| turn.hang(self));
                return;
            };
            happened = self.advance(next);
        }
        if happened {
            all.iter_mut().for_each(|turn| turn.notice(self));
        }
    }
}

/// The turn of a node among others.
struct Turn {
    at: usize,
    lane: usize,
    after: Option<Str>,
    stage: TurnStage,
}

enum TurnStage {
    Draining(Run),
    /// The drain has ended, and the next one begins at this time; whether the node then comes back.
    Ended(Box<NodeRun>, i64, bool),
}

impl Turn {
    /// Does what can be done now. Whether the turn is over.
    fn go(&mut self, sim: &mut Simulation<'_>, pace: &Pace<'_>) -> bool {
        if let TurnStage::Draining(run) = &mut self.stage {
            if !run.go(sim) {
                return false;
            }
            let run = run.end(sim, self.lane, self.after.take());
            let drained = !run.attempts.iter().any(Attempt::stays);
            let (free, back) = match pace.after {
                Some(After::Back) if drained => (run.ended.saturating_add(NODE_STARTUP), true),
                Some(After::Gone) if drained => {
                    sim.take_away(&run.node);
                    (run.ended, false)
                }
                _ => (run.ended, false),
            };
            self.stage = TurnStage::Ended(Box::new(run), free, back);
        }
        match &self.stage {
            TurnStage::Ended(run, free, back) if *free <= sim.now => {
                if *back {
                    sim.uncordon(&run.node);
                }
                true
            }
            _ => false,
        }
    }

    fn wakes_at(&self, sim: &Simulation<'_>) -> Option<i64> {
        match &self.stage {
            TurnStage::Draining(run) => run.wakes_at(sim),
            TurnStage::Ended(_, free, _) => Some(*free),
        }
    }

    fn notice(&mut self, sim: &Simulation<'_>) {
        if let TurnStage::Draining(run) = &mut self.stage {
            run.notice(sim);
        }
    }

    fn hang(&mut self, sim: &Simulation<'_>) {
        if let TurnStage::Draining(run) = &mut self.stage {
            run.leave(sim);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::options::DrainOptions;
    use crate::drain::rules::Rules;
    use crate::drain::testing::{Cluster, drained, with_context};

    #[test]
    fn a_pod_that_the_plan_has_started_takes_its_grace_as_well() {
        let mut c = Cluster::new();
        c.node("n0", "{}");
        c.node("n1", "{}");
        c.add("apps/v1", "ReplicaSet", "a", "web", r#"{"replicas": 1}"#);
        let meta = r#""ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web",
            "uid": "a-ReplicaSet-web", "controller": true}]"#;
        c.pod_of("a", "web-x", "n0", meta, r#""terminationGracePeriodSeconds": 40"#, "");
        let snapshot = c.snapshot();
        let took = |runs: &[NodeRun]| runs.iter().map(|r| r.ended - r.began).collect::<Vec<_>>();
        with_context(&snapshot, &DrainOptions::default(), |context| {
            let (rules, mut sim) = (Rules::new(context), Simulation::new(context));
            let first = rules.node_pods("n0");
            let runs = sim.drain(&[("n0".into(), &first)]);
            sim.uncordon("n0");
            sim.settle();
            let moved: Vec<NodePod> = sim.put_on("n1").map(|p| rules.node_pod(&p.pod, p.budgets.clone())).collect();
            assert_eq!(moved.len(), 1);
            let again = sim.drain(&[("n1".into(), &moved)]);
            assert_eq!((took(&runs), took(&again)), (vec![40], vec![40]));
        });
    }

    #[test]
    fn a_webhook_that_is_down_refuses_the_request_that_it_sees() {
        // With --disable-eviction kubectl's DELETE is asked about; else only the kubelet's, once the pod has been let go.
        for (rule, disable_eviction, let_go, ends) in [
            (r#""operations": ["CREATE"], "resources": ["pods/eviction"]"#, false, false, true),
            (r#""operations": ["CREATE"], "resources": ["pods/eviction"]"#, true, true, true),
            (r#""operations": ["DELETE"], "resources": ["pods"]"#, false, true, false),
            (r#""operations": ["DELETE"], "resources": ["pods"]"#, true, false, true),
        ] {
            let mut c = Cluster::new();
            c.node("n0", "{}");
            c.add("v1", "Service", "sys", "other", "{}");
            c.object(&format!(
                r#"{{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                    "metadata": {{"name": "w"}}, "webhooks": [{{"name": "w.x.io",
                    "rules": [{{{rule}, "apiGroups": [""], "apiVersions": ["v1"]}}],
                    "clientConfig": {{"service": {{"namespace": "sys", "name": "gone"}}}}}}]}}"#
            ));
            c.pod_of("a", "p", "n0", "", "", "");
            let snapshot = c.snapshot();
            let options = DrainOptions { disable_eviction, ..DrainOptions::default() };
            let got: Vec<(bool, bool)> = drained(&snapshot, &options, "n0", |_, _, run, _| {
                run.attempts.iter().map(|a| (a.step.is_some(), a.end == End::InTime)).collect()
            });
            assert_eq!(got, [(let_go, ends)], "{rule} {disable_eviction}");
        }
    }
}
