//! A cluster that moves: pods end, their owners make new ones, the scheduler places them, they become Ready, and the
//! budgets count along. Time is in whole seconds since the plan began.

use super::actor::{Actor, ActorId, Stage};
use super::finder::Finder;
use super::ground::Ground;
use super::ledger::{BudgetId, Ledger};
use super::owners::{Makes, Owner, STARTUP_GUESS};
use super::placement::{Placed, first_refusal, place};
use super::sets::{Ordinal, Sets};
use super::successor::{new_name, successor};
use crate::quota::Usage;
use crate::sched::State;
use crate::sched::node::NodeInfo;
use crate::sched::search::Move;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A pod that was being deleted is gone.
    Gone(ActorId),
    /// A pod becomes Ready.
    Ready(ActorId),
    /// Nothing happens but that time has passed: a refusal that is only stale is over.
    Tick,
}

/// A cluster that moves.
#[derive(Clone)]
pub struct World<'g> {
    pub(super) ground: &'g Ground<'g>,
    /// The scheduler's view.
    pub state: State,
    /// The budgets' counters.
    pub ledger: Ledger<'g>,
    /// Seconds since the plan began.
    pub now: i64,
    actors: Vec<Actor>,
    pub(super) by_pod: HashMap<*const Pod, ActorId>,
    by_origin: HashMap<ActorId, ActorId>,
    events: BinaryHeap<Reverse<(i64, usize, Event)>>,
    happened: usize,
    live: HashMap<Str, i64>,
    sets: Sets,
    pub(super) waiting: Vec<ActorId>,
    pub(super) involved: HashSet<BudgetId>,
    usage: Usage,
    /// Whether something has changed that may let a waiting pod in.
    pub(super) moved: bool,
    /// Finds nodes quickly, and the pods that came and went, which it has to be told.
    finder: Option<(Rc<RefCell<Finder<'g>>>, Vec<Move>)>,
}

impl<'g> World<'g> {
    /// The cluster as the snapshot has it.
    pub fn new(ground: &'g Ground<'g>) -> Self {
        Self {
            ground,
            state: ground.state.clone(),
            ledger: Ledger::new(&ground.book),
            now: 0,
            actors: Vec::new(),
            by_pod: HashMap::new(),
            by_origin: HashMap::new(),
            events: BinaryHeap::new(),
            happened: 0,
            live: HashMap::new(),
            sets: Sets::default(),
            waiting: Vec::new(),
            involved: HashSet::new(),
            usage: Usage::default(),
            moved: false,
            finder: None,
        }
    }

    /// The same, in which any node that takes a pod will do for it: quick in a large cluster.
    pub fn quick(ground: &'g Ground<'g>, finder: Rc<RefCell<Finder<'g>>>) -> Self {
        Self { finder: Some((finder, Vec::new())), ..Self::new(ground) }
    }

    /// Whether any node that takes a pod will do for it.
    pub fn is_quick(&self) -> bool {
        self.finder.is_some()
    }

    /// Everybody who takes part.
    pub fn actors(&self) -> &[Actor] {
        &self.actors
    }

    /// A pod that takes part.
    pub fn actor(&self, id: ActorId) -> Option<&Actor> {
        self.actors.get(id)
    }

    /// The pod that replaces another.
    pub fn replacement_of(&self, id: ActorId) -> Option<&Actor> {
        self.by_origin.get(&id).and_then(|id| self.actors.get(*id))
    }

    /// The pod that a StatefulSet waits for before it makes this one again.
    pub fn waits_for(&self, id: ActorId) -> Option<Arc<Pod>> {
        let pod = &self.actor(id)?.pod;
        self.sets.blocker(&pod.meta.controller.as_ref()?.uid, pod)
    }

    /// The pods whose new pods have no node.
    pub fn homeless(&self) -> impl Iterator<Item = &Arc<Pod>> {
        let waiting = self.waiting.iter().filter_map(|id| self.actors.get(*id));
        waiting.filter_map(|a| Some(&self.actors.get(a.replaces?)?.pod))
    }

    /// When something happens next.
    pub fn next_event(&self) -> Option<i64> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// Lets nothing but time pass until `at`.
    pub fn tick(&mut self, at: i64) {
        self.push(at, Event::Tick);
    }

    pub(super) fn add(
        &mut self,
        pod: Arc<Pod>,
        budgets: Vec<BudgetId>,
        stage: Stage,
        (ready, healthy): (bool, bool),
        replaces: Option<ActorId>,
    ) -> ActorId {
        let id = self.actors.len();
        self.by_pod.insert(Arc::as_ptr(&pod), id);
        if let Some(origin) = replaces {
            self.by_origin.insert(origin, id);
        }
        let (node, preempted, uncreated) = (None, Vec::new(), None);
        self.actors.push(Actor { pod, budgets, stage, ready, healthy, replaces, node, preempted, uncreated });
        id
    }

    pub(super) fn push(&mut self, at: i64, event: Event) {
        self.happened += 1;
        self.events.push(Reverse((at.max(self.now), self.happened, event)));
    }

    /// The owner of a pod.
    pub(super) fn owner(&self, pod: &Pod) -> Option<&'g Owner> {
        self.ground.owners.of(pod)
    }

    fn live(&mut self, pod: &Pod) -> Option<&mut i64> {
        let uid = &pod.meta.controller.as_ref()?.uid;
        let start = self.owner(pod).map_or(0, |o| o.live);
        Some(self.live.entry(uid.clone()).or_insert(start))
    }

    /// Cordons a node.
    pub fn cordon(&mut self, node: &str) {
        self.state.cordon(node);
        self.moved = true;
    }

    /// Takes a cordon back. Pods that found no place may find one there.
    pub fn uncordon(&mut self, node: &str) {
        self.state.uncordon(node);
        self.moved = true;
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

    /// Whether a pod of the snapshot is gone, or going.
    pub fn has_left(&self, pod: &Arc<Pod>) -> bool {
        let actor = self.by_pod.get(&Arc::as_ptr(pod)).and_then(|id| self.actors.get(*id));
        actor.is_some_and(|a| a.stage == Stage::Gone || (a.stage == Stage::Leaving && !pod.is_terminating()))
    }

    /// The pods that the plan has put on a node, and that are there.
    pub fn put_on<'s>(&'s self, node: &'s str) -> impl Iterator<Item = &'s Actor> {
        self.actors.iter().filter(move |a| a.stage == Stage::Live && a.node.as_deref() == Some(node))
    }

    /// Deletes a pod: by an eviction that was granted, or by preemption. `ends_in` says after how many seconds it is
    /// gone; `None` for one whose deletion does not end.
    pub fn delete(&mut self, id: ActorId, ends_in: Option<i64>) {
        let Some(actor) = self.actors.get_mut(id) else { return };
        let already = actor.pod.is_terminating() || actor.pod.is_finished();
        let (pod, budgets) = (actor.pod.clone(), actor.budgets.clone());
        let was_healthy = std::mem::take(&mut actor.healthy);
        (actor.stage, actor.ready) = (Stage::Leaving, false);
        if let Some(node) = actor.node.clone().or_else(|| pod.node.clone()) {
            self.note_move(&pod, &node, -1);
            self.state.remove_from(&pod, &node);
        }
        self.waiting.retain(|w| *w != id);
        self.moved = true;
        if was_healthy {
            self.ledger.take(&budgets);
        }
        if !already && let Some(live) = self.live(&pod) {
            *live -= 1;
        }
        if let Some(seconds) = ends_in {
            self.push(self.now + seconds, Event::Gone(id));
        }
        match self.owner(&pod).map(|o| o.makes) {
            Some(Makes::AtOnce) => self.create(&pod, Some(id)),
            Some(Makes::InOrder | Makes::SameName) => self.set(&pod, Ordinal::Leaving(pod.clone())),
            _ => {}
        }
    }

    fn gone(&mut self, id: ActorId) {
        let Some(actor) = self.actors.get_mut(id).filter(|a| a.stage == Stage::Leaving) else { return };
        // Its room was taken back when it was let go: the scheduler has nothing new to look at.
        actor.stage = Stage::Gone;
        let (pod, budgets) = (actor.pod.clone(), actor.budgets.clone());
        self.usage.release(self.ground.snapshot, &pod);
        match self.owner(&pod).map(|o| o.makes) {
            Some(Makes::AfterGone) => self.create(&pod, Some(id)),
            Some(Makes::InOrder | Makes::SameName) => {
                self.set(&pod, Ordinal::Missing(pod.clone(), Some(id)));
                self.sync_set(&pod);
            }
            // What a full quota refused may be made now.
            _ => self.retry_creation(pod.meta.ns()),
        }
        self.ledger.leave(&budgets, &pod);
    }

    fn retry_creation(&mut self, ns: &str) {
        let refused: Vec<ActorId> =
            (0..self.actors.len()).filter(|id| self.actors.get(*id).is_some_and(|a| a.uncreated.is_some())).collect();
        for id in refused {
            let Some(actor) = self.actors.get(id).filter(|a| a.pod.meta.ns() == ns) else { continue };
            let pod = actor.pod.clone();
            self.create(&pod, Some(id));
        }
    }

    /// An owner makes a pod like `old`, in the place of the actor `replaces`.
    pub(super) fn create(&mut self, old: &Arc<Pod>, replaces: Option<ActorId>) {
        let Some(owner) = self.owner(old) else { return };
        let live = self.live(old).copied().unwrap_or_default();
        if owner.makes == Makes::Never || owner.wanted.is_some_and(|wanted| live >= wanted) {
            return;
        }
        let keeps_name = matches!(owner.makes, Makes::InOrder | Makes::SameName | Makes::AfterGone);
        let name = if keeps_name { old.meta.name.clone() } else { new_name(old, self.actors.len()) };
        let node = owner.workload.as_ref().and_then(|w| w.template.as_ref()).and_then(|t| t.node.clone());
        let pod = successor(old, name, node.clone(), self.ground.snapshot.now);
        let refused = owner.create_failure.clone().or_else(|| self.usage.refuses(self.ground.snapshot, &pod));
        if let Some(origin) = replaces.and_then(|id| self.actors.get_mut(id)) {
            origin.uncreated.clone_from(&refused);
        }
        if refused.is_some() {
            return;
        }
        self.usage.take(self.ground.snapshot, &pod);
        if let Some(live) = self.live(old) {
            *live += 1;
        }
        let budgets = match replaces.and_then(|id| self.actors.get(id)) {
            Some(origin) => origin.budgets.clone(),
            None => self.ground.book.budgets_of_new(&pod),
        };
        self.ledger.arrive(&budgets, &pod);
        let id = self.add(pod.clone(), budgets, Stage::Pending, (false, false), replaces);
        if keeps_name {
            self.set(&pod, Ordinal::Starting(pod.clone()));
        }
        match node {
            Some(node) => self.start(id, &node, 0),
            None if pod.spec.scheduling_gates.is_empty() => self.wait_for_node(id),
            None => {}
        }
    }

    /// The pod is on a node now, and becomes Ready in time.
    fn start(&mut self, id: ActorId, node: &Str, delay: i64) {
        let Some(actor) = self.actors.get_mut(id) else { return };
        let pod = actor.pod.clone();
        actor.stage = Stage::Live;
        actor.node = Some(node.clone());
        self.state.bind(&pod, node);
        self.note_move(&pod, node, 1);
        let owner = self.owner(&pod);
        if owner.is_none_or(|o| o.never_ready.is_none()) {
            let startup = owner.and_then(|o| o.startup).unwrap_or(STARTUP_GUESS);
            self.push(self.now + delay + startup, Event::Ready(id));
        }
    }

    fn become_ready(&mut self, id: ActorId) {
        let Some(actor) = self.actors.get_mut(id).filter(|a| a.stage == Stage::Live && !a.healthy) else { return };
        (actor.ready, actor.healthy) = (true, true);
        let (pod, budgets) = (actor.pod.clone(), actor.budgets.clone());
        self.ledger.give_back(&budgets);
        if matches!(self.owner(&pod).map(|o| o.makes), Some(Makes::InOrder | Makes::SameName)) {
            self.set(&pod, Ordinal::Ready(pod.clone()));
            self.sync_set(&pod);
        }
    }

    fn set(&mut self, pod: &Arc<Pod>, ordinal: Ordinal) {
        self.sets.put(self.ground.snapshot, pod, ordinal);
    }

    /// A StatefulSet makes what it may make now.
    pub(super) fn sync_set(&mut self, pod: &Arc<Pod>) {
        let Some(owner) = self.owner(pod) else { return };
        let in_order = owner.makes == Makes::InOrder;
        let wanted = owner.wanted.unwrap_or_default();
        let mut tried = HashSet::new();
        while let Some((old, replaces)) = self.sets.next_to_make(self.ground.snapshot, pod, in_order, wanted) {
            if !tried.insert(old.meta.name.clone()) {
                return;
            }
            self.create(&old, replaces);
        }
    }

    /// Lets time pass: everything happens that happens until then.
    pub fn advance(&mut self, to: i64) {
        self.schedule();
        while let Some(Reverse((at, _, event))) = self.events.peek().copied()
            && at <= to
        {
            self.events.pop();
            self.now = at;
            match event {
                Event::Gone(id) => self.gone(id),
                Event::Ready(id) => self.become_ready(id),
                Event::Tick => {}
            }
            self.schedule();
        }
        self.now = self.now.max(to);
    }

    /// The scheduler's turn: the most important pods first, then those that wait longest.
    fn schedule(&mut self) {
        while std::mem::take(&mut self.moved) && !self.waiting.is_empty() {
            let mut queue = self.waiting.clone();
            queue.sort_by_key(|id| {
                let pod = self.actors.get(*id).map(|a| &a.pod);
                (Reverse(pod.map_or(0, |p| p.priority())), pod.and_then(|p| p.meta.creation_timestamp), *id)
            });
            for id in queue {
                let Some(actor) = self.actors.get(id).filter(|a| a.stage == Stage::Pending) else { continue };
                match self.place(actor) {
                    Placed::Nowhere => continue,
                    Placed::On(node) => self.start(id, &node, 0),
                    Placed::Preempting { node, victims } => self.preempt(id, &node, victims),
                }
                self.waiting.retain(|w| *w != id);
            }
        }
    }

    fn place(&self, actor: &Actor) -> Placed {
        let Some((finder, _)) = &self.finder else { return place(&self.state, &actor.pod, false) };
        if finder.borrow_mut().fits_nowhere(&self.state, &actor.pod) {
            return Placed::Nowhere;
        }
        let placed = self.find(actor).map_or_else(|| place(&self.state, &actor.pod, true), Placed::On);
        if matches!(placed, Placed::Nowhere) {
            finder.borrow_mut().found_none(&actor.pod);
        }
        placed
    }

    /// The scheduler's first sentence about a pod that fits nowhere.
    pub fn refusal(&self, pod: &Arc<Pod>) -> String {
        let known = self.finder.as_ref().and_then(|(finder, _)| finder.borrow_mut().words(&self.state, pod));
        known.unwrap_or_else(|| first_refusal(&self.state, pod))
    }

    /// A node found quickly, where that is asked for and there is one.
    fn find(&self, actor: &Actor) -> Option<Str> {
        let (finder, moves) = self.finder.as_ref()?;
        let had = actor.replaces.and_then(|id| self.actors.get(id)).and_then(|old| old.pod.node.as_deref());
        let had: Option<&NodeInfo> = had.and_then(|n| self.ground.state.node_named(n)).map(|n| &**n);
        finder.borrow_mut().find(&self.state, moves, &actor.pod, had)
    }

    /// Notes a pod that is on a node and goes, or has just come.
    fn note_move(&mut self, pod: &Arc<Pod>, node: &str, sign: i64) {
        let Some((_, moves)) = &mut self.finder else { return };
        let Some(node) = self.state.node_named(node) else { return };
        let here = |s: &&crate::sched::node::Slot| {
            s.info.pod.meta.name == pod.meta.name && s.info.pod.meta.namespace == pod.meta.namespace
        };
        if let Some(slot) = node.pods.iter().find(here) {
            moves.push(Move { info: slot.info.clone(), node: node.clone(), sign });
        }
    }

    fn preempt(&mut self, id: ActorId, node: &Str, victims: Vec<Arc<Pod>>) {
        let mut longest = 0;
        for victim in &victims {
            let grace = self.ground.options.grace(victim).min(victim.spec.termination_grace);
            longest = longest.max(grace);
            let victim = self.enter(victim);
            let budgets = self.actors.get(victim).map(|a| a.budgets.clone()).unwrap_or_default();
            self.involve(&budgets);
            self.delete(victim, Some(grace));
        }
        if let Some(actor) = self.actors.get_mut(id) {
            actor.preempted = victims;
        }
        self.start(id, node, longest);
    }
}
