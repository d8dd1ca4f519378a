//! What differs between a cluster and the same cluster with manifests applied: the engines are asked of both.

use super::run::{Outcome, Waiting};
use crate::budget::{self, Judgement, Selection, judge};
use crate::drain::note::Note;
use crate::drain::outcome::{Outcome as Fate, PodPlan, Verdict};
use crate::drain::{NodePlan, each_alone};
use crate::finding::{Code, Finding, Ref, Severity};
use crate::lists::{count, some};
use crate::sched::State;
use crate::sched::kin::Kin;
use crate::sched::place::Placed;
use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Str};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What manifests change in a cluster.
#[derive(Debug, Clone)]
pub struct Changes {
    /// What differs, the worst first.
    pub changes: Vec<Change>,
    /// Changes that the API server refuses, each with its object.
    pub refused: Vec<(Ref, Finding)>,
    /// What gets worse, told by its cause.
    pub findings: Vec<Finding>,
    /// The cluster with the manifests applied.
    pub snapshot: Snapshot,
    /// Whether a node could not be judged with the manifests applied.
    pub is_unknown: bool,
}

/// Something that differs with manifests applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What it is about.
    pub subject: Subject,
    /// What it was: a verdict of its kind, or `absent`.
    pub before: &'static str,
    /// What it will be.
    pub after: &'static str,
    /// Why, as a sentence.
    pub why: String,
    /// How bad that is; `None` for what does not get worse.
    severity: Option<Severity>,
}

/// What a change is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A node, by its name.
    Node(String),
    /// A budget: `namespace/name`.
    Budget(String),
    /// A pod: `namespace/name`.
    Pod(String),
}

/// The word for what is not there.
const ABSENT: &str = "absent";

/// Compares a cluster with what became of it.
pub(super) fn compare(before: &Snapshot, after: Outcome) -> Changes {
    let selections = (Selection::new(before), Selection::new(&after.snapshot));
    let (old, new) = (each_alone(before, &selections.0), each_alone(&after.snapshot, &selections.1));
    let known: HashMap<&str, &NodePlan> = old.iter().map(|n| (&*n.node.meta.name, n)).collect();
    let mut changes = Vec::new();
    let mut causes: Vec<(Cause<'_>, Vec<&str>)> = Vec::new();
    for plan in &new {
        let name = &*plan.node.meta.name;
        let Some(before) = known.get(name).filter(|before| before.verdict != plan.verdict) else { continue };
        changes.push(node(before, plan));
        if let Some(cause) = Cause::of(plan).filter(|_| plan.verdict == Verdict::Blocked) {
            match causes.iter_mut().find(|(known, _)| *known.note == *cause.note) {
                Some((_, nodes)) => nodes.push(name),
                None => causes.push((cause, vec![name])),
            }
        }
    }
    let mut findings: Vec<Finding> = causes.iter().map(|(cause, nodes)| cause.finding(nodes)).collect();
    changes.extend(budgets(before, &selections.0, &after.snapshot, &selections.1));
    findings.extend(after.waiting.iter().filter_map(stays_pending));
    changes.extend(after.waiting.iter().map(waiting));
    changes.extend(pending(before, &after.snapshot));
    changes.sort_by_key(|c| (c.severity.is_none(), c.severity));
    let is_unknown = new.iter().any(|n| n.verdict == Verdict::Unknown);
    Changes { changes, refused: after.refused, findings, snapshot: after.snapshot, is_unknown }
}

/// What decides how the drain of a node ends.
struct Cause<'p> {
    pod: &'p PodPlan,
    note: &'p Note,
}

impl<'p> Cause<'p> {
    fn of(plan: &'p NodePlan) -> Option<Self> {
        let with = |fate: Fate| plan.pods.iter().find(move |p| p.outcome == fate);
        let pod =
            plan.pods.iter().find(|p| p.blocks()).or_else(|| with(Fate::Unknown)).or_else(|| with(Fate::Waits))?;
        Some(Self { pod, note: pod.notes.first()? })
    }

    fn text(&self) -> String {
        format!("pod {}: {}", self.pod.pod.meta.path(), self.note.text)
    }

    /// That these nodes can no longer be drained.
    fn finding(&self, nodes: &[&str]) -> Finding {
        let budget = |path: &Str| {
            let (namespace, name) = path.split_once('/').unwrap_or(("", path));
            Ref::new("policy/v1", "PodDisruptionBudget", namespace, name)
        };
        let noun = if nodes.len() == 1 { "node" } else { "nodes" };
        let message = format!(
            "with these manifests applied, {noun} {} can no longer be drained: {}",
            some(nodes.iter().copied(), 3),
            self.note.text
        );
        let about = nodes.iter().map(|n| Ref::node(n)).chain(self.pod.budgets.iter().map(budget));
        Finding::new(self.note.code, message).severity(Severity::Error).about(about)
    }
}

fn node(before: &NodePlan, after: &NodePlan) -> Change {
    let text = |plan: &NodePlan| Cause::of(plan).map(|cause| cause.text());
    let worse = after.verdict > before.verdict;
    let why = if worse { text(after) } else { text(before).map(|text| format!("no longer so: {text}")) };
    Change {
        subject: Subject::Node(after.node.meta.name.to_string()),
        before: before.verdict.as_str(),
        after: after.verdict.as_str(),
        why: why.unwrap_or_else(|| "nothing refuses its pods".to_owned()),
        severity: worse.then_some(if after.verdict == Verdict::Blocked { Severity::Error } else { Severity::Info }),
    }
}

fn budgets(before: &Snapshot, old: &Selection, after: &Snapshot, new: &Selection) -> Vec<Change> {
    let mut changes = Vec::new();
    for (at, budget) in after.budgets.iter().enumerate() {
        let Some(judged) = judge(after, new, at) else { continue };
        let position = before.budgets.position(budget.meta.ns(), &budget.meta.name);
        let known = position.and_then(|position| judge(before, old, position));
        let verdict = known.as_ref().map(|k| k.verdict);
        let is_news = verdict.map_or(judged.verdict != budget::Verdict::Allows, |v| v != judged.verdict);
        if is_news {
            changes.push(Change {
                subject: Subject::Budget(budget.meta.path()),
                before: verdict.map_or(ABSENT, budget::Verdict::as_str),
                after: judged.verdict.as_str(),
                why: numbers(&judged),
                severity: None,
            });
        }
    }
    changes
}

/// What leads to a verdict; where nothing speaks against it, what the budget allows.
fn numbers(judged: &Judgement) -> String {
    let allows = || {
        let n = judged.numbers;
        let pods = count(usize::try_from(n.healthy).unwrap_or(0), "Ready pod");
        format!("allows {} ({pods}, {} required)", n.allowed, n.desired)
    };
    judged.leading().map_or_else(allows, |f| f.message.clone())
}

/// Pods of the manifests that get no node.
fn waiting(w: &Waiting) -> Change {
    let subject = Subject::Pod(w.pod.meta.path());
    match &w.new_node {
        Some(new) => {
            let why = format!("{} room on a new node only: {}", who(w), new.why);
            Change { subject, before: ABSENT, after: "waits", why, severity: None }
        }
        None => {
            Change { subject, before: ABSENT, after: "unscheduled", why: no_node(w), severity: Some(Severity::Error) }
        }
    }
}

/// `12 new pods of Deployment shop/web have`.
fn who(w: &Waiting) -> String {
    let verb = if w.count == 1 { "has" } else { "have" };
    match &w.workload {
        Some(of) => format!("{} of {} {} {verb}", count(w.count, "new pod"), of.kind, of.meta.path()),
        None => format!("pod {} has", w.pod.meta.path()),
    }
}

fn no_node(w: &Waiting) -> String {
    let why = w.findings.first().map(|f| f.message.clone());
    format!("{} no node: {}", who(w), why.unwrap_or_else(|| "the scheduler finds none".to_owned()))
}

fn stays_pending(w: &Waiting) -> Option<Finding> {
    if w.new_node.is_some() {
        return None;
    }
    let code = w.findings.first().map_or(Code::Insufficient, |f| f.code);
    let message = format!("with these manifests applied, {}", no_node(w));
    let about = w.workload.as_ref().map_or_else(|| Ref::pod(&w.pod), |workload| Ref::workload(workload));
    Some(Finding::new(code, message).severity(Severity::Error).about([about]))
}

/// Pods that waited for a node and get one with the manifests applied, and the other way round.
fn pending(before: &Snapshot, after: &Snapshot) -> Vec<Change> {
    let waits = |p: &&Arc<Pod>| p.node.is_none() && p.is_active() && p.spec.scheduling_gates.is_empty();
    let mut pods: Vec<&Arc<Pod>> = before.pods.iter().filter(waits).collect();
    pods.retain(|p| after.pods.named(p.meta.ns(), &p.meta.name).is_some_and(|there| Arc::ptr_eq(there, p)));
    if pods.is_empty() || (before.pods.is_same(&after.pods) && before.nodes.is_same(&after.nodes)) {
        return Vec::new();
    }
    pods.sort_by_key(|p| (Reverse(p.priority()), p.meta.creation_timestamp));
    let (old, new) = (fitting(before, &pods), fitting(after, &pods));
    let change = |pod: &&Arc<Pod>| {
        let path = pod.meta.path();
        let (before, after, why) = match (old.contains(&path), new.contains(&path)) {
            (false, true) => ("unscheduled", "scheduled", "a node has room for the pod".to_owned()),
            (true, false) => ("scheduled", "unscheduled", "the room that it could have had is used".to_owned()),
            _ => return None,
        };
        let severity = (after == "unscheduled").then_some(Severity::Warning);
        Some(Change { subject: Subject::Pod(path), before, after, why, severity })
    };
    pods.iter().filter_map(change).collect()
}

/// Which of these pods get a node, one after the other.
fn fitting(snapshot: &Snapshot, pods: &[&Arc<Pod>]) -> HashSet<String> {
    let mut state = State::new(snapshot);
    let mut nowhere: HashSet<Kin> = HashSet::new();
    let mut fits = HashSet::new();
    for pod in pods {
        let kin = Kin::of(pod);
        if kin.as_ref().is_some_and(|k| nowhere.contains(k)) {
            continue;
        }
        match state.place(pod) {
            Placed::On(node) | Placed::Preempting { node, .. } => {
                state.bind(pod, &node);
                fits.insert(pod.meta.path());
            }
            Placed::Nowhere => nowhere.extend(kin),
        }
    }
    fits
}
