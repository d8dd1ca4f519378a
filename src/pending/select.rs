//! What is asked about.

use super::item::Subject;
use super::stage::{is_pending, is_unready};
use crate::snapshot::Snapshot;
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::workload::{Detail, Workload};
use std::sync::Arc;

/// Something asked for by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A pod.
    Pod(String),
    /// A workload: its kind, and its name.
    Workload(KindWord, String),
}

/// A kind as a user or kubectl writes it, in lower case: `deployment`, `databases.postgresql.example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindWord {
    /// The kind, its plural, or a built-in kind's short name turned into its kind.
    pub kind: String,
    /// The API group, where it was written.
    pub group: Option<String>,
}

impl KindWord {
    /// Whether a workload is of the kind. The plural of a custom kind is not read; English makes it likely.
    pub fn is(&self, w: &Workload) -> bool {
        let kind = w.kind.to_lowercase();
        let plural = match kind.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None if kind.ends_with('s') => format!("{kind}es"),
            None => format!("{kind}s"),
        };
        (self.kind == kind || self.kind == plural) && self.group.as_ref().is_none_or(|g| **g == *w.group)
    }
}

/// What is asked about.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// By name; with none, everything that is not running.
    pub targets: Vec<Target>,
    /// The namespace; `None` for all.
    pub namespace: Option<String>,
    /// Only pods (and workloads) with such labels.
    pub selector: Option<LabelSelector>,
    /// Pods that run and are not Ready, too.
    pub not_ready: bool,
}

impl Request {
    /// Whether each node is wanted with its own reasons, and not just groups of nodes.
    pub fn node_by_node(&self) -> bool {
        self.selector.is_none() && self.namespace.is_some()
    }

    fn takes_labels(&self, labels: &crate::snapshot::Map) -> bool {
        self.selector.as_ref().is_none_or(|s| s.matches(labels))
    }

    fn pods<'a>(&self, snapshot: &'a Snapshot) -> &'a [Arc<Pod>] {
        match &self.namespace {
            Some(ns) => snapshot.pods.in_namespace(ns),
            None => &snapshot.pods,
        }
    }

    fn workloads<'a>(&self, snapshot: &'a Snapshot) -> &'a [Arc<Workload>] {
        match &self.namespace {
            Some(ns) => snapshot.workloads.in_namespace(ns),
            None => &snapshot.workloads,
        }
    }
}

/// What is asked about, in the snapshot; or the name of what is not there.
pub fn select(request: &Request, snapshot: &Snapshot) -> Result<Vec<Subject>, Target> {
    if request.targets.is_empty() {
        let workloads = request.workloads(snapshot).iter().filter(|w| request.takes_labels(&w.meta.labels));
        // Of a Deployment and its ReplicaSets the Deployment speaks; a Job or a StatefulSet speaks for itself, whatever owns
        // it.
        let under = |w: &Arc<Workload>| snapshot.controller_of(&w.meta).is_some_and(|o| &*o.kind == "Deployment");
        let makers = workloads.filter(|w| makes_pods(w) && !under(w)).cloned().map(Subject::Workload);
        let wanted = |p: &&Arc<Pod>| is_pending(p) || request.not_ready && is_unready(p);
        let pods = request.pods(snapshot).iter().filter(|p| request.takes_labels(&p.meta.labels)).filter(wanted);
        return Ok(makers.chain(pods.cloned().map(Subject::Pod)).collect());
    }
    let mut subjects = Vec::new();
    for target in &request.targets {
        let before = subjects.len();
        match target {
            Target::Pod(name) => {
                let pods = request.pods(snapshot).iter().filter(|p| &*p.meta.name == name.as_str());
                subjects.extend(pods.cloned().map(Subject::Pod));
            }
            Target::Workload(kind, name) => {
                let asked = request.workloads(snapshot).iter().filter(|w| *w.meta.name == **name && kind.is(w));
                for w in asked {
                    subjects.push(Subject::Workload(w.clone()));
                    let owned = owned_by(w, snapshot);
                    // A ReplicaSet says nothing that its Deployment does not say.
                    let speaks = |w: &&Arc<Workload>| !matches!(w.detail, Detail::ReplicaSet(_));
                    subjects.extend(owned.iter().filter(speaks).cloned().map(Subject::Workload));
                    let makers = std::iter::once(w).chain(&owned);
                    let pods = makers.flat_map(|w| snapshot.pods_controlled_by(w)).filter(|p| is_pending(p));
                    subjects.extend(pods.cloned().map(Subject::Pod));
                }
            }
        }
        if subjects.len() == before {
            return Err(target.clone());
        }
    }
    Ok(subjects)
}

/// Whether its controller makes pods, or what makes them.
fn makes_pods(w: &Workload) -> bool {
    !matches!(w.detail, Detail::Custom) || w.template.is_some()
}

/// The workloads below a workload: those it owns, and those that these own.
pub fn owned_by(workload: &Arc<Workload>, snapshot: &Snapshot) -> Vec<Arc<Workload>> {
    let mut found: Vec<Arc<Workload>> = Vec::new();
    let mut next = vec![workload.clone()];
    while let Some(w) = next.pop() {
        for owned in snapshot.workloads_controlled_by(&w) {
            // Owners that own each other in a ring are met once.
            if !Arc::ptr_eq(owned, workload) && !found.iter().any(|f| Arc::ptr_eq(f, owned)) {
                found.push(owned.clone());
                next.push(owned.clone());
            }
        }
    }
    found
}

/// The pods of a workload, those of the workloads below it included.
pub fn pods_of(workload: &Arc<Workload>, snapshot: &Snapshot) -> Vec<Arc<Pod>> {
    let owned = owned_by(workload, snapshot);
    let makers = std::iter::once(workload).chain(&owned);
    makers.flat_map(|w| snapshot.pods_controlled_by(w)).cloned().collect()
}
