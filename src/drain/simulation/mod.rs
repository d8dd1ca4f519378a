//! A cluster that moves: pods end, controllers make new ones, the scheduler places them, they become Ready, and the
//! disruption controller counts along. Time is in whole seconds since the simulation began.
//!
//! ```text
//! drain (a drainer plays its profile) ─► delete ─► controllers ─► scheduler ─► Ready
//!        │                                 └──────────┴──────────────┴──────────┴─► disruption controller
//!        └─ asks the eviction endpoint, which sees what that controller wrote
//! ```

mod admission;
mod attach;
mod attempt;
mod controllers;
pub mod disruption;
pub mod drain;
mod operators;
pub mod pods;
mod rollout;
mod run;
pub mod scheduler;
pub mod snapshot;
mod stateful_sets;
mod watch;

pub use pods::{NotCreated, PodId, SimPod, Stage};

use super::context::DrainContext;
use super::tracker::BudgetId;
use crate::quota::Usage;
use crate::sched::State;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use disruption::DisruptionController;
use stateful_sets::StatefulSets;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

/// Something that happens at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A pod that was being deleted is gone.
    Gone(PodId),
    /// A pod becomes Ready.
    Ready(PodId),
    /// A controller deletes a pod: that of a namespace that is being deleted, that of Jobs that ended.
    Deleted(PodId),
    /// A drainer's deadline comes: it deletes the pod past every budget, with so many seconds of grace.
    Forced(PodId, i64),
    /// An operator moves what its budgets guard away from a pod.
    Relieved(PodId),
    /// Nothing happens but that time has passed: the disruption controller has caught up.
    Tick,
}

/// What takes longer than a century counts as one: the API takes any number of seconds.
const LONGEST: i64 = 100 * 365 * 24 * 3600;

/// A cluster that moves.
#[derive(Clone)]
pub struct Simulation<'c> {
    context: &'c DrainContext<'c>,
    /// The scheduler's view.
    pub state: State,
    /// The disruption controller.
    pub disruption: DisruptionController<'c>,
    /// Seconds since the simulation began.
    pub now: i64,
    pods: Vec<SimPod>,
    by_pod: HashMap<*const Pod, PodId>,
    by_name: HashMap<(Option<Str>, Str), PodId>,
    replacements: HashMap<PodId, PodId>,
    events: BinaryHeap<Reverse<(i64, usize, Event)>>,
    happened: usize,
    /// How many live pods controllers have, by controller, once that is asked.
    live: HashMap<Str, i64>,
    sets: StatefulSets,
    /// Pods whose replacement could not be made.
    refused: BTreeSet<PodId>,
    /// Pods that look for a node.
    unscheduled: Vec<PodId>,
    /// Pods on a node whose volume another node has attached.
    attaching: BTreeSet<PodId>,
    /// The pods of the simulation that use volumes of which one node at a time has each, by claim.
    claim_users: HashMap<(Str, Str), Vec<PodId>>,
    /// Pods that only a new node takes.
    on_new_nodes: Vec<PodId>,
    /// Jobs that have failed in the course of the simulation.
    failed_jobs: HashSet<Str>,
    /// Controllers whose pods a rollout makes and takes.
    rolling: HashSet<Str>,
    /// Budgets of which everything takes part that may change them by itself.
    watched: HashSet<BudgetId>,
    usage: Usage,
    /// When pods were deleted at a drainer's deadline.
    forced: HashMap<PodId, i64>,
    /// Whether something has changed that may let a pod without a node in.
    changed: bool,
}

impl<'c> Simulation<'c> {
    /// The cluster as the snapshot has it.
    pub fn new(context: &'c DrainContext<'c>) -> Self {
        Self {
            context,
            state: context.state.clone(),
            disruption: DisruptionController::new(&context.budgets),
            now: 0,
            pods: Vec::new(),
            by_pod: HashMap::new(),
            by_name: HashMap::new(),
            replacements: HashMap::new(),
            events: BinaryHeap::new(),
            happened: 0,
            live: HashMap::new(),
            sets: StatefulSets::default(),
            refused: BTreeSet::new(),
            unscheduled: Vec::new(),
            attaching: BTreeSet::new(),
            claim_users: HashMap::new(),
            on_new_nodes: Vec::new(),
            failed_jobs: HashSet::new(),
            rolling: HashSet::new(),
            watched: HashSet::new(),
            usage: Usage::default(),
            forced: HashMap::new(),
            changed: false,
        }
    }

    /// Every pod that takes part.
    pub fn pods(&self) -> &[SimPod] {
        &self.pods
    }

    /// A pod that takes part.
    pub fn pod(&self, id: PodId) -> Option<&SimPod> {
        self.pods.get(id)
    }

    /// The pod of the snapshot, where it takes part.
    pub fn known(&self, pod: &Arc<Pod>) -> Option<&SimPod> {
        self.by_pod.get(&Arc::as_ptr(pod)).and_then(|id| self.pods.get(*id))
    }

    /// The pod that has another's name by now: itself, or a StatefulSet's new one.
    fn by_name_of(&self, id: PodId) -> Option<PodId> {
        let meta = &self.pods.get(id)?.pod.meta;
        self.by_name.get(&(meta.namespace.clone(), meta.name.clone())).copied()
    }

    /// The pod that replaces another.
    pub fn replacement_of(&self, id: PodId) -> Option<&SimPod> {
        self.replacements.get(&id).and_then(|id| self.pods.get(*id))
    }

    /// The pod that a StatefulSet waits for before it makes this one again.
    pub fn waits_for(&self, id: PodId) -> Option<Arc<Pod>> {
        self.sets.blocker(&self.pod(id)?.pod)
    }

    /// The pods whose new pods have no node.
    pub fn without_place(&self) -> impl Iterator<Item = &Arc<Pod>> {
        let waiting = self.unscheduled.iter().filter_map(|id| self.pods.get(*id));
        waiting.filter_map(|p| Some(&self.pods.get(p.replaces?)?.pod))
    }

    /// Whether a pod of the snapshot is gone, or going.
    pub fn has_left(&self, pod: &Arc<Pod>) -> bool {
        let left = |p: &SimPod| match p.stage {
            Stage::Gone => true,
            Stage::Terminating => !pod.is_terminating(),
            Stage::Pending | Stage::Bound => false,
        };
        self.known(pod).is_some_and(left)
    }

    /// The pods that the simulation has put on a node, and that are there.
    pub fn put_on<'s>(&'s self, node: &'s str) -> impl Iterator<Item = &'s SimPod> {
        self.pods.iter().filter(move |p| p.stage == Stage::Bound && p.node.as_deref() == Some(node))
    }

    /// When something happens next.
    pub fn next_event(&self) -> Option<i64> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    fn push(&mut self, at: i64, event: Event) {
        self.happened += 1;
        let at = at.clamp(self.now, self.now.saturating_add(LONGEST));
        self.events.push(Reverse((at, self.happened, event)));
    }

    /// Deletes a pod at a time, past every budget and with so many seconds of grace, unless it is being deleted by then.
    pub fn force_at(&mut self, at: i64, id: PodId, grace: i64) {
        self.push(at, Event::Forced(id, grace));
    }

    /// Forgets that these pods were to be forced: the drain that wanted it is over.
    pub fn forget_forcing(&mut self, pods: &HashSet<PodId>) {
        self.events.retain(|Reverse((_, _, event))| !matches!(event, Event::Forced(id, _) if pods.contains(id)));
    }

    /// When a pod was deleted at a drainer's deadline.
    pub fn forced_at(&self, id: PodId) -> Option<i64> {
        self.forced.get(&id).copied()
    }

    fn force(&mut self, id: PodId, grace: i64) {
        let Some(sim) = self.pods.get(id) else { return };
        if matches!(sim.stage, Stage::Terminating | Stage::Gone) {
            return;
        }
        self.forced.insert(id, self.now);
        self.delete(id, Some(grace));
    }

    /// Lets nothing but time pass until `at`.
    pub fn tick(&mut self, at: i64) {
        self.push(at, Event::Tick);
    }

    fn add(&mut self, pod: SimPod) -> PodId {
        let id = self.pods.len();
        self.by_pod.insert(Arc::as_ptr(&pod.pod), id);
        self.by_name.insert((pod.pod.meta.namespace.clone(), pod.pod.meta.name.clone()), id);
        if let Some(origin) = pod.replaces {
            self.replacements.insert(origin, id);
        }
        self.pods.push(pod);
        id
    }

    /// Cordons a node.
    pub fn cordon(&mut self, node: &str) {
        self.state.cordon(node);
        self.changed = true;
    }

    /// Takes a cordon back. Pods that found no place may find one there.
    pub fn uncordon(&mut self, node: &str) {
        self.state.uncordon(node);
        self.changed = true;
    }

    /// Takes a drained node away for good.
    pub fn take_away(&mut self, node: &str) {
        self.state.cordon(node);
    }

    /// Lets everything happen that happens by itself.
    pub fn settle(&mut self) {
        self.advance(self.now);
        while let Some(next) = self.next_event() {
            self.advance(next);
        }
    }

    /// Lets time pass: everything happens that happens until then. Whether anything did.
    pub fn advance(&mut self, to: i64) -> bool {
        let before = self.events.len();
        self.schedule();
        let mut happened = self.events.len() > before;
        while let Some(Reverse((at, _, event))) = self.events.peek().copied()
            && at <= to
        {
            self.events.pop();
            happened = true;
            self.now = at;
            match event {
                Event::Gone(id) => self.gone(id),
                Event::Ready(id) => self.become_ready(id),
                Event::Deleted(id) => self.delete_by_controller(id),
                Event::Forced(id, grace) => self.force(id, grace),
                Event::Relieved(id) => self.relieve(id),
                Event::Tick => {}
            }
            self.schedule();
        }
        self.now = self.now.max(to);
        happened
    }

    /// Deletes a pod: by an eviction that was granted, by a controller, or by preemption. `ends_in` says after how many
    /// seconds it is gone; `None` for one whose deletion does not end.
    pub fn delete(&mut self, id: PodId, ends_in: Option<i64>) {
        let Some(sim) = self.pods.get_mut(id) else { return };
        let already = sim.pod.is_terminating() || sim.pod.is_finished();
        let (pod, budgets) = (sim.pod.clone(), sim.budgets.clone());
        let was_healthy = std::mem::take(&mut sim.healthy);
        (sim.stage, sim.ready) = (Stage::Terminating, false);
        if let Some(node) = sim.node().cloned() {
            self.state.remove_from(&pod, &node);
        }
        self.unscheduled.retain(|waiting| *waiting != id);
        self.on_new_nodes.retain(|there| *there != id);
        self.changed = true;
        if was_healthy {
            self.disruption.health(&budgets, -1);
        }
        if let Some(seconds) = ends_in {
            self.push(self.now.saturating_add(seconds), Event::Gone(id));
        }
        self.controller_sees_deletion(id, &pod, already);
        if !already {
            self.restart_group(&pod);
        }
    }

    fn gone(&mut self, id: PodId) {
        let Some(sim) = self.pods.get_mut(id).filter(|p| p.stage == Stage::Terminating) else { return };
        // Its room was taken back when it was removed: the scheduler has nothing new to look at.
        sim.stage = Stage::Gone;
        let (pod, budgets) = (sim.pod.clone(), sim.budgets.clone());
        self.usage.release(self.context.snapshot, &pod);
        self.controller_sees_end(id, &pod);
        self.disruption.gone(self.context.snapshot, &budgets, &pod);
        self.attach_again();
    }

    /// The pod is on a node now, and becomes Ready in time.
    fn start(&mut self, id: PodId, node: &Str, delay: i64) {
        let Some(sim) = self.pods.get_mut(id) else { return };
        let pod = sim.pod.clone();
        (sim.stage, sim.node, sim.not_bound) = (Stage::Bound, Some(node.clone()), None);
        self.state.bind(&pod, node);
        self.uses_volumes(id);
        self.ready_in(id, delay);
    }

    /// The pod becomes Ready so many seconds later than it takes to start, once it can have its volumes; never where pods of
    /// its controller do not.
    fn ready_in(&mut self, id: PodId, delay: i64) {
        if let Some(why) = self.attached_elsewhere(id) {
            self.attaching.insert(id);
            if let Some(sim) = self.pods.get_mut(id) {
                sim.not_attached = Some(why);
            }
            return;
        }
        let Some(sim) = self.pods.get(id) else { return };
        let controller = self.context.controllers.of(&sim.pod);
        if controller.as_ref().is_none_or(|c| c.never_ready.is_none()) {
            let startup = controller.map_or(super::controllers::STARTUP_GUESS, |c| c.seconds_to_ready());
            self.push(self.now.saturating_add(delay).saturating_add(startup), Event::Ready(id));
        }
    }

    fn become_ready(&mut self, id: PodId) {
        let Some(sim) = self.pods.get_mut(id).filter(|p| p.stage == Stage::Bound && !p.healthy) else { return };
        (sim.ready, sim.healthy) = (true, true);
        let (pod, budgets) = (sim.pod.clone(), sim.budgets.clone());
        self.disruption.health(&budgets, 1);
        self.controller_sees_ready(&pod);
        if self.context.admission.guards_pods() {
            // What serves a webhook may be there again.
            self.changed = true;
            self.retry_creation(None);
        }
    }
}
