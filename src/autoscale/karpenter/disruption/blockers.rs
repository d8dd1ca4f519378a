//! What keeps Karpenter from a node, whatever it would take the node away for: the node itself, and pods on it. Mirrors
//! `ValidateNodeDisruptable` and `ValidatePodsDisruptable` (`controllers/state/statenode.go`), `utils/pod/scheduling.go` and
//! `utils/pdb/pdb.go`.

use super::super::labels::NODE_POOL;
use super::super::machine::Machine;
use super::super::node_claim::span;
use super::super::taints::tolerates_disrupted;
use super::Keeps;
use crate::budget::selection::Selection;
use crate::snapshot::budget::{Budget, Rule};
use crate::snapshot::pod::{Phase, Pod, Truth};
use crate::snapshot::{Snapshot, Str};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// Keeps Karpenter from taking a pod or a node away.
pub const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";

/// What keeps Karpenter from a node, but for its pods.
pub fn of_node(machine: &Machine) -> Vec<Keeps> {
    let mut found = Vec::new();
    if !machine.is_managed() {
        return vec![Keeps::NotManaged];
    }
    if !machine.is_initialized() {
        found.push(Keeps::NotInitialized);
    }
    let annotated = machine.node.as_ref().and_then(|n| n.node.meta.annotations.get(DO_NOT_DISRUPT));
    if annotated.is_some_and(|v| &**v == "true") {
        found.push(Keeps::NodeAnnotation);
    }
    if !machine.labels().has(NODE_POOL) {
        found.push(Keeps::NoPoolLabel);
    }
    found
}

/// What keeps Karpenter from the pods of a node: first what their annotations say, then what budgets say.
pub fn of_pods<'a>(pods: impl Iterator<Item = &'a Arc<Pod>>, selection: &Selection, snapshot: &Snapshot) -> Vec<Keeps> {
    let held = |pod: &Arc<Pod>| Some(Keeps::Pod(path(pod), do_not_disrupt(pod, snapshot.now)?));
    let pods: Vec<&Arc<Pod>> = pods.collect();
    let annotated = pods.iter().filter(|p| p.is_active()).filter_map(|p| held(p));
    let budgets = pods.iter().filter_map(|p| budget(p, selection, snapshot));
    annotated.chain(budgets).collect()
}

/// The budget that refuses the eviction of a pod. Mirrors `Limits.isEvictable`.
fn budget(pod: &Arc<Pod>, selection: &Selection, snapshot: &Snapshot) -> Option<Keeps> {
    if !is_evictable(pod, snapshot.now) {
        return None;
    }
    let names = |b: &Arc<Budget>| Str::from(b.meta.path());
    let budgets: Vec<&Arc<Budget>> = selection.budgets_of(snapshot, pod).collect();
    match &*budgets {
        [] => None,
        [one] => {
            (!spares(one, pod) && one.status.disruptions_allowed == 0).then(|| Keeps::Budget(names(one), path(pod)))
        }
        several => Some(Keeps::SeveralBudgets(path(pod), several.iter().map(|b| names(b)).collect())),
    }
}

/// Whether a budget lets a pod go because the pod is not Ready.
fn spares(budget: &Budget, pod: &Pod) -> bool {
    budget.always_allow_unhealthy && pod.condition("Ready").is_some_and(|c| c.status == Truth::False)
}

/// Whether Karpenter evicts a pod of a node that it drains. Mirrors `IsEvictable`.
fn is_evictable(pod: &Pod, now: Timestamp) -> bool {
    pod.is_active() && !tolerates_disrupted(pod) && !is_static(pod) && do_not_disrupt(pod, now).is_none()
}

/// Whether a pod counts as one that moves elsewhere once its node is taken away. Mirrors `IsReschedulable`.
pub fn is_reschedulable(pod: &Pod) -> bool {
    let made_again = pod.is_terminating() && is_owned_by(pod, "apps", "StatefulSet");
    (pod.is_active() || made_again) && !is_owned_by(pod, "apps", "DaemonSet") && !is_static(pod)
}

/// The same, as long as nothing holds the pod for good. Mirrors `Limits.IsCurrentlyReschedulable`.
pub fn is_currently_reschedulable(pod: &Arc<Pod>, selection: &Selection, snapshot: &Snapshot) -> bool {
    let held = pod.is_active() && do_not_disrupt(pod, snapshot.now).is_some();
    is_reschedulable(pod) && !held && !is_fully_blocked(pod, selection, snapshot)
}

/// Whether a budget's rule never lets a pod go. Mirrors `isFullyBlocked`.
fn is_fully_blocked(pod: &Arc<Pod>, selection: &Selection, snapshot: &Snapshot) -> bool {
    if !is_evictable(pod, snapshot.now) {
        return false;
    }
    let budgets: Vec<&Arc<Budget>> = selection.budgets_of(snapshot, pod).collect();
    match &*budgets {
        [] => false,
        [one] => !spares(one, pod) && allows_none(&one.rule),
        _ => true,
    }
}

fn allows_none(rule: &Rule) -> bool {
    match rule {
        Rule::MaxUnavailable(at_most) => ["0", "0%"].contains(&&*at_most.to_string()),
        Rule::MinAvailable(at_least) => at_least.to_string() == "100%",
        Rule::None => false,
    }
}

/// Whether `karpenter.sh/do-not-disrupt` holds a pod now, and until when, where its value is a length of time. What is
/// neither `true` nor one counts as absent. Mirrors `IsDoNotDisruptActive`.
pub fn do_not_disrupt(pod: &Pod, now: Timestamp) -> Option<Option<Timestamp>> {
    let value = pod.meta.annotations.get(DO_NOT_DISRUPT)?;
    if &**value == "true" {
        return Some(None);
    }
    let lasts = span(value).filter(SignedDuration::is_positive)?;
    let Some(started) = pod.status.started else { return Some(None) };
    let until = started.checked_add(lasts).unwrap_or(Timestamp::MAX);
    (now < until).then_some(Some(until))
}

/// Whether the kubelet made a pod by itself. Mirrors `IsOwnedByNode`.
fn is_static(pod: &Pod) -> bool {
    is_owned_by(pod, "", "Node")
}

fn is_owned_by(pod: &Pod, group: &str, kind: &str) -> bool {
    let mut owners = pod.meta.controller.iter().chain(&pod.meta.owner);
    owners.any(|o| &*o.group == group && &*o.kind == kind)
}

/// Whether a pod waits to be started. Mirrors `IsPending`.
pub fn is_pending(pod: &Pod) -> bool {
    pod.status.phase == Phase::Pending
}

/// `namespace/name`.
pub fn path(pod: &Pod) -> Str {
    pod.meta.path().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, pod};

    #[test]
    fn do_not_disrupt_holds_as_long_as_it_says() {
        // "IsDoNotDisruptActive" of upstream's utils/pod/suite_test.go. The cluster speaks of noon.
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().expect("a time");
        for (value, started, want) in [
            ("true", "2026-01-01T11:00:00Z", Some(None)),
            ("2h", "2026-01-01T11:00:00Z", Some(Some("2026-01-01T13:00:00Z"))),
            ("1h", "2026-01-01T11:00:00Z", None),
            ("1h", "", Some(None)),
            ("True", "2026-01-01T11:00:00Z", None),
            ("false", "2026-01-01T11:00:00Z", None),
            ("0s", "2026-01-01T11:00:00Z", None),
            ("-2h", "2026-01-01T11:00:00Z", None),
            ("soon", "2026-01-01T11:00:00Z", None),
        ] {
            let mut web = pod("shop/web").annotation(DO_NOT_DISRUPT, value);
            if !started.is_empty() {
                web = web.with(serde_json::json!({"status": {"startTime": started}}));
            }
            let snapshot = cluster().add(web).snapshot();
            let found = do_not_disrupt(snapshot.pods.named("shop", "web").expect("the pod"), noon);
            let want = want.map(|w: Option<&str>| w.map(|t| t.parse().expect(t)));
            assert_eq!(found, want, "{value} {started}");
        }
    }
}
