//! What one pod meets, before pods that meet the same are told in one finding.

use super::refusal::Refusal;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// Whether a pod can be drained, as one rule has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Drainability {
    /// It can, as far as the rule goes: a warning, or a fact.
    #[default]
    Drains,
    /// It can, and whether a new pod replaces it cannot be told.
    Unreplaced,
    /// That cannot be told.
    Unknown,
    /// Its removal is granted, and does not end.
    Stuck,
    /// Its removal ends in an error.
    Refused(Refusal),
}

/// What one pod meets.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// Its code.
    pub code: Code,
    /// What it means for the pod.
    pub drainability: Drainability,
    /// What is found, as a sentence that does not name the pod: equal ones are told together.
    pub text: String,
    /// What is at fault besides the pod.
    pub about: Vec<Ref>,
    /// What can be done.
    pub remedies: Vec<Remedy>,
    /// Why nothing is offered.
    pub no_remedy: Option<String>,
    /// Another severity than the code's.
    pub severity: Option<Severity>,
}

impl Note {
    /// A note that keeps no pod from being drained.
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        let (about, remedies, no_remedy) = (Vec::new(), Vec::new(), None);
        Self { code, drainability: Drainability::Drains, text: text.into(), about, remedies, no_remedy, severity: None }
    }

    /// The same note, with what it means for the pod.
    #[must_use]
    pub fn means(mut self, drainability: Drainability) -> Self {
        self.drainability = drainability;
        self
    }

    /// The same note, with what is at fault besides the pod.
    #[must_use]
    pub fn about(mut self, refs: impl IntoIterator<Item = Ref>) -> Self {
        self.about.extend(refs);
        self
    }

    /// The same note, with something that can be done.
    #[must_use]
    pub fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedies.push(remedy);
        self
    }

    /// The same note, with several things that can be done.
    #[must_use]
    pub fn remedies(mut self, remedies: impl IntoIterator<Item = Remedy>) -> Self {
        self.remedies.extend(remedies);
        self
    }

    /// The same note, with another severity than its code's.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }
}

/// Pods with their notes as findings: one for each code and text, in the order in which they first occur; errors first.
pub fn findings<'a>(notes: impl IntoIterator<Item = (&'a Arc<Pod>, &'a Note)>) -> Vec<Finding> {
    let mut groups: Vec<(&Note, Vec<&Arc<Pod>>)> = Vec::new();
    let mut known: std::collections::HashMap<(Code, &str), usize> = std::collections::HashMap::new();
    for (pod, note) in notes {
        let at = *known.entry((note.code, &note.text)).or_insert_with(|| {
            groups.push((note, Vec::new()));
            groups.len() - 1
        });
        if let Some((_, pods)) = groups.get_mut(at) {
            pods.push(pod);
        }
    }
    let mut findings: Vec<Finding> = groups.into_iter().map(|(note, pods)| finding(note, &pods)).collect();
    findings.sort_by_key(|f| f.severity);
    findings
}

fn finding(note: &Note, pods: &[&Arc<Pod>]) -> Finding {
    let paths: Vec<String> = pods.iter().map(|p| p.meta.path()).collect();
    let names = crate::lists::some(paths.iter().map(|p| &**p), 3);
    let mut finding = Finding::new(note.code, format!("{names}: {}", note.text));
    finding = finding.about(pods.iter().map(|p| Ref::pod(p))).about(note.about.iter().cloned());
    finding.severity = note.severity.unwrap_or(finding.severity);
    finding.remedies.clone_from(&note.remedies);
    finding.no_remedy.clone_from(&note.no_remedy);
    finding
}
