//! What becomes of a node under the Cluster Autoscaler.

use crate::snapshot::Str;
use jiff::Timestamp;

/// What becomes of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is taken away, once it has been unneeded for long enough. The pods that a budget holds without end, although
    /// the autoscaler does not ask that budget before it begins.
    Removed(Vec<Str>),
    /// It is being taken away already.
    Going,
    /// It is kept, for all of these reasons; the first one is what the autoscaler finds first. There is always one.
    Kept(Vec<Keeps>),
}

/// What keeps a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keeps {
    /// It belongs to no group of nodes that a cloud could make smaller.
    NoGroup,
    /// Its group has as few nodes as it may have: group, nodes, least.
    MinSize(Str, i64, i64),
    /// `cluster-autoscaler.kubernetes.io/scale-down-disabled: "true"` on the node.
    Annotation,
    /// It is not Ready, and such nodes are not taken away.
    Unready,
    /// No node is taken away at all.
    Disabled,
    /// Its pods request too much of a resource: which, in thousandths of a percent.
    Utilization(Str, i64),
    /// Its utilization cannot be computed, as it has none of a resource.
    NoResource(Str),
    /// A pod must not be moved.
    Pod(Str, Blocks),
    /// A pod fits on no other node: pod, what the scheduler says.
    Nowhere(Str, String),
    /// A pod is waited for until it ends: `safe-to-evict: on-completion`.
    OnCompletion(Str),
    /// Nodes are added for a Pending pod, or were a short time ago: pod, and until when nothing is taken away, where that
    /// is known.
    ScaleUp(Str, Option<Timestamp>),
}

/// Why a pod must not be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// Its controller is not there.
    NoController,
    /// Its controller is to have too few pods.
    FewReplicas,
    /// No controller makes it again.
    NotReplicated,
    /// It is in kube-system, without a budget, and younger than an hour.
    KubeSystem,
    /// `cluster-autoscaler.kubernetes.io/safe-to-evict: "false"`.
    NotSafeToEvict,
    /// It keeps data on the node.
    LocalStorage,
    /// A budget of it allows no eviction now.
    Budget,
}
