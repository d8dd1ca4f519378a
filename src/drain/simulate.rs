//! A drain from its beginning to its end. Mirrors `RunDrain` and `deleteOrEvictPodsSimple` of
//! `k8s.io/kubectl/pkg/cmd/drain/drain.go`, and `evictPods` and `waitForDelete` of `pkg/drain/drain.go`.

use super::actor::{ActorId, Stage};
use super::filters::Decision;
use super::ground::{Candidate, Ground};
use super::hazards::moves_itself;
use super::involve::seconds_left;
use super::ledger::{Answer, BudgetId, Standing, Standpoint};
use super::note::Effect;
use super::world::World;
use crate::budget::{Verdict, evict};
use crate::finding::Code;
use crate::snapshot::Str;
use crate::snapshot::pod::Phase;

/// kubectl tries a refused eviction again after so many seconds.
pub const RETRY: i64 = 5;

/// Taken for the time that an operator needs to move what a budget guards, in seconds.
const OPERATOR_MOVES: i64 = 30;

/// A pod that drain lets go, and how that went.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Its place among the node's candidates.
    pub candidate: usize,
    /// The pod.
    pub actor: ActorId,
    /// Which pass let it go, from 1: passes in which nothing was let go are not counted.
    pub step: Option<u32>,
    /// Whether a first try was refused.
    pub refused_first: bool,
    /// Why it was refused.
    pub refusal: Option<(Code, Option<BudgetId>)>,
    /// Whether its deletion ends.
    pub ends: bool,
}

impl Attempt {
    /// Whether the pod stays on its node.
    pub fn stays(&self) -> bool {
        self.step.is_none() || !self.ends
    }
}

/// How the drain of one node went.
#[derive(Debug, Clone)]
pub struct NodeRun {
    /// The node.
    pub node: Str,
    /// The pods that drain lets go, in its order.
    pub attempts: Vec<Attempt>,
    /// When it began and ended (or hung), in seconds since the plan began.
    pub began: i64,
    /// See [`began`](Self::began).
    pub ended: i64,
    /// How many passes let something go.
    pub steps: u32,
}

/// Drains nodes one after the other, all cordoned first; goes on after one that hangs, as a timeout would let it.
pub fn drain<'g>(ground: &'g Ground<'g>, nodes: &[(Str, &[Candidate])]) -> (World<'g>, Vec<NodeRun>) {
    let mut world = World::new(ground);
    let runs = drain_in(&mut world, ground, nodes);
    (world, runs)
}

/// The same in a given world.
pub fn drain_in<'g>(world: &mut World<'g>, ground: &'g Ground<'g>, nodes: &[(Str, &[Candidate])]) -> Vec<NodeRun> {
    nodes.iter().for_each(|(node, _)| world.cordon(node));
    nodes.iter().map(|(node, pods)| Run::new(world, ground, pods).node(node)).collect()
}

/// Drains nodes at the same time: as many commands, begun together.
pub fn drain_together<'g>(world: &mut World<'g>, ground: &'g Ground<'g>, nodes: &[(Str, &[Candidate])]) -> NodeRun {
    nodes.iter().for_each(|(node, _)| world.cordon(node));
    let all: Vec<Candidate> = nodes.iter().flat_map(|(_, pods)| pods.iter().cloned()).collect();
    Run::new(world, ground, &all).node(&Str::from(""))
}

struct Run<'w, 'g> {
    world: &'w mut World<'g>,
    ground: &'g Ground<'g>,
    candidates: &'w [Candidate],
    attempts: Vec<Attempt>,
    began: i64,
}

impl<'w, 'g> Run<'w, 'g> {
    fn new(world: &'w mut World<'g>, ground: &'g Ground<'g>, candidates: &'w [Candidate]) -> Self {
        let began = world.now;
        let mut attempts = Vec::new();
        for (candidate, c) in candidates.iter().enumerate().filter(|(_, c)| c.filtered.decision == Decision::Goes) {
            world.involve(&c.budgets);
            let actor = world.enter(&c.pod);
            let (step, refused_first, refusal) = (None, false, None);
            attempts.push(Attempt { candidate, actor, step, refused_first, refusal, ends: true });
        }
        Self { world, ground, candidates, attempts, began }
    }

    /// Tries, waits and tries again, until all have gone or nothing changes any more.
    fn node(mut self, node: &Str) -> NodeRun {
        let mut steps = 0;
        let mut first = true;
        self.world.advance(self.began);
        loop {
            let (granted, open) = self.pass(first, steps + 1);
            steps += u32::from(granted);
            first = false;
            if !open {
                break;
            }
            // What was let go may change something at once; else the next event decides.
            self.world.advance(self.world.now);
            let Some(next) = self.world.next_event() else { break };
            let waited = (next - self.began).max(self.world.now - self.began + 1);
            let slots = waited / RETRY + i64::from(waited % RETRY != 0);
            self.world.advance(self.began + slots * RETRY);
        }
        let ended = self.wait_for_deletes();
        NodeRun { node: node.clone(), attempts: self.attempts, began: self.began, ended, steps }
    }

    /// One try of every pod that is left. Whether any was let go, and whether any is left to be tried again.
    fn pass(&mut self, first: bool, step: u32) -> (bool, bool) {
        let (mut granted, mut open) = (false, false);
        for at in 0..self.attempts.len() {
            let Some(attempt) = self.attempts.get(at).filter(|a| a.step.is_none()) else { continue };
            let (actor, candidate) = (attempt.actor, attempt.candidate);
            let Some(c) = self.candidates.get(candidate) else { continue };
            let answer = self.ask(c, actor, first);
            let Some(attempt) = self.attempts.get_mut(at) else { continue };
            match answer {
                Ok(()) => {
                    attempt.step = Some(step);
                    attempt.ends = c.effect != Effect::Held;
                    granted = true;
                    let ends_in = if attempt.ends { Some(self.ends_in(c, actor)) } else { None };
                    self.world.delete(actor, ends_in);
                }
                Err(refusal) => {
                    attempt.refused_first |= first;
                    attempt.refusal = attempt.refusal.or(Some(refusal));
                    // Errors other than a refusal are final.
                    open |= !matches!(refusal.0, Code::Overlap | Code::Webhook);
                }
            }
        }
        (granted, open)
    }

    /// What the endpoint answers to one try.
    fn ask(&mut self, c: &Candidate, actor: ActorId, first: bool) -> Result<(), (Code, Option<BudgetId>)> {
        let Some(a) = self.world.actor(actor) else { return Ok(()) };
        if a.stage == Stage::Leaving && !c.pod.is_terminating() || a.stage == Stage::Gone {
            return Ok(()); // Preempted, or ended by itself, meanwhile.
        }
        if c.effect == Effect::Refused {
            return Err((Code::Webhook, None));
        }
        if self.ground.options.disable_eviction {
            return Ok(());
        }
        let at = Standpoint { pod: &c.pod, ready: a.ready, budgets: &c.budgets };
        match self.world.ledger.answer(at) {
            Answer::Overlap => Err((Code::Overlap, None)),
            Answer::Refused(id) if moves_itself(self.ground, &c.pod) == Some(id) => {
                if first {
                    self.world.tick(self.world.now + OPERATOR_MOVES);
                    return Err((Code::OperatorOwned, Some(id)));
                }
                Ok(())
            }
            Answer::Refused(id) => Err((self.why(id), Some(id))),
            // What is stored judges the first answer.
            Answer::Granted if first => self.stored(c),
            Answer::Granted => Ok(()),
        }
    }

    fn stored(&mut self, c: &Candidate) -> Result<(), (Code, Option<BudgetId>)> {
        let snapshot = self.ground.snapshot;
        let budgets = self.ground.selection.budgets_of(snapshot, &c.pod);
        let answer = evict::answer(snapshot, &c.pod, budgets);
        match answer.code {
            201 => Ok(()),
            _ => {
                self.world.tick(self.world.now + RETRY);
                let code = if c.budgets.is_empty() { Code::Terminating } else { Code::Stale };
                Err((code, c.budgets.first().copied()))
            }
        }
    }

    /// The code of a refusal by a budget.
    fn why(&self, id: BudgetId) -> Code {
        let Some(entry) = self.ground.book.entry(id) else { return Code::BudgetWaits };
        match entry.standing {
            Standing::SyncFails => Code::SyncFailed,
            Standing::Unknown => Code::NotJudged,
            Standing::Counts if entry.opening.allowed > 0 => Code::BudgetShared,
            Standing::Counts if self.ground.verdict(id) == Some(Verdict::Never) => Code::BudgetNever,
            Standing::Counts => Code::BudgetWaits,
        }
    }

    /// How many seconds a pod takes to be gone once it is let go.
    fn ends_in(&self, c: &Candidate, actor: ActorId) -> i64 {
        if c.pod.is_terminating() {
            return seconds_left(self.ground.snapshot, &c.pod).unwrap_or_default();
        }
        // Nothing runs that could use its grace. Of a pod that the plan has started, the status tells nothing.
        let started = self.world.actor(actor).is_some_and(|a| a.node.is_some());
        let pending = c.pod.status.phase == Phase::Pending && c.pod.status.containers.is_empty();
        let idle = c.pod.is_finished() || (pending && !started);
        if idle { 0 } else { self.ground.options.grace(&c.pod) }
    }

    /// Waits for those that were let go to be gone; those that do not end are not waited for.
    fn wait_for_deletes(&mut self) -> i64 {
        let gone = |world: &World<'_>, a: &Attempt| {
            a.step.is_none() || !a.ends || world.actor(a.actor).is_none_or(|x| x.stage == Stage::Gone)
        };
        while !self.attempts.iter().all(|a| gone(self.world, a)) {
            let Some(next) = self.world.next_event() else { break };
            self.world.advance(next);
        }
        self.world.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Selection;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::Cluster;

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
        let (selection, options) = (Selection::new(&snapshot), DrainOptions::default());
        let ground = Ground::new(&snapshot, &selection, &options);
        let mut world = World::new(&ground);
        let first = ground.candidates("n0");
        let runs = drain_in(&mut world, &ground, &[("n0".into(), &first)]);
        world.uncordon("n0");
        world.settle();
        let moved: Vec<Candidate> = world.put_on("n1").map(|a| Candidate::of_actor(&ground, a)).collect();
        assert_eq!(moved.len(), 1);
        let again = drain_in(&mut world, &ground, &[("n1".into(), &moved)]);
        let took = |runs: &[NodeRun]| runs.iter().map(|r| r.ended - r.began).collect::<Vec<_>>();
        assert_eq!((took(&runs), took(&again)), (vec![40], vec![40]));
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
            let (selection, options) =
                (Selection::new(&snapshot), DrainOptions { disable_eviction, ..DrainOptions::default() });
            let ground = Ground::new(&snapshot, &selection, &options);
            let candidates = ground.candidates("n0");
            let (_, runs) = drain(&ground, &[("n0".into(), &candidates)]);
            let got: Vec<(bool, bool)> = runs[0].attempts.iter().map(|a| (a.step.is_some(), a.ends)).collect();
            assert_eq!(got, [(let_go, ends)], "{rule} {disable_eviction}");
        }
    }
}
