//! Deletions that do not end: a pod past its grace, a node that does not answer.

use super::RuleContext;
use crate::cure::Remedy;
use crate::drain::note::{Drainability, Note};
use crate::finding::{Code, Ref};
use crate::snapshot::age::duration_words;
use crate::snapshot::node::Node;

/// Put on a node that is surely off.
pub const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

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
        let text = format!("it should have been gone {} ago and does not end{held}", duration_words(overdue));
        notes.push(Note::new(Code::StuckTerminating, text).means(Drainability::Stuck).remedy(force_delete(rule)));
        return;
    }
    let Some(node) = node.filter(|_| !taken) else { return };
    let name = &node.meta.name;
    let text = format!(
        "node {name} does not answer: the eviction is granted, but no kubelet confirms that the pod has ended, so it \
         stays Terminating"
    );
    let note = Note::new(Code::StuckTerminating, text).about([Ref::node(name)]);
    notes.push(note.means(Drainability::Stuck).remedy(force_delete(rule)));
}

/// Whether pods that are being deleted are taken off a node that does not answer. Mirrors `gcTerminating` of
/// `pkg/controller/podgc/gc_controller.go`.
pub fn is_given_up(node: &Node) -> bool {
    !node.is_ready() && node.taints.iter().any(|t| &*t.key == OUT_OF_SERVICE)
}

fn force_delete(rule: &RuleContext<'_>) -> Remedy {
    let meta = &rule.pod.meta;
    let kubectl = crate::shell::Kubectl::of(rule.snapshot);
    Remedy::advice(format!(
        "once it is certain that node {} is off: delete pod {} without waiting for its kubelet, or give the node the \
         taint {OUT_OF_SERVICE}",
        rule.pod.node.as_deref().unwrap_or_default(),
        meta.path()
    ))
    .command(kubectl.line(meta.ns(), &["delete", "pod", &meta.name, "--force", "--grace-period=0"]))
    .risk("two copies of it run at once if the node still lives: data of a StatefulSet may be damaged")
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
        let late = &[(Drainability::Stuck, "it should have been gone 2 min ago and does not end")][..];
        let held = &[(Drainability::Stuck, "does not end, held by the finalizer x.io/keep")][..];
        let silent = &[(Drainability::Stuck, "node n does not answer")][..];
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
            ("overdue, on a silent node", unknown, "", (&overdue, grace, runs), &own, late),
            ("overdue, on a node that is given up", unknown, off, (&overdue, grace, runs), &own, &[]),
            ("overdue, the taint on a node that answers", up, off, (&overdue, grace, runs), &own, late),
            ("overdue, and the flag leaves no grace", up, "", (&overdue, grace, runs), &none, &[]),
            ("overdue, and of itself without grace", up, "", (&overdue, no_grace, runs), &own, late),
            ("overdue, and has ended", unknown, "", (&overdue, grace, done), &own, late),
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
}
