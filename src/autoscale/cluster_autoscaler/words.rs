//! What keeps a node, for a person.

use super::{Blocks, Keeps};
use crate::snapshot::age::duration_words;
use jiff::Timestamp;

impl Keeps {
    /// As a sentence without its end, as of a time.
    pub fn words(&self, now: Timestamp) -> String {
        match self {
            Self::NoGroup => {
                "the node is in no node group as far as can be seen: it has neither a providerID nor a label \
                 that names a group"
                    .to_owned()
            }
            Self::MinSize(group, size, least) => {
                format!("node group {group} has {size} nodes and at least {least}: it is at its minimum size")
            }
            Self::Annotation => {
                "the node has the annotation cluster-autoscaler.kubernetes.io/scale-down-disabled: \"true\"".to_owned()
            }
            Self::Utilization(name, share) => format!(
                "pods request {}% of the node's {name}, more than 50% (--scale-down-utilization-threshold, its default)",
                percent(*share)
            ),
            Self::NoResource(name) => {
                format!("the node reports no allocatable {name}, so its utilization is not known")
            }
            Self::Pod(pod, why) => format!("pod {pod} {}", why.words()),
            Self::Nowhere(pod, said) => format!("pod {pod} fits on no other node ({said})"),
            Self::OnCompletion(pod) => format!(
                "pod {pod} has the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: on-completion, and has not ended"
            ),
            Self::ScaleUp(pod, None) => format!(
                "a new node is added for Pending pod {pod}, if its node group is below its maximum size; no node is removed \
                 for 10 min after that (--scale-down-delay-after-add, its default)"
            ),
            Self::ScaleUp(pod, Some(until)) => format!(
                "a node was added for pod {pod}; no node is removed for {} from now (until {until}; \
                 --scale-down-delay-after-add, its default)",
                duration_words(until.duration_since(now).as_secs())
            ),
        }
    }

    /// As the recordings call it.
    pub fn class(&self) -> &'static str {
        match self {
            Self::NoGroup => "no node group",
            Self::MinSize(..) => "min size",
            Self::Annotation => "scale-down-disabled",
            Self::Utilization(..) | Self::NoResource(_) => "utilization",
            Self::Pod(_, why) => why.class(),
            Self::Nowhere(..) => "nowhere to move",
            Self::OnCompletion(_) => "on-completion",
            Self::ScaleUp(..) => "cooldown after scale-up",
        }
    }
}

impl Blocks {
    fn words(self) -> &'static str {
        match self {
            Self::NoController => "has a controller that does not exist",
            Self::NotReplicated => {
                "has no controller that replaces it (ReplicaSet, StatefulSet, Job or ReplicationController)"
            }
            Self::KubeSystem => {
                "is in namespace kube-system, has no budget, and is younger than 1 h \
                 (--blocking-system-pod-distruption-timeout, its default)"
            }
            Self::NotSafeToEvict => "has the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: \"false\"",
            Self::LocalStorage => {
                "has local storage (emptyDir or hostPath), and --skip-nodes-with-local-storage is on by default"
            }
            Self::Budget => "has a budget that allows no eviction now",
        }
    }
}

/// Thousandths of a percent as upstream prints them: at most six digits that count.
fn percent(thousandths: i64) -> String {
    let (whole, rest) = (thousandths / 1000, thousandths % 1000);
    let rest = format!("{rest:03}");
    let rest = rest.trim_end_matches('0');
    if rest.is_empty() { whole.to_string() } else { format!("{whole}.{rest}") }
}
