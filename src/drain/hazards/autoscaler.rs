//! Annotations that keep autoscalers from evicting a pod: they do not stop `kubectl drain`.

use super::Look;
use crate::drain::note::Note;
use crate::finding::Code;

/// Annotation, the value that keeps the pod, and who heeds it.
const KEEPS: [(&str, &str, &str); 2] = [
    ("karpenter.sh/do-not-disrupt", "true", "Karpenter"),
    ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false", "Cluster Autoscaler"),
];

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    for (annotation, value, who) in KEEPS {
        if look.is_running() && look.pod.meta.annotations.get(annotation).is_some_and(|v| &**v == value) {
            let text =
                format!("{annotation}: {value} stops {who} and not kubectl drain: the pod is evicted all the same");
            notes.push(Note::new(Code::AutoscalerKeeps, text));
        }
    }
}
