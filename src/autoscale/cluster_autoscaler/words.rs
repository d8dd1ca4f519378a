//! What keeps a node, for a person.

use super::settings::{self, Settings};
use super::{Blocks, Keeps};
use crate::snapshot::age::duration_words;
use jiff::Timestamp;

impl Keeps {
    /// As a sentence without its end, as of a time.
    pub fn words(&self, now: Timestamp, set: &Settings) -> String {
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
            Self::Unready => format!("the node is not Ready ({})", set.words(settings::UNREADY_ENABLED)),
            Self::Disabled => format!("no node is removed ({})", set.words(settings::SCALE_DOWN_ENABLED)),
            Self::Utilization(name, share) => {
                let flag = if name.contains('/') { settings::GPU_THRESHOLD } else { settings::THRESHOLD };
                let most = percent(set.share(flag));
                format!(
                    "pods request {}% of the node's {name}, more than {most}% ({})",
                    percent(*share),
                    set.words(flag)
                )
            }
            Self::NoResource(name) => {
                format!("the node reports no allocatable {name}, so its utilization is not known")
            }
            Self::Pod(pod, why) => format!("pod {pod} {}", why.words(set)),
            Self::Nowhere(pod, said) => format!("pod {pod} fits on no other node ({said})"),
            Self::OnCompletion(pod) => format!(
                "pod {pod} has the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: on-completion, and has not ended"
            ),
            Self::ScaleUp(pod, None) => format!(
                "a new node is added for Pending pod {pod}, if its node group is below its maximum size; no node is removed \
                 for {} after that ({})",
                duration_words(set.span(settings::DELAY_AFTER_ADD).as_secs()),
                set.words(settings::DELAY_AFTER_ADD)
            ),
            Self::ScaleUp(pod, Some(until)) => format!(
                "a node was added for pod {pod}; no node is removed for {} from now (until {until}; {})",
                duration_words(until.duration_since(now).as_secs()),
                set.words(settings::DELAY_AFTER_ADD)
            ),
        }
    }

    /// As the recordings call it.
    pub fn class(&self) -> &'static str {
        match self {
            Self::NoGroup => "no node group",
            Self::MinSize(..) => "min size",
            Self::Annotation | Self::Disabled => "scale-down-disabled",
            Self::Unready => "not Ready",
            Self::Utilization(..) | Self::NoResource(_) => "utilization",
            Self::Pod(_, why) => why.class(),
            Self::Nowhere(..) => "nowhere to move",
            Self::OnCompletion(_) => "on-completion",
            Self::ScaleUp(..) => "cooldown after scale-up",
        }
    }
}

impl Blocks {
    fn words(self, set: &Settings) -> String {
        match self {
            Self::NoController => "has a controller that does not exist".to_owned(),
            Self::FewReplicas => {
                format!("has a controller with too few replicas ({})", set.words(settings::MIN_REPLICAS))
            }
            Self::NotReplicated => "has no controller that replaces it (ReplicaSet, StatefulSet, Job or \
                 ReplicationController)"
                .to_owned(),
            Self::KubeSystem => format!(
                "is in namespace kube-system, has no budget, and is younger than {} ({})",
                duration_words(set.span(settings::SYSTEM_POD_HOLDS).as_secs()),
                set.words(settings::SYSTEM_POD_HOLDS)
            ),
            Self::NotSafeToEvict => {
                "has the annotation cluster-autoscaler.kubernetes.io/safe-to-evict: \"false\"".to_owned()
            }
            Self::LocalStorage => {
                format!("has local storage, emptyDir or hostPath ({})", set.words(settings::SKIP_LOCAL))
            }
            Self::Budget => "has a budget that allows no eviction now".to_owned(),
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
