//! A change on trial: the whole command planned again on the cluster in which the change is made.

use crate::budget::Selection;
use crate::cure::Change;
use crate::drain::context::{DrainContext, state_of};
use crate::drain::explain;
use crate::drain::node_pod::NodePod;
use crate::drain::nodes;
use crate::drain::options::{After, DrainOptions};
use crate::drain::outcome::Outcome;
use crate::drain::rules::Rules;
use crate::drain::simulation::Simulation;
use crate::drain::simulation::drain::Attempt;
use crate::drain::simulation::snapshot::synced;
use crate::drain::tracker::{BudgetId, Budgets, Sync};
use crate::sched::State;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Snapshot, Str};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

/// What all trials of one plan may cost together, in pods that are looked at.
const EFFORT: usize = 300_000;

/// What a plan says of pods: `namespace/name` and what becomes of each that is removed.
pub type Outcomes = HashMap<String, Outcome>;

/// Trials of changes to a drain.
pub struct Trials<'a> {
    context: &'a DrainContext<'a>,
    after: After,
    effort: Cell<usize>,
}

impl<'a> Trials<'a> {
    /// Trials of changes to this drain.
    pub fn new(context: &'a DrainContext<'a>, after: After) -> Self {
        Self { context, after, effort: Cell::new(EFFORT) }
    }

    /// What becomes of the pods of these nodes, drained by one command, once the cluster has changed; `None` where that
    /// would take too long to find out.
    pub fn outcomes(&self, changed: &Snapshot, nodes: &[Str]) -> Option<Outcomes> {
        self.outcomes_with(changed, self.context.options, nodes, None)
    }

    /// The same with other flags.
    pub fn with_flags(&self, options: &DrainOptions, nodes: &[Str]) -> Option<Outcomes> {
        self.outcomes_with(self.context.snapshot, options, nodes, None)
    }

    /// The same after workloads have been restarted, and all their new pods are Ready; `None` where that does not end.
    pub fn after_restarts(&self, changed: &Snapshot, restarts: &[&Arc<Workload>], nodes: &[Str]) -> Option<Outcomes> {
        self.spend(changed.pods.len())?;
        let selection = self.context.selection.after(self.context.snapshot, changed);
        let world = self.world(changed, None);
        let context = self.context_of(&world, changed, &selection, self.context.options);
        let mut sim = Simulation::new(&context);
        if !restarts.iter().all(|w| sim.roll_out(w)) {
            return None;
        }
        self.outcomes_with(&sim.snapshot(), self.context.options, nodes, Some(&sim.state))
    }

    fn spend(&self, effort: usize) -> Option<()> {
        let left = self.effort.get().checked_sub(effort)?;
        self.effort.set(left);
        Some(())
    }

    /// The scheduler's view of a changed cluster: what has changed is made in the view of the plan, or in one that has
    /// come of it and is known.
    fn world(&self, changed: &Snapshot, known: Option<&State>) -> World {
        let same_nodes = changed.nodes.is_same(&self.context.snapshot.nodes);
        match known {
            Some(state) if same_nodes => World::Derived(state.over(changed)),
            Some(state) => World::Anew(state.over(changed)),
            None if same_nodes => World::Derived(self.context.state.after(changed)),
            None => World::Anew(state_of(changed)),
        }
    }

    fn context_of<'c>(
        &'c self,
        world: &'c World,
        changed: &'c Snapshot,
        selection: &'c Selection,
        options: &'c DrainOptions,
    ) -> DrainContext<'c> {
        match world {
            World::Derived(state) => self.context.changed(changed, selection, state, options),
            World::Anew(state) => DrainContext::new(changed, selection, state, options),
        }
    }

    fn outcomes_with(
        &self,
        changed: &Snapshot,
        options: &DrainOptions,
        nodes: &[Str],
        known: Option<&State>,
    ) -> Option<Outcomes> {
        let before = self.context.snapshot;
        let same_pods = changed.pods.is_same(&before.pods);
        let same_nodes = changed.nodes.is_same(&before.nodes);
        let on_nodes: usize = nodes.iter().map(|n| changed.pods_on(n).count()).sum();
        let whole = if same_pods && same_nodes { changed.budgets.len() / 8 } else { changed.pods.len() };
        self.spend(on_nodes + whole)?;
        let selection = self.context.selection.after(before, changed);
        let changed = up_to_date(before, changed, &selection);
        let world = self.world(&changed, known);
        let context = self.context_of(&world, &changed, &selection, options);
        let rules = Rules::new(&context);
        let pods: Vec<Vec<NodePod>> = nodes.iter().map(|n| rules.node_pods(n)).collect();
        let lists: Vec<(Str, &[NodePod])> = nodes.iter().cloned().zip(pods.iter().map(|p| &p[..])).collect();
        let mut sim = Simulation::new(&context);
        let runs = nodes::as_asked(&rules, &mut sim, &lists, self.after);
        let outcome = |p: &NodePod, a: &Attempt| match a.forced_at {
            // A pod that is forced is not helped.
            Some(_) => Outcome::Stays,
            None => explain::outcome(&context, p, a),
        };
        let attempts = pods.iter().zip(&runs).flat_map(|(pods, run)| run.attempts.iter().map(move |a| (pods, a)));
        Some(attempts.filter_map(|(pods, a)| pods.get(a.at).map(|p| (p.pod.meta.path(), outcome(p, a)))).collect())
    }
}

/// The scheduler's view of a changed cluster.
enum World {
    /// It has come of the view of the plan, so what was learnt there of where pods fit holds here, too.
    Derived(State),
    /// It was made from the snapshot.
    Anew(State),
}

/// The disruption controller has looked at the budgets that were changed.
fn up_to_date(before: &Snapshot, changed: &Snapshot, selection: &Selection) -> Snapshot {
    let mut new = changed.clone();
    if before.budgets.is_same(&changed.budgets) {
        return new;
    }
    let budgets = Budgets::new(changed, selection);
    let places = changed.budgets.places_in(&before.budgets);
    for ((id, budget), _) in (0..).zip(changed.budgets.iter()).zip(places).filter(|(_, place)| place.is_none()) {
        let id: BudgetId = id;
        if let Some(tracker) = budgets.tracker(id).filter(|t| t.sync == Sync::Done) {
            new.budgets.put(Arc::new(synced(budget, &tracker.numbers)));
        }
    }
    new
}

/// The workloads that changes restart.
pub fn restarts(changes: &[Change]) -> Vec<&Arc<Workload>> {
    changes.iter().filter_map(|c| if let Change::Restart(w) = c { Some(w) } else { None }).collect()
}

/// Whether all of these pods are removed, and no other pod stays that did not stay before.
pub fn keeps_promise(outcomes: &Outcomes, pods: &[&Arc<Pod>], stayed: &[String]) -> bool {
    let removed = |p: &&Arc<Pod>| {
        let outcome = outcomes.get(&p.meta.path());
        outcome.is_none_or(|o| matches!(o, Outcome::Gone | Outcome::Waits))
    };
    let known = |(path, outcome): (&String, &Outcome)| *outcome != Outcome::Stays || stayed.contains(path);
    pods.iter().all(removed) && outcomes.iter().all(known)
}
