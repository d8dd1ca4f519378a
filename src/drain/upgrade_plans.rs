//! Plans of the system-upgrade-controller: with which flags, by which deadline and how many at a time it drains. Mirrors `New` of
//! `pkg/upgrade/job/job.go`, `NodeSelector` and `SelectConcurrentNodes` of `pkg/upgrade/plan/plan.go` of
//! `rancher/system-upgrade-controller` at d357e23.

use super::actor::Actor;
use super::options::{DrainOptions, Flag, Held};
use crate::finding::{Code, Finding, Ref, Severity};
use crate::snapshot::intern::Interner;
use crate::snapshot::node::{HOSTNAME, Node};
use crate::snapshot::object::Object;
use crate::snapshot::requirement::{Operator, Requirement};
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Snapshot, Str};
use crate::wire::machines::UpgradePlan;
use std::sync::Arc;

/// The label of the controller's own pods, which a drain leaves alone.
const CONTROLLER: &str = "upgrade.cattle.io/controller";

/// The Plans that select a node, by name; those that drain first.
pub fn of_node<'s>(snapshot: &'s Snapshot, node: &Node) -> Vec<&'s Arc<Object<UpgradePlan>>> {
    let mut i = Interner::default();
    let mut selects = |plan: &&Arc<Object<UpgradePlan>>| {
        // Only nodes that have this label are upgraded. An absent selector is an empty one here, and selects every node.
        let wire = plan.spec.node_selector.clone().unwrap_or_default();
        node.meta.labels.has(HOSTNAME) && LabelSelector::read(Some(&wire), &mut i).matches(&node.meta.labels)
    };
    let mut plans: Vec<_> = snapshot.upgrade_plans.iter().filter(|p| selects(p)).collect();
    plans.sort_by_key(|p| p.spec.drain.is_none());
    plans
}

/// The options of a drain by the system-upgrade-controller, with what the Plan of its nodes says; what was given stands.
/// Any other drain is left as it is.
pub fn with_plan(snapshot: &Snapshot, options: &DrainOptions, nodes: &[Arc<Node>]) -> DrainOptions {
    let of = |node: &Arc<Node>| of_node(snapshot, node).into_iter().next();
    let plan = (options.actor() == Actor::SystemUpgradeController).then(|| nodes.iter().find_map(of)).flatten();
    let Some((plan, drain)) = plan.and_then(|plan| Some((plan, plan.spec.drain.as_ref()?))) else {
        return options.clone();
    };
    let mut with = options.clone();
    let default = DrainOptions::default();
    let unless_false = |flag: Option<bool>| flag.unwrap_or(true);
    let mut passes = Vec::new();
    if unless_false(drain.ignore_daemon_sets) {
        passes.push(Flag::IgnoreDaemonSets);
    }
    if unless_false(drain.delete_local_data) && unless_false(drain.delete_emptydir_data) {
        passes.push(Flag::DeleteEmptyDirData);
    }
    if drain.force {
        passes.push(Flag::Force);
    }
    if let Some(grace) = drain.grace_period.filter(|_| options.grace_period == default.grace_period) {
        with.grace_period = grace;
    }
    with.disable_eviction |= drain.disable_eviction;
    if options.skip_wait_for_delete == 0 {
        with.skip_wait_for_delete = drain.skip_wait_for_delete_timeout.max(0);
    }
    if with.pod_selector.is_none() {
        with.pod_selector = Some(selector(drain.pod_selector.as_ref()));
    }
    if options.parallel.is_none() && nodes.len() > 1 {
        with.parallel = plan.spec.concurrency.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
    }
    with.held = Some(Held { by: reference(plan), passes, deadline: plan.spec.job_active_deadline_secs });
    with
}

/// The pods that are drained: all but the controller's own, of those that the Plan selects.
fn selector(wire: Option<&crate::wire::meta::LabelSelector>) -> (LabelSelector, String) {
    let mut i = Interner::default();
    let own = Requirement::new(i.str(CONTROLLER), Operator::DoesNotExist, Box::default());
    let theirs = wire.map(|w| LabelSelector::read(Some(w), &mut i));
    let more = theirs.iter().flat_map(|s| s.requirements().iter().cloned());
    let all: Vec<Requirement> = own.into_iter().chain(more).collect();
    let text = all.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    (LabelSelector::All(all.into()), text)
}

/// What is said of a node's Plan, where the system-upgrade-controller drains.
pub fn finding(snapshot: &Snapshot, options: &DrainOptions, node: &Node) -> Option<Finding> {
    if options.actor() != Actor::SystemUpgradeController {
        return None;
    }
    let plans = of_node(snapshot, node);
    let name = &node.meta.name;
    let Some(plan) = plans.first() else {
        let text =
            format!("no Plan selects node {name}, as far as the input shows: played with the defaults of spec.drain");
        return Some(Finding::new(Code::NotJudged, text).about([Ref::node(name)]).severity(Severity::Warning));
    };
    if plan.spec.drain.is_none() {
        let text = format!(
            "Plan {} selects node {name} and has no spec.drain: it evicts no pod; played as if it had",
            plan.meta.path()
        );
        return Some(Finding::new(Code::NotJudged, text).about([reference(plan)]).severity(Severity::Warning));
    }
    let taken = options.held.as_ref().is_some_and(|held| held.by == reference(plan));
    if taken {
        return None;
    }
    let other = options.held.as_ref().map(|held| held.by.path()).unwrap_or_default();
    let text = format!(
        "node {name} is upgraded by Plan {}, and played with the drain options of {other}: plan the nodes of each Plan by themselves",
        plan.meta.path()
    );
    Some(Finding::new(Code::NotJudged, text).about([reference(plan)]).severity(Severity::Warning))
}

fn reference(plan: &Object<UpgradePlan>) -> Ref {
    Ref::new("upgrade.cattle.io/v1", "Plan", plan.meta.ns(), &plan.meta.name)
}

/// The Plan that is being applied to a node now, where it drains.
pub fn applying(snapshot: &Snapshot, node: &Str) -> Option<Ref> {
    let plan = snapshot.upgrade_plans.iter().find(|p| p.status.applying.iter().any(|n| **n == **node))?;
    plan.spec.drain.is_some().then(|| reference(plan))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Selection;
    use crate::drain::options::After;
    use crate::drain::outcome::Verdict;
    use crate::drain::{NodePlan, Request, plan};
    use crate::testing::{budget, cluster, deployment, node, object, pod};
    use serde_json::{Value, json};
    use std::time::Duration;

    /// Node n1 with a bare pod and one whose budget never allows an eviction, upgraded by this Plan.
    fn planned(spec: Option<Value>, options: &DrainOptions) -> NodePlan {
        let web = deployment("shop/web").on(&["n1"]).pods(|_, p| p.label("app", "web"));
        let n1 = node("n1").label("kubernetes.io/hostname", "n1").label("role", "agent");
        let bare = pod("shop/bare").on("n1").ready();
        let world = cluster().add(n1).add(node("n2")).add(web).add(bare);
        let world = world.add(budget("shop/web").selects("app=web").max_unavailable(0));
        let plan_of = |spec| object("upgrade.cattle.io/v1", "Plan", "system-upgrade/agent").spec(spec);
        let snapshot = spec.into_iter().fold(world, |world, spec| world.add(plan_of(spec))).snapshot();
        let nodes = vec![snapshot.nodes.named("", "n1").unwrap().clone()];
        let options = DrainOptions { by: Some(Actor::SystemUpgradeController), ..options.clone() };
        let request = Request { nodes, each_alone: false, options, after: After::Back };
        plan(&snapshot, &Selection::new(&snapshot), &request).nodes.remove(0)
    }

    #[test]
    fn a_plan_says_how_its_nodes_are_drained() {
        // After TestNew of pkg/upgrade/job/job_suite_test.go and flags_test.go: which flags of kubectl drain come of spec.drain.
        let none = DrainOptions::default();
        let timeout = DrainOptions { timeout: Duration::from_secs(60), ..DrainOptions::default() };
        let role = |role: &str| json!({"matchLabels": {"role": role}});
        for (title, spec, options, verdict, ended, words) in [
            // It does not pass --force, so kubectl refuses the bare pod before it evicts any.
            ("no Plan", None, &none, Verdict::Blocked, 0, Some("no Plan selects node n1")),
            ("its defaults", Some(json!({"drain": {}})), &none, Verdict::Blocked, 0, None),
            ("no drain", Some(json!({"cordon": true})), &none, Verdict::Blocked, 0, Some("has no spec.drain")),
            (
                "of other nodes",
                Some(json!({"drain": {"force": true}, "nodeSelector": role("server")})),
                &none,
                Verdict::Blocked,
                0,
                Some("no Plan selects node n1"),
            ),
            (
                "force",
                Some(json!({"drain": {"force": true}, "nodeSelector": role("agent")})),
                &none,
                Verdict::Blocked,
                900,
                None,
            ),
            (
                "a deadline of its own",
                Some(json!({"drain": {"force": true}, "jobActiveDeadlineSecs": 120})),
                &none,
                Verdict::Blocked,
                120,
                None,
            ),
            (
                "past budgets",
                Some(json!({"drain": {"force": true, "disableEviction": true}})),
                &none,
                Verdict::Drains,
                30,
                None,
            ),
            (
                "a selector",
                Some(json!({"drain": {"force": true, "podSelector": {"matchLabels": {"app": "else"}}}})),
                &none,
                Verdict::Drains,
                0,
                None,
            ),
            ("what was given stands", Some(json!({"drain": {"force": true}})), &timeout, Verdict::Blocked, 60, None),
        ] {
            let node = planned(spec, options);
            assert_eq!((node.verdict, node.estimate.seconds), (verdict, ended), "{title}: {:?}", node.findings);
            let said = node.findings.iter().any(|f| words.is_some_and(|words| f.message.contains(words)));
            assert_eq!(said, words.is_some(), "{title}: {:?}", node.findings);
        }
    }
}
