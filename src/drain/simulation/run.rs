//! The drain of one node under way, as its drainer plays its profile. Mirrors `RunDrain` and `deleteOrEvictPodsSimple` of
//! `k8s.io/kubectl/pkg/cmd/drain/drain.go`, and `evictPods`, `deletePods` and `waitForDelete` of `pkg/drain/drain.go`.

use super::Simulation;
use super::attempt::{Attempt, End, NodeRun};
use super::pods::{PodId, SimPod, Stage};
use crate::drain::drainer::{AtDeadline, Deadline, Removes, WithoutFlag};
use crate::drain::filters::Decision;
use crate::drain::node_pod::NodePod;
use crate::drain::note::Drainability;
use crate::drain::operators;
use crate::drain::refusal::Refusal;
use crate::drain::tracker::BudgetId;
use crate::snapshot::Str;
use crate::snapshot::pod::{self, Pod};
use std::sync::Arc;

/// Where the drain of a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The pods of a wave are tried, for the first time or again at a time; `None` until something happens.
    Trying { again: Option<i64>, first: bool },
    /// The pods of the wave that were removed are waited for.
    Ending,
    /// What is left is deleted at the deadline.
    Last,
    /// It has ended.
    Over,
}

/// The drain of one node under way.
pub struct Run {
    /// The node.
    pub node: Str,
    pods: Vec<NodePod>,
    /// The wave of each pod.
    wave_of_pod: Vec<i64>,
    attempts: Vec<Attempt>,
    began: i64,
    deadline: Option<Deadline>,
    /// The waves that are left, this one first.
    waves: Vec<i64>,
    phase: Phase,
    /// When the last try was.
    tried: i64,
    steps: u32,
    gave_up: bool,
    /// Whether pods were deleted at the deadline, and are waited for.
    forced: bool,
}

impl Run {
    /// A drain that has not begun, of a node with these pods.
    pub fn new(pods: Vec<NodePod>, node: Str) -> Self {
        Self {
            node,
            pods,
            wave_of_pod: Vec::new(),
            attempts: Vec::new(),
            began: 0,
            deadline: None,
            waves: Vec::new(),
            phase: Phase::Over,
            tried: 0,
            steps: 0,
            gave_up: false,
            forced: false,
        }
    }

    /// Begins.
    pub fn begin(&mut self, sim: &mut Simulation<'_>) {
        let pods = std::mem::take(&mut self.pods);
        for (at, p) in pods.iter().enumerate().filter(|(_, p)| p.status.decision == Decision::Delete) {
            sim.watch(&p.budgets);
            let pod = sim.enter(&p.pod);
            sim.watch_namespace(pod);
            let (refusal, end) = (None, End::InTime);
            self.attempts.push(Attempt {
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
        let view = &sim.context.view;
        self.wave_of_pod = pods.iter().map(|p| (sim.context.drainer.wave)(view, &p.pod)).collect();
        self.pods = pods;
        self.began = sim.now;
        self.deadline = sim.context.deadline_of(&self.node);
        self.plan_to_force(sim);
        sim.advance(self.began);
        if self.lacks_flag(sim) {
            return;
        }
        self.waves = self.attempts.iter().filter_map(|a| self.wave_of(a)).collect();
        self.waves.sort_unstable();
        self.waves.dedup();
        self.next_wave(sim);
    }

    /// When the drainer stops trying, and what it does then; a deadline that is each pod's own is none of these.
    fn deadline(&self) -> Option<(i64, AtDeadline)> {
        let deadline = self.deadline.filter(|d| d.then != AtDeadline::DeletesBefore)?;
        Some((self.began.saturating_add(deadline.after), deadline.then))
    }

    /// When the drainer gives up on this node.
    fn gives_up_at(&self) -> Option<i64> {
        self.deadline().filter(|(_, then)| !then.forces()).map(|(at, _)| at)
    }

    /// The deadline, where pods are deleted then past their budgets.
    fn forces(&self) -> Option<Deadline> {
        self.deadline.filter(|d| d.then.forces())
    }

    /// Sees to it that what is left at the deadline is deleted then.
    fn plan_to_force(&self, sim: &mut Simulation<'_>) {
        let Some(deadline) = self.forces() else { return };
        let end = self.began.saturating_add(deadline.after);
        for attempt in &self.attempts {
            let Some(p) = self.pods.get(attempt.at) else { continue };
            let own = sim.context.drainer.grace_of(&p.pod);
            let (when, grace) = match deadline.then {
                AtDeadline::DeletesBefore => {
                    let when = end.saturating_sub(own).max(self.began);
                    (when, own.min((end - when).max(1)))
                }
                AtDeadline::Deletes => (end, own),
                AtDeadline::TakesNode(_) | AtDeadline::Fails(_) | AtDeadline::FailsUnevicted(_) => (end, 0),
            };
            sim.force_at(when, attempt.pod, grace);
        }
    }

    /// Where a pod needs a flag that is not passed, and the drainer does not go on without: nothing is evicted.
    fn lacks_flag(&mut self, sim: &Simulation<'_>) -> bool {
        let context = sim.context;
        let lacking = |p: &NodePod| p.status.needs.iter().copied().find(|flag| !context.has(*flag));
        if context.drainer.without_flag != WithoutFlag::Fails || !self.pods.iter().any(|p| lacking(p).is_some()) {
            return false;
        }
        for attempt in &mut self.attempts {
            let flag = self.pods.get(attempt.at).and_then(lacking);
            attempt.refused_first = true;
            attempt.refusal = Some(flag.map_or(Refusal::NotTried, Refusal::WithoutFlag));
        }
        true
    }

    /// Goes on to the next wave whose pods are tried; those of a wave that is held up are not.
    fn next_wave(&mut self, sim: &Simulation<'_>) {
        while let Some(wave) = self.waves.first().copied() {
            if !self.is_held_up_before(wave) {
                self.phase = Phase::Trying { again: Some(sim.now), first: true };
                return;
            }
            let behind: Vec<bool> = self.attempts.iter().map(|a| self.wave_of(a) == Some(wave)).collect();
            for (a, _) in self.attempts.iter_mut().zip(behind).filter(|(_, behind)| *behind) {
                (a.refused_first, a.refusal) = (true, Some(Refusal::Behind));
            }
            self.waves.remove(0);
        }
        self.phase = Phase::Last;
    }

    /// Does what can be done now. Whether the drain has ended.
    pub fn go(&mut self, sim: &mut Simulation<'_>) -> bool {
        loop {
            match self.phase {
                Phase::Over => return true,
                Phase::Trying { again, first } => {
                    let end = self.deadline().filter(|_| !first);
                    let due = again.is_some_and(|at| at <= sim.now && end.is_none_or(|(end, _)| at < end));
                    if due {
                        let wave = self.waves.first().copied().unwrap_or_default();
                        let Pass { granted, open, broken_off } = self.pass(sim, wave, first, self.steps + 1);
                        self.steps += u32::from(granted);
                        self.tried = sim.now;
                        if open && !broken_off {
                            self.phase = Phase::Trying { again: None, first: false };
                            return false;
                        }
                        self.phase = Phase::Ending;
                    } else if let Some((_, then)) = end.filter(|(end, _)| *end <= sim.now) {
                        self.gave_up |= !then.forces();
                        self.phase = Phase::Ending;
                    } else {
                        return false;
                    }
                }
                Phase::Ending => {
                    if self.waits_at(sim).is_some() {
                        return false;
                    }
                    self.leave(sim);
                }
                Phase::Last => {
                    if self.takes(sim) {
                        return false;
                    }
                    self.leave(sim);
                }
            }
        }
    }

    /// When something is done next, whatever happens until then.
    pub fn wakes_at(&self, sim: &Simulation<'_>) -> Option<i64> {
        let deadline = self.deadline().map(|(at, _)| at);
        match self.phase {
            Phase::Trying { again, .. } => {
                again.filter(|at| deadline.is_none_or(|end| *at < end)).into_iter().chain(deadline).min()
            }
            Phase::Ending => self.waits_at(sim).flatten(),
            Phase::Last => deadline,
            Phase::Over => None,
        }
    }

    /// Something has happened: what was refused is tried again at the next time for it.
    pub fn notice(&mut self, sim: &Simulation<'_>) {
        let Phase::Trying { again: None, first } = self.phase else { return };
        let waited = (sim.now - self.began).max(self.tried - self.began + 1);
        let wave = self.waves.first().copied().unwrap_or_default();
        let next = if self.is_forced(sim, wave) {
            sim.now
        } else {
            self.began.saturating_add(sim.context.drainer.retry.next(waited))
        };
        self.phase = Phase::Trying { again: Some(next), first };
    }

    /// Goes on although what is waited for has not come.
    pub fn leave(&mut self, sim: &Simulation<'_>) {
        match self.phase {
            Phase::Trying { .. } => self.phase = Phase::Ending,
            Phase::Ending if self.forced => self.phase = Phase::Over,
            Phase::Ending => {
                if !self.waves.is_empty() {
                    self.waves.remove(0);
                }
                self.next_wave(sim);
            }
            Phase::Last if self.forced => {
                self.steps += 1;
                self.phase = Phase::Ending;
            }
            Phase::Last | Phase::Over => self.phase = Phase::Over,
        }
    }

    /// How it went.
    pub fn end(&mut self, sim: &mut Simulation<'_>, lane: usize, after: Option<Str>) -> NodeRun {
        sim.forget_forcing(&self.attempts.iter().map(|a| a.pod).collect());
        let mut gave_up = self.gave_up;
        let ended = match self.gives_up_at() {
            Some(deadline) if gave_up || self.attempts.iter().any(Attempt::stays) => {
                // What is refused without end is tried until then, and what does not end is waited for.
                gave_up |= self.attempts.iter().any(|a| self.waits_for_ever(sim, a));
                if gave_up { sim.now.max(deadline) } else { sim.now.min(deadline) }
            }
            Some(deadline) if self.is_for_all() => sim.now.min(deadline),
            Some(_) | None => sim.now,
        };
        let (node, attempts) = (self.node.clone(), std::mem::take(&mut self.attempts));
        NodeRun {
            node,
            pods: std::mem::take(&mut self.pods),
            attempts,
            began: self.began,
            ended,
            steps: self.steps,
            gave_up,
            deadline: self.deadline,
            lane,
            after,
        }
    }

    /// Whether the deadline is also that of pods that are ending.
    fn is_for_all(&self) -> bool {
        !matches!(self.deadline(), Some((_, AtDeadline::FailsUnevicted(_))))
    }

    /// Whether a pod of an earlier wave stays.
    fn is_held_up_before(&self, wave: i64) -> bool {
        let stays = |a: &Attempt| a.stays() && !self.ends_by_itself(a);
        self.attempts.iter().any(|a| self.wave_of(a).is_some_and(|w| w < wave) && stays(a))
    }

    /// Whether a pod is waited for that ends by itself, though nobody knows when.
    fn ends_by_itself(&self, a: &Attempt) -> bool {
        matches!(a.refusal, Some(Refusal::Held(_))) && self.pods.get(a.at).is_some_and(|p| p.pod.is_of("Job"))
    }

    /// Whether all that is left of a wave was deleted at the deadline.
    fn is_forced(&self, sim: &Simulation<'_>, wave: i64) -> bool {
        let left = |a: &&Attempt| a.step.is_none() && self.wave_of(a) == Some(wave);
        self.attempts.iter().filter(left).all(|a| sim.forced_at(a.pod).is_some())
    }

    /// Notes what was deleted at the deadline, and whether more is still to be.
    fn takes(&mut self, sim: &Simulation<'_>) -> bool {
        let step = self.steps + 1;
        for a in self.attempts.iter_mut().filter(|a| a.step.is_none()) {
            if let Some(at) = sim.forced_at(a.pod) {
                (a.step, a.end, a.forced_at) = (Some(step), End::InTime, Some(at));
                self.forced = true;
            }
        }
        let open = self.forces().is_some() && self.attempts.iter().any(|a| a.step.is_none());
        let ends_node = match self.deadline() {
            Some((at, AtDeadline::TakesNode(_))) => Some(at),
            _ => None,
        };
        // What is ending then ends with the machine.
        if let Some(at) = ends_node.filter(|at| *at <= sim.now) {
            for a in self.attempts.iter_mut().filter(|a| a.stays()) {
                (a.step, a.end, a.forced_at) = (Some(step), End::InTime, Some(at));
                self.forced = true;
            }
            return false;
        }
        open || ends_node.is_some() && self.attempts.iter().any(Attempt::stays)
    }

    /// Whether a drain that has no deadline would hang on it.
    fn waits_for_ever(&self, sim: &Simulation<'_>, a: &Attempt) -> bool {
        match a.step {
            Some(_) => self.is_for_all() && matches!(a.end, End::Never | End::Outlasts),
            None => !a.refusal.is_some_and(|refusal| sim.context.drainer.gives_up_on(refusal)),
        }
    }

    fn wave_of(&self, attempt: &Attempt) -> Option<i64> {
        self.wave_of_pod.get(attempt.at).copied()
    }

    /// One try of every pod of a wave that is left.
    fn pass(&mut self, sim: &mut Simulation<'_>, wave: i64, first: bool, step: u32) -> Pass {
        let mut pass = Pass::default();
        let drainer = &sim.context.drainer;
        for at in 0..self.attempts.len() {
            let Some(attempt) = self.attempts.get(at).filter(|a| a.step.is_none()) else { continue };
            let tried_before = attempt.refusal.is_some_and(|refusal| drainer.gives_up_on(refusal));
            if self.wave_of(attempt) != Some(wave) || tried_before {
                continue;
            }
            let tried = attempt.pod;
            let Some(p) = self.pods.get(attempt.at) else { continue };
            let answer = match (pass.broken_off, sim.by_name_of(tried)) {
                (true, _) => Err(Refusal::NotTried),
                (false, Some(pod)) => ask(sim, p, pod, first).map(|()| pod),
                (false, None) => Ok(tried),
            };
            let forced_at = sim.forced_at(tried);
            let end = answer.ok().map(|pod| (pod, self.remove(sim, p, pod)));
            let operator = match answer {
                Err(Refusal::Budget(id)) if first => Some(operator_answers(sim, p, tried, id)),
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
                    pass.broken_off |= drainer.removes == Removes::ByDeletion;
                }
            }
        }
        pass
    }

    /// The pod is removed.
    fn remove(&self, sim: &mut Simulation<'_>, p: &NodePod, pod: PodId) -> End {
        let end = self.end_of(sim, p, pod);
        let Some(there) = sim.pod(pod) else { return end };
        let gone_by_others = there.stage == Stage::Gone || there.stage == Stage::Terminating && !p.pod.is_terminating();
        if !gone_by_others {
            let seconds = match end {
                End::InTime | End::MayOutlast | End::Outlasts => Some(self.ends_in(sim, there)),
                End::Never | End::NotWaitedFor => None,
            };
            sim.delete(pod, seconds);
        }
        end
    }

    fn end_of(&self, sim: &Simulation<'_>, p: &NodePod, pod: PodId) -> End {
        let Some(there) = sim.pod(pod) else { return End::InTime };
        if p.drainability == Drainability::Stuck {
            return if sim.context.skips_overdue(&self.node).is_some() { End::NotWaitedFor } else { End::Never };
        }
        let left = match self.deadline() {
            Some((deadline, AtDeadline::Fails(_) | AtDeadline::TakesNode(_))) => deadline - sim.now,
            _ => return End::InTime,
        };
        match (self.ends_in(sim, there), at_least(sim, there)) {
            (_, least) if least > left => End::Outlasts,
            (most, _) if most > left => End::MayOutlast,
            _ => End::InTime,
        }
    }

    /// How many seconds a pod takes at the most to be gone once it is removed.
    fn ends_in(&self, sim: &Simulation<'_>, there: &SimPod) -> i64 {
        let pod = &there.pod;
        if pod.is_terminating() && there.node.is_none() {
            return pod.grace_left(sim.context.snapshot.now).unwrap_or_default();
        }
        if is_idle(there) {
            return 0;
        }
        let grace = sim.context.drainer.grace_of(pod);
        match self.deadline {
            // Deleted again with what is left, where its own period ends after the node.
            Some(Deadline { after, then: AtDeadline::DeletesBefore, .. }) => {
                grace.min(self.began.saturating_add(after).saturating_sub(sim.now).max(1))
            }
            _ => grace,
        }
    }

    /// Whether pods that were removed are waited for, and until when at the most; those that do not end are not waited for
    /// here.
    fn waits_at(&self, sim: &Simulation<'_>) -> Option<Option<i64>> {
        let deadline = match self.deadline() {
            Some((at, AtDeadline::TakesNode(_))) if !self.forced => Some(at),
            _ => self.gives_up_at().filter(|_| self.is_for_all()),
        };
        if deadline.is_some_and(|at| at <= sim.now) {
            return None;
        }
        let wave = self.waves.first().copied().filter(|_| !self.forced);
        let of_wave = |a: &&Attempt| wave.is_none() || self.wave_of(a) == wave;
        let going = |a: &Attempt| {
            let ends = matches!(a.end, End::InTime | End::MayOutlast | End::Outlasts);
            a.step.is_some() && ends && sim.pod(a.pod).is_some_and(|p| p.stage != Stage::Gone)
        };
        if self.attempts.iter().filter(of_wave).any(going) {
            return Some(deadline);
        }
        // A deletion that does not end is waited for until it is overdue by so much.
        let drainer = &sim.context.drainer;
        let overdue = |a: &Attempt| {
            let grace = self.pods.get(a.at).map_or(0, |p| drainer.grace_of(&p.pod));
            (a.end == End::NotWaitedFor).then_some(
                self.began
                    .saturating_add(grace)
                    .saturating_add(sim.context.skips_overdue(&self.node).unwrap_or_default() + 1),
            )
        };
        let until = self.attempts.iter().filter_map(overdue).max().filter(|until| *until > sim.now)?;
        Some(Some(deadline.map_or(until, |at| at.min(until))))
    }
}

/// What is answered to one try.
fn ask(sim: &mut Simulation<'_>, p: &NodePod, pod: PodId, first: bool) -> Result<(), Refusal> {
    let drainer = &sim.context.drainer;
    let Some(there) = sim.pod(pod) else { return Ok(()) };
    match there.stage {
        // Removed by somebody else meanwhile.
        Stage::Gone => return Ok(()),
        Stage::Terminating if !p.pod.is_terminating() => return Ok(()),
        Stage::Pending | Stage::Bound | Stage::Terminating => {}
    }
    let now = sim.context.snapshot.now.saturating_add(jiff::SignedDuration::from_secs(sim.now));
    if let Some(hold) = (drainer.holds)(&sim.context.view, &there.pod, now.unwrap_or(jiff::Timestamp::MAX)) {
        if let Some(until) = hold.until {
            let left = until.duration_since(sim.context.snapshot.now).as_secs();
            sim.tick(left.saturating_add(1));
        }
        return Err(Refusal::Held(hold.by));
    }
    if let Drainability::Refused(refusal) = p.drainability {
        return Err(refusal);
    }
    if drainer.removes == Removes::ByDeletion {
        return Ok(());
    }
    let context = sim.context;
    let namespace_terminating = context.snapshot.is_namespace_terminating(p.pod.meta.ns());
    let computed = sim.disruption.evict(there, namespace_terminating);
    // What is stored judges the first answer.
    let stored = || sim.disruption.evict_as_stored(context.snapshot, there);
    let answer = if first && there.replaces.is_none() { computed.and_then(|()| stored()) } else { computed };
    let Err(refusal) = answer else { return Ok(()) };
    match refusal {
        // kubectl goes on to wait for a pod that is being deleted as it is.
        Refusal::NamespaceTerminating if there.pod.is_terminating() => return Ok(()),
        Refusal::Stale(_) => sim.tick(sim.now.saturating_add(drainer.retry.first())),
        _ => {}
    }
    Err(refusal)
}

/// Lets the operator that made the budget do what it does, and says what that is.
fn operator_answers(sim: &mut Simulation<'_>, p: &NodePod, tried: PodId, id: BudgetId) -> operators::Answer {
    let pod = sim.by_name_of(tried).unwrap_or(tried);
    let is_ready = |p: &Arc<Pod>| sim.known(p).map_or_else(|| p.is_ready(), |there| there.ready);
    let present = operators::Present { state: &sim.state, is_ready: &is_ready };
    let answer = operators::answer(sim.context, &present, &p.pod, id);
    if let operators::Answer::Moves { seconds, .. } = answer {
        sim.relieve_in(pod, seconds);
    }
    answer
}

/// How many seconds a pod takes at the least to be gone, as far as its hooks tell.
fn at_least(sim: &Simulation<'_>, there: &SimPod) -> i64 {
    let known = !is_idle(there) && !there.pod.is_terminating();
    if known { pre_stop(&there.pod).min(sim.context.drainer.grace_of(&there.pod)) } else { 0 }
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
    let pending = pod.status.phase == pod::Phase::Pending && pod.status.containers.is_empty();
    pod.is_finished() || (pending && sim.node.is_none())
}

/// Seconds that the pod's preStop hooks wait, as far as they tell.
fn pre_stop(pod: &Pod) -> i64 {
    pod.spec.longest_pre_stop().unwrap_or_default()
}
