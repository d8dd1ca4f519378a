//! Pods as they are kept: the template shared among equal pods, and the state of each.

use super::entrypoint::Entrypoint;
use super::intern::{Interner, Map, Str};
use super::meta::Meta;
use super::probe::Probe;
use super::quantity::Amounts;
use super::selector::{LabelSelector, NodeSelector, NodeTerm};
use super::table::Keyed;
use crate::wire::time::Time;
use jiff::Timestamp;
use std::sync::Arc;

/// A pod.
#[derive(Debug, Clone, PartialEq)]
pub struct Pod {
    /// Names, labels, owner, age.
    pub meta: Meta,
    /// What its containers ask for and where they may run; shared among pods of one template.
    pub spec: Arc<PodSpec>,
    /// The volumes that bear on scheduling or draining; all other kinds are left out.
    pub volumes: Arc<Vec<Volume>>,
    /// The node it is bound to.
    pub node: Option<Str>,
    /// What the kubelet and the scheduler report.
    pub status: PodStatus,
}

/// The part of a pod's spec that its template gives, without its volumes and its node.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct PodSpec {
    /// The containers that run side by side.
    pub containers: Box<[Container]>,
    /// Those that run before, in order; a sidecar among them goes on running.
    pub init_containers: Box<[Container]>,
    /// `Always`, `OnFailure` or `Never`.
    pub restart_policy: Str,
    /// Seconds between the first signal and the kill. The API's default is 30.
    pub termination_grace: i64,
    /// Seconds it is allowed to run, where that is limited.
    pub active_deadline: Option<i64>,
    /// Labels the node must have.
    pub node_selector: Map,
    /// The service account its containers act as.
    pub service_account: Option<Str>,
    /// Whether it uses the node's network, and so the node's ports.
    pub host_network: bool,
    /// Required node affinity; `None` where there is none.
    pub node_affinity: Option<NodeSelector>,
    /// Required affinity to other pods.
    pub pod_affinity: Box<[PodAffinityTerm]>,
    /// Required anti-affinity to other pods.
    pub pod_anti_affinity: Box<[PodAffinityTerm]>,
    /// Nodes it would rather run on. The scheduler weighs them; Karpenter first takes them as required.
    pub preferred_node_affinity: Box<[Preferred<NodeTerm>]>,
    /// Pods it would rather stand beside.
    pub preferred_pod_affinity: Box<[Preferred<PodAffinityTerm>]>,
    /// Pods it would rather not stand beside.
    pub preferred_pod_anti_affinity: Box<[Preferred<PodAffinityTerm>]>,
    /// The scheduler asked for; `default-scheduler` where none is named.
    pub scheduler_name: Str,
    /// Taints it bears.
    pub tolerations: Box<[Toleration]>,
    /// The name of its priority class.
    pub priority_class: Option<Str>,
    /// Its priority, filled in at admission; absent means 0.
    pub priority: Option<i32>,
    /// `PreemptLowerPriority` (default) or `Never`.
    pub preemption_policy: Option<Str>,
    /// Conditions that must be True before the pod is Ready.
    pub readiness_gates: Box<[Str]>,
    /// Names of the gates that keep the scheduler from looking at it.
    pub scheduling_gates: Box<[Str]>,
    /// The RuntimeClass it names.
    pub runtime_class: Option<Str>,
    /// `os.name`: `linux` or `windows`. The scheduler does not look at it; the kubelet does.
    pub os: Option<Str>,
    /// What the runtime class adds to its requests.
    pub overhead: Amounts,
    /// The PodGroup of `scheduling.k8s.io` that it is scheduled with.
    pub pod_group: Option<Str>,
    /// Requests and limits of the pod as a whole.
    pub resources: Option<Resources>,
    /// How its kind is to be spread.
    pub topology_spread: Box<[TopologySpread]>,
    /// The device claims it refers to.
    pub resource_claims: Box<[ResourceClaimRef]>,
}

/// A container.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Container {
    /// Its name.
    pub name: Str,
    /// Its image.
    pub image: Str,
    /// Requests and limits.
    pub resources: Resources,
    /// Ports it takes on the node.
    pub host_ports: Box<[HostPort]>,
    /// A sidecar: an init container that restarts always, and so runs beside the others.
    pub sidecar: bool,
    /// Whether some exit of it restarts all containers of the pod: a rule with the action `RestartAllContainers`.
    pub restarts_all: bool,
    /// Its own restart policy (`Always`, `OnFailure`, `Never`); `None` where the pod's holds.
    pub restart_policy: Option<Str>,
    /// Whether it has rules that restart it, or all containers, after some exit codes.
    pub restarts_by_rule: bool,
    /// What tells whether it is ready; without one it is ready as soon as it runs.
    pub readiness_probe: Option<Probe>,
    /// What has to succeed once before its other probes begin.
    pub startup_probe: Option<Probe>,
    /// What runs before it is stopped.
    pub pre_stop: Option<PreStop>,
    /// What its command tells of how it ends; `None` where it tells nothing.
    pub entrypoint: Option<Entrypoint>,
    /// Names of those environment variables that tell where credentials come from or name a broker; never a value.
    pub env: Box<[Str]>,
}

/// A preStop hook.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PreStop {
    /// Waits for so many seconds.
    Sleep(i64),
    /// Runs a command. Only a `sleep` in it is kept, as seconds.
    Exec(Option<i64>),
    /// Calls the container over the network.
    Other,
}

impl PreStop {
    /// How long it takes, in seconds; `None` where it does not say.
    pub fn seconds(&self) -> Option<i64> {
        match self {
            Self::Sleep(seconds) => Some(*seconds),
            Self::Exec(seconds) => *seconds,
            Self::Other => None,
        }
    }
}

/// Requests and limits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Resources {
    /// What is set aside.
    pub requests: Amounts,
    /// What it may use at most.
    pub limits: Amounts,
}

/// A port on the node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPort {
    /// The port on the node.
    pub port: i32,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: Str,
    /// The address it is bound to; `0.0.0.0` where none is given.
    pub ip: Str,
}

/// A toleration.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Toleration {
    /// Empty tolerates every key (with operator Exists).
    pub key: Str,
    /// `Equal` (also where absent), `Exists`, `Lt` or `Gt`.
    pub operator: Str,
    /// The value compared with.
    pub value: Str,
    /// Empty tolerates every effect.
    pub effect: Str,
    /// How long a NoExecute taint is borne, in seconds; `None` for ever.
    pub seconds: Option<i64>,
}

impl Toleration {
    /// Whether it tolerates a taint. Mirrors `Toleration.ToleratesTaint`; the operators Lt and Gt are behind a feature
    /// that is off by default: they tolerate nothing.
    pub fn tolerates(&self, key: &str, value: &str, effect: &str) -> bool {
        (self.effect.is_empty() || *self.effect == *effect)
            && (self.key.is_empty() || *self.key == *key)
            && match &*self.operator {
                "" | "Equal" => *self.value == *value,
                "Exists" => true,
                _ => false,
            }
    }
}

/// A required (anti-)affinity term.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PodAffinityTerm {
    /// Which pods; `matchLabelKeys` are already merged in by the API server.
    pub selector: LabelSelector,
    /// Namespaces by name. With none and no selector, the pod's own.
    pub namespaces: Box<[Str]>,
    /// Namespaces by label; `None` where absent.
    pub namespace_selector: Option<LabelSelector>,
    /// The node label that says what "the same place" is.
    pub topology_key: Str,
}

/// A term that is preferred, not required.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Preferred<T> {
    /// From 1 to 100.
    pub weight: i32,
    /// What is preferred.
    pub term: T,
}

/// A topology spread constraint.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TopologySpread {
    /// By how much the fullest and the emptiest domain may differ.
    pub max_skew: i32,
    /// The node label that makes the domains.
    pub topology_key: Str,
    /// `DoNotSchedule` rather than `ScheduleAnyway`.
    pub required: bool,
    /// Which pods are counted.
    pub selector: LabelSelector,
    /// How many domains there must be before the minimum counts as more than 0.
    pub min_domains: Option<i32>,
    /// `nodeAffinityPolicy: Honor` (the default): nodes that the pod's affinity rules out are no domains.
    pub honor_affinity: bool,
    /// `nodeTaintsPolicy: Honor`: nodes with taints it does not tolerate are no domains. The default is Ignore.
    pub honor_taints: bool,
    /// Label keys whose values the counted pods share with the incoming one.
    pub match_label_keys: Box<[Str]>,
}

/// A device claim of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResourceClaimRef {
    /// The name within the pod.
    pub name: Str,
    /// A ResourceClaim of the pod's namespace.
    pub claim: Option<Str>,
    /// A ResourceClaimTemplate, from which a claim is made for the pod.
    pub template: Option<Str>,
}

/// A volume that bears on scheduling or draining.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Volume {
    /// Its name within the pod.
    pub name: Str,
    /// Where it comes from.
    pub source: VolumeSource,
}

/// Where a volume comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum VolumeSource {
    /// Scratch space that goes with the pod; whether in memory.
    EmptyDir {
        /// `medium: Memory`.
        memory: bool,
    },
    /// A path of the node.
    HostPath,
    /// A claim of the pod's namespace.
    Claim {
        /// The claim's name.
        name: Str,
        /// Mounted read-only.
        read_only: bool,
    },
    /// A claim made for the pod, named `<pod>-<volume>`.
    Ephemeral {
        /// The class of the claim to be made.
        class: Option<Str>,
        /// Its access modes.
        access_modes: Box<[Str]>,
    },
    /// An inline CSI volume.
    Csi {
        /// The driver's name.
        driver: Str,
    },
    /// An inline disk that two pods of a node may not share (GCE, AWS, iSCSI, RBD): one equal id is enough to conflict.
    Disk {
        /// What identifies the disk, its kind first; one for each monitor of an RBD image.
        ids: Box<[Str]>,
        /// Mounted read-only.
        read_only: bool,
    },
}

/// The phase of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Phase {
    /// Not yet started on its node, or without one.
    Pending,
    /// Started.
    Running,
    /// All containers ended well.
    Succeeded,
    /// All containers ended, one of them badly; or the kubelet rejected it.
    Failed,
    /// Reported as Unknown, or not at all.
    #[default]
    Unknown,
}

impl Phase {
    /// Reads the API's word.
    pub fn read(text: &str) -> Self {
        match text {
            "Pending" => Self::Pending,
            "Running" => Self::Running,
            "Succeeded" => Self::Succeeded,
            "Failed" => Self::Failed,
            _ => Self::Unknown,
        }
    }

    /// The API's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Running => "Running",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Unknown => "Unknown",
        }
    }
}

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not.
    False,
    /// Nobody knows.
    Unknown,
}

impl Truth {
    /// Reads the API's word.
    pub fn read(text: &str) -> Self {
        match text {
            "True" => Self::True,
            "False" => Self::False,
            _ => Self::Unknown,
        }
    }
}

/// A condition of a pod, a node, a budget or a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What it is about.
    pub kind: Str,
    /// Whether it holds.
    pub status: Truth,
    /// Since when.
    pub since: Option<Timestamp>,
    /// A word for programs.
    pub reason: Str,
    /// A sentence for people.
    pub message: Str,
}

/// What the kubelet and the scheduler report of a pod.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PodStatus {
    /// The phase.
    pub phase: Phase,
    /// Conditions, in the order given.
    pub conditions: Box<[Condition]>,
    /// Why it is in its phase (`Evicted`, `OutOfcpu`, …).
    pub reason: Option<Str>,
    /// The same as a sentence.
    pub message: Option<Str>,
    /// The node that preemption, or a volume's binding, holds for it.
    pub nominated_node: Option<Str>,
    /// When the kubelet took it up.
    pub started: Option<Timestamp>,
    /// Containers, then init containers.
    pub containers: Box<[ContainerStatus]>,
    /// Init containers, in order.
    pub init_containers: Box<[ContainerStatus]>,
    /// `Proposed`, `Deferred`, `Infeasible` … of an in-place resize, from servers before 1.33.
    pub resize: Option<Str>,
    /// Names of the device claims made for it: name within the pod, claim.
    pub resource_claims: Box<[(Str, Option<Str>)]>,
}

/// What the kubelet reports of a container.
#[derive(Debug, Clone, PartialEq)]
pub struct ContainerStatus {
    /// The container's name.
    pub name: Str,
    /// Whether its readiness probe passes.
    pub ready: bool,
    /// `None` while nobody has looked.
    pub started: Option<bool>,
    /// How often it was started again.
    pub restarts: i32,
    /// What it does now.
    pub state: ContainerState,
    /// How it ended last.
    pub last: Option<Terminated>,
    /// What the kubelet has set aside for it, which an in-place resize may leave behind the spec.
    pub allocated: Option<Amounts>,
    /// The resources in force.
    pub resources: Option<Resources>,
}

/// What a container does now.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ContainerState {
    /// Nothing is reported.
    #[default]
    Unknown,
    /// Not started, and why.
    Waiting {
        /// A word: `CrashLoopBackOff`, `ImagePullBackOff`, `ContainerCreating` …
        reason: Str,
        /// A sentence.
        message: Str,
    },
    /// Running, since when.
    Running(Option<Timestamp>),
    /// Ended.
    Terminated(Terminated),
}

/// How a container ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Terminated {
    /// Its exit code.
    pub exit_code: i32,
    /// A word: `Completed`, `Error`, `OOMKilled` …
    pub reason: Str,
    /// A sentence.
    pub message: Str,
    /// When it was started.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub finished: Option<Timestamp>,
}

impl Keyed for Pod {
    fn meta(&self) -> &Meta {
        &self.meta
    }
}

impl PodSpec {
    /// The longest wait of its preStop hooks in seconds, as far as they tell: those of sidecars begin together with the
    /// others. Mirrors `killContainer` of `pkg/kubelet/kuberuntime/kuberuntime_container.go`.
    pub fn longest_pre_stop(&self) -> Option<i64> {
        self.running_containers().filter_map(|c| c.pre_stop.as_ref()?.seconds()).max()
    }

    /// The containers that run until the pod ends: with the sidecars among the init containers.
    pub fn running_containers(&self) -> impl Iterator<Item = &Container> {
        self.containers.iter().chain(self.init_containers.iter().filter(|c| c.sidecar))
    }
}

impl Pod {
    /// The condition of a type. Mirrors `podutil.GetPodCondition`.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.status.conditions.iter().find(|c| *c.kind == *kind)
    }

    /// Whether the Ready condition is True: all that upstream calls healthy. Mirrors `podutil.IsPodReady`.
    pub fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(|c| c.status == Truth::True)
    }

    /// Whether it is being deleted.
    pub fn is_terminating(&self) -> bool {
        self.meta.is_terminating()
    }

    /// Seconds until it should be gone, where it is being deleted; `None` where that time is past: it is stuck.
    pub fn grace_left(&self, now: Timestamp) -> Option<i64> {
        let left = self.meta.deletion_timestamp?.duration_since(now).as_secs();
        (left >= 0 || self.status.phase == Phase::Pending).then(|| left.max(0))
    }

    /// Whether it has ended (Succeeded or Failed). Mirrors `podutil.IsPodTerminal`.
    pub fn is_finished(&self) -> bool {
        matches!(self.status.phase, Phase::Succeeded | Phase::Failed)
    }

    /// Whether it has neither ended nor is being deleted. Mirrors `controller.IsPodActive`.
    pub fn is_active(&self) -> bool {
        !self.is_finished() && !self.is_terminating()
    }

    /// The ordinal of a StatefulSet's pod. Mirrors `getParentNameAndOrdinal`.
    pub fn ordinal(&self) -> Option<i32> {
        self.meta.name.rsplit_once('-').and_then(|(_, n)| n.parse().ok())
    }

    /// Its priority; absent means 0. Mirrors `corev1helpers.PodPriority`.
    pub fn priority(&self) -> i32 {
        self.spec.priority.unwrap_or(0)
    }

    /// Whether it belongs to its node: a static pod's mirror, or one of a DaemonSet.
    pub fn is_of_node(&self) -> bool {
        self.is_mirror() || self.is_of("DaemonSet")
    }

    /// Whether its controller is of a kind, of whatever group.
    pub fn is_of(&self, kind: &str) -> bool {
        self.meta.controller.as_ref().is_some_and(|o| &*o.kind == kind)
    }

    /// Whether it is the mirror of a static pod. Mirrors kubectl's and the kubelet's check of the annotation.
    pub fn is_mirror(&self) -> bool {
        self.meta.annotations.has("kubernetes.io/config.mirror")
    }
}

impl Condition {
    /// A condition as the API writes it.
    pub fn read(kind: &str, status: &str, since: Option<Time>, reason: &str, message: &str, i: &mut Interner) -> Self {
        Self {
            kind: i.str(kind),
            status: Truth::read(status),
            since: since.and_then(Time::timestamp),
            reason: i.str(reason),
            message: i.str(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerates_as_upstream() {
        // key, operator, value, effect; the taint is gpu=yes:NoSchedule. After TestTolerationToleratesTaint.
        for (key, operator, value, effect, want) in [
            ("gpu", "Exists", "", "NoSchedule", true),
            ("gpu", "Equal", "yes", "NoSchedule", true),
            ("gpu", "", "yes", "", true),
            ("gpu", "Equal", "no", "NoSchedule", false),
            ("gpu", "Exists", "", "NoExecute", false),
            ("other", "Exists", "", "", false),
            ("", "Exists", "", "", true),
            ("gpu", "Gt", "1", "NoSchedule", false),
        ] {
            let t = Toleration {
                key: key.into(),
                operator: operator.into(),
                value: value.into(),
                effect: effect.into(),
                seconds: None,
            };
            assert_eq!(t.tolerates("gpu", "yes", "NoSchedule"), want, "{t:?}");
        }
    }
}
