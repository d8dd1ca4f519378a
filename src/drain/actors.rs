//! The profile of each drainer: what it does, and where that is written. `docs/actors.md` has the same as a table.
//!
//! A profile is data. What differs between drainers is a field of [`Drainer`], and the one simulation plays it.

use super::actor::Actor;
use super::drainer::{
    AtDeadline, Cordons, Deadline, Drainer, Fences, Grace, Known, Removes, Retry, Source, WithoutFlag,
};
use super::filters::filter;
use super::leaves;
use super::options::{DrainOptions, Flag};
use std::time::Duration;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

/// kubectl tries a refused eviction again after so many seconds (`EvictErrorRetryDelay`).
const RETRY: Retry = Retry::Every(5);

/// The flags that let `kubectl drain` evict every pod but those of DaemonSets and static ones.
const ALL_FLAGS: &[Flag] = &[Flag::IgnoreDaemonSets, Flag::DeleteEmptyDirData, Flag::Force];

/// The profile of whoever these options name, with the settings that were given.
pub fn drainer(options: &DrainOptions) -> Drainer {
    let mut drainer = match options.actor() {
        Actor::Kubectl => kubectl(options),
        Actor::Karpenter => karpenter(),
        Actor::ClusterAutoscaler => cluster_autoscaler(),
        Actor::Eks => eks(),
        Actor::Gke => gke(),
        Actor::Aks => aks(),
        Actor::Openshift => openshift(),
        Actor::ClusterApi => cluster_api(),
        Actor::Kured => kured(options),
        Actor::SystemUpgradeController => system_upgrade_controller(options),
        Actor::Descheduler => descheduler(),
    };
    let timeout = seconds(options.timeout);
    if options.actor() != Actor::Kubectl && timeout > 0 {
        let then = drainer.deadline.map_or(AtDeadline::Fails("the drain ends in an error"), |d| d.then);
        drainer.deadline = Some(Deadline { after: timeout, then, setting: "--timeout" });
    }
    if let (Some(after), Some(_)) = (options.force_after, drainer.force_setting) {
        let then = match options.actor() {
            Actor::Karpenter => AtDeadline::DeletesBefore,
            Actor::ClusterApi => AtDeadline::TakesNode("deletes the machine with the pods that are left"),
            Actor::Kured => AtDeadline::TakesNode("reboots the node with the pods that are left"),
            _ => AtDeadline::Deletes,
        };
        drainer.deadline = Some(Deadline { after: seconds(after), then, setting: "--force-after" });
    }
    drainer
}

/// Part of a second is time that passes, too.
fn seconds(d: Duration) -> i64 {
    let whole = i64::try_from(d.as_secs()).unwrap_or(i64::MAX);
    whole.saturating_add(i64::from(d.subsec_nanos() > 0))
}

/// `kubectl drain` with these flags. Mirrors `RunDrain` of `k8s.io/kubectl/pkg/cmd/drain/drain.go` and
/// `DeleteOrEvictPods` of `pkg/drain/drain.go`.
fn kubectl(options: &DrainOptions) -> Drainer {
    let timeout = seconds(options.timeout);
    let ends = AtDeadline::Fails("kubectl drain ends in an error");
    Drainer {
        actor: Actor::Kubectl,
        name: "kubectl drain",
        source: Source {
            title: "kubectl 1.36",
            place: "k8s.io/kubectl/pkg/drain",
            read: "2026-12-03",
            known: Known::Measured,
        },
        fences: Fences::Cordon,
        cordons: Cordons::All,
        passes: Vec::new(),
        without_flag: WithoutFlag::Assumed,
        filter,
        leaves: "DaemonSet pods, static pods",
        holds: |_, _, _| None,
        wave: |_, _| 0,
        waves: "",
        removes: if options.disable_eviction { Removes::ByDeletion } else { Removes::ByEviction },
        grace: if options.grace_period >= 0 { Grace::Seconds(options.grace_period) } else { Grace::Own },
        retry: RETRY,
        retries_errors: false,
        deadline: (timeout > 0).then_some(Deadline { after: timeout, then: ends, setting: "--timeout" }),
        ends_claims: false,
        reports: None,
        skips_overdue: (options.skip_wait_for_delete > 0).then_some(options.skip_wait_for_delete),
        skips_if_silent: false,
        force_setting: None,
        parallel: "one node after the other, all cordoned first",
    }
}

/// What runs kubectl's code with every flag, each node by itself.
fn with_all_flags() -> Drainer {
    let base = kubectl(&DrainOptions::default());
    Drainer { cordons: Cordons::Each, passes: ALL_FLAGS.to_vec(), retries_errors: true, ..base }
}

/// Karpenter from the deletion of a NodeClaim on. Mirrors `controllers/node/termination`, its `terminator/terminator.go`
/// and `eviction.go`; refused evictions are tried again after 0.1 s, then twice that, and so on up to 10 s.
fn karpenter() -> Drainer {
    Drainer {
        actor: Actor::Karpenter,
        name: "Karpenter",
        source: Source {
            title: "Karpenter 1.14",
            place: "sigs.k8s.io/karpenter/pkg/controllers/node/termination",
            read: "2026-12-03",
            known: Known::Measured,
        },
        fences: Fences::Taint("karpenter.sh/disrupted:NoSchedule"),
        filter: leaves::karpenter,
        leaves: "pods that tolerate karpenter.sh/disrupted, static pods, pods that have ended",
        holds: leaves::karpenter_holds,
        wave: leaves::karpenter_group,
        waves: "four groups, each after the one before has ended: ordinary pods, DaemonSet pods, critical pods, critical \
                DaemonSet pods; pods with do-not-disrupt are waited for",
        retry: Retry::Every(10),
        deadline: None,
        ends_claims: true,
        skips_overdue: Some(60),
        force_setting: Some("terminationGracePeriod of the NodePool"),
        parallel: "as many nodes as the NodePool's disruption budgets allow",
        ..with_all_flags()
    }
}

/// The Cluster Autoscaler, once it has chosen a node. Mirrors `core/scaledown/actuation/drain.go` of
/// `kubernetes/autoscaler/cluster-autoscaler` with the defaults of `--max-pod-eviction-time` and
/// `--max-graceful-termination-sec`.
fn cluster_autoscaler() -> Drainer {
    Drainer {
        actor: Actor::ClusterAutoscaler,
        name: "the Cluster Autoscaler",
        source: Source {
            title: "Cluster Autoscaler 1.36",
            place: "kubernetes/autoscaler/cluster-autoscaler/core/scaledown/actuation/drain.go",
            read: "2026-12-03",
            known: Known::Code,
        },
        fences: Fences::Taint("ToBeDeletedByClusterAutoscaler:NoSchedule"),
        filter: leaves::cluster_autoscaler,
        leaves: "static pods; DaemonSet pods are evicted and not waited for",
        grace: Grace::AtMost(10 * MINUTE),
        retry: Retry::Every(10),
        deadline: Some(Deadline {
            after: 2 * MINUTE,
            then: AtDeadline::FailsUnevicted(
                "it removes its taint from the node, keeps the node, and tries again later",
            ),
            setting: "--max-pod-eviction-time",
        }),
        force_setting: None,
        parallel: "1 node with pods at a time, up to 10 empty ones (--max-drain-parallelism, --max-scale-down-parallelism)",
        ..with_all_flags()
    }
}

/// The update of a managed node group. Not forced unless the update was (`force`, `--force`).
fn eks() -> Drainer {
    Drainer {
        actor: Actor::Eks,
        name: "the EKS node group update",
        source: Source {
            title: "Amazon EKS, \"Understand each phase of node updates\"",
            place: "docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html",
            read: "2026-12-03",
            known: Known::Documentation,
        },
        deadline: Some(Deadline {
            after: 15 * MINUTE,
            then: AtDeadline::Fails(
                "the update of the node group fails with PodEvictionFailure, and nodes not updated by then stay as they are",
            ),
            setting: "fixed",
        }),
        force_setting: Some("the update's force: pods are then deleted after 15 min"),
        parallel: "updateConfig.maxUnavailable of the node group, 1 by default; new nodes are added first",
        ..with_all_flags()
    }
}

/// A surge upgrade of a node pool.
fn gke() -> Drainer {
    Drainer {
        actor: Actor::Gke,
        name: "the GKE node pool upgrade",
        source: Source {
            title: "Google Kubernetes Engine, \"Node upgrade strategies\"",
            place: "cloud.google.com/kubernetes-engine/docs/concepts/node-pool-upgrade-strategies",
            read: "2026-12-03",
            known: Known::Documentation,
        },
        deadline: Some(Deadline {
            after: HOUR,
            then: AtDeadline::TakesNode("removes the pods that are left, past their budgets, and replaces the node"),
            setting: "nodeDrainConfig.pdbTimeoutDuration; its default is not verified",
        }),
        force_setting: Some("nodeDrainConfig.pdbTimeoutDuration of the node pool, 1 h by default"),
        parallel: "maxSurge + maxUnavailable of the node pool, 1 + 0 by default",
        ..with_all_flags()
    }
}

/// The upgrade of a node pool, with `undrainableNodeBehavior: Schedule`, the default.
fn aks() -> Drainer {
    Drainer {
        actor: Actor::Aks,
        name: "the AKS node pool upgrade",
        source: Source {
            title: "Azure Kubernetes Service, \"Configure rolling upgrades for node pools\"",
            place: "learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling",
            read: "2026-12-03",
            known: Known::Documentation,
        },
        deadline: Some(Deadline {
            after: 30 * MINUTE,
            then: AtDeadline::Fails(
                "the upgrade fails, and the node can be scheduled to again (undrainableNodeBehavior: Schedule); with Cordon \
                 the node stays cordoned, and the upgrade goes on with the next node",
            ),
            setting: "drainTimeoutInMinutes",
        }),
        force_setting: None,
        parallel: "maxSurge of the node pool, 10% by default",
        ..with_all_flags()
    }
}

/// The machine config controller. Mirrors `pkg/controller/drain/drain_controller.go` of
/// `openshift/machine-config-operator`.
fn openshift() -> Drainer {
    Drainer {
        actor: Actor::Openshift,
        name: "the machine config operator",
        source: Source {
            title: "OpenShift's machine-config-operator",
            place: "openshift/machine-config-operator/pkg/controller/drain/drain_controller.go",
            read: "2026-12-03",
            known: Known::Code,
        },
        retry: Retry::Rounds { every: 5, lasts: 90, pause: MINUTE, slow_after: 10 * MINUTE, slow_pause: 5 * MINUTE },
        reports: Some((HOUR, "it reports that the drain failed (the pool is degraded), and keeps trying")),
        force_setting: None,
        parallel: "maxUnavailable of the MachineConfigPool, 1 by default",
        ..with_all_flags()
    }
}

/// The deletion of a Machine. Mirrors `drainNode` of `core/reconcilers/machine/machine_controller.go`, and its
/// `drain/drain.go`.
fn cluster_api() -> Drainer {
    Drainer {
        actor: Actor::ClusterApi,
        name: "Cluster API",
        source: Source {
            title: "Cluster API 1.14",
            place: "sigs.k8s.io/cluster-api/core/reconcilers/machine",
            read: "2026-12-03",
            known: Known::Code,
        },
        filter: leaves::cluster_api,
        leaves: "DaemonSet pods, static pods, pods with the label cluster.x-k8s.io/drain: skip or such a MachineDrainRule",
        holds: leaves::cluster_api_holds,
        wave: leaves::cluster_api_order,
        waves: "all pods at once, or by the order of MachineDrainRules; pods with the label cluster.x-k8s.io/drain: \
                wait-completed or such a MachineDrainRule are waited for",
        retry: Retry::Every(20),
        skips_overdue: Some(1),
        skips_if_silent: true,
        force_setting: Some(
            "nodeDrainTimeoutSeconds of the Machine: the machine is then deleted with the pods that are left",
        ),
        parallel: "maxUnavailable and maxSurge of the MachineDeployment, 0 and 1 by default",
        ..with_all_flags()
    }
}

/// kured. Mirrors `drain` of `cmd/kured/main.go`, and its flags.
fn kured(options: &DrainOptions) -> Drainer {
    let given = kubectl(options);
    Drainer {
        actor: Actor::Kured,
        name: "kured",
        source: Source {
            title: "kured",
            place: "kubereboot/kured/cmd/kured/main.go at 51220cc",
            read: "2026-12-03",
            known: Known::Code,
        },
        grace: given.grace,
        skips_overdue: given.skips_overdue,
        deadline: None,
        force_setting: Some(
            "--drain-timeout with --force-reboot: the node is then rebooted with the pods that are left",
        ),
        parallel: "1 node at a time (--concurrency)",
        ..with_all_flags()
    }
}

/// A Job of a Plan with `spec.drain`. Mirrors `New` of `pkg/upgrade/job/job.go`; the deadline of the Job is that of the
/// released manifest.
fn system_upgrade_controller(options: &DrainOptions) -> Drainer {
    let given = kubectl(options);
    let held = options.held.as_ref();
    let fails = AtDeadline::Fails("its Job fails, and the node stays cordoned and is not upgraded");
    let deadline = match held.and_then(|held| held.deadline) {
        Some(after) if after > 0 => Some(Deadline { after, then: fails, setting: "jobActiveDeadlineSecs of the Plan" }),
        Some(_) => None,
        None => Some(Deadline {
            after: 15 * MINUTE,
            then: fails,
            setting: "SYSTEM_UPGRADE_JOB_ACTIVE_DEADLINE_SECONDS, jobActiveDeadlineSecs of the Plan",
        }),
    };
    Drainer {
        actor: Actor::SystemUpgradeController,
        name: "the system-upgrade-controller",
        source: Source {
            title: "system-upgrade-controller",
            place: "rancher/system-upgrade-controller/pkg/upgrade/job/job.go at d357e23",
            read: "2026-12-03",
            known: Known::Code,
        },
        passes: held.map_or_else(|| vec![Flag::IgnoreDaemonSets, Flag::DeleteEmptyDirData], |held| held.passes.clone()),
        without_flag: WithoutFlag::Fails,
        removes: given.removes,
        grace: given.grace,
        skips_overdue: given.skips_overdue,
        deadline,
        force_setting: None,
        parallel: "concurrency of the Plan, 1 by default",
        ..with_all_flags()
    }
}

/// The descheduler's strategy `RemovePodsViolatingNodeTaints` on a node that somebody has cordoned. Mirrors
/// `pkg/framework/plugins/defaultevictor`; how often it runs is that of its Helm chart (`deschedulingInterval` of
/// `charts/descheduler/values.yaml`) and of its manifest (`kubernetes/deployment/deployment.yaml`): 5 minutes, read at 7d2b28b.
fn descheduler() -> Drainer {
    Drainer {
        actor: Actor::Descheduler,
        name: "the descheduler",
        source: Source {
            title: "the descheduler 0.36",
            place: "sigs.k8s.io/descheduler/pkg/framework/plugins",
            read: "2026-12-03",
            known: Known::Code,
        },
        fences: Fences::ByOthers,
        passes: Vec::new(),
        filter: leaves::descheduler,
        leaves: "DaemonSet pods, static pods, pods with emptyDir or hostPath, pods without an owner, critical pods, pods \
                 that tolerate the cordon",
        retry: Retry::Every(5 * MINUTE),
        deadline: None,
        force_setting: None,
        parallel: "every node in each run",
        ..with_all_flags()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Selection;
    use crate::drain::actor::Actor;
    use crate::drain::options::After;
    use crate::drain::outcome::{Action, Outcome, PodPlan, Verdict};
    use crate::drain::testing::{Cluster, owned_by};
    use crate::drain::{NodePlan, Request, plan};
    use std::collections::BTreeSet;

    /// A node with a pod of each kind about which drainers differ, and a node with room.
    fn world() -> Cluster {
        let mut c = Cluster::new();
        // Its removal has begun: no autoscaler chooses any more.
        c.node(
            "n1",
            r#"{"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"},
                {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]}"#,
        );
        c.node("n2", "{}");
        let labels = |app: &str| format!(r#""labels": {{"app": "{app}"}}"#);
        let selects =
            |rule: &str, app: &str| format!(r#"{{{rule}, "selector": {{"matchLabels": {{"app": "{app}"}}}}}}"#);
        for (name, replicas) in [("never", 1), ("waits", 2), ("scratch", 1), ("held", 1)] {
            let spec = format!(r#"{{"replicas": {replicas}}}"#);
            c.add("apps/v1", "ReplicaSet", "a", name, &spec);
        }
        c.add("apps/v1", "DaemonSet", "a", "agent", "{}");
        c.synced_budget("a", "never", &selects(r#""maxUnavailable": 0"#, "never"));
        c.synced_budget("a", "waits", &selects(r#""maxUnavailable": 1"#, "waits"));
        let of = |kind: &str, name: &str| format!("{}, {}", labels(name), owned_by("apps/v1", kind, name));
        let grace = r#""terminationGracePeriodSeconds": 20"#;
        let scratch = format!(r#"{grace}, "volumes": [{{"name": "t", "emptyDir": {{}}}}]"#);
        let held = format!(r#"{}, "annotations": {{"karpenter.sh/do-not-disrupt": "true"}}"#, of("ReplicaSet", "held"));
        for (name, meta, spec) in [
            ("agent", of("DaemonSet", "agent"), grace),
            ("bare", labels("bare"), grace),
            ("held", held, grace),
            ("never", of("ReplicaSet", "never"), grace),
            ("scratch", of("ReplicaSet", "scratch"), &*scratch),
            ("waits-1", of("ReplicaSet", "waits"), grace),
            ("waits-2", of("ReplicaSet", "waits"), grace),
        ] {
            c.pod_of("a", name, "n1", &meta, spec, "");
        }
        c
    }

    fn planned(c: &Cluster, options: &DrainOptions) -> NodePlan {
        let snapshot = c.snapshot();
        let nodes = vec![snapshot.nodes.named("", "n1").unwrap().clone()];
        let request = Request { nodes, each_alone: false, options: options.clone(), after: After::Back };
        plan(&snapshot, &Selection::new(&snapshot), &request).nodes.remove(0)
    }

    fn fate(p: &PodPlan) -> String {
        let word = match (p.forced_at, p.action, p.outcome) {
            (Some(at), ..) => return format!("{}!{at}", p.pod.meta.name),
            (_, Action::Skip | Action::None, _) => "left",
            (.., Outcome::Gone) => "gone",
            (.., Outcome::Waits) => "waits",
            (.., Outcome::Stays) => "stays",
            (.., Outcome::Unknown) => "unknown",
        };
        format!("{}:{word}", p.pod.meta.name)
    }

    #[test]
    fn each_goes_about_one_node_in_its_own_way() {
        let hour = Some(Duration::from_secs(3600));
        let minutes = |m: u64| Some(Duration::from_secs(60 * m));
        // What differs from `kubectl drain`, which waits without end and refuses the bare pod and the emptyDir.
        for (actor, force_after, timeout, verdict, forced_at, fates) in [
            (
                Actor::Kubectl,
                None,
                None,
                Verdict::Blocked,
                None,
                "agent:left bare:gone held:gone never:stays scratch:gone waits-1:gone waits-2:waits",
            ),
            // Evicts the DaemonSet's pod after the ordinary ones, and they are not all gone.
            (
                Actor::Karpenter,
                None,
                None,
                Verdict::Blocked,
                None,
                "agent:stays bare:gone held:stays never:stays scratch:gone waits-1:gone waits-2:waits",
            ),
            // All are gone by the deadline: each is deleted its grace of 20 s before.
            (
                Actor::Karpenter,
                hour,
                None,
                Verdict::Forced,
                Some(3580),
                "agent!3580 bare:gone held!3580 never!3580 scratch:gone waits-1:gone waits-2:waits",
            ),
            (
                Actor::ClusterAutoscaler,
                None,
                None,
                Verdict::Blocked,
                None,
                "agent:left bare:gone held:gone never:stays scratch:gone waits-1:gone waits-2:waits",
            ),
            (
                Actor::Eks,
                None,
                None,
                Verdict::Blocked,
                None,
                "agent:left bare:gone held:gone never:stays scratch:gone waits-1:gone waits-2:waits",
            ),
            (
                Actor::Eks,
                minutes(15),
                None,
                Verdict::Forced,
                Some(900),
                "agent:left bare:gone held:gone never!900 scratch:gone waits-1:gone waits-2:waits",
            ),
            (
                Actor::Gke,
                None,
                None,
                Verdict::Forced,
                Some(3600),
                "agent:left bare:gone held:gone never!3600 scratch:gone waits-1:gone waits-2:waits",
            ),
            (
                Actor::Aks,
                None,
                None,
                Verdict::Blocked,
                None,
                "agent:left bare:gone held:gone never:stays scratch:gone waits-1:gone waits-2:waits",
            ),
            (
                Actor::Openshift,
                None,
                None,
                Verdict::Blocked,
                None,
                "agent:left bare:gone held:gone never:stays scratch:gone waits-1:gone waits-2:waits",
            ),
            (
                Actor::ClusterApi,
                None,
                None,
                Verdict::Blocked,
                None,
                "agent:left bare:gone held:gone never:stays scratch:gone waits-1:gone waits-2:waits",
            ),
            (
                Actor::ClusterApi,
                minutes(10),
                None,
                Verdict::Forced,
                Some(600),
                "agent:left bare:gone held:gone never!600 scratch:gone waits-1:gone waits-2:waits",
            ),
            (
                Actor::Kured,
                None,
                None,
                Verdict::Blocked,
                None,
                "agent:left bare:gone held:gone never:stays scratch:gone waits-1:gone waits-2:waits",
            ),
            (
                Actor::Kured,
                minutes(5),
                None,
                Verdict::Forced,
                Some(300),
                "agent:left bare:gone held:gone never!300 scratch:gone waits-1:gone waits-2:waits",
            ),
            // It does not pass --force, so nothing is evicted.
            (
                Actor::SystemUpgradeController,
                None,
                None,
                Verdict::Blocked,
                None,
                "agent:left bare:stays held:stays never:stays scratch:stays waits-1:stays waits-2:stays",
            ),
            // It leaves what has no owner or local storage.
            (
                Actor::Descheduler,
                None,
                None,
                Verdict::Blocked,
                None,
                "agent:left bare:left held:gone never:stays scratch:left waits-1:gone waits-2:waits",
            ),
            // Their own settings override.
            (
                Actor::Gke,
                None,
                minutes(2),
                Verdict::Forced,
                Some(120),
                "agent:left bare:gone held:gone never!120 scratch:gone waits-1:gone waits-2:waits",
            ),
        ] {
            let timeout = timeout.unwrap_or_default();
            let options = DrainOptions { by: Some(actor), force_after, timeout, ..DrainOptions::default() };
            let node = planned(&world(), &options);
            let told: Vec<String> = node.pods.iter().map(fate).collect();
            assert_eq!(told.join(" "), fates, "{actor:?} {force_after:?}");
            assert_eq!((node.verdict, node.forced_at), (verdict, forced_at), "{actor:?} {force_after:?}");
        }
    }

    #[test]
    fn every_actor_has_a_profile_with_its_source() {
        let mut names = BTreeSet::new();
        for actor in Actor::ALL {
            let d = drainer(&DrainOptions { by: Some(*actor), ..DrainOptions::default() });
            assert_eq!(d.actor, *actor);
            assert!(!d.source.place.is_empty() && d.source.read.starts_with("20"), "{actor:?}");
            assert!(names.insert(d.name), "{actor:?}");
        }
    }
}
