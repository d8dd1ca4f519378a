//! `not-guarded` by preemption: which running pods the scheduler would take now to make room for a Pending pod. It honours
//! budgets as best effort alone.

use super::recorded::DEFAULT_SCHEDULER;
use super::scheduling::schedule;
use super::stage::{Stage, is_pending, rejected};
use crate::finding::{Code, Finding, Ref};
use crate::lists::some;
use crate::sched::State;
use crate::sched::kin::Kin;
use crate::snapshot::pod::Pod;
use crate::snapshot::{Kind, Snapshot, Str};
use std::collections::HashSet;
use std::sync::Arc;

/// Up to so many kinds of Pending pods times nodes are judged.
const TRIED: usize = 20_000;

/// A Pending pod, the node on which it would get room, and who would be taken for it.
#[derive(Debug, Clone)]
pub struct Threat {
    /// The Pending pod.
    pub preemptor: Arc<Pod>,
    /// The node that the scheduler would choose.
    pub node: Str,
    /// The pods that it would delete.
    pub victims: Vec<Arc<Pod>>,
}

/// What the scheduler would preempt in the present state, a kind of Pending pods each. Nothing where nodes or pods were
/// read in part.
pub fn threats(snapshot: &Snapshot) -> Vec<Threat> {
    let lowest = snapshot.pods.iter().filter(|p| p.node.is_some() && !p.is_finished()).map(|p| p.priority()).min();
    let Some(lowest) =
        lowest.filter(|_| snapshot.coverage.is_whole(Kind::Pod) && snapshot.coverage.is_whole(Kind::Node))
    else {
        return Vec::new();
    };
    let preempts = |p: &&Arc<Pod>| {
        Stage::of(p) == Stage::Unscheduled
            && is_pending(p)
            && !rejected(p)
            && !p.is_terminating()
            && p.priority() > lowest
            && &*p.spec.scheduler_name == DEFAULT_SCHEDULER
            && p.spec.preemption_policy.as_deref() != Some("Never")
    };
    let mut pending: Vec<&Arc<Pod>> = snapshot.pods.iter().filter(preempts).collect();
    if pending.is_empty() {
        return Vec::new();
    }
    // The queue's order: by priority.
    pending.sort_by_key(|p| std::cmp::Reverse(p.priority()));
    let mut seen = HashSet::new();
    pending.retain(|p| Kin::of(p).is_none_or(|kin| seen.insert(kin)));
    let state = State::new(snapshot);
    pending.truncate(TRIED / state.nodes().len().max(1));
    let threat = |pod: &Arc<Pod>| {
        let (scheduling, _) = schedule(&state, pod);
        let chosen = scheduling.preemption.chosen?;
        let node = state.node(chosen.node)?.name().clone();
        let victims = chosen.victims.iter().map(|v| v.pod.clone()).collect();
        Some(Threat { preemptor: pod.clone(), node, victims })
    };
    pending.into_iter().filter_map(threat).collect()
}

/// What threatens the pods of a budget, as a finding of that budget.
pub fn finding<'p>(threats: &[Threat], budget: Ref, pods: impl Iterator<Item = &'p Arc<Pod>>) -> Option<Finding> {
    let covered: HashSet<*const Pod> = pods.map(Arc::as_ptr).collect();
    let hits = |t: &Threat| {
        let victims: Vec<Arc<Pod>> = t.victims.iter().filter(|v| covered.contains(&Arc::as_ptr(v))).cloned().collect();
        (!victims.is_empty()).then_some((t.clone(), victims))
    };
    let mut hit = threats.iter().filter_map(hits);
    let (first, victims) = hit.next()?;
    let others = hit.count();
    let more = match others {
        0 => String::new(),
        1 => "; 1 further Pending pod would preempt others".to_owned(),
        n => format!("; {n} further kinds of Pending pods would preempt others"),
    };
    let message = format!(
        "the budget does not stop preemption: the scheduler would delete {} on node {} to make room for {} (priority {}){more}",
        some(victims.iter().map(|v| &*v.meta.name), 3),
        first.node,
        first.preemptor.meta.path(),
        first.preemptor.priority()
    );
    let refs = [budget].into_iter().chain(victims.iter().map(|v| Ref::pod(v))).chain([Ref::pod(&first.preemptor)]);
    Some(Finding::new(Code::NotGuarded, message).about(refs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Cluster, Object, budget, cluster, deployment, node, pod};
    use serde_json::json;

    fn says(cluster: &Cluster) -> Option<String> {
        let snapshot = cluster.snapshot();
        let b = &snapshot.budgets[0];
        let covered = snapshot.pods.iter().filter(|p| b.selector.matches(&p.meta.labels));
        finding(&threats(&snapshot), Ref::budget(b), covered).map(|f| f.message)
    }

    #[test]
    fn preemption_goes_past_a_budget() {
        // Nodes have 4 cpu. `TestPodEligibleToPreemptOthers`, `TestPreempt`: lower priority, and a policy that allows it.
        let web = |_: usize, p: Object| p.requests("cpu", "4").spec(json!({"priority": 10}));
        let urgent = || pod("a/urgent").requests("cpu", "4").spec(json!({"priority": 100}));
        let full = || {
            cluster()
                .add(node("n"))
                .add(budget("a/b").selects("app=web").min_available(1))
                .add(deployment("a/web").on(&["n"]).pods(web))
        };
        let hit = "the budget does not stop preemption: the scheduler would delete web-1-0 on node n to make room for a/urgent \
                   (priority 100)";
        for (title, cluster, want) in [
            ("nobody waits", full(), None),
            ("one of higher priority", full().add(urgent()), Some(hit)),
            ("one of the same priority", full().add(urgent().spec(json!({"priority": 10}))), None),
            ("its policy is Never", full().add(urgent().spec(json!({"preemptionPolicy": "Never"}))), None),
            ("there is room elsewhere", full().add(node("m")).add(urgent()), None),
            ("a gate keeps it", full().add(urgent().spec(json!({"schedulingGates": [{"name": "g"}]}))), None),
            (
                "another pod of lower priority is taken",
                full()
                    .add(node("m"))
                    .add(pod("a/low").on("m").ready().requests("cpu", "4").spec(json!({"priority": 1})))
                    .add(urgent()),
                None,
            ),
        ] {
            assert_eq!(says(&cluster).as_deref(), want, "{title}");
        }
    }
}
