//! Annotations that keep autoscalers from evicting a pod: they do not stop `kubectl drain`.

use super::RuleContext;
use crate::autoscale::karpenter::disruption::{DO_NOT_DISRUPT, do_not_disrupt};
use crate::drain::actor::Actor;
use crate::drain::note::Note;
use crate::finding::Code;

/// Keeps the Cluster Autoscaler from removing the pod's node, where it is `false`.
const SAFE_TO_EVICT: &str = "cluster-autoscaler.kubernetes.io/safe-to-evict";

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let drainer = &rule.context.drainer;
    if !rule.is_running() {
        return;
    }
    // Karpenter itself says what it does with such a pod.
    let held = do_not_disrupt(rule.pod, rule.snapshot.now).filter(|_| drainer.actor != Actor::Karpenter);
    if let Some(until) = held {
        let until = until.map(|t| format!(", until {t}")).unwrap_or_default();
        let text = format!(
            "{DO_NOT_DISRUPT} keeps Karpenter from consolidating or replacing the node by choice{until}; the expiry of its \
             NodeClaim and terminationGracePeriod go past it, and {} evicts the pod all the same",
            drainer.name
        );
        notes.push(Note::new(Code::AutoscalerKeeps, text));
    }
    if rule.pod.meta.annotations.get(SAFE_TO_EVICT).is_some_and(|v| &**v == "false") {
        let text = format!(
            "{SAFE_TO_EVICT}: false keeps the Cluster Autoscaler from removing the node by choice; {} evicts the pod all \
             the same",
            drainer.name
        );
        notes.push(Note::new(Code::AutoscalerKeeps, text));
    }
}

#[cfg(test)]
mod tests {
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes};
    use crate::finding::Code;

    #[test]
    fn annotations_of_autoscalers_do_not_stop_a_drain() {
        let (karpenter, ca) = ("karpenter.sh/do-not-disrupt", "cluster-autoscaler.kubernetes.io/safe-to-evict");
        let done = r#""phase": "Failed""#;
        for (title, annotation, value, status, want) in [
            (
                "Karpenter keeps it",
                karpenter,
                "true",
                "",
                &[(Drainability::Drains, "keeps Karpenter from consolidating")][..],
            ),
            ("Karpenter may take it", karpenter, "false", "", &[]),
            (
                "the autoscaler keeps it",
                ca,
                "false",
                "",
                &[(Drainability::Drains, "keeps the Cluster Autoscaler from removing the node")],
            ),
            ("the autoscaler may take it", ca, "true", "", &[]),
            ("another annotation", "karpenter.sh/nodepool", "true", "", &[]),
            ("it has ended", karpenter, "true", done, &[]),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            c.pod_of("a", "p", "n", &format!(r#""annotations": {{"{annotation}": "{value}"}}"#), "", status);
            assert_notes(title, &c.met(Code::AutoscalerKeeps, &DrainOptions::default()), want);
        }
    }
}
