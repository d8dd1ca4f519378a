//! What a drain is about: the cluster, the drainer, and what both bring along. All simulations of a plan share it.

use super::actor::Actor;
use super::actors;
use super::controllers::Controllers;
use super::drainer::{AtDeadline, Deadline, Drainer};
use super::machines::{self, EXCLUDE_DRAIN};
use super::options::{DrainOptions, Flag};
use super::tracker::Budgets;
use super::view::View;
use super::volumes::{Claim, SingleAttach};
use crate::admission::Admission;
use crate::autoscale::NewNodes;
use crate::autoscale::karpenter::claims::NodeClaims;
use crate::budget::Selection;
use crate::sched::State;
use crate::sched::filters::claims::claims_of;
use crate::sched::place::{Placed, Placer, SAMPLED};
use crate::snapshot::pod::{Pod, Truth};
use crate::snapshot::{Snapshot, Str};
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// What all simulations of a plan share.
pub struct DrainContext<'a> {
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// The flags of the drain.
    pub options: &'a DrainOptions,
    /// What the drainer sees as it looks at a pod.
    pub view: View<'a>,
    /// Who drains, and how.
    pub drainer: Drainer,
    /// Which budgets cover which pods.
    pub selection: &'a Selection,
    /// The budgets.
    pub budgets: Budgets<'a>,
    /// What makes new pods.
    pub controllers: Controllers<'a>,
    /// What is asked before a request is let in.
    pub admission: Admission<'a>,
    /// The scheduler's view.
    pub state: &'a State,
    /// Which node takes a pod.
    pub scheduler: Rc<dyn Scheduler + 'a>,
    /// Who could add nodes, once a pod has no place.
    new_nodes: OnceCell<NewNodes>,
    /// The NodeClaims of Karpenter's nodes, once somebody asks.
    node_claims: OnceCell<NodeClaims>,
    /// Volumes that one node at a time has attached, once a new pod starts.
    single_attach: Rc<OnceCell<SingleAttach>>,
    /// The controllers (by uid) below each topmost one (by its address), once somebody asks.
    families: OnceCell<HashMap<usize, Vec<Str>>>,
}

/// Says which node takes a pod, and may learn from what it was asked before. An object, as it borrows what it learns from.
pub trait Scheduler {
    /// Where the pod is put in such a state; `near` is the node that it leaves.
    fn place(&self, state: &State, pod: &Arc<Pod>, near: Option<&str>) -> Placed;

    /// The first sentence of what is said of a pod that fits nowhere.
    fn words(&self, state: &State, pod: &Arc<Pod>) -> String;

    /// Whether the first node that fits is taken, and not the best one.
    fn is_sampled(&self) -> bool;
}

impl Scheduler for RefCell<Placer<'_>> {
    fn place(&self, state: &State, pod: &Arc<Pod>, near: Option<&str>) -> Placed {
        self.borrow_mut().place(state, pod, near)
    }

    fn words(&self, state: &State, pod: &Arc<Pod>) -> String {
        self.borrow_mut().words(state, pod)
    }

    fn is_sampled(&self) -> bool {
        self.borrow().is_sampled()
    }
}

/// The scheduler's view of a cluster that is to be drained.
pub fn state_of(snapshot: &Snapshot) -> State {
    // What comes and goes is needed only where nodes are looked at in part.
    if snapshot.nodes.len() > SAMPLED { State::recording(snapshot) } else { State::new(snapshot) }
}

impl<'a> DrainContext<'a> {
    /// A drain by whoever these options name. `state` is the scheduler's view of the same cluster.
    pub fn new(snapshot: &'a Snapshot, selection: &'a Selection, state: &'a State, options: &'a DrainOptions) -> Self {
        Self {
            snapshot,
            options,
            view: View::new(snapshot, options),
            drainer: actors::drainer(options),
            selection,
            budgets: Budgets::new(snapshot, selection),
            controllers: Controllers::new(snapshot),
            admission: Admission::new(snapshot),
            state,
            scheduler: Rc::new(RefCell::new(Placer::new(state))),
            new_nodes: OnceCell::new(),
            node_claims: OnceCell::new(),
            single_attach: Rc::default(),
            families: OnceCell::new(),
        }
    }

    /// The same drain, with other flags, in a cluster in which budgets, workloads or pods have changed. `state` has come
    /// of this drain's view of the cluster, and so what is learnt of where pods fit is shared; and who uses which volumes,
    /// where the pods are the same.
    pub fn changed<'b>(
        &self,
        snapshot: &'b Snapshot,
        selection: &'b Selection,
        state: &'b State,
        options: &'b DrainOptions,
    ) -> DrainContext<'b>
    where
        'a: 'b,
    {
        let mut changed = DrainContext::new(snapshot, selection, state, options);
        changed.scheduler = self.scheduler.clone();
        if snapshot.pods.is_same(&self.snapshot.pods) {
            changed.single_attach = self.single_attach.clone();
        }
        changed
    }

    /// Who could add nodes for pods that no node takes.
    pub fn new_nodes(&self) -> &NewNodes {
        self.new_nodes.get_or_init(|| NewNodes::new(self.state))
    }

    /// The claims that a pod names of volumes that one node at a time has attached, each with the pods of the snapshot that
    /// name it, too.
    pub fn single_attach(&self, pod: &Pod) -> Vec<(&Claim, &[Arc<Pod>])> {
        // Most pods have no claim: for them alone nobody's volumes are looked at.
        if claims_of(pod).next().is_none() {
            return Vec::new();
        }
        self.single_attach.get_or_init(|| SingleAttach::new(self.snapshot)).of(pod)
    }

    /// The NodeClaims of Karpenter's nodes.
    pub fn node_claims(&self) -> &NodeClaims {
        self.node_claims.get_or_init(|| NodeClaims::new(self.snapshot))
    }

    /// Whether the drain has the effect of a flag of `kubectl drain`: given, or the drainer's own way.
    pub fn has(&self, flag: Flag) -> bool {
        self.options.has(flag) || self.drainer.passes.contains(&flag)
    }

    /// After how many seconds a pod of a node whose deletion is overdue is not waited for any more; `None` waits.
    pub fn skips_overdue(&self, node: &str) -> Option<i64> {
        let silent = || {
            let ready = self.snapshot.nodes.named("", node).and_then(|n| n.condition("Ready").map(|c| c.status));
            ready == Some(Truth::Unknown)
        };
        self.drainer.skips_overdue.filter(|_| !self.drainer.skips_if_silent || silent())
    }

    /// How long a node is worked on, and what is done then: by the settings that were given, else by those of its Machine or
    /// NodeClaim, else by the drainer's own.
    pub fn deadline_of(&self, node: &str) -> Option<Deadline> {
        let by_claim = || {
            let at =
                self.node_claims().of(node).filter(|_| self.drainer.ends_claims)?.deadline_from(self.snapshot.now)?;
            let after = at.duration_since(self.snapshot.now).as_secs().max(0);
            Some(Deadline {
                after,
                then: AtDeadline::DeletesBefore,
                setting: "terminationGracePeriod of the NodeClaim",
            })
        };
        self.drainer.deadline.or_else(by_claim).or_else(|| self.deadline_of_machine(node))
    }

    /// Cluster API's, by the Machine of the node: from when it began to drain it, where it has. Mirrors `isNodeDrainAllowed` of
    /// `core/reconcilers/machine/machine_controller.go`.
    fn deadline_of_machine(&self, node: &str) -> Option<Deadline> {
        if self.drainer.actor != Actor::ClusterApi {
            return None;
        }
        let machine = self.view.machines().of(node)?;
        let then = AtDeadline::TakesNode("deletes the machine with the pods that are left");
        if machine.meta.annotations.has(EXCLUDE_DRAIN) {
            return Some(Deadline { after: 0, then, setting: EXCLUDE_DRAIN });
        }
        let timeout = machines::drain_timeout(machine)?;
        let gone = machines::drain_began(machine).map_or(0, |t| self.snapshot.now.duration_since(t).as_secs());
        Some(Deadline { after: (timeout - gone).max(0), then, setting: "nodeDrainTimeout of the Machine" })
    }

    /// The pods of the same topmost controller, the pod itself among them; none for a pod without one.
    pub fn siblings(&self, pod: &Pod) -> impl Iterator<Item = &'a Arc<Pod>> {
        let top = self.snapshot.top_controller_of(&pod.meta).map(|w| Arc::as_ptr(w) as usize);
        let families = self.families.get_or_init(|| families(self.snapshot));
        let uids = top.and_then(|top| families.get(&top));
        uids.into_iter().flatten().flat_map(|uid| self.snapshot.pods_of(uid))
    }
}

fn families(snapshot: &Snapshot) -> HashMap<usize, Vec<Str>> {
    let mut families: HashMap<usize, Vec<Str>> = HashMap::new();
    let mut seen = HashSet::new();
    for pod in snapshot.pods.iter() {
        let Some(owner) = pod.meta.controller.as_ref().filter(|o| seen.insert(&o.uid)) else { continue };
        if let Some(top) = snapshot.top_controller_of(&pod.meta) {
            families.entry(Arc::as_ptr(top) as usize).or_default().push(owner.uid.clone());
        }
    }
    families
}
