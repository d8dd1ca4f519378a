//! What keeps a budget from recovering, as things stand at the end of a simulation: the first pod that will not count.

use crate::drain::context::DrainContext;
use crate::drain::simulation::{PodId, SimPod, Simulation, Stage};
use crate::drain::tracker::BudgetId;
use crate::sched::message;
use crate::snapshot::meta::OwnerRef;
use crate::snapshot::pod::Pod;
use crate::snapshot::pod_state::{Prospect, why_not_ready};
use std::sync::Arc;

/// What keeps a budget from recovering.
#[derive(Debug, Clone)]
pub enum Obstacle {
    /// A pod that the drain itself has evicted, and what became of its replacement.
    OfEvicted {
        /// The pod's name.
        pod: String,
        /// `whose replacement cannot be scheduled (…)`.
        clause: String,
    },
    /// Another pod of the budget.
    Other {
        /// `web-x is not Ready: …`.
        sentence: String,
        /// How many more there are.
        more: usize,
    },
}

impl Obstacle {
    /// As it follows the pod on which the budget was used.
    pub fn clause(&self) -> String {
        match self {
            Self::OfEvicted { clause, .. } => format!(", {clause}"),
            Self::Other { .. } => format!("; {}", self.sentence()),
        }
    }

    /// As a sentence of its own.
    pub fn sentence(&self) -> String {
        match self {
            Self::OfEvicted { pod, clause } => format!("{pod} was evicted, {clause}"),
            Self::Other { sentence, more: 0 } => sentence.clone(),
            Self::Other { sentence, more } => format!("{sentence}; {more} more pods are not healthy"),
        }
    }
}

/// Looked at, at the most.
const LOOKED_AT: usize = 200;

/// The first obstacle: of the pods that the drain has evicted, else of the others.
pub fn first(context: &DrainContext<'_>, sim: &Simulation<'_>, id: BudgetId) -> Option<Obstacle> {
    let mut ours = evicted(sim, id).take(LOOKED_AT);
    let of_evicted = ours.find_map(|(at, evicted)| {
        let clause = replacement(context, sim, at, evicted)?;
        Some(Obstacle::OfEvicted { pod: evicted.pod.meta.name.to_string(), clause })
    });
    of_evicted.or_else(|| other(context, sim, id))
}

/// The pods on which the drain has used a budget, by name.
pub fn used_on(sim: &Simulation<'_>, id: BudgetId) -> Vec<String> {
    evicted(sim, id).map(|(_, p)| p.pod.meta.name.to_string()).collect()
}

/// Pods that counted, and were removed in the course of the simulation.
fn evicted<'s>(sim: &'s Simulation<'_>, id: BudgetId) -> impl Iterator<Item = (PodId, &'s SimPod)> {
    let removed = move |p: &SimPod| {
        p.budgets.contains(&id)
            && matches!(p.stage, Stage::Terminating | Stage::Gone)
            && p.pod.is_ready()
            && !p.pod.is_terminating()
    };
    sim.pods().iter().enumerate().filter(move |(_, p)| removed(p))
}

/// What is the matter with the pod that replaces one; `None` where nothing is.
fn replacement(context: &DrainContext<'_>, sim: &Simulation<'_>, at: PodId, evicted: &SimPod) -> Option<String> {
    if let Some(why) = &evicted.not_replaced {
        return Some(format!("whose replacement cannot be created: {}", why.words()));
    }
    let Some(new) = sim.replacement_of(at) else {
        if evicted.stage == Stage::Terminating {
            return Some("which does not terminate".to_owned());
        }
        if let Some(lower) = sim.waits_for(at) {
            let state = why_not_ready(context.snapshot, &lower).map(|w| format!(": {}", w.text)).unwrap_or_default();
            return Some(format!("which is made again only once {} is Ready{state}", lower.meta.name));
        }
        return Some("which nothing replaces".to_owned());
    };
    match new.stage {
        Stage::Pending if !new.pod.spec.scheduling_gates.is_empty() => {
            Some(format!("whose replacement is held by scheduling gates: {}", new.pod.spec.scheduling_gates.join(", ")))
        }
        Stage::Pending => Some(match &new.not_bound {
            Some(why) => format!("whose replacement cannot be bound to a node: {why}"),
            None => {
                let words = sim.words(&new.pod);
                format!("whose replacement cannot be scheduled ({})", message::first_sentence_of(&words))
            }
        }),
        Stage::Bound if new.not_attached.is_some() => {
            let why = new.not_attached.as_deref().unwrap_or_default();
            Some(format!("whose replacement cannot start: {why}"))
        }
        Stage::Bound if !new.ready => {
            let why = context.controllers.of(&new.pod).and_then(|c| c.never_ready.clone())?;
            Some(format!("whose replacement does not become Ready: {why}"))
        }
        Stage::Bound | Stage::Terminating | Stage::Gone => None,
    }
}

/// What is the matter with a pod; the scheduler is asked for its words about the first one alone.
enum Trouble<'s> {
    NoNode(&'s SimPod),
    NewWithoutNode(&'s SimPod, &'s OwnerRef),
    Other(String),
}

impl Trouble<'_> {
    fn sentence(&self, sim: &Simulation<'_>) -> String {
        let words = |p: &SimPod| message::first_sentence_of(&sim.words(&p.pod)).to_owned();
        match self {
            Self::NoNode(p) => format!("{} cannot be scheduled ({})", p.pod.meta.name, words(p)),
            Self::NewWithoutNode(p, owner) => {
                format!("a pod that {} {} lacks cannot be scheduled ({})", owner.kind, owner.name, words(p))
            }
            Self::Other(sentence) => sentence.clone(),
        }
    }
}

/// The first other pod that is not healthy and will not be.
fn other(context: &DrainContext<'_>, sim: &Simulation<'_>, id: BudgetId) -> Option<Obstacle> {
    let there = context.budgets.pods(id).filter_map(|pod| match sim.known(pod) {
        Some(known) => of_known(context, known),
        None => stuck(context, pod).map(Trouble::Other),
    });
    let made = sim.pods().iter().filter(|p| p.replaces.is_none() && p.budgets.contains(&id));
    let new = made.filter(|p| {
        p.stage == Stage::Pending && context.snapshot.pods.named(p.pod.meta.ns(), &p.pod.meta.name).is_none()
    });
    let new = new.filter_map(|p| Some(Trouble::NewWithoutNode(p, p.pod.meta.controller.as_ref()?)));
    let mut all = there.chain(new);
    let sentence = all.next()?.sentence(sim);
    Some(Obstacle::Other { sentence, more: all.count() })
}

fn of_known<'s>(context: &DrainContext<'_>, known: &'s SimPod) -> Option<Trouble<'s>> {
    let name = &known.pod.meta.name;
    match known.stage {
        Stage::Pending if known.pod.spec.scheduling_gates.is_empty() => Some(Trouble::NoNode(known)),
        Stage::Terminating if known.pod.is_terminating() => Some(Trouble::Other(format!("{name} does not terminate"))),
        Stage::Pending | Stage::Bound if !known.ready => {
            let why = why_not_ready(context.snapshot, &known.pod)?.text;
            Some(Trouble::Other(format!("{name} is not Ready: {why}")))
        }
        Stage::Pending | Stage::Bound | Stage::Terminating | Stage::Gone => None,
    }
}

fn stuck(context: &DrainContext<'_>, pod: &Arc<Pod>) -> Option<String> {
    let why = why_not_ready(context.snapshot, pod).filter(|w| w.prospect == Prospect::Stuck)?;
    Some(format!("{} is not Ready: {}", pod.meta.name, why.text))
}
