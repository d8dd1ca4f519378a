//! What the words of a kubelet, a runtime, a network plugin or a volume's driver mean, and what can be done about them. They
//! are matched in lower case by the parts that the component's source (named at each table) has had for many versions; words
//! that are not known are told as they are.

use crate::cure::{Remedy, manager};
use crate::pending::context::Context;
use crate::snapshot::Snapshot;
use crate::snapshot::event::Event;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// What words mean.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Known {
    /// In plain words: what goes before the component's own.
    pub means: String,
    /// What can be done.
    pub remedies: Vec<Remedy>,
}

impl Known {
    pub(super) fn new(means: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { means: means.into(), remedies: vec![Remedy::advice(advice)] }
    }

    /// With a command that tells more, or does it.
    pub(super) fn command(mut self, line: String) -> Self {
        if let Some(last) = self.remedies.pop() {
            self.remedies.push(last.command(line));
        }
        self
    }

    /// With what it risks.
    pub(super) fn risk(mut self, risk: &str) -> Self {
        if let Some(last) = self.remedies.pop() {
            self.remedies.push(last.risk(risk));
        }
        self
    }
}

/// Whether one of the parts occurs in words that are in lower case.
pub(super) fn has(words: &str, parts: &[&str]) -> bool {
    parts.iter().any(|p| words.contains(p))
}

/// Where the pod's spec is changed: `the template of Deployment shop/web (Helm release web resets it …)`, or the pod.
pub(super) fn place(pod: &Pod, cx: &Context<'_>) -> String {
    match cx.snapshot.top_controller_of(&pod.meta) {
        Some(w) => {
            let kept = manager(&w.meta).map(|m| format!(" ({m})")).unwrap_or_default();
            format!("the template of {} {}{kept}", w.kind, w.meta.path())
        }
        None => match &pod.meta.controller {
            Some(owner) => format!("{} {}", owner.kind, owner.name),
            None => format!("pod {}", pod.meta.path()),
        },
    }
}

/// The newest event of some reasons about the pod.
pub(super) fn newest<'a>(pod: &'a Pod, snapshot: &'a Snapshot, reasons: &'a [&str]) -> Option<&'a Arc<Event>> {
    let events = snapshot.events_about("Pod", pod.meta.ns(), &pod.meta.name);
    events.filter(|e| reasons.contains(&&*e.reason)).max_by_key(|e| e.last_seen)
}

/// The pods of a CSI driver on a node, and whether they run.
pub(super) fn csi_pods_on(driver: &str, node: &str, cx: &Context<'_>) -> String {
    let word = driver.split('.').find(|p| !matches!(*p, "csi" | "com" | "io" | "org")).unwrap_or(driver);
    component_on(word, node, cx)
}

/// `; kube-system/x there does not run: …`: pods on a node whose names hold a word, and whether they run.
pub(super) fn component_on(word: &str, node: &str, cx: &Context<'_>) -> String {
    let pods = cx.components.containing(&[word]).on(node);
    match pods.pods.is_empty() {
        true => format!(" (no pod of {word} is on that node)"),
        false => format!(" ({word} on {node} {})", pods.words(cx.snapshot)),
    }
}
