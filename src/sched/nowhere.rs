//! A pod that fits nowhere, asked about again after changes. Upstream does not try such a pod again before something
//! has happened that may help it (queueing hints, `pkg/scheduler/backend/queue/scheduling_queue.go`); here only those
//! nodes are asked again whose answer may be another one by now. The answer is the same as that of a look at all nodes.

use super::cycle::Cycle;
use super::filters::dynamic_resources;
use super::message::{Tally, fit_error};
use super::node::NodeId;
use super::preemption::PreemptionOutcome;
use super::state::State;
use super::status::{Plugin, Reason, Status};
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// What one look at all nodes of a state has found: none takes the pod, and preemption does not help.
#[derive(Debug)]
pub struct Nowhere {
    /// Nodes whose answer may change although nothing changes on them, in order.
    open: Vec<NodeId>,
    tally: Tally,
    total: usize,
    left_out: Option<(usize, String)>,
}

impl Nowhere {
    /// Looks at all nodes. `None` where one takes the pod or can be made to, and where the answer hangs on more than on
    /// pods and nodes.
    pub fn new(cycle: &mut Cycle<'_>) -> Option<Self> {
        let pod = cycle.incoming.pod();
        if pod.status.nominated_node.is_some() || dynamic_resources::has_claims(&cycle.incoming) {
            return None;
        }
        let d = cycle.diagnose();
        if d.total == 0 || d.rejection.is_some() || !d.fits.is_empty() {
            return None;
        }
        let p = cycle.preempt(&d);
        if p.outcome == PreemptionOutcome::Found {
            return None;
        }
        let answers = d.failures.iter().chain(&p.failures);
        let mut open: Vec<NodeId> = answers.filter(|(_, s)| !is_of_the_node(s)).map(|(id, _)| *id).collect();
        open.sort_unstable();
        open.dedup();
        let left_out = d.left_out.as_ref().map(|s| (d.total - d.failures.len(), s.words()));
        Some(Self { open, tally: Tally::new(d.failures.iter().map(|(_, s)| s)), total: d.total, left_out })
    }

    fn asked_again(&self, state: &State) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = state.changed().iter().chain(&self.open).copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Whether it still holds in a state that has come of the one that was looked at.
    pub fn still_holds(&self, state: &State, pod: &Arc<Pod>) -> bool {
        let mut cycle = Cycle::new(state, pod);
        let d = cycle.diagnose_some(self.asked_again(state));
        d.rejection.is_none() && d.fits.is_empty() && cycle.preempt(&d).outcome != PreemptionOutcome::Found
    }

    /// The first sentence of what the scheduler would write in such a state. `first` is the pod's cycle over the state
    /// that was looked at.
    pub fn words(&self, first: &mut Cycle<'_>, state: &State, pod: &Arc<Pod>) -> String {
        let nodes = self.asked_again(state);
        let mut tally = self.tally.clone();
        let before = first.diagnose_some(nodes.iter().copied());
        let now = Cycle::new(state, pod).diagnose_some(nodes);
        before.failures.iter().for_each(|(_, s)| tally.count(s, -1));
        now.failures.iter().for_each(|(_, s)| tally.count(s, 1));
        let (absent, words) = self.left_out.as_ref().map(|(n, w)| (*n, &**w)).unzip();
        fit_error(self.total, tally, absent.unwrap_or_default(), words)
    }
}

/// Whether only a change of the node itself, or of its pods, can change the refusal.
fn is_of_the_node(s: &Status) -> bool {
    s.plugin <= Plugin::NodeResourcesFit && !s.reasons.iter().any(|r| matches!(r, Reason::Words(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::message::first_sentence;
    use crate::sched::testing::{cluster, find, merged, node, pod};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// A running pod: its node, its app, its priority, whether it keeps away from its own kind.
    type Row = (usize, usize, i32, bool);

    fn spec((_, app, priority, apart): Row) -> Value {
        let selector = json!({"matchLabels": {"app": format!("app-{app}")}});
        let term = json!({"topologyKey": "zone", "labelSelector": selector});
        let apart = if apart { json!([term]) } else { json!([]) };
        json!({"metadata": {"labels": {"app": format!("app-{app}")}},
            "spec": {"priority": priority, "affinity": {"podAntiAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution": apart}}}})
    }

    fn running(at: usize, row: Row) -> Value {
        let on = json!({"spec": {"nodeName": format!("n{}", row.0)}, "status": {"phase": "Running"}});
        merged(pod(&format!("r{at}"), spec(row)), on)
    }

    fn nodes() -> impl Iterator<Item = Value> {
        (0..4).map(|n| {
            let room = json!({"allocatable": {"cpu": "2", "pods": "10", "memory": "8Gi"}});
            node(&format!("n{n}"), json!({"metadata": {"labels": {"zone": format!("z{}", n / 2)}}, "status": room}))
        })
    }

    fn waiting(row: Row) -> Value {
        let spread = json!([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": format!("app-{}", row.1)}}}]);
        merged(pod("p", spec(row)), json!({"spec": {"topologySpreadConstraints": spread}}))
    }

    fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
        prop::collection::vec((0usize..4, 0usize..3, 0i32..3, any::<bool>()), 0..most)
    }

    proptest! {
        /// Asking only the nodes whose answer may have changed gives the answer of asking all, and a state that was
        /// changed counts as one that was made so.
        #[test]
        fn asked_again_it_is_as_asked_anew(
            before in rows(9),
            gone in prop::collection::vec(any::<bool>(), 9),
            come in rows(4),
            row in (0usize..4, 0usize..3, 0i32..3, any::<bool>()),
            cordoned in 0usize..8,
        ) {
            let all: Vec<Value> = nodes()
                .chain(before.iter().enumerate().map(|(at, row)| running(at, *row)))
                .chain([waiting(row)])
                .collect();
            let snapshot = cluster(&all);
            let state = State::new(&snapshot);
            let p = find(&snapshot, "p");
            let mut now = state.clone();
            for at in (0..before.len()).filter(|at| gone[*at]) {
                now.remove(&find(&snapshot, &format!("r{at}")));
            }
            let late: Vec<Value> = come.iter().enumerate().map(|(at, row)| running(100 + at, *row)).collect();
            let newcomers = cluster(&late);
            for (pod, row) in newcomers.pods.iter().zip(&come) {
                now.bind(pod, &format!("n{}", row.0));
            }
            let stay = before.iter().enumerate().filter(|(at, _)| !gone[*at]).map(|(at, row)| running(at, *row));
            let anew = cluster(&nodes().chain(stay).chain(late).chain([waiting(row)]).collect::<Vec<_>>());
            let mut anew = State::new(&anew);
            for state in [&mut now, &mut anew] {
                state.cordon(&format!("n{cordoned}"));
            }
            prop_assert_eq!(now.diagnose(&p), anew.diagnose(&p));

            let mut first = Cycle::new(&state, &p);
            let Some(nowhere) = Nowhere::new(&mut first) else { return Ok(()) };
            let d = now.diagnose(&p);
            let none = d.fits.is_empty() && now.preempt(&p, &d).outcome != PreemptionOutcome::Found;
            prop_assert_eq!(nowhere.still_holds(&now, &p), none);
            if none {
                prop_assert_eq!(nowhere.words(&mut first, &now, &p), first_sentence(&d));
            }
        }
    }
}
