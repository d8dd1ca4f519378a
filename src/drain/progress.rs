//! Drains that are under way already: who drains a node, by what the cluster shows, and whether that will end.

use super::actor::Actor;
use super::context::DrainContext;
use super::machines;
use super::options::DrainOptions;
use super::outcome::{PodPlan, Verdict};
use super::plan::NodePlan;
use super::upgrade_plans;
use crate::autoscale::cluster_autoscaler::TO_BE_DELETED;
use crate::autoscale::karpenter::taints::DISRUPTED;
use crate::finding::{Code, Finding, Ref};
use crate::snapshot::age::duration_words;
use crate::snapshot::node::Node;
use crate::snapshot::pod::Truth;
use crate::snapshot::{Snapshot, Str};
use jiff::Timestamp;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;

/// A drain that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InProgress {
    /// Who drains.
    pub actor: Actor,
    /// What shows it.
    pub mark: String,
    /// Since when, where that is told.
    pub since: Option<Timestamp>,
    /// What else there is to see it by.
    pub about: Option<Ref>,
}

/// Mirrors `DesiredDrainerAnnotationKey` and `LastAppliedDrainerAnnotationKey` of `pkg/daemon/constants/constants.go` of
/// openshift/machine-config-operator: the daemon asks with `drain-CONFIG` or `uncordon-CONFIG`, and the controller answers by
/// the same word once that is done.
const DESIRED_DRAIN: &str = "machineconfiguration.openshift.io/desiredDrain";
const LAST_APPLIED_DRAIN: &str = "machineconfiguration.openshift.io/lastAppliedDrain";
/// Mirrors `KuredNodeLockAnnotation` (of the DaemonSet) and `KuredRebootInProgressAnnotation` (of the node) of
/// `cmd/kured/main.go` of kubereboot/kured.
const KURED_LOCK: &str = "weave.works/kured-node-lock";
const KURED_REBOOT: &str = "weave.works/kured-reboot-in-progress";

/// The drain of a node that is under way, by what the cluster shows; `None` where nothing does. A cordon alone shows nothing.
fn of(context: &DrainContext<'_>, locks: &KuredLocks, node: &Node) -> Option<InProgress> {
    let name = &node.meta.name;
    let taint = |key: &str| node.taints.iter().find(|t| &*t.key == key);
    let annotation = |key: &str| node.meta.annotations.get(key);
    let found = |actor, mark: &str, since, about| Some(InProgress { actor, mark: mark.to_owned(), since, about });
    let now = context.snapshot.now;
    if let Some(claim) = context.node_claims().of(name)
        && let Some(since) = claim.deleted()
    {
        let about = Ref::new("karpenter.sh/v1", "NodeClaim", "", claim.name());
        return found(
            Actor::Karpenter,
            "its NodeClaim is being deleted",
            Some(since).filter(|t| *t <= now),
            Some(about),
        );
    }
    if taint(DISRUPTED).is_some() {
        return found(Actor::Karpenter, &format!("taint {DISRUPTED}"), None, None);
    }
    if let Some(taint) = taint(TO_BE_DELETED) {
        // Its value is the time in seconds. Mirrors `ToBeDeletedTaint` of `cluster-autoscaler/utils/taints/taints.go`.
        let since = taint.value.parse().ok().and_then(|s| Timestamp::from_second(s).ok());
        return found(Actor::ClusterAutoscaler, &format!("taint {TO_BE_DELETED}"), since, None);
    }
    if let Some(machine) = context.view.machines().of(name)
        && machine.meta.is_terminating()
    {
        let about = machines::reference(machine);
        let mark = format!("Machine {} is being deleted", machine.meta.path());
        return found(Actor::ClusterApi, &mark, machines::drain_began(machine), Some(about));
    }
    if let Some(desired) = annotation(DESIRED_DRAIN).filter(|v| v.starts_with("drain-"))
        && annotation(LAST_APPLIED_DRAIN) != Some(desired)
    {
        return found(Actor::Openshift, &format!("annotation {DESIRED_DRAIN}: {desired}"), None, None);
    }
    if let Some((since, set)) = locks.get(&**name) {
        let mark = format!("annotation {KURED_LOCK} of DaemonSet {}", set.path());
        return found(Actor::Kured, &mark, *since, Some(set.clone()));
    }
    if let Some(since) = annotation(KURED_REBOOT) {
        return found(Actor::Kured, &format!("annotation {KURED_REBOOT}"), since.parse().ok(), None);
    }
    if let Some(plan) = upgrade_plans::applying(context.snapshot, name) {
        let mark = format!("Plan {} is being applied to it", plan.path());
        return found(Actor::SystemUpgradeController, &mark, None, Some(plan));
    }
    None
}

/// Who holds kured's lock, written as one lock, or as several where more than one node may reboot at once. Mirrors
/// `LockAnnotationValue` and `multiLockAnnotationValue` of `pkg/daemonsetlock/daemonsetlock.go`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Lock {
    #[serde(rename = "nodeID")]
    node_id: String,
    created: Option<String>,
    locks: Vec<Lock>,
}

/// By node: since when kured holds its lock for it, and the DaemonSet that it is written on.
type KuredLocks = HashMap<String, (Option<Timestamp>, Ref)>;

fn kured_locks(snapshot: &Snapshot) -> KuredLocks {
    let mut locks = KuredLocks::new();
    for set in snapshot.workloads.iter().filter(|w| &*w.kind == "DaemonSet") {
        let text = set.meta.annotations.get(KURED_LOCK);
        let Some(mut lock) = text.and_then(|text| serde_json::from_str::<Lock>(text).ok()) else { continue };
        let several = std::mem::take(&mut lock.locks);
        for held in std::iter::once(lock).chain(several) {
            let since = held.created.and_then(|t| t.parse().ok());
            locks.entry(held.node_id).or_insert_with(|| (since, Ref::workload(set)));
        }
    }
    locks
}

/// Adds to the findings of nodes that are being drained already by whom, and whether that will end; `judge` plans nodes, each
/// alone, by another drainer.
pub fn tell(
    context: &DrainContext<'_>,
    nodes: &mut [NodePlan],
    judge: impl Fn(Vec<Arc<Node>>, &DrainOptions) -> Vec<NodePlan>,
) {
    let locks = kured_locks(context.snapshot);
    let under_way: Vec<Option<InProgress>> = nodes.iter().map(|n| of(context, &locks, &n.node)).collect();
    let of_actor = |actor: Actor| {
        let drained = nodes.iter().zip(&under_way).filter(|(_, u)| u.as_ref().is_some_and(|u| u.actor == actor));
        drained.map(|(n, _)| n.node.clone()).collect::<Vec<_>>()
    };
    let others = Actor::ALL.iter().filter(|actor| **actor != context.drainer.actor);
    let judged: HashMap<(Actor, Str), String> = others
        .map(|actor| (*actor, of_actor(*actor)))
        .filter(|(_, nodes)| !nodes.is_empty())
        .flat_map(|(actor, nodes)| {
            let plans = judge(nodes, &DrainOptions { by: Some(actor), ..DrainOptions::default() });
            plans.into_iter().map(move |plan| ((actor, plan.node.meta.name.clone()), ending(&plan)))
        })
        .collect();
    for (plan, under_way) in nodes.iter_mut().zip(under_way) {
        let name = plan.node.meta.name.clone();
        let found = match under_way {
            Some(under_way) => {
                let theirs = judged
                    .get(&(under_way.actor, name))
                    .cloned()
                    .or_else(|| (under_way.actor == context.drainer.actor).then(|| ending(plan)));
                Some(finding(context, &plan.node, &under_way, theirs))
            }
            None => {
                let said = by_condition(&plan.node);
                said.map(|text| Finding::new(Code::DrainInProgress, text).about([Ref::node(&name)]))
            }
        };
        plan.findings.extend(found);
    }
}

/// What the node itself says, by the conditions of its lifecycle. Mirrors `NodeConditionType` of `k8s.io/api/core/v1/types.go` 1.37;
/// an administrator sets them.
fn by_condition(node: &Node) -> Option<String> {
    let told =
        ["DrainInProgress", "Drained", "MaintenancePlanned", "MaintenanceInProgress", "GracefulNodeShutdownInProgress"];
    let c = told.iter().find_map(|kind| node.condition(kind).filter(|c| c.status == Truth::True))?;
    let since = c.since.map(|t| format!(" since {t}")).unwrap_or_default();
    let words = if c.message.is_empty() { String::new() } else { format!(": {}", c.message) };
    Some(format!("node {} has the condition {}{since}{words}", node.meta.name, c.kind))
}

fn finding(context: &DrainContext<'_>, node: &Node, under_way: &InProgress, ends: Option<String>) -> Finding {
    let who = super::actors::drainer(&DrainOptions { by: Some(under_way.actor), ..DrainOptions::default() }).name;
    let now = context.snapshot.now;
    let since = under_way.since.map(|t| {
        let ago = now.duration_since(t).as_secs().max(0);
        format!(" for {}", duration_words(ago))
    });
    let ends = ends.map(|e| format!("; {e}")).unwrap_or_default();
    let text = format!(
        "node {} is being drained by {who}{} ({}){ends}",
        node.meta.name,
        since.unwrap_or_default(),
        under_way.mark
    );
    let refs = std::iter::once(Ref::node(&node.meta.name)).chain(under_way.about.clone());
    Finding::new(Code::DrainInProgress, text).about(refs)
}

/// Whether a drain is slow or never ends, in words.
fn ending(plan: &NodePlan) -> String {
    let held = |test: &dyn Fn(&PodPlan) -> bool| {
        let pods: Vec<String> = plan.pods.iter().filter(|p| test(p)).map(|p| p.pod.meta.path()).collect();
        crate::lists::some(pods.iter().map(|p| &**p), 3)
    };
    let why = |test: &dyn Fn(&PodPlan) -> bool| {
        let note = plan.pods.iter().find(|p| test(p)).and_then(|p| p.notes.first());
        note.map(|n| format!(": {}", n.text)).unwrap_or_default()
    };
    let about = duration_words(plan.estimate.seconds);
    match plan.verdict {
        Verdict::Drains if plan.estimate.steps == 0 => "no pod is left to evict".to_owned(),
        Verdict::Drains => format!("it is slow at most: it ends in at most {about}"),
        Verdict::Waits => {
            let waits = |p: &PodPlan| p.outcome == super::outcome::Outcome::Waits;
            format!("it is slow, and ends in about {about}: {} waits{}", held(&waits), why(&waits))
        }
        Verdict::Forced => {
            let forced = |p: &PodPlan| p.forced_at.is_some();
            let at = plan.forced_at.map(duration_words).unwrap_or_default();
            format!("it ends by deleting {} past a budget in {at}", held(&forced))
        }
        Verdict::Blocked => format!("it never ends: {} stays{}", held(&PodPlan::blocks), why(&PodPlan::blocks)),
        Verdict::Unknown | Verdict::Kept => "whether it ends is not known".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Selection;
    use crate::drain::options::After;
    use crate::drain::{Request, plan};
    use crate::testing::{budget, cluster, deployment, node, object, workload};
    use serde_json::json;

    #[test]
    fn a_drain_under_way_is_known_by_its_marks() {
        let n1 = || node("n1").cordoned();
        let lock = |text: &str| {
            workload("apps/v1", "DaemonSet", "kube-system/kured").itself(|o| o.annotation(KURED_LOCK, text))
        };
        let machine =
            object("cluster.x-k8s.io/v1beta2", "Machine", "fleet/m1").deleted("2026-01-01T11:58:00Z", 0).with(json!({
            "status": {"nodeRef": {"name": "n1"}, "deletion": {"nodeDrainStartTime": "2026-01-01T11:59:00Z"}}}));
        let plan = object("upgrade.cattle.io/v1", "Plan", "system-upgrade/agent").spec(json!({"drain": {}}));
        let plan = plan.status(json!({"applying": ["n1"]}));
        let claim = object("karpenter.sh/v1", "NodeClaim", "c1").deleted("2026-01-01T11:57:00Z", 0);
        let claim = claim.with(json!({"status": {"nodeName": "n1"}}));
        for (title, world, want) in [
            ("a cordon alone", cluster().add(n1()), None),
            ("a NodeClaim", cluster().add(n1()).add(claim), Some((Actor::Karpenter, Some(180)))),
            (
                "Karpenter's taint",
                cluster().add(n1().taint("karpenter.sh/disrupted:NoSchedule")),
                Some((Actor::Karpenter, None)),
            ),
            (
                "the autoscaler's taint",
                cluster().add(n1().taint("ToBeDeletedByClusterAutoscaler=1767268740:NoSchedule")),
                Some((Actor::ClusterAutoscaler, Some(60))),
            ),
            ("a Machine", cluster().add(n1()).add(machine), Some((Actor::ClusterApi, Some(60)))),
            (
                "MCO asks for a drain",
                cluster().add(n1().annotation(DESIRED_DRAIN, "drain-w2").annotation(LAST_APPLIED_DRAIN, "uncordon-w1")),
                Some((Actor::Openshift, None)),
            ),
            (
                "MCO has drained",
                cluster().add(n1().annotation(DESIRED_DRAIN, "drain-w2").annotation(LAST_APPLIED_DRAIN, "drain-w2")),
                None,
            ),
            (
                "kured holds its lock",
                cluster().add(n1()).add(lock(r#"{"nodeID": "n1", "created": "2026-01-01T11:58:00Z", "TTL": 0}"#)),
                Some((Actor::Kured, Some(120))),
            ),
            (
                "kured holds one of several",
                cluster().add(n1()).add(lock(r#"{"maxOwners": 2, "locks": [{"nodeID": "n2"}, {"nodeID": "n1"}]}"#)),
                Some((Actor::Kured, None)),
            ),
            ("kured is at another node", cluster().add(n1()).add(lock(r#"{"nodeID": "n2"}"#)), None),
            ("a lock that cannot be read", cluster().add(n1()).add(lock("n1")), None),
            ("a Plan", cluster().add(n1()).add(plan), Some((Actor::SystemUpgradeController, None))),
        ] {
            let snapshot = world.snapshot();
            let got = crate::drain::testing::with_context(&snapshot, &DrainOptions::default(), |context| {
                of(context, &kured_locks(&snapshot), &snapshot.nodes[0])
                    .map(|p| (p.actor, p.since.map(|t| snapshot.now.duration_since(t).as_secs())))
            });
            assert_eq!(got, want, "{title}");
        }
    }

    #[test]
    fn it_is_told_whether_it_is_slow_or_never_ends() {
        let n1 = || node("n1").cordoned().annotation(DESIRED_DRAIN, "drain-w2").allocatable("cpu", "4");
        for (title, max, words) in [
            ("no pod is refused", 2, "it is slow at most"),
            ("one after the other", 1, "it is slow, and ends in about"),
            ("never", 0, "it never ends: shop/web"),
        ] {
            let web = deployment("shop/web").on(&["n1", "n1"]).pods(|_, p| p.label("app", "web"));
            let web = web.pods(|_, p| p.with(json!({"spec": {"terminationGracePeriodSeconds": 30}})));
            let guard = budget("shop/web").selects("app=web").max_unavailable(max).allows(max);
            let snapshot = cluster().add(n1()).add(node("n2").allocatable("cpu", "4")).add(web).add(guard).snapshot();
            let nodes = vec![snapshot.nodes.named("", "n1").unwrap().clone()];
            let request = Request { nodes, each_alone: false, options: DrainOptions::default(), after: After::Back };
            let planned = plan(&snapshot, &Selection::new(&snapshot), &request);
            let said =
                planned.nodes[0].findings.iter().find(|f| f.code == Code::DrainInProgress).map(|f| f.message.clone());
            assert!(
                said.as_ref().is_some_and(|s| s.contains("the machine config operator") && s.contains(words)),
                "{title}: {said:?}"
            );
        }
    }
}
