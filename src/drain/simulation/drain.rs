//! A drainer that plays its profile, from the beginning to the end. Mirrors `RunDrain` and `deleteOrEvictPodsSimple` of
//! `k8s.io/kubectl/pkg/cmd/drain/drain.go`, and `evictPods`, `deletePods` and `waitForDelete` of `pkg/drain/drain.go`.

use super::Simulation;
use super::pods::{PodId, SimPod, Stage};
use crate::drain::drainer::{AtDeadline, Cordons, Deadline, Drainer, Removes, WithoutFlag};
use crate::drain::filters::Decision;
use crate::drain::node_pod::NodePod;
use crate::drain::note::Drainability;
use crate::drain::operators;
use crate::drain::refusal::Refusal;
use crate::drain::tracker::BudgetId;
use crate::snapshot::Str;
use crate::snapshot::pod::{Phase, Pod};
use std::sync::Arc;

/// A pod that a drainer removes, and how that went.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Its place among the node's pods.
    pub at: usize,
    /// The pod.
    pub pod: PodId,
    /// Which pass removed it, from 1: passes in which nothing was removed are not counted.
    pub step: Option<u32>,
    /// Why the first try was refused, or the first that was.
    pub refusal: Option<Refusal>,
    /// Whether the first try was refused.
    pub refused_first: bool,
    /// What the operator of the budget that refused it first does about that.
    pub operator: Option<operators::Answer>,
    /// How its deletion ends.
    pub end: End,
    /// When it was deleted past its budget, as the drainer's deadline came, in seconds since the simulation began.
    pub forced_at: Option<i64>,
}

/// How a deletion ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// In time.
    InTime,
    /// In time as a rule; if the pod uses all its grace, only after the drainer's deadline.
    MayOutlast,
    /// Not before the drainer's deadline.
    Outlasts,
    /// Not at all, and it is waited for.
    Never,
    /// Not at all, and the drainer stops waiting for it.
    NotWaitedFor,
}

impl Attempt {
    /// It is refused, and whether its budget's operator ends that is not known: the question to ask.
    pub fn open(&self) -> Option<&str> {
        match &self.operator {
            Some(operators::Answer::Unknown(question)) if self.step.is_none() => Some(question),
            _ => None,
        }
    }

    /// Whether the pod keeps its node from being drained.
    pub fn stays(&self) -> bool {
        self.step.is_none() || matches!(self.end, End::Outlasts | End::Never)
    }
}

/// How the drain of one node went.
#[derive(Debug, Clone)]
pub struct NodeRun {
    /// The node.
    pub node: Str,
    /// The pods that the drainer removes, in its order.
    pub attempts: Vec<Attempt>,
    /// When it began and ended (or hung), in seconds since the simulation began.
    pub began: i64,
    /// See [`began`](Self::began).
    pub ended: i64,
    /// How many passes removed something.
    pub steps: u32,
    /// Whether the drainer gave up at its deadline.
    pub gave_up: bool,
}

/// Nodes with what is on them.
pub type Nodes<'n> = [(Str, &'n [NodePod])];

impl<'c> Simulation<'c> {
    /// Drains nodes one after the other, as one command does; goes on after one that hangs, as a timeout would let it.
    pub fn drain(&mut self, nodes: &Nodes<'_>) -> Vec<NodeRun> {
        if self.context.drainer.cordons == Cordons::All {
            nodes.iter().for_each(|(node, _)| self.cordon(node));
        }
        let mut runs = Vec::with_capacity(nodes.len());
        for (node, pods) in nodes {
            self.cordon(node);
            runs.push(Run::new(self, pods, pods.iter().map(|_| node.clone()).collect()).node(node));
        }
        runs
    }

    /// Drains nodes at the same time: as many commands, begun together.
    pub fn drain_together(&mut self, nodes: &Nodes<'_>) -> NodeRun {
        nodes.iter().for_each(|(node, _)| self.cordon(node));
        let all: Vec<NodePod> = nodes.iter().flat_map(|(_, pods)| pods.iter().cloned()).collect();
        let of = nodes.iter().flat_map(|(node, pods)| pods.iter().map(move |_| node.clone())).collect();
        Run::new(self, &all, of).node(&Str::from(""))
    }
}

struct Run<'s, 'c> {
    sim: &'s mut Simulation<'c>,
    drainer: &'c Drainer,
    pods: &'s [NodePod],
    /// The node of each pod.
    nodes: Vec<Str>,
    attempts: Vec<Attempt>,
    began: i64,
}

impl<'s, 'c> Run<'s, 'c> {
    fn new(sim: &'s mut Simulation<'c>, pods: &'s [NodePod], nodes: Vec<Str>) -> Self {
        let drainer = &sim.context.drainer;
        let mut attempts = Vec::new();
        for (at, p) in pods.iter().enumerate().filter(|(_, p)| p.status.decision == Decision::Delete) {
            sim.watch(&p.budgets);
            let pod = sim.enter(&p.pod);
            sim.watch_namespace(pod);
            let (refusal, end) = (None, End::InTime);
            attempts.push(Attempt {
                at,
                pod,
                step: None,
                refusal,
                refused_first: false,
                operator: None,
                end,
                forced_at: None,
            });
        }
        Self { began: sim.now, sim, drainer, pods, nodes, attempts }
    }

    /// When the drainer stops trying, and what it does then; a deadline that is each pod's own is none of these.
    fn deadline(&self) -> Option<(i64, AtDeadline)> {
        let deadline = self.drainer.deadline.filter(|d| d.then != AtDeadline::DeletesBefore)?;
        Some((self.began.saturating_add(deadline.after), deadline.then))
    }

    /// When the drainer gives up on this node.
    fn gives_up_at(&self) -> Option<i64> {
        self.deadline().filter(|(_, then)| !then.forces()).map(|(at, _)| at)
    }

    /// The deadline of a pod's node, where pods are deleted then past their budgets.
    fn forces(&self, at: usize) -> Option<Deadline> {
        self.nodes.get(at).and_then(|node| self.sim.context.deadline_of(node)).filter(|d| d.then.forces())
    }

    /// Sees to it that what is left at the deadline is deleted then.
    fn plan_to_force(&mut self) {
        for at in 0..self.attempts.len() {
            let Some((place, pod)) = self.attempts.get(at).map(|a| (a.at, a.pod)) else { continue };
            let (Some(deadline), Some(p)) = (self.forces(place), self.pods.get(place)) else { continue };
            let end = self.began.saturating_add(deadline.after);
            let own = self.drainer.grace_of(&p.pod);
            let (when, grace) = match deadline.then {
                AtDeadline::DeletesBefore => {
                    let when = end.saturating_sub(own).max(self.began);
                    (when, own.min((end - when).max(1)))
                }
                AtDeadline::Deletes => (end, own),
                AtDeadline::TakesNode(_) | AtDeadline::Fails(_) | AtDeadline::FailsUnevicted(_) => (end, 0),
            };
            self.sim.force_at(when, pod, grace);
        }
    }

    /// Where a pod needs a flag that is not passed, and the drainer does not go on without: nothing is evicted.
    fn lacks_flag(&mut self) -> bool {
        let context = self.sim.context;
        let lacking = |p: &NodePod| p.status.needs.iter().copied().find(|flag| !context.has(*flag));
        if self.drainer.without_flag != WithoutFlag::Fails || !self.pods.iter().any(|p| lacking(p).is_some()) {
            return false;
        }
        for attempt in &mut self.attempts {
            let flag = self.pods.get(attempt.at).and_then(lacking);
            attempt.refused_first = true;
            attempt.refusal = Some(flag.map_or(Refusal::NotTried, Refusal::WithoutFlag));
        }
        true
    }

    /// Tries, waits and tries again, until all are removed or nothing changes any more.
    fn node(mut self, node: &Str) -> NodeRun {
        let mut steps = 0;
        let mut gave_up = false;
        self.plan_to_force();
        self.sim.advance(self.began);
        if self.lacks_flag() {
            let (began, ended) = (self.began, self.began);
            return NodeRun { node: node.clone(), attempts: self.attempts, began, ended, steps, gave_up };
        }
        let mut waves: Vec<u8> = self.attempts.iter().filter_map(|a| self.wave_of(a)).collect();
        waves.sort_unstable();
        waves.dedup();
        for wave in waves {
            let mut first = true;
            if self.is_held_up_before(wave) {
                let wave_of = |a: &Attempt| self.wave_of(a);
                let behind: Vec<bool> = self.attempts.iter().map(|a| wave_of(a) == Some(wave)).collect();
                for (a, _) in self.attempts.iter_mut().zip(behind).filter(|(_, behind)| *behind) {
                    (a.refused_first, a.refusal) = (true, Some(Refusal::Behind));
                }
                continue;
            }
            loop {
                let Pass { granted, open, broken_off } = self.pass(wave, first, steps + 1);
                steps += u32::from(granted);
                first = false;
                if broken_off || !open {
                    break;
                }
                // What was removed may change something at once; else the next event decides.
                let changed = self.sim.advance(self.sim.now);
                let Some(next) = changed.then_some(self.sim.now).or_else(|| self.sim.next_event()) else { break };
                let waited = (next - self.began).max(self.sim.now - self.began + 1);
                let again = self.began.saturating_add(self.drainer.retry.next(waited));
                if let Some((_, then)) = self.deadline().filter(|(deadline, _)| again >= *deadline) {
                    gave_up = !then.forces();
                    break;
                }
                self.sim.advance(next);
                if !self.is_forced(wave) {
                    self.sim.advance(again);
                }
            }
            self.wait_for_deletions(wave);
        }
        steps += u32::from(self.finish(steps + 1));
        self.sim.forget_forcing();
        let ended = match self.gives_up_at() {
            Some(deadline) if gave_up || self.attempts.iter().any(Attempt::stays) => {
                // What is refused without end is tried until then, and what does not end is waited for.
                gave_up |= self.attempts.iter().any(|a| self.waits_for_ever(a));
                if gave_up { self.sim.now.max(deadline) } else { self.sim.now.min(deadline) }
            }
            Some(deadline) if self.is_for_all() => self.sim.now.min(deadline),
            Some(_) | None => self.sim.now,
        };
        NodeRun { node: node.clone(), attempts: self.attempts, began: self.began, ended, steps, gave_up }
    }

    /// Whether the deadline is also that of pods that are ending.
    fn is_for_all(&self) -> bool {
        !matches!(self.deadline(), Some((_, AtDeadline::FailsUnevicted(_))))
    }

    /// Whether a pod of an earlier wave stays.
    fn is_held_up_before(&self, wave: u8) -> bool {
        let stays = |a: &Attempt| a.stays() && !self.ends_by_itself(a);
        self.attempts.iter().any(|a| self.wave_of(a).is_some_and(|w| w < wave) && stays(a))
    }

    /// Whether a pod is waited for that ends by itself, though nobody knows when.
    fn ends_by_itself(&self, a: &Attempt) -> bool {
        matches!(a.refusal, Some(Refusal::Held(_))) && self.pods.get(a.at).is_some_and(|p| is_of_job(&p.pod))
    }

    /// Whether all that is left of a wave was deleted at the deadline.
    fn is_forced(&self, wave: u8) -> bool {
        let left = |a: &&Attempt| a.step.is_none() && self.wave_of(a) == Some(wave);
        self.attempts.iter().filter(left).all(|a| self.sim.forced_at(a.pod).is_some())
    }

    /// Lets the deadline come for what is left, where pods are deleted then. Whether any was.
    fn finish(&mut self, step: u32) -> bool {
        let mut forced = false;
        loop {
            for a in self.attempts.iter_mut().filter(|a| a.step.is_none()) {
                if let Some(at) = self.sim.forced_at(a.pod) {
                    (a.step, a.end, a.forced_at) = (Some(step), End::InTime, Some(at));
                    forced = true;
                }
            }
            let open = |a: &Attempt| a.step.is_none() && self.forces(a.at).is_some();
            if !self.attempts.iter().any(open) {
                break;
            }
            let Some(next) = self.sim.next_event() else { break };
            self.sim.advance(next);
        }
        if let Some((at, AtDeadline::TakesNode(_))) = self.deadline() {
            // What is ending then ends with the machine.
            for a in self.attempts.iter_mut().filter(|a| a.stays()) {
                (a.step, a.end, a.forced_at) = (Some(step), End::InTime, Some(at));
                forced = true;
            }
            if forced {
                self.sim.advance(at);
            }
        }
        if forced {
            let waves: std::collections::BTreeSet<u8> = self.attempts.iter().filter_map(|a| self.wave_of(a)).collect();
            waves.into_iter().for_each(|wave| self.wait_for_deletions(wave));
        }
        forced
    }

    /// Whether a drain that has no deadline would hang on it.
    fn waits_for_ever(&self, a: &Attempt) -> bool {
        match a.step {
            Some(_) => self.is_for_all() && matches!(a.end, End::Never | End::Outlasts),
            None => !a.refusal.is_some_and(|refusal| self.drainer.gives_up_on(refusal)),
        }
    }

    fn wave_of(&self, attempt: &Attempt) -> Option<u8> {
        self.pods.get(attempt.at).map(|p| (self.drainer.wave)(&p.pod))
    }

    /// One try of every pod of a wave that is left.
    fn pass(&mut self, wave: u8, first: bool, step: u32) -> Pass {
        let mut pass = Pass::default();
        for at in 0..self.attempts.len() {
            let Some(attempt) = self.attempts.get(at).filter(|a| a.step.is_none()) else { continue };
            let tried_before = attempt.refusal.is_some_and(|refusal| self.drainer.gives_up_on(refusal));
            if self.wave_of(attempt) != Some(wave) || tried_before {
                continue;
            }
            let (pods, tried) = (self.pods, attempt.pod);
            let Some(p) = pods.get(attempt.at) else { continue };
            let answer = match (pass.broken_off, self.sim.by_name_of(tried)) {
                (true, _) => Err(Refusal::NotTried),
                (false, Some(pod)) => self.ask(p, pod, first).map(|()| pod),
                (false, None) => Ok(tried),
            };
            let forced_at = self.sim.forced_at(tried);
            let end = answer.ok().map(|pod| (pod, self.remove(p, pod)));
            let drainer = self.drainer;
            let operator = match answer {
                Err(Refusal::Budget(id)) if first => Some(self.operator_answers(p, tried, id)),
                _ => None,
            };
            let Some(attempt) = self.attempts.get_mut(at) else { continue };
            attempt.operator = attempt.operator.take().or(operator);
            match (answer, end) {
                (Ok(_), Some((pod, end))) => {
                    (attempt.step, attempt.pod, attempt.end) = (Some(step), pod, end);
                    attempt.forced_at = forced_at;
                    pass.granted = true;
                }
                (Ok(_), None) => {}
                (Err(refusal), _) => {
                    attempt.refused_first |= first;
                    let last = drainer.gives_up_on(refusal);
                    attempt.refusal = attempt.refusal.filter(|_| !last).or(Some(refusal));
                    pass.open |= !last;
                    pass.broken_off |= self.drainer.removes == Removes::ByDeletion;
                }
            }
        }
        pass
    }

    /// What is answered to one try.
    fn ask(&mut self, p: &NodePod, pod: PodId, first: bool) -> Result<(), Refusal> {
        let Some(sim) = self.sim.pod(pod) else { return Ok(()) };
        match sim.stage {
            // Removed by somebody else meanwhile.
            Stage::Gone => return Ok(()),
            Stage::Terminating if !p.pod.is_terminating() => return Ok(()),
            Stage::Pending | Stage::Bound | Stage::Terminating => {}
        }
        let now = self.sim.context.snapshot.now.saturating_add(jiff::SignedDuration::from_secs(self.sim.now));
        if let Some(hold) = (self.drainer.holds)(&sim.pod, now.unwrap_or(jiff::Timestamp::MAX)) {
            if let Some(until) = hold.until {
                let left = until.duration_since(self.sim.context.snapshot.now).as_secs();
                self.sim.tick(left.saturating_add(1));
            }
            return Err(Refusal::Held(hold.by));
        }
        if let Drainability::Refused(refusal) = p.drainability {
            return Err(refusal);
        }
        if self.drainer.removes == Removes::ByDeletion {
            return Ok(());
        }
        let context = self.sim.context;
        let namespace_terminating = context.snapshot.is_namespace_terminating(p.pod.meta.ns());
        let computed = self.sim.disruption.evict(sim, namespace_terminating);
        // What is stored judges the first answer.
        let stored = || self.sim.disruption.evict_as_stored(context.snapshot, sim);
        let answer = if first && sim.replaces.is_none() { computed.and_then(|()| stored()) } else { computed };
        let Err(refusal) = answer else { return Ok(()) };
        match refusal {
            // kubectl goes on to wait for a pod that is being deleted as it is.
            Refusal::NamespaceTerminating if sim.pod.is_terminating() => return Ok(()),
            Refusal::Stale(_) => self.sim.tick(self.sim.now.saturating_add(self.drainer.retry.first())),
            _ => {}
        }
        Err(refusal)
    }

    /// Lets the operator that made the budget do what it does, and says what that is.
    fn operator_answers(&mut self, p: &NodePod, tried: PodId, id: BudgetId) -> operators::Answer {
        let pod = self.sim.by_name_of(tried).unwrap_or(tried);
        let is_ready = |p: &Arc<Pod>| self.sim.known(p).map_or_else(|| p.is_ready(), |sim| sim.ready);
        let present = operators::Present { state: &self.sim.state, is_ready: &is_ready };
        let answer = operators::answer(self.sim.context, &present, &p.pod, id);
        if let operators::Answer::Moves { seconds, .. } = answer {
            self.sim.relieve_in(pod, seconds);
        }
        answer
    }

    /// The pod is removed.
    fn remove(&mut self, p: &NodePod, pod: PodId) -> End {
        let end = self.end_of(p, pod);
        let Some(sim) = self.sim.pod(pod) else { return end };
        let gone_by_others = sim.stage == Stage::Gone || sim.stage == Stage::Terminating && !p.pod.is_terminating();
        if !gone_by_others {
            let seconds = match end {
                End::InTime | End::MayOutlast | End::Outlasts => Some(self.ends_in(sim)),
                End::Never | End::NotWaitedFor => None,
            };
            self.sim.delete(pod, seconds);
        }
        end
    }

    fn end_of(&self, p: &NodePod, pod: PodId) -> End {
        let Some(sim) = self.sim.pod(pod) else { return End::InTime };
        if p.drainability == Drainability::Stuck {
            return if self.drainer.skips_overdue.is_some() { End::NotWaitedFor } else { End::Never };
        }
        let left = match self.deadline() {
            Some((deadline, AtDeadline::Fails(_) | AtDeadline::TakesNode(_))) => deadline - self.sim.now,
            _ => return End::InTime,
        };
        match (self.ends_in(sim), self.at_least(sim)) {
            (_, least) if least > left => End::Outlasts,
            (most, _) if most > left => End::MayOutlast,
            _ => End::InTime,
        }
    }

    /// How many seconds a pod takes at the most to be gone once it is removed.
    fn ends_in(&self, sim: &SimPod) -> i64 {
        let pod = &sim.pod;
        if pod.is_terminating() && sim.node.is_none() {
            return pod.grace_left(self.sim.context.snapshot.now).unwrap_or_default();
        }
        if is_idle(sim) {
            return 0;
        }
        let node = sim.node().and_then(|node| self.sim.context.deadline_of(node));
        let grace = self.drainer.grace_of(pod);
        match node {
            // Deleted again with what is left, where its own period ends after the node.
            Some(Deadline { after, then: AtDeadline::DeletesBefore, .. }) => {
                grace.min(self.began.saturating_add(after).saturating_sub(self.sim.now).max(1))
            }
            _ => grace,
        }
    }

    /// How many seconds it takes at the least, as far as its hooks tell.
    fn at_least(&self, sim: &SimPod) -> i64 {
        let known = !is_idle(sim) && !sim.pod.is_terminating();
        if known { pre_stop(&sim.pod).min(self.drainer.grace_of(&sim.pod)) } else { 0 }
    }

    /// Waits for those that were removed to be gone; those that do not end are not waited for here.
    fn wait_for_deletions(&mut self, wave: u8) {
        let deadline = self.gives_up_at().filter(|_| self.is_for_all()).unwrap_or(i64::MAX);
        let done = |run: &Self, a: &Attempt| {
            let ends = matches!(a.end, End::InTime | End::MayOutlast | End::Outlasts);
            a.step.is_none() || !ends || run.sim.pod(a.pod).is_none_or(|p| p.stage == Stage::Gone)
        };
        while !self.attempts.iter().filter(|a| self.wave_of(a) == Some(wave)).all(|a| done(self, a)) {
            let Some(next) = self.sim.next_event() else { break };
            if next > deadline {
                self.sim.advance(deadline);
                break;
            }
            self.sim.advance(next);
        }
        // A deletion that does not end is waited for until it is overdue by so much.
        let overdue = |a: &Attempt| {
            let grace = self.pods.get(a.at).map_or(0, |p| self.drainer.grace_of(&p.pod));
            (a.end == End::NotWaitedFor).then_some(
                self.began.saturating_add(grace).saturating_add(self.drainer.skips_overdue.unwrap_or_default() + 1),
            )
        };
        if let Some(until) = self.attempts.iter().filter_map(overdue).max() {
            self.sim.advance(until.min(deadline));
        }
    }
}

/// Whether a pod is a Job's: it ends once its work is done.
pub fn is_of_job(pod: &Pod) -> bool {
    pod.meta.controller.as_ref().is_some_and(|o| &*o.kind == "Job")
}

#[derive(Default)]
struct Pass {
    /// Whether anything was removed.
    granted: bool,
    /// Whether anything is to be tried again.
    open: bool,
    /// Whether the drain of the node ended in an error.
    broken_off: bool,
}

/// Whether nothing runs that could use its grace. Of a pod that the simulation has started, the status tells nothing.
fn is_idle(sim: &SimPod) -> bool {
    let pod = &sim.pod;
    let pending = pod.status.phase == Phase::Pending && pod.status.containers.is_empty();
    pod.is_finished() || (pending && sim.node.is_none())
}

/// Seconds that the pod's preStop hooks wait, as far as they tell.
fn pre_stop(pod: &Pod) -> i64 {
    pod.spec.longest_pre_stop().unwrap_or_default()
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
