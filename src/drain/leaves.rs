//! Which pods the drainers that do not run kubectl's code evict, leave alone, or wait for.

use super::drainer::Hold;
use super::filters::{Decision, PodDeleteStatus, filter};
use super::machines::Behavior;
use super::view::View;
use crate::autoscale::karpenter::disruption::{DO_NOT_DISRUPT, do_not_disrupt};
use crate::autoscale::karpenter::taints::tolerates_disrupted;
use crate::finding::Code;
use crate::sched::filters::taint_toleration::tolerates;
use crate::snapshot::pod::{Pod, VolumeSource};
use jiff::Timestamp;

/// From this priority on a pod is critical to the system. Mirrors `SystemCriticalPriority` of `pkg/apis/scheduling`.
const SYSTEM_CRITICAL: i32 = 2_000_000_000;

/// Cluster API's label that says how a pod is drained.
const CLUSTER_API_DRAIN: &str = "cluster.x-k8s.io/drain";

fn decided(decision: Decision, codes: Vec<Code>) -> PodDeleteStatus {
    PodDeleteStatus { decision, needs: Vec::new(), codes }
}

fn is_daemon(pod: &Pod) -> bool {
    pod.meta.controller.as_ref().is_some_and(|o| &*o.kind == "DaemonSet" && &*o.group == "apps")
}

/// What is lost or not made again, of a pod that is evicted without a flag being asked for.
fn evicted(pod: &Pod) -> PodDeleteStatus {
    let mut codes = Vec::new();
    if pod.is_terminating() {
        codes.push(Code::Terminating);
    }
    if pod.volumes.iter().any(|v| matches!(v.source, VolumeSource::EmptyDir { .. })) {
        codes.push(Code::EmptyDir);
    }
    if pod.meta.controller.is_none() {
        codes.push(Code::Unmanaged);
    }
    decided(Decision::Delete, codes)
}

/// Karpenter's. Mirrors `IsWaitingEviction` and `IsDrainable` of `utils/pod/scheduling.go`: DaemonSets' pods are evicted
/// like any other, unless they tolerate Karpenter's taint; pods that have ended are left.
pub fn karpenter(view: &View<'_>, pod: &Pod) -> PodDeleteStatus {
    let overdue = pod.meta.deletion_timestamp.is_some_and(|t| view.snapshot.now.duration_since(t).as_secs() > 60);
    match () {
        () if pod.is_finished() => decided(Decision::Skip, vec![Code::Completed]),
        () if pod.is_mirror() => decided(Decision::Skip, vec![Code::Mirror]),
        () if tolerates_disrupted(pod) && is_daemon(pod) => decided(Decision::Skip, vec![Code::DaemonSet]),
        () if tolerates_disrupted(pod) => decided(Decision::Skip, Vec::new()),
        () if overdue => decided(Decision::Outside, vec![Code::StuckTerminating]),
        () => evicted(pod),
    }
}

/// The four groups of Karpenter. Mirrors `groupPodsByPriority` of `node/termination/terminator/terminator.go`.
pub fn karpenter_group(_: &View<'_>, pod: &Pod) -> i64 {
    let critical = pod.spec.priority_class.as_deref();
    let critical = matches!(critical, Some("system-cluster-critical" | "system-node-critical"));
    2 * i64::from(critical) + i64::from(is_daemon(pod))
}

/// What Karpenter waits for without evicting it. Mirrors `IsEvictable` of `utils/pod/scheduling.go`.
pub fn karpenter_holds(_: &View<'_>, pod: &Pod, now: Timestamp) -> Option<Hold> {
    let until = do_not_disrupt(pod, now).filter(|_| pod.is_active())?;
    Some(Hold { until, by: DO_NOT_DISRUPT })
}

/// The Cluster Autoscaler's. Mirrors `podsToEvict` of `core/scaledown/actuation/drain.go`: DaemonSets' pods are evicted as
/// far as that goes, and not waited for.
pub fn cluster_autoscaler(_: &View<'_>, pod: &Pod) -> PodDeleteStatus {
    match () {
        () if pod.is_mirror() => decided(Decision::Skip, vec![Code::Mirror]),
        () if is_daemon(pod) => decided(Decision::Skip, vec![Code::DaemonSet]),
        () => evicted(pod),
    }
}

/// Cluster API's. Mirrors `GetPodsForEviction` of `machine/drain/drain.go`: kubectl's filters, with every flag, its own label,
/// and then MachineDrainRules.
pub fn cluster_api(view: &View<'_>, pod: &Pod) -> PodDeleteStatus {
    let status = filter(view, pod);
    let skipped = cluster_api_behavior(view, pod) == Behavior::Skip;
    if status.decision == Decision::Delete && skipped { decided(Decision::Outside, Vec::new()) } else { status }
}

/// What is done with a pod that kubectl's filters let go: by its label, else by the first MachineDrainRule that matches. Mirrors
/// `drainLabelFilter` and `machineDrainRulesFilter` of `machine/drain/filters.go`.
fn cluster_api_behavior(view: &View<'_>, pod: &Pod) -> Behavior {
    match pod.meta.labels.get(CLUSTER_API_DRAIN) {
        Some(v) if v.eq_ignore_ascii_case("skip") => return Behavior::Skip,
        Some(v) if v.replacen('-', "", 1).eq_ignore_ascii_case("WaitCompleted") => return Behavior::WaitCompleted,
        _ => {}
    }
    view.machines().rule(view.snapshot, pod).unwrap_or(Behavior::Drain(0))
}

/// What Cluster API waits for without evicting it.
pub fn cluster_api_holds(view: &View<'_>, pod: &Pod, _: Timestamp) -> Option<Hold> {
    let by = if pod.meta.labels.has(CLUSTER_API_DRAIN) { CLUSTER_API_DRAIN } else { "a MachineDrainRule" };
    let waits = cluster_api_behavior(view, pod) == Behavior::WaitCompleted;
    (waits && !pod.is_finished()).then_some(Hold { until: None, by })
}

/// The order of evictions. Mirrors `EvictPods` and `minDrainOrderOfPodsToDrain` of `machine/drain/drain.go`: pods that are
/// waited for hold no others up.
pub fn cluster_api_order(view: &View<'_>, pod: &Pod) -> i64 {
    match cluster_api_behavior(view, pod) {
        Behavior::Drain(order) => order,
        Behavior::Skip | Behavior::WaitCompleted => i64::MAX,
    }
}

/// The descheduler's, of a node that is cordoned: its strategy `RemovePodsViolatingNodeTaints` with the default
/// protections. Mirrors `Filter` of `pkg/framework/plugins/defaultevictor`.
pub fn descheduler(_: &View<'_>, pod: &Pod) -> PodDeleteStatus {
    let local = |v: &VolumeSource| matches!(v, VolumeSource::EmptyDir { .. } | VolumeSource::HostPath);
    let wanted = pod.meta.annotations.get("descheduler.alpha.kubernetes.io/evict").is_some();
    match () {
        () if tolerates(pod, "node.kubernetes.io/unschedulable", "", "NoSchedule") => {
            decided(Decision::Skip, if is_daemon(pod) { vec![Code::DaemonSet] } else { Vec::new() })
        }
        () if wanted => evicted(pod),
        () if pod.is_mirror() => decided(Decision::Skip, vec![Code::Mirror]),
        () if is_daemon(pod) => decided(Decision::Skip, vec![Code::DaemonSet]),
        () if pod.volumes.iter().any(|v| local(&v.source)) => decided(Decision::Skip, vec![Code::EmptyDir]),
        () if pod.spec.priority.is_some_and(|p| p >= SYSTEM_CRITICAL) => decided(Decision::Skip, Vec::new()),
        () if pod.meta.controller.is_none() && pod.meta.owner.is_none() => {
            decided(Decision::Skip, vec![Code::Unmanaged])
        }
        () => evicted(pod),
    }
}
