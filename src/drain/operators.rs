//! What operators do with a drain that one of their budgets holds.

use super::context::DrainContext;
use super::tracker::BudgetId;
use crate::budget::operators::operator;
use crate::sched::State;
use crate::snapshot::pod::{Phase, Pod};
use std::sync::Arc;

/// Taken for the time that an operator needs to move what a budget guards, in seconds.
const MOVES_IN: i64 = 30;

/// What an operator does once its budget has refused a pod's eviction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It moves what the budget guards to another pod.
    Moves {
        /// Within so many seconds, as a guess.
        seconds: i64,
        /// In words.
        what: &'static str,
    },
    /// It cannot, for this reason.
    Cannot(String),
    /// Nothing that is known.
    Nothing,
}

/// The cluster as an operator sees it at a moment.
pub struct Present<'p> {
    /// The nodes.
    pub state: &'p State,
    /// Whether a pod is Ready.
    pub is_ready: &'p dyn Fn(&Arc<Pod>) -> bool,
}

/// What the operator that made a budget does once it has refused a pod's eviction.
pub fn answer(context: &DrainContext<'_>, present: &Present<'_>, pod: &Pod, id: BudgetId) -> Answer {
    let Some(budget) = context.budgets.get(id) else { return Answer::Nothing };
    let Some(operator) = operator(budget) else { return Answer::Nothing };
    match operator.name {
        "CloudNativePG" if cloud_native_pg(context, present, pod) => Answer::Moves {
            seconds: MOVES_IN,
            what: "once the node is cordoned it makes another instance the primary, and the pod is then evicted",
        },
        "KubeVirt" => kube_virt(context, pod),
        _ => Answer::Nothing,
    }
}

/// KubeVirt migrates a virtual machine that is `LiveMigratable` once its pod is to be evicted; another is refused for ever.
/// Mirrors `pod-eviction-admitter.go` of `pkg/virt-api/webhooks/validating-webhook/admitters`, and `IsMigratable`.
fn kube_virt(context: &DrainContext<'_>, pod: &Pod) -> Answer {
    let Some(owner) = pod.meta.controller.as_ref().filter(|o| &*o.kind == "VirtualMachineInstance") else {
        return Answer::Nothing;
    };
    let Some(machine) = context.snapshot.virtual_machine_instances.named(pod.meta.ns(), &owner.name) else {
        return Answer::Nothing;
    };
    if machine.spec.eviction_strategy.as_deref() == Some("External") {
        return Answer::Cannot(format!(
            "{} {} has evictionStrategy External: KubeVirt migrates nothing, it marks the virtual machine for evacuation, and \
             another controller (of Cluster API, for one) must stop or move the virtual machine",
            owner.kind, owner.name
        ));
    }
    let migratable = machine.status.conditions.iter().find(|c| c.type_ == "LiveMigratable");
    match migratable {
        Some(c) if c.status == "True" => Answer::Moves {
            seconds: MOVES_IN,
            what: "it denies the eviction and migrates the virtual machine to another node; the pod ends once the migration has \
                   succeeded",
        },
        Some(c) => {
            Answer::Cannot(format!("{} {} is not LiveMigratable ({}: {})", owner.kind, owner.name, c.reason, c.message))
        }
        None => Answer::Cannot(format!("{} {} does not say that it is LiveMigratable", owner.kind, owner.name)),
    }
}

/// CloudNativePG switches over once the primary's node is cordoned: while every wanted instance is Ready and all others
/// are on other nodes, or one has failed, to the first that is Ready on a node that is not cordoned. Mirrors
/// `setPrimaryOnSchedulableNode` of `internal/controller/replicas.go` (2026-08-21).
fn cloud_native_pg(context: &DrainContext<'_>, present: &Present<'_>, pod: &Pod) -> bool {
    let Some(cluster) = pod.meta.labels.get("cnpg.io/cluster") else { return false };
    let role = |p: &Pod| ["cnpg.io/instanceRole", "role"].iter().find_map(|k| p.meta.labels.get(k).cloned());
    if role(pod).is_none_or(|role| &*role != "primary") {
        return false;
    }
    let snapshot = context.snapshot;
    let wanted = snapshot.cloud_native_pg_clusters.named(pod.meta.ns(), cluster).and_then(|c| c.spec.instances);
    let is_instance = |p: &&Arc<Pod>| {
        p.meta.labels.get("cnpg.io/cluster") == Some(cluster)
            && p.meta.labels.get("cnpg.io/podRole").is_none_or(|role| &**role == "instance")
    };
    let all: Vec<&Arc<Pod>> = snapshot.pods.in_namespace(pod.meta.ns()).iter().filter(is_instance).collect();
    let count =
        |test: &dyn Fn(&Arc<Pod>) -> bool| i64::try_from(all.iter().filter(|p| test(p)).count()).unwrap_or(i64::MAX);
    let elsewhere = |p: &Arc<Pod>| p.node != pod.node;
    let wanted = wanted.map_or_else(|| count(&|_| true), i64::from);
    let is_ready = |p: &Arc<Pod>| !p.is_terminating() && (present.is_ready)(p);
    // As `ListStatusPods` has it: what is neither Ready nor Running, nor being deleted.
    let failed = all.iter().any(|p| !p.is_terminating() && (p.is_finished() || p.status.phase == Phase::Pending));
    if !failed && (count(&is_ready) != wanted || count(&elsewhere) < wanted - 1) {
        return false;
    }
    let open = |p: &Pod| {
        let node = p.node.as_deref().and_then(|n| present.state.node_named(n));
        node.is_some_and(|n| !n.node.unschedulable)
    };
    all.iter().any(|p| elsewhere(p) && is_ready(p) && open(p))
}
