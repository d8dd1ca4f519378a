//! Deletions that do not end: a pod past its grace, a node that does not answer.

use super::{RuleContext, finalizers};
use crate::cure::silent_node::{OUT_OF_SERVICE, out_of_service, repair};
use crate::cure::{Change, Cure, Remedy};
use crate::drain::note::{Drainability, Note};
use crate::finding::{Code, Ref};
use crate::shell::Kubectl;
use crate::snapshot::age::duration_words;
use crate::snapshot::node::Node;
use std::sync::Arc;

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let pod = rule.pod;
    let node = rule.node().filter(|n| !n.is_ready());
    let taken = rule.is_gone_at_once() || node.is_some_and(|n| is_given_up(n));
    if pod.is_terminating() && pod.grace_left(rule.snapshot.now).is_none() {
        if taken && pod.meta.finalizers.is_empty() {
            return;
        }
        let overdue = pod.meta.deletion_timestamp.map_or(0, |t| rule.snapshot.now.duration_since(t).as_secs());
        let held = if pod.meta.finalizers.is_empty() {
            String::new()
        } else {
            format!(", held by the finalizer {}", pod.meta.finalizers.join(", "))
        };
        let overdue = duration_words(overdue);
        let text = match node {
            Some(node) if held.is_empty() => format!(
                "node {} does not answer: the pod's deletion is {overdue} overdue, and no kubelet confirms that the pod has ended",
                node.meta.name
            ),
            _ => format!("its deletion is {overdue} overdue and does not end{held}"),
        };
        let note = Note::new(Code::StuckTerminating, text).means(Drainability::Stuck);
        notes.push(note.about(node.map(|n| Ref::node(&n.meta.name))).remedies(ways(rule, node)));
        return;
    }
    let Some(node) = node.filter(|_| !taken) else { return };
    let name = &node.meta.name;
    let text = format!(
        "node {name} does not answer: the eviction is granted, but no kubelet confirms that the pod has ended, so it \
         stays Terminating"
    );
    let note = Note::new(Code::StuckTerminating, text).about([Ref::node(name)]);
    notes.push(note.means(Drainability::Stuck).remedies(ways(rule, Some(node))));
}

/// Whether pods that are being deleted are taken off a node that does not answer. Mirrors `gcTerminating` of
/// `pkg/controller/podgc/gc_controller.go`.
pub fn is_given_up(node: &Node) -> bool {
    !node.is_ready() && node.taints.iter().any(|t| &*t.key == OUT_OF_SERVICE)
}

/// What ends the deletion: of a finalizer whoever set it; else the node, or the word that it is off.
fn ways(rule: &RuleContext<'_>, silent: Option<&Arc<Node>>) -> Vec<Remedy> {
    let (meta, snapshot) = (&rule.pod.meta, rule.snapshot);
    if !meta.finalizers.is_empty() {
        return finalizers::ways(rule);
    }
    match silent {
        Some(node) => vec![repair(snapshot, &node.meta.name), out_of_service(node).untried(snapshot)],
        None => {
            let look = Kubectl::of(snapshot).line(meta.ns(), &["describe", "pod", &meta.name]);
            let delete = Cure::from(Change::ForceDeletePod(rule.pod.clone())).untried(snapshot);
            vec![Remedy::advice(format!("see what keeps pod {} from ending", meta.path())).command(look), delete]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes};

    #[test]
    fn deletions_that_do_not_end_hold_the_drain() {
        // It is 00:00:00. A kubelet that does not answer deletes nothing, so a pod goes only if the API server takes it
        // away at once, with no grace left, or the pod garbage collector does.
        let deleted = |at: &str| format!(r#""deletionTimestamp": "{at}", "deletionGracePeriodSeconds": 30"#);
        let (overdue, soon) = (deleted("2025-12-31T23:58:00Z"), deleted("2026-01-01T00:00:10Z"));
        let kept = format!(r#"{overdue}, "finalizers": ["x.io/keep"]"#);
        let (up, down, unknown) = ("True", "False", "Unknown");
        let off = r#"{"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}"#;
        let other = r#"{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}"#;
        let (own, none) = (DrainOptions::default(), DrainOptions { grace_period: 0, ..DrainOptions::default() });
        let deletes = DrainOptions { disable_eviction: true, ..DrainOptions::default() };
        let skips = DrainOptions { skip_wait_for_delete: 120, ..DrainOptions::default() };
        let late = &[(Drainability::Stuck, "its deletion is 2 min overdue and does not end")][..];
        let held = &[(Drainability::Stuck, "does not end, held by the finalizer x.io/keep")][..];
        let silent = &[(Drainability::Stuck, "node n does not answer: the eviction is granted")][..];
        let silent_late = &[(Drainability::Stuck, "node n does not answer: the pod's deletion is 2 min overdue")][..];
        let (grace, no_grace) = ("", r#""terminationGracePeriodSeconds": 0"#);
        let (runs, done, pending) = ("", r#""phase": "Succeeded""#, r#""phase": "Pending""#);
        for (title, ready, taint, (meta, spec, status), options, want) in [
            ("a pod on a node that answers", up, "", ("", grace, runs), &own, &[][..]),
            ("on one that does not", unknown, "", ("", grace, runs), &own, silent),
            ("on one that says so itself", down, "", ("", grace, runs), &own, silent),
            ("it is deleted instead", unknown, "", ("", grace, runs), &deletes, silent),
            ("drain does not wait for it", unknown, "", ("", grace, runs), &skips, silent),
            ("without grace by the flag", unknown, "", ("", grace, runs), &none, &[]),
            ("without grace of its own", unknown, "", ("", no_grace, runs), &own, &[]),
            ("it has ended", unknown, "", ("", grace, done), &own, &[]),
            ("the node is given up", unknown, off, ("", grace, runs), &own, &[]),
            ("the node has another taint", unknown, other, ("", grace, runs), &own, silent),
            ("it is being deleted", up, "", (&*soon, grace, runs), &own, &[]),
            ("it is being deleted, on a silent node", unknown, "", (&soon, grace, runs), &own, silent),
            ("its deletion is overdue", up, "", (&overdue, grace, runs), &own, late),
            ("overdue, on a silent node", unknown, "", (&overdue, grace, runs), &own, silent_late),
            ("overdue, on a node that is given up", unknown, off, (&overdue, grace, runs), &own, &[]),
            ("overdue, the taint on a node that answers", up, off, (&overdue, grace, runs), &own, late),
            ("overdue, and the flag leaves no grace", up, "", (&overdue, grace, runs), &none, &[]),
            ("overdue, and of itself without grace", up, "", (&overdue, no_grace, runs), &own, late),
            ("overdue, and has ended", unknown, "", (&overdue, grace, done), &own, silent_late),
            ("overdue, and never started", up, "", (&overdue, grace, pending), &own, &[]),
            ("held by a finalizer", up, "", (&kept, grace, runs), &own, held),
            ("held by a finalizer without grace", up, "", (&kept, grace, runs), &none, held),
            ("overdue, as long as drain waits", up, "", (&overdue, grace, runs), &skips, late),
        ] {
            let mut c = Cluster::new();
            c.object(&format!(
                r#"{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "n"}}, "spec": {{"taints": [{taint}]}},
                    "status": {{"conditions": [{{"type": "Ready", "status": "{ready}"}}]}}}}"#
            ));
            c.pod_of("a", "p", "n", meta, spec, status);
            assert_notes(title, &c.met(Code::StuckTerminating, options), want);
        }
    }

    #[test]
    fn what_ends_a_deletion_depends_on_what_holds_it_up() {
        // A finalizer keeps a pod whatever becomes of its node; a node that answers is not given up.
        let overdue = r#""deletionTimestamp": "2025-12-31T23:58:00Z", "deletionGracePeriodSeconds": 30"#;
        let kept = format!(r#"{overdue}, "finalizers": ["x.io/keep"]"#);
        let node = [
            "kubectl describe node n",
            "kubectl taint nodes n node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
        ];
        let finalizer = [r#"kubectl patch pod p --type=merge -p '{"metadata":{"finalizers":null}}' -n a"#];
        let pod = ["kubectl describe pod p -n a", "kubectl delete pod p --force --grace-period=0 -n a"];
        for (title, ready, meta, want) in [
            ("a silent node", "Unknown", "", &node[..]),
            ("a silent node, overdue", "Unknown", overdue, &node),
            ("overdue", "True", overdue, &pod),
            ("a finalizer", "True", &kept, &finalizer),
            ("a finalizer on a silent node", "Unknown", &kept, &finalizer),
        ] {
            let mut c = Cluster::new();
            c.object(&format!(
                r#"{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "n"}},
                    "status": {{"conditions": [{{"type": "Ready", "status": "{ready}"}}]}}}}"#
            ));
            c.pod_of("a", "p", "n", meta, "", "");
            let notes = c.met(Code::StuckTerminating, &DrainOptions::default());
            let lines: Vec<&str> =
                notes.iter().flat_map(|n| &n.remedies).flat_map(Remedy::commands).map(|l| &**l).collect();
            assert_eq!(lines, want, "{title}");
        }
    }
}
