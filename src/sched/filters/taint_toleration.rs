//! `TaintToleration`: taints that forbid scheduling must be tolerated, each one.
//! Mirrors `plugins/tainttoleration/taint_toleration.go` (`Filter`) and `Toleration.ToleratesTaint`.

use super::{Incoming, Prepared, simple};
use crate::sched::status::{Plugin, Reason, Verdict};
use crate::snapshot::node::{Node, Taint};
use crate::snapshot::pod::{Pod, Toleration};

/// Makes it ready.
pub fn prepare<'a>(incoming: &Incoming<'a>) -> Prepared<'a> {
    simple(Plugin::TaintToleration, incoming, |incoming, node| {
        let taint = untolerated(incoming.pod(), &node.node).next();
        taint.map(|_| (Reason::Taint, Verdict::Unresolvable))
    })
}

/// The node's taints that keep the pod from being scheduled there.
pub fn untolerated<'a>(pod: &'a Pod, node: &'a Node) -> impl Iterator<Item = &'a Taint> {
    let hard = |t: &&Taint| &*t.effect == "NoSchedule" || &*t.effect == "NoExecute";
    node.taints.iter().filter(hard).filter(|t| !tolerates(pod, &t.key, &t.value, &t.effect))
}

/// Whether the pod bears a taint.
pub fn tolerates(pod: &Pod, key: &str, value: &str, effect: &str) -> bool {
    pod.spec.tolerations.iter().any(|t| tolerates_taint(t, key, value, effect))
}

/// The operators Lt and Gt are behind a feature that is off by default: they tolerate nothing.
fn tolerates_taint(t: &Toleration, key: &str, value: &str, effect: &str) -> bool {
    (t.effect.is_empty() || *t.effect == *effect)
        && (t.key.is_empty() || *t.key == *key)
        && match &*t.operator {
            "" | "Equal" => *t.value == *value,
            "Exists" => true,
            _ => false,
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
            assert_eq!(tolerates_taint(&t, "gpu", "yes", "NoSchedule"), want, "{t:?}");
        }
    }
}
