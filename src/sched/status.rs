//! What a scheduler plugin says of a node: its reasons, and whether preemption could change them.
//! Mirrors `framework.Status` and the plugins' own words.

use crate::snapshot::Str;
use serde::Serialize;
use std::borrow::Cow;

/// A plugin of kube-scheduler, in the order in which the default profile runs them as filters.
/// Mirrors `pkg/scheduler/framework/plugins/names`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[allow(missing_docs, reason = "the names are Kubernetes' own")]
pub enum Plugin {
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    PodTopologySpread,
    InterPodAffinity,
    DynamicResources,
    NodeDeclaredFeatures,
}

impl Plugin {
    /// Kubernetes' own name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NodeUnschedulable => "NodeUnschedulable",
            Self::NodeName => "NodeName",
            Self::TaintToleration => "TaintToleration",
            Self::NodeAffinity => "NodeAffinity",
            Self::NodePorts => "NodePorts",
            Self::NodeResourcesFit => "NodeResourcesFit",
            Self::VolumeRestrictions => "VolumeRestrictions",
            Self::NodeVolumeLimits => "NodeVolumeLimits",
            Self::VolumeBinding => "VolumeBinding",
            Self::VolumeZone => "VolumeZone",
            Self::PodTopologySpread => "PodTopologySpread",
            Self::InterPodAffinity => "InterPodAffinity",
            Self::DynamicResources => "DynamicResources",
            Self::NodeDeclaredFeatures => "NodeDeclaredFeatures",
        }
    }
}

/// One reason of one plugin against one node. Cheap to copy about: words are made only where they are shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// The node is cordoned.
    Unschedulable,
    /// The pod names another node.
    NodeName,
    /// A taint is not tolerated.
    Taint,
    /// The node selector or the required node affinity rules the node out.
    NodeAffinity,
    /// A host port is taken.
    Ports,
    /// No pod slot is left.
    TooManyPods,
    /// Not enough of a resource is free.
    Insufficient(Str),
    /// An inline disk is used by another pod of the node.
    DiskConflict,
    /// A ReadWriteOncePod claim is used by another pod.
    ReadWriteOncePod,
    /// The CSI driver's attach limit is reached.
    MaxVolumeCount,
    /// The CSI driver is not registered on the node, and says that this matters.
    DriverNotInstalled(Str),
    /// A bound volume cannot be reached from the node.
    VolumeNodeAffinity,
    /// No volume to bind, and none can be made there.
    NoVolumeToBind,
    /// The driver's storage near the node is too full.
    NotEnoughStorage,
    /// A claim is bound to a volume that does not exist.
    VolumeNotExist,
    /// A volume's zone label differs from the node's.
    VolumeZone,
    /// The spread over the domains would become too uneven.
    Spread,
    /// The node lacks the label that a spread constraint divides by.
    SpreadLabel,
    /// No pod that the pod must be beside runs there.
    PodAffinity,
    /// A pod that the pod must not be beside runs there.
    PodAntiAffinity,
    /// A pod that runs there does not bear this one.
    ExistingAntiAffinity,
    /// Devices cannot be allocated for all claims.
    CannotAllocateClaims,
    /// An allocated claim's devices are elsewhere.
    ClaimNotOnNode,
    /// The kubelet does not declare a feature that the pod needs.
    DeclaredFeatures,
    /// Nothing of lower priority runs there: preemption's answer, not a filter's.
    NoVictims,
    /// Other words.
    Words(Str),
    /// An error: the attempt to schedule the pod ends with it, whatever other nodes have.
    Fails(Str),
    /// The pod is not put into the queue, so that the scheduler writes nothing: what for.
    NotEnqueued(Str),
    /// It is not known what the scheduler says: what is not evaluated here.
    NotJudged(Str),
}

impl Reason {
    /// The scheduler's own words.
    pub fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Self::Unschedulable => "node(s) were unschedulable",
            Self::NodeName => "node(s) didn't match the requested node name",
            Self::Taint => "node(s) had untolerated taint(s)",
            Self::NodeAffinity => "node(s) didn't match Pod's node affinity/selector",
            Self::Ports => "node(s) didn't have free ports for the requested pod ports",
            Self::TooManyPods => "Too many pods",
            Self::Insufficient(resource) => return Cow::Owned(format!("Insufficient {resource}")),
            Self::DiskConflict => "node(s) had no available disk",
            Self::ReadWriteOncePod => {
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
            }
            Self::MaxVolumeCount => "node(s) exceed max volume count",
            Self::DriverNotInstalled(driver) => {
                return Cow::Owned(format!("{driver} CSI driver is not installed on the node"));
            }
            Self::VolumeNodeAffinity => "node(s) didn't match PersistentVolume's node affinity",
            Self::NoVolumeToBind => "node(s) didn't find available persistent volumes to bind",
            Self::NotEnoughStorage => "node(s) did not have enough free storage",
            Self::VolumeNotExist => "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
            Self::VolumeZone => "node(s) had no available volume zone",
            Self::Spread => "node(s) didn't match pod topology spread constraints",
            Self::SpreadLabel => "node(s) didn't match pod topology spread constraints (missing required label)",
            Self::PodAffinity => "node(s) didn't match pod affinity rules",
            Self::PodAntiAffinity => "node(s) didn't match pod anti-affinity rules",
            Self::ExistingAntiAffinity => "node(s) didn't satisfy existing pods anti-affinity rules",
            Self::CannotAllocateClaims => "cannot allocate all claims",
            Self::ClaimNotOnNode => "resourceclaim not available on the node",
            Self::DeclaredFeatures => "node(s) didn't match Pod's required features",
            Self::NoVictims => "No preemption victims found for incoming pod",
            Self::Words(words) | Self::Fails(words) | Self::NotEnqueued(words) => words,
            Self::NotJudged(what) => return Cow::Owned(format!("not judged: {what}")),
        })
    }
}

/// Whether a pod may go to a node, and if not, whether taking pods away from the node could change that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing speaks against it.
    Fits,
    /// Upstream's `Unschedulable`: fewer pods on the node may help.
    Unschedulable,
    /// Upstream's `UnschedulableAndUnresolvable`: preemption does not look at the node.
    Unresolvable,
}

/// The refusal of one plugin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Status {
    /// Who refuses.
    pub plugin: Plugin,
    /// Whether taking pods away from the node could help.
    pub resolvable: bool,
    /// Why; at least one.
    pub reasons: Vec<Reason>,
}

impl Status {
    /// A refusal with one reason that preemption cannot change.
    pub fn unresolvable(plugin: Plugin, reason: Reason) -> Self {
        Self { plugin, resolvable: false, reasons: vec![reason] }
    }

    /// The words of its reasons.
    pub(super) fn words(&self) -> String {
        self.reasons.iter().map(Reason::text).collect::<Vec<_>>().join(", ")
    }
}
