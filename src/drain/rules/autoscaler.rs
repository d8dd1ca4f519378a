//! Annotations that keep autoscalers from evicting a pod: they do not stop `kubectl drain`.

use super::RuleContext;
use crate::drain::note::Note;
use crate::finding::Code;

/// Annotation, the value that keeps the pod, and who heeds it.
const KEEPS: [(&str, &str, &str); 2] = [
    ("karpenter.sh/do-not-disrupt", "true", "Karpenter"),
    ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false", "Cluster Autoscaler"),
];

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    for (annotation, value, who) in KEEPS {
        if rule.is_running() && rule.pod.meta.annotations.get(annotation).is_some_and(|v| &**v == value) {
            let text =
                format!("{annotation}: {value} stops {who} and not kubectl drain: the pod is evicted all the same");
            notes.push(Note::new(Code::AutoscalerKeeps, text));
        }
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
                &[(Drainability::Drains, "stops Karpenter and not kubectl drain")][..],
            ),
            ("Karpenter may take it", karpenter, "false", "", &[]),
            ("the autoscaler keeps it", ca, "false", "", &[(Drainability::Drains, "stops Cluster Autoscaler and not")]),
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
