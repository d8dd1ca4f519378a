//! How far a pod came.

use crate::snapshot::pod::{Phase, Pod};

/// How far a pod came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// There is no pod yet.
    NotCreated,
    /// Scheduling gates keep the scheduler away.
    Gated,
    /// It has no node.
    Unscheduled,
    /// A node is held for it.
    Nominated,
    /// It has a node, and has not started.
    Bound,
    /// What is needed to tell could not be read.
    Unknown,
}

impl Stage {
    /// The word of the contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotCreated => "not-created",
            Self::Gated => "gated",
            Self::Unscheduled => "unscheduled",
            Self::Nominated => "nominated",
            Self::Bound => "bound",
            Self::Unknown => "unknown",
        }
    }

    /// The stage of a pod.
    pub fn of(pod: &Pod) -> Self {
        if pod.node.is_some() {
            Self::Bound
        } else if !pod.spec.scheduling_gates.is_empty() {
            Self::Gated
        } else if pod.status.nominated_node.is_some() {
            Self::Nominated
        } else {
            Self::Unscheduled
        }
    }
}

/// Reasons with which a kubelet rejects a pod it was given. Mirrors `pkg/kubelet/lifecycle/predicate.go` and the
/// kubelet's other admission handlers.
const REJECTIONS: &[&str] = &[
    "NodeAffinity",
    "NodeName",
    "NodePorts",
    "UnexpectedAdmissionError",
    "UnexpectedPredicateFailureType",
    "AppArmor",
    "SysctlForbidden",
    "TopologyAffinityError",
    "SMTAlignmentError",
    "EmptyPodSharedPoolError",
    "PodOSNotSupported",
    "PodOSSelectorNodeLabelDoesNotMatch",
    "PodFeatureUnsupported",
    "Forbidden",
    "InvalidNodeInfo",
    "InitContainerRestartPolicyForbidden",
    "SupplementalGroupsPolicyNotSupported",
    "PodLevelResourcesNotSupported",
    "NodeShutdown",
    "TaintToleration",
    "UnknownReason",
    "UnknownTaint",
];

/// How a kubelet begins the message of a pod that it rejects, whatever the reason. Mirrors `rejectPod` of
/// `pkg/kubelet/kubelet.go`.
pub const REJECTED: &str = "Pod was rejected: ";

/// Whether the kubelet rejected the pod: it then ends as Failed, without having started.
pub fn rejected(pod: &Pod) -> bool {
    let reason = pod.status.reason.as_deref().unwrap_or_default();
    let said = pod.status.message.as_deref().unwrap_or_default();
    pod.status.phase == Phase::Failed
        && (reason.starts_with("OutOf") || REJECTIONS.contains(&reason) || said.starts_with(REJECTED))
}

/// Whether the pod is not running yet: Pending, or rejected by the kubelet.
pub fn is_pending(pod: &Pod) -> bool {
    match pod.status.phase {
        Phase::Pending => true,
        Phase::Failed => rejected(pod),
        // A phase that is not understood is not Running.
        Phase::Unknown => pod.node.is_none() || !pod.is_ready(),
        Phase::Running | Phase::Succeeded => false,
    }
}

/// Whether the pod runs, and is not Ready.
pub fn is_unready(pod: &Pod) -> bool {
    pod.status.phase == Phase::Running && !pod.is_ready() && !pod.is_terminating()
}
