//! The scheduler's words. Mirrors `FitError.Error` of `pkg/scheduler/framework/types.go`, and what the PostFilter
//! plugins add to it (`plugins/dynamicresources`, `plugins/defaultpreemption`).

use super::diagnosis::Diagnosis;
use super::preemption::{Preemption, PreemptionOutcome};
use super::status::{Plugin, Reason, Status};
use std::collections::HashMap;
use std::fmt::Write as _;

/// What kube-scheduler writes when it finds no nodes at all. Mirrors `ErrNoNodesAvailable`.
pub const NO_NODES: &str = "no nodes available to schedule pods";

/// What kube-scheduler writes into the PodScheduled condition of a pod that fits nowhere.
pub fn message(diagnosis: &Diagnosis, preemption: &Preemption) -> String {
    if diagnosis.total == 0 {
        return NO_NODES.to_owned();
    }
    if diagnosis.is_unknown() || diagnosis.not_enqueued().is_some() {
        return String::new();
    }
    if let Some(words) = &diagnosis.error {
        return words.clone();
    }
    let mut text = first_sentence(diagnosis);
    let after = post_filter(diagnosis, preemption);
    if !after.is_empty() {
        let _ = write!(text, " {after}");
    }
    text
}

/// What the filters said, without what preemption adds.
pub fn first_sentence(diagnosis: &Diagnosis) -> String {
    if let Some(status) = &diagnosis.rejection {
        return format!("0/{} nodes are available: {}.", diagnosis.total, status.words());
    }
    let absent = diagnosis.total - diagnosis.failures.len() - diagnosis.fits.len();
    let tally = Tally::new(diagnosis.failures.iter().map(|(_, s)| s));
    fit_error(diagnosis.total, tally, absent, diagnosis.left_out.as_ref().map(Status::words).as_deref())
}

/// The first sentence of the scheduler's words: what refuses the pod, without what preemption adds.
pub fn first_sentence_of(words: &str) -> &str {
    words.split_once(". ").map_or(words.trim_end_matches('.'), |(first, _)| first)
}

/// How many nodes gave each reason.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally(HashMap<Reason, i64>);

impl Tally {
    pub fn new<'a>(statuses: impl Iterator<Item = &'a Status>) -> Self {
        let mut tally = Self::default();
        // Most nodes refuse as the one before them does.
        let mut last: Option<(&Status, i64)> = None;
        for status in statuses {
            match &mut last {
                Some((same, n)) if *same == status => *n += 1,
                _ => last.replace((status, 1)).into_iter().for_each(|(before, n)| tally.count(before, n)),
            }
        }
        last.into_iter().for_each(|(status, n)| tally.count(status, n));
        tally
    }

    /// Counts `n` nodes with such a refusal; fewer than none takes them back.
    pub fn count(&mut self, status: &Status, n: i64) {
        for reason in &status.reasons {
            match self.0.get_mut(reason) {
                Some(known) => *known += n,
                None => drop(self.0.insert(reason.clone(), n)),
            }
        }
    }
}

/// `0/N nodes are available: 2 reason, 1 other reason.`, sorted as strings. `absent` nodes are those without a status of
/// their own, of which `absent_words` is said.
pub(super) fn fit_error(total: usize, tally: Tally, absent: usize, absent_words: Option<&str>) -> String {
    // Different reasons may have the same words.
    let mut by_words: HashMap<String, i64> = HashMap::new();
    for (reason, n) in tally.0 {
        *by_words.entry(reason.text().into_owned()).or_default() += n;
    }
    if let (Some(words), 1..) = (absent_words, absent) {
        *by_words.entry(words.to_owned()).or_default() += i64::try_from(absent).unwrap_or(i64::MAX);
    }
    let counted = by_words.into_iter().filter(|(_, n)| *n > 0);
    let mut parts: Vec<String> = counted.map(|(words, n)| format!("{n} {words}")).collect();
    parts.sort();
    let mut text = format!("0/{total} nodes are available:");
    if !parts.is_empty() {
        let _ = write!(text, " {}.", parts.join(", "));
    }
    text
}

/// Whether device claims are looked at by this version's default profile.
fn knows_claims(minor: u32) -> bool {
    minor >= 34
}

/// What the PostFilter plugins add.
fn post_filter(diagnosis: &Diagnosis, preemption: &Preemption) -> String {
    if knows_claims(diagnosis.minor) && !reached_claims(diagnosis) {
        // The claims' plugin comes first, and fails over the state that it did not get to write.
        return "not found".to_owned();
    }
    let ours = match &preemption.outcome {
        PreemptionOutcome::NotTried => return String::new(),
        PreemptionOutcome::Found if diagnosis.minor < 37 => return String::new(),
        _ => format!("preemption: {}", preemption.message),
    };
    if let Some(freed) = preemption.frees_claim {
        return format!("{freed}, {ours}");
    }
    match &preemption.outcome {
        PreemptionOutcome::Found => ours,
        _ if diagnosis.minor >= 37 || !knows_claims(diagnosis.minor) => ours,
        _ if preemption.has_claims && claims_were_read(diagnosis) => format!("still not schedulable, {ours}"),
        _ => format!("no new claims to deallocate, {ours}"),
    }
}

/// Whether the plugin for device claims came to its turn before the pod was refused.
pub(super) fn reached_claims(diagnosis: &Diagnosis) -> bool {
    diagnosis.rejection.as_ref().is_none_or(|s| s.plugin >= Plugin::DynamicResources)
}

/// Where that plugin refuses the pod itself, it has not noted its claims yet.
fn claims_were_read(diagnosis: &Diagnosis) -> bool {
    diagnosis.rejection.as_ref().is_none_or(|s| s.plugin > Plugin::DynamicResources)
}
