//! What all simulations of one plan share: the snapshot, the budgets as they are found, the owners, the scheduler's
//! view, and what each pod meets.

use super::actor::Actor;
use super::filters::{Filtered, filter};
use super::hazards::{self, Facts};
use super::ledger::{Book, BudgetId};
use super::note::{Effect, Note};
use super::options::DrainOptions;
use super::owners::Owners;
use crate::budget::{Judgement, Selection, Verdict, judge};
use crate::sched::State;
use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Str};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// What all simulations share.
pub struct Ground<'a> {
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// The flags of the drain.
    pub options: &'a DrainOptions,
    /// Which budgets cover which pods.
    pub selection: &'a Selection,
    /// The budgets.
    pub book: Book<'a>,
    /// What makes new pods.
    pub owners: Owners,
    /// The scheduler's view.
    pub state: State,
    /// What the hazards look at.
    pub facts: Facts<'a>,
    /// What `status` says of each budget, once it is asked.
    judgements: Vec<OnceLock<Option<Judgement>>>,
    /// The controllers (by uid) below each topmost one (by its address).
    families: HashMap<usize, Vec<Str>>,
}

impl<'a> Ground<'a> {
    /// Looks at the whole cluster once.
    pub fn new(snapshot: &'a Snapshot, selection: &'a Selection, options: &'a DrainOptions) -> Self {
        Self {
            snapshot,
            options,
            selection,
            book: Book::new(snapshot, selection),
            owners: Owners::new(snapshot),
            state: State::new(snapshot),
            facts: Facts::new(snapshot, options),
            judgements: snapshot.budgets.iter().map(|_| OnceLock::new()).collect(),
            families: families(snapshot),
        }
    }

    /// What `status` says of a budget.
    pub fn judgement(&self, id: BudgetId) -> Option<&Judgement> {
        let at = id as usize;
        self.judgements.get(at)?.get_or_init(|| judge(self.snapshot, self.selection, at)).as_ref()
    }

    /// The verdict of a budget.
    pub fn verdict(&self, id: BudgetId) -> Option<Verdict> {
        self.judgement(id).map(|j| j.verdict)
    }

    /// The pods of the same topmost controller, the pod itself among them; none for a pod without one.
    pub fn siblings(&self, pod: &Pod) -> Vec<&'a Arc<Pod>> {
        let top = self.snapshot.top_controller_of(&pod.meta).map(|w| Arc::as_ptr(w) as usize);
        let uids = top.and_then(|top| self.families.get(&top));
        uids.into_iter().flatten().flat_map(|uid| self.snapshot.pods_of(uid)).collect()
    }

    /// The pods of a node, each with what kubectl's filters say of it and what it meets.
    pub fn candidates(&self, node: &str) -> Vec<Candidate> {
        self.snapshot.pods_on(node).map(|pod| Candidate::new(self, pod)).collect()
    }
}

fn families(snapshot: &Snapshot) -> HashMap<usize, Vec<Str>> {
    let mut families: HashMap<usize, Vec<Str>> = HashMap::new();
    let mut seen = std::collections::HashSet::new();
    for pod in snapshot.pods.iter() {
        let Some(owner) = pod.meta.controller.as_ref().filter(|o| seen.insert(&o.uid)) else { continue };
        if let Some(top) = snapshot.top_controller_of(&pod.meta) {
            families.entry(Arc::as_ptr(top) as usize).or_default().push(owner.uid.clone());
        }
    }
    families
}

/// A pod on a node that is drained.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The pod.
    pub pod: Arc<Pod>,
    /// What kubectl's filters say of it.
    pub filtered: Filtered,
    /// The budgets that cover it.
    pub budgets: Vec<BudgetId>,
    /// What it meets whatever else is drained.
    pub notes: Vec<Note>,
    /// What that comes to.
    pub effect: Effect,
}

impl Candidate {
    fn new(ground: &Ground<'_>, pod: &Arc<Pod>) -> Self {
        Self::with_budgets(ground, pod, ground.book.budgets_of(pod).to_vec())
    }

    /// A pod that a plan itself has put on a node.
    pub fn of_actor(ground: &Ground<'_>, actor: &Actor) -> Self {
        Self::with_budgets(ground, &actor.pod, actor.budgets.clone())
    }

    fn with_budgets(ground: &Ground<'_>, pod: &Arc<Pod>, budgets: Vec<BudgetId>) -> Self {
        let filtered = filter(ground.snapshot, ground.options, pod);
        let notes = hazards::of(ground, pod, &filtered);
        let effect = notes.iter().map(|n| n.effect).max().unwrap_or_default();
        Self { pod: pod.clone(), filtered, budgets, notes, effect }
    }
}
