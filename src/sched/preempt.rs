//! Preemption: which pods of lower priority would be taken from which node. Mirrors
//! `pkg/scheduler/framework/preemption/preemption.go` and `plugins/defaultpreemption/default_preemption.go`.

use super::cycle::Cycle;
use super::diagnosis::Diagnosis;
use super::filters::dynamic_resources;
use super::message;
use super::node::{NodeId, NodeInfo, PodInfo};
use super::preemption::{Candidate, Preemption, PreemptionOutcome};
use super::state::State;
use super::status::{Plugin, Reason, Status};
use super::victims::{self, Victims};
use crate::snapshot::pod::{Pod, Truth};
use std::sync::Arc;

/// Words of the scheduler.
pub const NEVER: &str = "not eligible due to preemptionPolicy=Never.";
/// Words of the scheduler.
pub const TERMINATING: &str = "not eligible due to a terminating pod on the nominated node.";
/// Words of the scheduler.
pub const NOT_HELPFUL: &str = "Preemption is not helpful for scheduling";

impl State {
    /// What preemption does for a pod that fits nowhere.
    pub fn preempt(&self, pod: &Arc<Pod>, diagnosis: &Diagnosis) -> Preemption {
        Cycle::new(self, pod).preempt(diagnosis)
    }
}

impl Cycle<'_> {
    /// What the PostFilter plugins do for the pod, after what the filters said.
    pub fn preempt(&mut self, diagnosis: &Diagnosis) -> Preemption {
        let frees_claim = dynamic_resources::frees(&self.incoming, diagnosis);
        Preemption { frees_claim, ..self.evaluate(diagnosis) }
    }

    /// Mirrors `Evaluator.Preempt`.
    fn evaluate(&mut self, diagnosis: &Diagnosis) -> Preemption {
        let pod = self.incoming.pod().clone();
        let has_claims = dynamic_resources::has_claims(&self.incoming);
        let told = |outcome, words: &str| Preemption::new(outcome, words, has_claims);
        let tried = diagnosis.error.is_none() && diagnosis.not_enqueued().is_none() && !diagnosis.is_unknown();
        if diagnosis.total == 0 || !diagnosis.fits.is_empty() || !tried || !message::reached_claims(diagnosis) {
            return told(PreemptionOutcome::NotTried, "");
        }
        if let Some(words) = self.not_eligible(&pod, diagnosis) {
            return told(PreemptionOutcome::NotEligible, words);
        }
        let mut p = self.dry_run(diagnosis, has_claims);
        if p.candidates.is_empty() {
            p.outcome = PreemptionOutcome::NothingHelps;
            let absent = diagnosis.total - p.failures.len();
            let tried = message::Tally::new(p.failures.iter().map(|(_, s)| s));
            p.message = message::fit_error(diagnosis.total, tried, absent, Some(NOT_HELPFUL));
            return p;
        }
        let best = victims::best(&p.candidates, self.incoming.snapshot().now);
        p.chosen = best.first().and_then(|at| p.candidates.get(*at)).cloned();
        if best.len() > 1 {
            p.ties = best.iter().filter_map(|at| Some(p.candidates.get(*at)?.node)).collect();
        }
        if diagnosis.minor >= 37
            && let Some(c) = &p.chosen
            && let Some(node) = self.incoming.state.node(c.node)
        {
            let n = c.victims.len();
            p.message = format!("found a potential placement for pod on node {}, preempting {n} victims", node.name());
        }
        p
    }

    /// Why the pod may not preempt now. Mirrors `PodEligibleToPreemptOthers`.
    fn not_eligible(&self, pod: &Pod, diagnosis: &Diagnosis) -> Option<&'static str> {
        if pod.spec.preemption_policy.as_deref() == Some("Never") {
            return Some(NEVER);
        }
        let node = self.incoming.state.node_named(pod.status.nominated_node.as_deref()?)?;
        let resolvable = diagnosis.failures.iter().any(|(id, s)| *id == node.id && s.resolvable);
        let waits =
            |n: &NodeInfo| n.pods.iter().any(|s| s.priority < pod.priority() && terminating_by_preemption(&s.info.pod));
        (resolvable && waits(node)).then_some(TERMINATING)
    }

    /// Tries every node whose refusal fewer pods could change. Mirrors `DryRunPreemption`: upstream starts at a random
    /// node and stops once it has found 100 candidates or a tenth of the nodes, one of them without violations.
    fn dry_run(&mut self, diagnosis: &Diagnosis, has_claims: bool) -> Preemption {
        let mut p = Preemption::new(PreemptionOutcome::Found, "", has_claims);
        let potential: Vec<NodeId> =
            diagnosis.failures.iter().filter(|(_, s)| s.resolvable).map(|(id, _)| *id).collect();
        let wanted = (potential.len() / 10).max(100);
        for id in potential {
            let Some(node) = self.incoming.state.node(id).cloned() else { continue };
            match self.select_victims(&node) {
                Ok(Victims { pods, violations }) => {
                    p.candidates.push(Candidate { node: id, victims: pods, violations });
                }
                Err(status) => p.failures.push((id, status)),
            }
            if p.candidates.len() >= wanted && p.candidates.iter().any(|c| c.violations == 0) {
                break;
            }
        }
        p
    }

    /// The pods to be taken from a node: all of lower priority are taken away, then given back one by one, those that a
    /// budget protects first and then by importance, as long as the incoming pod still fits. Mirrors
    /// `SelectVictimsOnNode`.
    fn select_victims(&mut self, node: &NodeInfo) -> Result<Victims, Status> {
        let priority = self.incoming.pod().priority();
        if !node.has_below(priority) {
            return Err(refusal(Reason::NoVictims));
        }
        let mut lower: Vec<Arc<PodInfo>> =
            node.pods.iter().filter(|s| s.priority < priority).map(|s| s.info.clone()).collect();
        let mut left = node.clone();
        for info in &lower {
            left.remove(&info.pod);
        }
        self.count(&lower, node, -1);
        let outcome = self.reprieve(&mut left, &mut lower);
        // What was given back is counted already; the rest is given back now, so that the next node finds all counted.
        let gone = match &outcome {
            Ok(victims) => &victims.pods,
            Err(_) => &lower,
        };
        let gone: Vec<_> = gone.clone();
        self.count(&gone, node, 1);
        match outcome {
            Ok(victims) if victims.pods.is_empty() => {
                let words = format!("expected at least one victim pod on node {:?}", &**node.name());
                Err(refusal(Reason::Words(words.into())))
            }
            other => other,
        }
    }

    fn reprieve(&mut self, left: &mut NodeInfo, lower: &mut [Arc<PodInfo>]) -> Result<Victims, Status> {
        if let Some(status) = self.refusal(left) {
            return Err(status);
        }
        let (now, minor) = (self.incoming.snapshot().now, self.incoming.state.minor());
        lower.sort_by(|a, b| victims::importance(&a.pod, &b.pod, now));
        let budgets = &self.incoming.snapshot().budgets;
        let (violating, others) = victims::split_by_budgets(lower, budgets, minor);
        let mut chosen = Victims::default();
        let mixed = !violating.is_empty() && !others.is_empty();
        for (info, violates) in violating.into_iter().map(|p| (p, true)).chain(others.into_iter().map(|p| (p, false))) {
            let one = std::slice::from_ref(&info);
            left.add(info.clone());
            self.count(one, left, 1);
            if self.refusal(left).is_some() {
                left.remove(&info.pod);
                self.count(one, left, -1);
                chosen.violations += usize::from(violates);
                chosen.pods.push(info);
            }
        }
        if mixed {
            chosen.pods.sort_by(|a, b| victims::importance(&a.pod, &b.pod, now));
        }
        Ok(chosen)
    }
}

fn refusal(reason: Reason) -> Status {
    // No plugin says so; the name is never shown.
    Status::unresolvable(Plugin::NodeResourcesFit, reason)
}

/// Whether the pod is on its way out because the scheduler preempted it. Mirrors `podTerminatingByPreemption`.
pub fn terminating_by_preemption(pod: &Pod) -> bool {
    pod.is_terminating()
        && pod
            .condition("DisruptionTarget")
            .is_some_and(|c| c.status == Truth::True && &*c.reason == "PreemptionByScheduler")
}

#[cfg(test)]
mod tests {
    use crate::sched::State;
    use crate::sched::testing::{cluster, find, merged, node, pod, says, says_in};
    use serde_json::{Value, json};

    fn running(name: &str, on: &str, priority: i32, cpu: &str, started: &str) -> Value {
        let started = format!("2026-01-01T{started}:00Z");
        pod(
            name,
            json!({"metadata": {"labels": {"app": name}}, "status": {"phase": "Running", "startTime": started},
                "spec": {"nodeName": on, "priority": priority,
                    "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}),
        )
    }

    fn preemptor(cpu: &str, more: Value) -> Value {
        let spec = json!({"priority": 100, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]});
        merged(pod("p", json!({"spec": spec})), more)
    }

    fn budget(app: &str, allowed: i32) -> Value {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": app, "namespace": "a"},
            "spec": {"selector": {"matchLabels": {"app": app}}}, "status": {"disruptionsAllowed": allowed}})
    }

    /// The node chosen, the victims in order, and how many violate a budget.
    fn chosen(objects: &[Value]) -> Option<(String, Vec<String>, usize)> {
        let snapshot = cluster(objects);
        let state = State::new(&snapshot);
        let p = find(&snapshot, "p");
        let d = state.diagnose(&p);
        let c = state.preempt(&p, &d).chosen?;
        let victims = c.victims.iter().map(|v| v.pod.meta.name.to_string()).collect();
        Some((state.node(c.node)?.name().to_string(), victims, c.violations))
    }

    #[test]
    fn victims_are_chosen_as_upstream() {
        // After TestPickOneNodeForPreemption and TestDryRunPreemption. Nodes have 4 cpu each.
        let (n, m) = (|| node("n", json!({})), || node("m", json!({})));
        let want = |node: &str, victims: &[&str], violations| {
            Some((node.to_owned(), victims.iter().map(|v| (*v).to_owned()).collect(), violations))
        };
        for (title, objects, want) in [
            ("nothing lower", vec![n(), running("x", "n", 100, "4", "08:00")], None),
            (
                "only as many as needed, the least important first",
                vec![n(), running("old", "n", 1, "2", "08:00"), running("new", "n", 1, "2", "09:00")],
                want("n", &["new"], 0),
            ),
            (
                "the lower highest priority",
                vec![n(), m(), running("x", "n", 50, "4", "08:00"), running("y", "m", 10, "4", "08:00")],
                want("m", &["y"], 0),
            ),
            (
                "fewer violations before lower priority",
                vec![
                    n(),
                    m(),
                    running("x", "n", 50, "4", "08:00"),
                    running("y", "m", 10, "4", "08:00"),
                    budget("y", 0),
                ],
                want("n", &["x"], 0),
            ),
            (
                "fewer victims",
                vec![
                    n(),
                    m(),
                    running("x", "n", 0, "2", "08:00"),
                    running("x2", "n", 0, "2", "08:00"),
                    running("y", "m", 0, "4", "08:00"),
                ],
                want("m", &["y"], 0),
            ),
            (
                "the one that started last",
                vec![n(), m(), running("x", "n", 0, "4", "09:00"), running("y", "m", 0, "4", "08:00")],
                want("n", &["x"], 0),
            ),
            (
                "those a budget protects are given back first",
                vec![n(), running("x", "n", 50, "2", "08:00"), running("y", "n", 0, "2", "08:00"), budget("y", 0)],
                want("n", &["x"], 0),
            ),
        ] {
            let all: Vec<Value> = [preemptor("2", json!({}))].into_iter().chain(objects).collect();
            let all: Vec<Value> = if title.contains("given back") || title.contains("as needed") {
                all
            } else {
                [preemptor("4", json!({}))].into_iter().chain(all.into_iter().skip(1)).collect()
            };
            assert_eq!(chosen(&all), want, "{title}");
        }
    }

    #[test]
    fn a_pod_may_not_be_allowed_to_preempt() {
        let full = || [node("n", json!({})), running("x", "n", 0, "4", "08:00")];
        let ending = json!({"metadata": {"deletionTimestamp": "2026-01-01T12:00:00Z"}, "status": {"conditions":
            [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}});
        let never = preemptor("4", json!({"spec": {"preemptionPolicy": "Never"}}));
        let nominated = preemptor("4", json!({"status": {"nominatedNodeName": "n"}}));
        let [n, x] = full();
        assert_eq!(
            says(&[n, x, never]),
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: \
             not eligible due to preemptionPolicy=Never."
        );
        let [n, x] = full();
        assert_eq!(
            says(&[n, merged(x, ending), nominated]),
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: \
             not eligible due to a terminating pod on the nominated node."
        );
    }

    #[test]
    fn versions_have_their_own_words() {
        let all = [node("n", json!({})), running("x", "n", 200, "4", "08:00"), preemptor("4", json!({}))];
        let first = "0/1 nodes are available: 1 Insufficient cpu.";
        let rest = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";
        assert_eq!(says_in(&all, "v1.34.4"), format!("{first} no new claims to deallocate, {rest}"));
        assert_eq!(says_in(&all, "v1.36.3"), format!("{first} no new claims to deallocate, {rest}"));
        assert_eq!(says_in(&all, "v1.37.2"), format!("{first} {rest}"));
        let found = [node("n", json!({})), running("x", "n", 0, "4", "08:00"), preemptor("4", json!({}))];
        assert_eq!(says_in(&found, "v1.36.3"), first);
    }

    #[test]
    fn room_held_for_others_is_not_taken() {
        // After TestNominatedPods: the freed room belongs to the pod of equal priority.
        let other = preemptor("4", json!({"metadata": {"name": "other"}, "status": {"nominatedNodeName": "n"}}));
        let all = [node("n", json!({})), other, preemptor("4", json!({}))];
        assert_eq!(
            says(&all),
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: \
             0/1 nodes are available: 1 No preemption victims found for incoming pod."
        );
    }
}
