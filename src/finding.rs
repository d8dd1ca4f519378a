//! What an answer finds: the table of codes, and the shape of a finding.

use serde::Serialize;
use std::fmt;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is blocked, or broken.
    Error,
    /// Something will go wrong, or may.
    Warning,
    /// Good to know.
    Info,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal $severity:ident $explanation:literal,)*) => {
        /// The code of a finding: other programs rely on these words.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "each explains itself")]
        pub enum Code { $($(#[$doc])* $name),* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The word.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code),* }
            }

            /// The severity of a finding of this code.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity),* }
            }

            /// What it means and what to do, for `explain`.
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$name => $explanation),* }
            }
        }
    };
}

codes! {
    // Budgets.
    ZeroByRule = "zero-by-rule" Error "The rule allows nothing even when every pod is Ready: with the present number of replicas, all of them must stay. Change the rule or run more replicas.",
    NoRule = "no-rule" Error "The budget sets neither minAvailable nor maxUnavailable. The API accepts that, and it allows no eviction at all.",
    UnhealthyPods = "unhealthy-pods" Warning "Pods exist and are not Ready, so they do not count as healthy.",
    MissingPods = "missing-pods" Warning "Fewer pods exist than the budget counts on: they are Pending, or were not created.",
    DisruptionInProgress = "disruption-in-progress" Info "Pods were evicted or are terminating, and their replacements are not Ready yet.",
    ScaledDown = "scaled-down" Info "The owner wants fewer pods than exist, or none: the surplus goes by itself.",
    NoPods = "no-pods" Warning "No pod matches the selector: the budget protects and blocks nothing.",
    SelectsNothing = "selects-nothing" Warning "The budget has no selector. A null selector takes no pod; an empty one ({}) takes every pod of the namespace.",
    Overlap = "overlap" Error "A pod is matched by more than one budget. The eviction endpoint does not support that: evicting it is answered with 500.",
    SyncFailed = "sync-failed" Error "The disruption controller cannot tell how many pods to expect, as some pod's owner has no scale. It then allows 0 and keeps older numbers. An integer minAvailable does not need the owners.",
    Stale = "stale" Warning "The controller has not looked at the present spec yet, so the API server refuses evictions (429) until it has; or it reports 0 where the pods would allow more.",
    OverPermissive = "over-permissive" Warning "The rule lets every pod go at once.",
    UnmanagedPods = "unmanaged-pods" Warning "Pods without a controller are covered. Under maxUnavailable or a percentage they count as healthy and not as expected.",
    UnhealthyNotEvictable = "unhealthy-not-evictable" Warning "The policy IfHealthyBudget keeps broken pods in place. With AlwaysAllow they could be evicted at any time.",
    HpaFloor = "hpa-floor" Warning "An autoscaler may scale down to, or stands at, a count at which the rule allows nothing.",
    OperatorOwned = "operator-owned" Info "An operator makes this budget and moves it itself. Use the operator's own way to drain a node.",
    NotJudged = "not-judged" Warning "Something that the answer depends on could not be read, so it is not judged.",
    // Drains.
    DaemonSet = "daemonset" Info "A DaemonSet's pod: drain leaves it alone, with --ignore-daemonsets.",
    Mirror = "mirror" Info "The mirror of a static pod: the kubelet runs it, drain leaves it alone.",
    Completed = "completed" Info "The pod has ended: it goes without a budget's leave.",
    Terminating = "terminating" Info "The pod is being deleted already, or is to be deleted.",
    EmptyDir = "empty-dir" Warning "The pod has scratch space on the node (emptyDir) that is lost with it: drain refuses without --delete-emptydir-data.",
    Unmanaged = "unmanaged" Warning "The pod has no controller: nothing makes a new one. Drain refuses without --force.",
    Orphaned = "orphaned" Warning "The pod's controller is gone. Drain refuses without --force where it was a DaemonSet; a budget that counts by owners fails to sync.",
    BudgetNever = "budget-never" Error "A budget refuses the eviction (429) and always will as things are.",
    BudgetWaits = "budget-waits" Warning "A budget refuses the eviction (429) until pods are Ready.",
    BudgetShared = "budget-shared" Info "Earlier evictions of the same plan use the budget up; the next has to wait for the replacement.",
    ReplacementUnschedulable = "replacement-unschedulable" Error "The pod that replaces the evicted one fits on no other node.",
    ReplacementPreempts = "replacement-preempts" Warning "The replacement fits only by preempting pods of lower priority.",
    PinnedVolume = "pinned-volume" Error "The pod's volume exists on this node (or zone) only.",
    PinnedNode = "pinned-node" Error "The pod may run on this node only: its selector, affinity or name says so.",
    Finalizer = "finalizer" Warning "A finalizer holds the pod until somebody takes it off.",
    LongGrace = "long-grace" Warning "The pod may take long to end: its grace period is long.",
    StuckTerminating = "stuck-terminating" Error "The pod is being deleted, or would be, and does not end.",
    Webhook = "webhook" Warning "An admission webhook sees the eviction or the deletion, and may deny it or fail.",
    Quota = "quota" Error "A ResourceQuota refuses the pod.",
    Ordered = "ordered" Info "The workload makes a new pod only after an older one has ended or is Ready.",
    IndexOverlap = "index-overlap" Warning "An Indexed Job starts the replacement while the old pod of the same index still runs: two workers of one index at once.",
    GraceBudget = "grace-budget" Warning "preStop and shutdown need longer than the grace period that the pod will get.",
    Downtime = "downtime" Warning "All pods of the workload are on the nodes that are drained, and no budget protects them.",
    NodeUnreachable = "node-unreachable" Error "The node's kubelet does not answer, so a deletion there does not end.",
    ReplacementNeverReady = "replacement-never-ready" Error "Pods of this workload do not become Ready today, so waiting does not help.",
    RolloutInProgress = "rollout-in-progress" Warning "A rollout of the workload uses the same budget.",
    ReadinessGateAbsent = "readiness-gate-absent" Warning "The namespace asks for load-balancer readiness gates and the pod has none: it may be called Ready before it gets traffic.",
    Reloader = "reloader" Warning "A config change restarts this workload by itself, perhaps during the drain.",
    IdentityAgent = "identity-agent" Warning "The pod's credentials come from an agent that the target node must run.",
    AutoscalerKeeps = "autoscaler-keeps" Info "An annotation keeps autoscalers from evicting the pod. It does not stop kubectl drain.",
    // Pending pods.
    Gated = "gated" Warning "Scheduling gates keep the scheduler from looking at the pod.",
    NoScheduler = "no-scheduler" Warning "Nothing has looked at the pod: no scheduler of its name seems to run.",
    OtherScheduler = "other-scheduler" Info "Another scheduler than kube-scheduler looks after the pod.",
    NoNodes = "no-nodes" Error "There are no nodes.",
    FitsNow = "fits-now" Info "In the present state the pod fits.",
    StaleCondition = "stale-condition" Info "What is recorded on the pod speaks of an earlier state.",
    Insufficient = "insufficient" Error "No node has enough of a resource free.",
    LargerThanAnyNode = "larger-than-any-node" Error "No node that the pod may use could hold it even when empty.",
    TooManyPods = "too-many-pods" Error "The node's pod slots are used up.",
    HostPort = "host-port" Error "The port is taken on the node.",
    ExtendedResource = "extended-resource" Error "A device or other extended resource is not free, or not there.",
    ResourceClaim = "resource-claim" Error "A device claim is not met.",
    Cordoned = "cordoned" Warning "The node is cordoned.",
    Taint = "taint" Error "The node has a taint that the pod does not tolerate.",
    NodeAffinity = "node-affinity" Error "The pod's node selector or affinity rules the node out.",
    NodeName = "node-name" Error "The pod names another node, or one that does not exist.",
    NodeNotReady = "node-not-ready" Error "The node is not Ready or not reachable, and tainted for that.",
    PodAffinity = "pod-affinity" Error "The pod must run beside others that do not run there.",
    PodAntiAffinity = "pod-anti-affinity" Error "The pod may not run beside others that run there.",
    ExistingAntiAffinity = "existing-anti-affinity" Error "Pods that run there do not bear this pod beside them.",
    TopologySpread = "topology-spread" Error "The pod would make the spread over the domains too uneven.",
    VolumeUnbound = "volume-unbound" Error "A claim is not bound to a volume.",
    VolumeMissing = "volume-missing" Error "A claim, or the volume it is bound to, does not exist.",
    VolumeDeleted = "volume-deleted" Error "A claim is being deleted.",
    VolumeProvisioner = "volume-provisioner" Error "A claim waits for its class's provisioner, which has not answered.",
    VolumeZone = "volume-zone" Error "The volume is in another zone.",
    VolumeNodeAffinity = "volume-node-affinity" Error "The volume is not reachable from the node.",
    VolumeLimit = "volume-limit" Error "The node has as many volumes attached as it can.",
    VolumeInUse = "volume-in-use" Error "The volume is used by another pod and cannot be shared.",
    PolicyNever = "policy-never" Warning "The pod's preemptionPolicy is Never: it waits and takes no room from others.",
    NothingLower = "nothing-lower" Info "Nothing of lower priority runs there.",
    NotHelpful = "not-helpful" Info "Taking pods away would not help.",
    NominatedWaits = "nominated-waits" Info "A node is held for the pod, which waits for its victims to end.",
    VictimStuck = "victim-stuck" Error "A victim of preemption does not end.",
    NominationStale = "nomination-stale" Warning "The node held for the pod cannot take it any more.",
    RoomRetaken = "room-retaken" Warning "Another pod took the room that preemption made.",
    CrossNode = "cross-node" Warning "Only pods on other nodes stand in the way, and the scheduler does not remove those.",
    PriorityOfOthers = "priority-of-others" Info "The room belongs to a nominated pod of equal or higher priority.",
    BudgetsViolated = "budgets-violated" Warning "Preemption would violate budgets: it honours them only as best effort.",
    VictimCannotMove = "victim-cannot-move" Warning "A victim can run nowhere else.",
    SameOwner = "same-owner" Warning "The victims belong to the pod's own workload.",
    DefaultClass = "default-class" Info "The priority comes from a default class that nobody chose.",
    LimitRange = "limit-range" Error "A LimitRange refuses the pod.",
    PriorityClass = "priority-class" Error "The pod's PriorityClass does not exist.",
    ServiceAccount = "service-account" Error "The pod's service account does not exist.",
    AdmissionWebhook = "admission-webhook" Error "An admission webhook refuses the pod.",
    ReplacementPolicy = "replacement-policy" Warning "The Job makes a new pod only when the old one has ended.",
    ImagePull = "image-pull" Error "An image cannot be pulled.",
    VolumeAttach = "volume-attach" Error "A volume cannot be attached or mounted.",
    ConfigMissing = "config-missing" Error "A Secret or ConfigMap that the pod names does not exist.",
    Init = "init" Error "An init container does not finish.",
    KubeletReject = "kubelet-reject" Error "The node's kubelet rejected the pod.",
    Sandbox = "sandbox" Error "The pod's sandbox or network cannot be set up.",
}

impl Code {
    /// The code of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|c| c.as_str() == word)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

/// Something an answer found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its code.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in a sentence that names what causes it.
    pub message: String,
    /// What is at fault: `Kind/namespace/name`, or `Kind/name`.
    pub objects: Vec<String>,
    /// The same objects, in the form programs look them up by.
    pub refs: Vec<Ref>,
    /// What can be done about it, least first.
    pub remedies: Vec<Remedy>,
}

/// A reference to an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ref {
    /// `policy/v1`, `v1` …
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace, absent outside namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

/// Something that can be done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Remedy {
    /// What to do, in words that name the object and the field or flag.
    pub text: String,
    /// A line that can be pasted into a shell as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The line that takes it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// What it costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// Whether the engine, run again with the change, says that it cures.
    pub verified: bool,
}

impl Ref {
    /// A reference by API version, kind, namespace (empty outside namespaces) and name.
    pub fn new(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
            name: name.to_owned(),
        }
    }

    /// A pod.
    pub fn pod(pod: &crate::snapshot::pod::Pod) -> Self {
        Self::new("v1", "Pod", pod.meta.ns(), &pod.meta.name)
    }

    /// A node.
    pub fn node(name: &str) -> Self {
        Self::new("v1", "Node", "", name)
    }

    /// A budget.
    pub fn budget(budget: &crate::snapshot::budget::Budget) -> Self {
        Self::new("policy/v1", "PodDisruptionBudget", budget.meta.ns(), &budget.meta.name)
    }

    /// A workload.
    pub fn workload(w: &crate::snapshot::workload::Workload) -> Self {
        let api_version = if w.group.is_empty() { w.version.to_string() } else { format!("{}/{}", w.group, w.version) };
        Self::new(&api_version, &w.kind, w.meta.ns(), &w.meta.name)
    }

    /// An object of a known kind.
    pub fn of(kind: crate::snapshot::Kind, meta: &crate::snapshot::meta::Meta) -> Self {
        let i = kind.info();
        let api_version = if i.group.is_empty() { i.version.to_owned() } else { format!("{}/{}", i.group, i.version) };
        Self::new(&api_version, i.name, meta.ns(), &meta.name)
    }
}

/// `Kind/namespace/name`, or `Kind/name`.
impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(ns) => write!(f, "{}/{ns}/{}", self.kind, self.name),
            None => write!(f, "{}/{}", self.kind, self.name),
        }
    }
}

impl Finding {
    /// A finding with the severity of its code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            objects: Vec::new(),
            refs: Vec::new(),
            remedies: Vec::new(),
        }
    }

    /// The same finding, with what is at fault.
    #[must_use]
    pub fn about(mut self, refs: impl IntoIterator<Item = Ref>) -> Self {
        for r in refs {
            self.objects.push(r.to_string());
            self.refs.push(r);
        }
        self
    }

    /// The same finding, with something that can be done.
    #[must_use]
    pub fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedies.push(remedy);
        self
    }

    /// The same finding, with another severity than its code's.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_told_apart() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.as_str()), Some(*code));
            assert!(code.explanation().ends_with('.'), "{code}");
        }
    }
}
