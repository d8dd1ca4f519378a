//! What would let the pods be removed that a drain leaves: changes, each tried by planning the command again.

mod candidates;
mod trial;

use super::actor::Actor;
use super::command;
use super::context::DrainContext;
use super::note::{Drainability, Note};
use super::options::DrainOptions;
use super::outcome::{PodPlan, Verdict};
use super::plan::{NodePlan, Request};
use super::refusal::Refusal;
use crate::cure::{Cure, Remedy};
use crate::finding::Code;
use crate::shell::Kubectl;
use crate::snapshot::{Snapshot, Str};
use candidates::{Held, candidates};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use trial::{Outcomes, Trials, keeps_promise, restarts};

/// At most so many remedies are told of one cause.
const TOLD: usize = 4;

/// Adds to what keeps pods on blocked nodes what would let them be removed.
pub fn add(context: &DrainContext<'_>, request: &Request, nodes: &mut [NodePlan]) {
    let trials = Trials::new(context, request.after);
    let all: Vec<Str> = request.nodes.iter().map(|n| n.meta.name.clone()).collect();
    let mut known: HashSet<Refusal> = HashSet::new();
    for plan in nodes.iter_mut().filter(|n| matches!(n.verdict, Verdict::Blocked | Verdict::Forced)) {
        let one = [plan.node.meta.name.clone()];
        let drained = if request.each_alone { &one[..] } else { &all[..] };
        for group in groups(&plan.pods) {
            let held = held(plan, &group);
            // What holds these is said with its own way out.
            if matches!(held.refusal, Some(Refusal::Held(_) | Refusal::Behind | Refusal::WithoutFlag(_))) {
                continue;
            }
            // The same budget on another node: what was tried there is offered here.
            let refuses = held.refusal.is_some();
            let tried = held.refusal.is_none_or(|r| known.insert(r));
            let run = Run { context, trials: &trials, plan, held, drained };
            let (remedies, none) = if tried { run.remedies() } else { (run.untried(), None) };
            for at in group {
                let Some(pod) = plan.pods.get_mut(at) else { continue };
                let advice = if refuses { Vec::new() } else { advice(pod) };
                if let Some(note) = pod.notes.first_mut() {
                    note.remedies.splice(0..0, advice.into_iter().chain(remedies.iter().cloned()));
                    note.no_remedy = none.clone().filter(|_| note.remedies.is_empty());
                }
            }
        }
    }
}

/// What is said with a deletion that does not end and changes no object, as to repair the node: it comes first, and what is
/// tried stands no second time beside it as untried.
fn advice(pod: &mut PodPlan) -> Vec<Remedy> {
    let stuck = pod.notes.iter_mut().filter(|n| n.code == Code::StuckTerminating);
    let all = stuck.flat_map(|n| std::mem::take(&mut n.remedies));
    all.filter(|r| r.changes().is_empty()).collect()
}

/// The pods that stay, those of one cause together, by their places in the plan.
fn groups(pods: &[PodPlan]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(&Note, Vec<usize>)> = Vec::new();
    for (at, pod) in pods.iter().enumerate().filter(|(_, p)| p.blocks() || p.forced_at.is_some()) {
        let Some(note) = pod.notes.first() else { continue };
        let same = |n: &&mut (&Note, Vec<usize>)| n.0.code == note.code && n.0.text == note.text;
        match groups.iter_mut().find(same) {
            Some((_, places)) => places.push(at),
            None => groups.push((note, vec![at])),
        }
    }
    groups.into_iter().map(|(_, places)| places).collect()
}

fn held<'p>(plan: &'p NodePlan, group: &[usize]) -> Held<'p> {
    let pods = group.iter().filter_map(|at| plan.pods.get(*at));
    let cause = pods.clone().next().and_then(|p| p.notes.first()).map(|n| n.drainability);
    let refusal = match cause {
        Some(Drainability::Refused(refusal)) => Some(refusal),
        _ => None,
    };
    Held { node: &plan.node, pods: pods.map(|p| &p.pod).collect(), refusal }
}

/// What can be done about one cause on one node.
struct Run<'r> {
    context: &'r DrainContext<'r>,
    trials: &'r Trials<'r>,
    plan: &'r NodePlan,
    held: Held<'r>,
    drained: &'r [Str],
}

impl Run<'_> {
    /// What was tried with success; where nothing was, why.
    fn remedies(&self) -> (Vec<Remedy>, Option<String>) {
        let stayed: Vec<String> = {
            let stays = self.plan.pods.iter().filter(|p| p.blocks() || p.forced_at.is_some());
            stays.map(|p| p.pod.meta.path()).collect()
        };
        let snapshot = self.context.snapshot;
        let mut told: Vec<Remedy> = Vec::new();
        let mut failed: Vec<String> = Vec::new();
        let mut relaxed = false;
        // An operator's own way comes before every change.
        told.extend(candidates::operator_s_way(self.context, &self.held));
        told.extend(self.flags(&stayed));
        for cure in candidates(self.context, &self.held) {
            if told.len() >= TOLD {
                break;
            }
            // One weaker rule is enough.
            let is_rule = matches!(cure.changes(), [crate::cure::Change::SetRule(..)]);
            if is_rule && relaxed {
                continue;
            }
            let changes = cure.changes().to_vec();
            let holds = |changed: &Snapshot| {
                let anew = restarts(&changes);
                let outcomes = match &anew[..] {
                    [] => self.trials.outcomes(changed, self.drained),
                    anew => self.trials.after_restarts(changed, anew, self.drained),
                };
                self.keeps_promise(&stayed, outcomes)
            };
            let text = cure.clone().untried(snapshot).text;
            match cure.tried(snapshot, holds) {
                Some(remedy) => {
                    relaxed |= is_rule;
                    told.push(remedy);
                }
                None => failed.push(text),
            }
        }
        // What lets a new pod fit may let the budget recover.
        for remedy in self.placements() {
            let holds = |changed: &Snapshot| self.keeps_promise(&stayed, self.trials.outcomes(changed, self.drained));
            told.extend(remedy.tried_again(snapshot, holds));
        }
        let none = told.is_empty().then(|| self.none(&failed));
        (told, none)
    }

    /// Whether a trial came to an end, and all that is held is removed in it.
    fn keeps_promise(&self, stayed: &[String], outcomes: Option<Outcomes>) -> bool {
        outcomes.is_some_and(|o| keeps_promise(&o, &self.held.pods, stayed))
    }

    /// What was tried for the same cause on another node.
    fn untried(&self) -> Vec<Remedy> {
        let way = candidates::operator_s_way(self.context, &self.held);
        let cures = candidates(self.context, &self.held).into_iter().take(2);
        way.into_iter().chain(cures.map(|c: Cure| c.untried(self.context.snapshot))).collect()
    }

    /// The remedies that the plan has for new pods without a place.
    fn placements(&self) -> impl Iterator<Item = &Remedy> {
        let notes = self.plan.pods.iter().flat_map(|p| &p.notes);
        notes.filter(|n| n.code == Code::ReplacementUnschedulable).flat_map(|n| &n.remedies)
    }

    /// Other flags of the drain that would let it end.
    fn flags(&self, stayed: &[String]) -> Option<Remedy> {
        if self.context.drainer.actor != Actor::Kubectl {
            return None;
        }
        let (options, note) = (self.context.options, self.leading()?);
        let (changed, text) = match note.code {
            Code::Timeout => {
                let without = DrainOptions { timeout: Duration::ZERO, ..options.clone() };
                (without, "drain without --timeout: the drain then waits without limit")
            }
            Code::StuckTerminating if options.skip_wait_for_delete == 0 => {
                let skips = DrainOptions { skip_wait_for_delete: 1, ..options.clone() };
                (
                    skips,
                    "drain with --skip-wait-for-delete-timeout=1: kubectl stops waiting for pods whose deletion is overdue",
                )
            }
            _ => return None,
        };
        let nodes: Vec<&str> = self.drained.iter().map(|n| &**n).collect();
        let line = command::line(&Kubectl::of(self.context.snapshot), &nodes, &changed, &self.plan.needed_flags);
        let remedy = Remedy::advice(text).command(line);
        let holds = || self.keeps_promise(stayed, self.trials.with_flags(&changed, self.drained));
        let remedy = if note.code == Code::StuckTerminating {
            remedy.risk("the pods stay on the node as they are, and run on if the machine does")
        } else {
            remedy
        };
        remedy.tried(holds)
    }

    fn leading(&self) -> Option<&Note> {
        let first = self.held.pods.first()?;
        let plan = self.plan.pods.iter().find(|p| Arc::ptr_eq(&p.pod, first))?;
        plan.notes.first()
    }

    /// Why nothing is offered.
    fn none(&self, failed: &[String]) -> String {
        if let Some(owned) = candidates::owned(self.context, &self.held) {
            return format!("no change of the budget is offered: {owned}");
        }
        match failed {
            [] => "no single change is known with which the pods can be evicted".to_owned(),
            failed => format!(
                "no single change was found with which the pods can be evicted; tried without success: {}",
                failed.join("; ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::budget::Selection;
    use crate::cure::Remedy;
    use crate::drain::actor::Actor;
    use crate::drain::options::{After, DrainOptions};
    use crate::drain::outcome::Verdict;
    use crate::drain::{NodePlan, Request, plan};
    use crate::finding::Finding;
    use crate::testing::{Cluster, Object, budget, cluster, deployment, node, object, pod};
    use serde_json::json;

    /// The findings of a drain of node `n`, the leading one first.
    fn found(cluster: &Cluster, options: DrainOptions) -> Vec<Finding> {
        let mut findings = planned(cluster, options).findings;
        findings.sort_by_key(|f| f.remedies.is_empty());
        findings
    }

    fn planned(cluster: &Cluster, options: DrainOptions) -> NodePlan {
        let snapshot = cluster.snapshot();
        let nodes = vec![snapshot.nodes.named("", "n").expect("node n").clone()];
        let request = Request { nodes, each_alone: false, options, after: After::Back };
        let planned = plan(&snapshot, &Selection::new(&snapshot), &request);
        planned.nodes.into_iter().next().expect("one node")
    }

    fn texts(finding: &Finding) -> Vec<&str> {
        finding.remedies.iter().map(|r| &*r.text).collect()
    }

    fn silent() -> Object {
        node("n").condition("Ready", "Unknown", "NodeStatusUnknown")
    }

    #[test]
    fn a_node_that_does_not_answer_is_repaired_or_said_to_be_off() {
        let over = |pods: Vec<&str>| cluster().all([silent(), node("m")]).add(deployment("a/web").on(&pods));
        for (by, skips) in [(None, true), (Some(Actor::Eks), false)] {
            let all = found(&over(vec!["n", "m"]), DrainOptions { by, ..DrainOptions::default() });
            let texts = texts(&all[0]);
            assert_eq!(texts[0], "repair node n");
            let off = texts.iter().filter(|t| t.contains("only if node n is powered off: give it the taint")).count();
            assert_eq!(off, 1, "{texts:?}");
            // The flag is kubectl's.
            assert_eq!(texts.iter().any(|t| t.contains("--skip-wait-for-delete-timeout")), skips, "{texts:?}");
        }
        let all = found(&over(vec!["m"]), DrainOptions::default());
        assert!(all.iter().all(|f| f.remedies.is_empty()), "no pod is to be evicted: {all:?}");
    }

    #[test]
    fn a_cause_is_told_once() {
        for (title, rule, want) in [
            (
                "never",
                budget("a/b").selects("app=web").min_available(1),
                "never allows an eviction: 1 of 1 pods must stay",
            ),
            ("no rule", budget("a/b").selects("app=web"), "never allows an eviction: neither minAvailable nor"),
        ] {
            let c = cluster().all([node("n"), node("m")]).add(rule).add(deployment("a/web").on(&["n"]));
            let all = found(&c, DrainOptions::default());
            let message = &all[0].message;
            assert!(message.contains(want), "{title}: {message}");
            assert!(!message.contains("no eviction is"), "{title}: {message}");
        }
    }

    #[test]
    fn a_ceiling_below_the_new_number_is_raised_with_it() {
        let hpa = object("autoscaling/v2", "HorizontalPodAutoscaler", "a/web")
            .spec(json!({"minReplicas": 2, "maxReplicas": 2,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}));
        let c = cluster().all([node("n"), node("m")]).add(hpa);
        let c = c.add(budget("a/b").selects("app=web").min_available(2)).add(deployment("a/web").on(&["n", "m"]));
        let all = found(&c, DrainOptions::default());
        let lines: Vec<&String> = all.iter().flat_map(|f| &f.remedies).flat_map(Remedy::commands).collect();
        for bound in [r#"{"spec":{"maxReplicas":3}}"#, r#"{"spec":{"minReplicas":3}}"#] {
            assert!(lines.iter().any(|l| l.contains(bound)), "{lines:#?}");
        }
    }

    #[test]
    fn more_replicas_are_set_on_what_would_put_the_number_back() {
        let crd = object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "rollouts.argoproj.io").spec(json!({
            "group": "argoproj.io", "names": {"kind": "Rollout", "plural": "rollouts"}, "versions": [{"name": "v1alpha1",
            "subresources": {"scale": {"specReplicasPath": ".spec.replicas"}}}]}));
        let rollout = object("argoproj.io/v1alpha1", "Rollout", "a/web").spec(json!({"replicas": 1}));
        let set = object("apps/v1", "ReplicaSet", "a/web-1").spec(json!({"replicas": 1}));
        let of_set = pod("a/web-1-0").label("app", "web").on("n").ready().owned_by("apps/v1", "ReplicaSet/web-1");
        let c = cluster().all([node("n"), node("m"), crd, rollout]);
        let c = c.add(set.owned_by("argoproj.io/v1alpha1", "Rollout/web")).add(of_set);
        let all = found(&c.add(budget("a/b").selects("app=web").min_available(1)), DrainOptions::default());
        let lines: Vec<&String> = all.iter().flat_map(|f| &f.remedies).flat_map(Remedy::commands).collect();
        assert!(lines.iter().any(|l| l.contains("kubectl scale rollout.argoproj.io/web --replicas=2")), "{lines:#?}");
    }

    #[test]
    fn a_restart_is_not_offered_where_new_pods_do_not_become_ready() {
        // The rollout hangs: its newest pod crashes, and a restart makes more of these.
        for (crashes, offered) in [(true, false), (false, true)] {
            let newest = pod("a/web-2-0").label("app", "web").on("m").created("2026-01-01T11:30:00Z");
            let newest = newest.owned_by("apps/v1", "ReplicaSet/web-2");
            let set = object("apps/v1", "ReplicaSet", "a/web-2").spec(json!({"replicas": 1}));
            let old = deployment("a/web").on(&["n", "n"]).pods(|_, p| p.created("2026-01-01T10:00:00Z"));
            let c = cluster().all([node("n"), node("m")]).add(set.owned_by("apps/v1", "Deployment/web"));
            let c = c.add(old).add(if crashes { newest.crashing() } else { newest.ready() });
            let all = found(&c.add(budget("a/b").selects("app=web").min_available(4)), DrainOptions::default());
            let texts: Vec<&str> = all.iter().flat_map(|f| texts(f)).collect();
            assert_eq!(texts.iter().any(|t| t.contains("restart Deployment a/web")), offered, "{texts:#?}");
        }
    }

    #[test]
    fn pods_that_nobody_wants_any_more_are_deleted_by_their_controller() {
        for (replicas, verdict) in [(0, Verdict::Waits), (1, Verdict::Blocked)] {
            let web = deployment("a/web").on(&["n"]).replicas(replicas);
            let c =
                cluster().all([node("n"), node("m")]).add(web).add(budget("a/b").selects("app=web").min_available(1));
            let plan = planned(&c, DrainOptions::default());
            assert_eq!(plan.verdict, verdict, "{replicas}");
            let said = plan.pods[0].notes[0].text.contains("Deployment web wants 0 pods and 1 is left");
            assert_eq!(said, replicas == 0, "{}", plan.pods[0].notes[0].text);
        }
    }
}
