//! What operators do with a drain that one of their budgets holds.

use super::context::DrainContext;
use super::note::Note;
use super::replacement::{new_name, replacement};
use super::tracker::BudgetId;
use crate::budget::Verdict;
use crate::budget::operators::operator;
use crate::finding::{Code, Ref};
use crate::sched::State;
use crate::sched::place::Placed;
use crate::snapshot::budget::Budget;
use crate::snapshot::pod::{Phase, Pod};
use std::sync::Arc;

/// Taken for the time that an operator needs to move what a budget guards, in seconds.
const MOVES_IN: i64 = 30;

/// Taken for the time until Rook has seen that an OSD is down and that placement groups are not clean, in seconds.
const SEES_OSD_IN: i64 = 60;

/// What an operator does once its budget has refused a pod's eviction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It moves what the budget guards to another pod, or no longer lets the budget guard this one.
    Moves {
        /// Within so many seconds, as a guess.
        seconds: i64,
        /// In words.
        what: &'static str,
    },
    /// It cannot, for this reason.
    Cannot(String),
    /// That depends on what the input does not show: the question to ask.
    Unknown(String),
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
pub fn answer(context: &DrainContext<'_>, present: &Present<'_>, pod: &Arc<Pod>, id: BudgetId) -> Answer {
    let Some(budget) = context.budgets.get(id) else { return Answer::Nothing };
    let Some(operator) = operator(budget) else { return Answer::Nothing };
    match operator.name {
        "CloudNativePG" => cloud_native_pg(context, present, pod),
        "KubeVirt" => kube_virt(context, present, pod),
        "Longhorn" => longhorn(context, pod),
        "Rook-Ceph" => rook(context, present, pod, id),
        "Elastic Cloud on Kubernetes" => elastic(context, pod, id),
        "Portworx" if context.budgets.verdict(id) == Some(Verdict::Never) => Answer::Unknown(
            "its source does not say whether the operator deletes a node's budget while the node is cordoned"
                .to_owned(),
        ),
        _ => Answer::Nothing,
    }
}

/// What there is to know of a budget that an operator makes.
pub fn note(budget: &Budget, answer: &Answer) -> Option<Note> {
    let operator = operator(budget)?;
    let does = match answer {
        Answer::Moves { what, .. } => (*what).to_owned(),
        Answer::Cannot(why) | Answer::Unknown(why) => format!("{}: {why}", operator.does),
        Answer::Nothing => operator.does.to_owned(),
    };
    let text = format!("{} makes budget {}: {does}", operator.name, budget.meta.path());
    Some(Note::new(Code::OperatorOwned, text).about([Ref::budget(budget)]))
}

/// Longhorn deletes the budget of a node's instance manager once the node is cordoned and all volumes are detached from it;
/// then its replicas decide, by the setting `node-drain-policy`. Mirrors `canDeleteInstanceManagerPDB` of longhorn-manager's
/// `controller/instance_manager_controller.go`. Longhorn's own volumes and replicas are not read.
fn longhorn(context: &DrainContext<'_>, pod: &Pod) -> Answer {
    let volumes = context.snapshot.persistent_volumes.iter();
    let mut drivers = volumes.filter_map(|v| v.spec.as_ref()?.persistent_volume_source.as_ref()?.csi.as_ref());
    if !drivers.any(|csi| csi.driver == "driver.longhorn.io") {
        return Answer::Moves {
            seconds: MOVES_IN,
            what: "no volume of Longhorn is in the input, so that nothing is attached to the node: it deletes the budget once the node \
                   is cordoned",
        };
    }
    let policy = context.snapshot.longhorn_settings.named(pod.meta.ns(), "node-drain-policy").map(|s| s.value.as_str());
    let policy = policy.unwrap_or("block-if-contains-last-replica");
    let replicas = match policy {
        "always-allow" => "",
        "block-for-eviction" => ", and is every replica moved off the node",
        "allow-if-replica-is-stopped" => {
            ", and has every volume with a running replica on the node a healthy one on another node"
        }
        _ => ", and has every volume with a replica on the node a healthy one on another node",
    };
    let node = pod.node.as_deref().unwrap_or_default();
    Answer::Unknown(format!(
        "are all volumes detached from {node} once its other pods are evicted{replicas} (node-drain-policy {policy})?"
    ))
}

/// Rook sees that an OSD is down: while placement groups are not clean, it deletes the budget of all OSDs and makes one that
/// allows nothing for every failure domain but that of the OSD; while they are clean, it lets one more be evicted. Either
/// way the other OSDs of the node follow. Mirrors `reconcilePDBsForOSDs` of rook's
/// `pkg/operator/ceph/disruption/clusterdisruption/osd.go`.
fn rook(context: &DrainContext<'_>, present: &Present<'_>, pod: &Arc<Pod>, id: BudgetId) -> Answer {
    let Some(budget) = context.budgets.get(id) else { return Answer::Nothing };
    if budget.selector.requirements().iter().any(|r| r.key.starts_with("topology-location-")) {
        return Answer::Unknown(
            "are the OSDs of the failure domain that is down up again, and all placement groups active+clean (ceph status; the \
             ConfigMap rook-ceph-pdbstatemap names the failure domain)?"
                .to_owned(),
        );
    }
    if !budget.selector.requirements().iter().any(|r| r.values.iter().any(|v| &**v == "rook-ceph-osd")) {
        return Answer::Nothing;
    }
    let elsewhere = context.budgets.pods(id).filter(|p| p.node != pod.node && !p.is_finished());
    if let Some(down) = elsewhere.filter(|p| !(present.is_ready)(p)).map(|p| p.meta.name.clone()).next() {
        return Answer::Unknown(format!(
            "is the data whole again although OSD {down} of another node is down (ceph status)? Until it is, Rook holds the OSDs of \
             every other failure domain"
        ));
    }
    Answer::Moves {
        seconds: SEES_OSD_IN,
        what: "once it has seen that an OSD of the node is down, it lets the other OSDs of that failure domain be evicted, and holds \
               those of all others until the data is whole again",
    }
}

/// ECK keeps a rule that allows nothing where the cluster has several nodes and one alone of a role, and while it is not
/// green. Mirrors `allowedDisruptionsForSinglePDB` of cloud-on-k8s' `pkg/controller/elasticsearch/pdb/reconcile_default.go`.
fn elastic(context: &DrainContext<'_>, pod: &Pod, id: BudgetId) -> Answer {
    let (cluster, role) = ("elasticsearch.k8s.elastic.co/cluster-name", "elasticsearch.k8s.elastic.co/node-");
    let Some(name) = pod.meta.labels.get(cluster).filter(|_| context.budgets.verdict(id) == Some(Verdict::Never))
    else {
        return Answer::Nothing;
    };
    let nodes = context.snapshot.pods.in_namespace(pod.meta.ns()).iter();
    let nodes: Vec<&Arc<Pod>> =
        nodes.filter(|p| p.meta.labels.get(cluster) == Some(name) && !p.is_finished()).collect();
    if nodes.len() < 2 {
        // Such a budget is what the resource says, as ECK itself would allow one.
        return Answer::Nothing;
    }
    let count = |kind: &str| {
        let key = format!("{role}{kind}");
        nodes.iter().filter(|p| p.meta.labels.get(&key).is_some_and(|v| &**v == "true")).count()
    };
    match ["master", "data", "ingest"].into_iter().find(|kind| count(kind) == 1) {
        Some(kind) => Answer::Cannot(format!(
            "Elasticsearch {name} has {} nodes and 1 {kind} node alone: ECK allows no disruption until there are more of them",
            nodes.len()
        )),
        None => Answer::Unknown(format!(
            "is Elasticsearch {name} green (kubectl get elasticsearch {name} -n {})?",
            pod.meta.ns()
        )),
    }
}

/// KubeVirt migrates a virtual machine that is `LiveMigratable` once its pod is to be evicted; another is refused for ever.
/// Mirrors `pod-eviction-admitter.go` of `pkg/virt-api/webhooks/validating-webhook/admitters`, and `IsMigratable`.
fn kube_virt(context: &DrainContext<'_>, present: &Present<'_>, pod: &Arc<Pod>) -> Answer {
    let Some(owner) = pod.meta.controller.as_ref().filter(|o| &*o.kind == "VirtualMachineInstance") else {
        return Answer::Nothing;
    };
    let Some(machine) = context.snapshot.virtual_machine_instances.named(pod.meta.ns(), &owner.name) else {
        return Answer::Unknown(format!("is {} {} LiveMigratable? The input does not have it", owner.kind, owner.name));
    };
    if machine.spec.eviction_strategy.as_deref() == Some("External") {
        return Answer::Unknown(format!(
            "{} {} has evictionStrategy External, so that KubeVirt migrates nothing: which controller stops or moves the virtual \
             machine once its status.evacuationNodeName is set?",
            owner.kind, owner.name
        ));
    }
    let migratable = machine.status.conditions.iter().find(|c| c.type_ == "LiveMigratable");
    match migratable {
        Some(c) if c.status == "True" => {
            let target = replacement(pod, new_name(pod, 1), None, context.snapshot.now);
            if context.scheduler.place(present.state, &target, pod.node.as_deref()) == Placed::Nowhere {
                let words = context.scheduler.words(present.state, &target);
                return Answer::Cannot(format!(
                    "the pod to which {} {} is to migrate fits on no node: {words}",
                    owner.kind, owner.name
                ));
            }
            Answer::Moves {
                seconds: MOVES_IN,
                what: "it denies the eviction and migrates the virtual machine to another node; the pod ends once the migration has \
                       succeeded",
            }
        }
        Some(c) => {
            Answer::Cannot(format!("{} {} is not LiveMigratable ({}: {})", owner.kind, owner.name, c.reason, c.message))
        }
        None => Answer::Cannot(format!("{} {} does not say that it is LiveMigratable", owner.kind, owner.name)),
    }
}

/// CloudNativePG switches over once the primary's node is cordoned: while every wanted instance is Ready and all others
/// are on other nodes, or one has failed. Mirrors `triggerSwitchoverToSchedulableNodes` of
/// `internal/controller/replicas.go`, which counts instances on cordoned nodes as not there; releases before it
/// (`setPrimaryOnSchedulableNode`) counted them, and took the first on a node that is not cordoned.
fn cloud_native_pg(context: &DrainContext<'_>, present: &Present<'_>, pod: &Pod) -> Answer {
    let Some(cluster) = pod.meta.labels.get("cnpg.io/cluster") else { return Answer::Nothing };
    let role = |p: &Pod| ["cnpg.io/instanceRole", "role"].iter().find_map(|k| p.meta.labels.get(k).cloned());
    if role(pod).is_none_or(|role| &*role != "primary") {
        return Answer::Nothing;
    }
    let snapshot = context.snapshot;
    let resource = snapshot.cloud_native_pg_clusters.named(pod.meta.ns(), cluster);
    let wanted = resource.and_then(|c| c.spec.instances);
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
    let open = |p: &Arc<Pod>| {
        let node = p.node.as_deref().and_then(|n| present.state.node_named(n));
        node.is_some_and(|n| !n.node.unschedulable)
    };
    // As `ListStatusPods` has it: what is neither Ready nor Running, nor being deleted.
    let failed = all.iter().any(|p| !p.is_terminating() && (p.is_finished() || p.status.phase == Phase::Pending));
    if !failed && (count(&is_ready) != wanted || count(&elsewhere) < wanted - 1) {
        return Answer::Nothing;
    }
    if !all.iter().any(|p| elsewhere(p) && is_ready(p) && open(p)) {
        return Answer::Nothing;
    }
    // The API server fills in enablePDB where the operator's definition has it: without it the release is an old one.
    let is_old = resource.is_some_and(|c| c.spec.enable_pdb.is_none());
    if !failed && !is_old && count(&|p| elsewhere(p) && open(p)) < wanted - 1 {
        return Answer::Unknown(format!(
            "which release of CloudNativePG runs? Another instance of {cluster} is on a cordoned node: newer releases make no other \
             instance the primary until it has moved, older ones do"
        ));
    }
    Answer::Moves {
        seconds: MOVES_IN,
        what: "once the node is cordoned it makes another instance the primary, and the pod is then evicted",
    }
}
