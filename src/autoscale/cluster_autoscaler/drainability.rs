//! Whether a pod can be moved off its node. Mirrors the rules in `simulator/drainability/rules`, in their order
//! (`Default` of `rules.go`), and `utils/drain`.

use super::Blocks;
use super::settings::{self, Settings};
use crate::budget::selection::Selection;
use crate::snapshot::meta::OwnerRef;
use crate::snapshot::pod::{Pod, VolumeSource};
use crate::snapshot::{Kind, Snapshot};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// So much longer than its grace a pod is waited for that is being deleted.
const LONG_TERMINATING: i64 = 30;

const SAFE_TO_EVICT: &str = "cluster-autoscaler.kubernetes.io/safe-to-evict";
const SAFE_VOLUMES: &str = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";
const DAEMON_SET_POD: &str = "cluster-autoscaler.kubernetes.io/daemonset-pod";

/// What is to be done about a pod when its node is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drainable {
    /// It is left alone.
    Skipped,
    /// It moves elsewhere; a DaemonSet's is only ended.
    Moves,
    /// It is waited for until it ends.
    Waits,
    /// It keeps the node.
    Blocks(Blocks),
}

/// Whether the autoscaler sees a pod at all: it reads no finished ones, and leaves out those of very low priority.
pub fn is_seen(pod: &Pod, settings: &Settings) -> bool {
    let cutoff = settings.number(settings::EXPENDABLE_BELOW);
    !pod.is_finished() && pod.spec.priority.is_none_or(|p| i64::from(p) >= cutoff)
}

/// Whether a pod counts as one of a DaemonSet. Mirrors `IsDaemonSetPod`.
pub fn is_daemon(pod: &Pod) -> bool {
    pod.is_of("DaemonSet") || pod.meta.annotations.get(DAEMON_SET_POD).is_some_and(|v| &**v == "true")
}

/// Whether a pod should have been gone long ago. Mirrors `IsPodLongTerminating`.
pub fn is_long_terminating(pod: &Pod, now: Timestamp) -> bool {
    let grace = SignedDuration::from_secs(pod.spec.termination_grace.saturating_add(LONG_TERMINATING));
    let until = pod.meta.deletion_timestamp.and_then(|t| t.checked_add(grace).ok());
    until.is_some_and(|until| until < now)
}

/// What is to be done about a pod that the autoscaler sees.
pub fn of_pod(pod: &Arc<Pod>, selection: &Selection, snapshot: &Snapshot, settings: &Settings) -> Drainable {
    if pod.is_mirror() || is_long_terminating(pod, snapshot.now) {
        return Drainable::Skipped;
    }
    let skips_custom = settings.is_on(settings::SKIP_CUSTOM);
    if let Some(owner) = pod.meta.controller.as_ref().filter(|_| skips_custom) {
        if is_missing(owner, pod, snapshot) {
            return Drainable::Blocks(Blocks::NoController);
        }
        if has_few_replicas(owner, pod, snapshot, settings.number(settings::MIN_REPLICAS)) {
            return Drainable::Blocks(Blocks::FewReplicas);
        }
    }
    let safe = pod.meta.annotations.get(SAFE_TO_EVICT).map(|v| &**v);
    if is_daemon(pod) || safe == Some("true") {
        return Drainable::Moves;
    }
    if safe == Some("on-completion") {
        return Drainable::Waits;
    }
    if !is_replicated(pod, skips_custom) {
        return Drainable::Blocks(Blocks::NotReplicated);
    }
    let budgets = || selection.budgets_of(snapshot, pod);
    let skips_system = settings.is_on(settings::SKIP_SYSTEM);
    if skips_system && pod.meta.ns() == "kube-system" && budgets().next().is_none() {
        let holds = settings.span(settings::SYSTEM_POD_HOLDS);
        let until = pod.meta.creation_timestamp.and_then(|t| t.checked_add(holds).ok());
        // Past that time no other rule is asked, either.
        return match until {
            Some(until) if snapshot.now > until => Drainable::Moves,
            _ => Drainable::Blocks(Blocks::KubeSystem),
        };
    }
    if safe == Some("false") {
        return Drainable::Blocks(Blocks::NotSafeToEvict);
    }
    if settings.is_on(settings::SKIP_LOCAL) && has_local_storage(pod) {
        return Drainable::Blocks(Blocks::LocalStorage);
    }
    if budgets().any(|b| b.status.disruptions_allowed < 1) {
        return Drainable::Blocks(Blocks::Budget);
    }
    Drainable::Moves
}

/// Whether a controller makes the pod again; of custom ones that is not expected where their nodes are skipped.
fn is_replicated(pod: &Pod, skips_custom: bool) -> bool {
    let kinds = ["ReplicationController", "Job", "ReplicaSet", "StatefulSet"];
    pod.meta.controller.as_ref().is_some_and(|o| !skips_custom || kinds.contains(&&*o.kind))
}

/// Whether a controller is to have fewer pods than the autoscaler asks for.
fn has_few_replicas(owner: &OwnerRef, pod: &Pod, snapshot: &Snapshot, least: i64) -> bool {
    let counted = ["ReplicationController", "ReplicaSet"].contains(&&*owner.kind);
    let controller = snapshot.workload(&owner.kind, pod.meta.ns(), &owner.name).filter(|_| counted);
    controller.and_then(|w| w.replicas()).is_some_and(|n| i64::from(n) < least)
}

/// Whether the controller of a pod is known not to be there. Mirrors the rule `ReplicaCount`.
fn is_missing(owner: &OwnerRef, pod: &Pod, snapshot: &Snapshot) -> bool {
    let kind = match (&*owner.group, &*owner.kind) {
        (_, "ReplicationController") => Kind::ReplicationController,
        ("apps", "DaemonSet") => Kind::DaemonSet,
        (_, "Job") => Kind::Job,
        (_, "ReplicaSet") => Kind::ReplicaSet,
        ("apps", "StatefulSet") => Kind::StatefulSet,
        _ => return false,
    };
    snapshot.coverage.is_whole(kind) && snapshot.workload(&owner.kind, pod.meta.ns(), &owner.name).is_none()
}

/// Whether a pod keeps data on its node. Mirrors `HasBlockingLocalStorage`.
fn has_local_storage(pod: &Pod) -> bool {
    let annotated = pod.meta.annotations.get(SAFE_VOLUMES).map_or("", |v| v);
    let is_safe = |name: &str| annotated.split(',').any(|n| n == name);
    pod.volumes.iter().any(|v| {
        let is_local = matches!(v.source, VolumeSource::HostPath | VolumeSource::EmptyDir { memory: false });
        is_local && !is_safe(&v.name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Object, budget, cluster, deployment, pod};
    use serde_json::json;

    #[test]
    fn pods_move_or_keep_their_node_as_upstream_s_rules_say() {
        // The tests beside the rules of upstream (`rules/*/rule_test.go`) and `simulator/drain_test.go`.
        let web = || pod("shop/web-1-0").label("app", "web").owned_by("apps/v1", "ReplicaSet/web-1").ready();
        let of = |kind: &str, api: &str| pod("shop/web-1-0").owned_by(api, &format!("{kind}/web-1")).ready();
        let safe = |pod: Object, value: &str| pod.annotation(SAFE_TO_EVICT, value);
        let volume = |source: serde_json::Value| {
            let mut volume = json!({"name": "data"});
            volume.as_object_mut().expect("an object").extend(source.as_object().cloned().unwrap_or_default());
            json!({"spec": {"volumes": [volume]}})
        };
        let system =
            |created: &str| pod("kube-system/web-1-0").owned_by("apps/v1", "ReplicaSet/web-1").ready().created(created);
        // The cluster speaks of noon.
        for (title, pod, allowed, want) in [
            ("replicated", web(), None, Drainable::Moves),
            ("bare", pod("shop/web-1-0"), None, Drainable::Blocks(Blocks::NotReplicated)),
            ("custom", of("Game", "example.com/v1"), None, Drainable::Blocks(Blocks::NotReplicated)),
            ("bare and safe", safe(pod("shop/web-1-0"), "true"), None, Drainable::Moves),
            ("of a DaemonSet", of("DaemonSet", "apps/v1"), None, Drainable::Moves),
            ("like one", pod("shop/web-1-0").annotation(DAEMON_SET_POD, "true"), None, Drainable::Moves),
            ("mirror", pod("shop/web-1-0").annotation("kubernetes.io/config.mirror", "x"), None, Drainable::Skipped),
            ("not safe", safe(web(), "false"), None, Drainable::Blocks(Blocks::NotSafeToEvict)),
            ("another word", safe(web(), "False"), None, Drainable::Moves),
            ("on completion", safe(web(), "on-completion"), None, Drainable::Waits),
            ("on completion, bare", safe(pod("shop/web-1-0"), "on-completion"), None, Drainable::Waits),
            ("emptyDir", web().with(volume(json!({"emptyDir": {}}))), None, Drainable::Blocks(Blocks::LocalStorage)),
            ("in memory", web().with(volume(json!({"emptyDir": {"medium": "Memory"}}))), None, Drainable::Moves),
            (
                "hostPath",
                web().with(volume(json!({"hostPath": {"path": "/"}}))),
                None,
                Drainable::Blocks(Blocks::LocalStorage),
            ),
            (
                "a safe volume",
                web().with(volume(json!({"emptyDir": {}}))).annotation(SAFE_VOLUMES, "other,data"),
                None,
                Drainable::Moves,
            ),
            (
                "another volume is safe",
                web().with(volume(json!({"emptyDir": {}}))).annotation(SAFE_VOLUMES, "data "),
                None,
                Drainable::Blocks(Blocks::LocalStorage),
            ),
            ("a budget of 0", web(), Some(0), Drainable::Blocks(Blocks::Budget)),
            ("a budget of 1", web(), Some(1), Drainable::Moves),
            ("a budget of 0, safe", safe(web(), "true"), Some(0), Drainable::Moves),
            ("kube-system, young", system("2026-01-01T11:30:00Z"), None, Drainable::Blocks(Blocks::KubeSystem)),
            ("kube-system, old", system("2026-01-01T10:30:00Z"), None, Drainable::Moves),
            (
                "kube-system, old, not safe: no other rule is asked",
                safe(system("2026-01-01T10:30:00Z"), "false"),
                None,
                Drainable::Moves,
            ),
            ("terminating for long", web().deleted("2026-01-01T11:58:00Z", 30), None, Drainable::Skipped),
            ("terminating", web().deleted("2026-01-01T11:59:50Z", 30), None, Drainable::Moves),
        ] {
            let mut cluster = cluster().add(pod);
            if let Some(allowed) = allowed {
                cluster = cluster.add(budget("shop/web").selects("app=web").max_unavailable(1).allows(allowed));
            }
            let snapshot = cluster.snapshot();
            let pod = snapshot.pods.iter().next().expect("the pod");
            assert_eq!(of_pod(pod, &Selection::new(&snapshot), &snapshot, &Settings::default()), want, "{title}");
        }
    }

    #[test]
    fn a_controller_that_is_gone_keeps_the_node() {
        let orphan = pod("shop/web-1-0").owned_by("apps/v1", "ReplicaSet/web-1").ready();
        let others = deployment("shop/api").on(&["n1"]);
        let snapshot = cluster().add(others).add(orphan).snapshot();
        let orphan = snapshot.pods.named("shop", "web-1-0").expect("the pod");
        let found = of_pod(orphan, &Selection::new(&snapshot), &snapshot, &Settings::default());
        assert_eq!(found, Drainable::Blocks(Blocks::NoController));
    }

    #[test]
    fn pods_that_are_not_seen() {
        for (title, pod, want) in [
            ("running", pod("shop/a"), true),
            ("finished", pod("shop/a").ended("Succeeded"), false),
            ("priority -10", pod("shop/a").with(json!({"spec": {"priority": -10}})), true),
            ("priority -11", pod("shop/a").with(json!({"spec": {"priority": -11}})), false),
        ] {
            let snapshot = cluster().add(pod).snapshot();
            assert_eq!(is_seen(snapshot.pods.iter().next().expect("the pod"), &Settings::default()), want, "{title}");
        }
    }
}
