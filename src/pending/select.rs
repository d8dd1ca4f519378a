//! What is asked about.

use super::item::Subject;
use super::stage::is_pending;
use crate::snapshot::Snapshot;
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::workload::Workload;
use std::sync::Arc;

/// Something asked for by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A pod.
    Pod(String),
    /// A workload: its kind as the API writes it, and its name.
    Workload(String, String),
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
        // Of a Deployment and its ReplicaSet the Deployment speaks.
        let tops = workloads.filter(|w| snapshot.controller_of(&w.meta).is_none()).cloned().map(Subject::Workload);
        let pods = request.pods(snapshot).iter().filter(|p| is_pending(p) && request.takes_labels(&p.meta.labels));
        return Ok(tops.chain(pods.cloned().map(Subject::Pod)).collect());
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
                for w in request.workloads(snapshot) {
                    if *w.kind == **kind && *w.meta.name == **name {
                        subjects.push(Subject::Workload(w.clone()));
                        subjects.extend(pending_pods(w, snapshot).map(Subject::Pod));
                    }
                }
            }
        }
        if subjects.len() == before {
            return Err(target.clone());
        }
    }
    Ok(subjects)
}

/// The pods of a workload, those of the workloads it owns included.
pub fn pods_of(workload: &Arc<Workload>, snapshot: &Snapshot) -> Vec<Arc<Pod>> {
    let Some(uid) = &workload.meta.uid else { return pods_by_name(workload, snapshot) };
    let mut pods: Vec<Arc<Pod>> = snapshot.pods_of(uid).cloned().collect();
    // Only these own workloads that own pods.
    if matches!(&*workload.kind, "Deployment" | "CronJob") || workload.template.is_none() {
        let siblings = snapshot.workloads.in_namespace(workload.meta.ns()).iter();
        let owned = siblings.filter(|w| w.meta.controller.as_ref().is_some_and(|o| o.uid == *uid));
        for child in owned.filter_map(|w| w.meta.uid.as_ref()) {
            pods.extend(snapshot.pods_of(child).cloned());
        }
    }
    pods
}

/// For an input that has lost its uids.
fn pods_by_name(workload: &Arc<Workload>, snapshot: &Snapshot) -> Vec<Arc<Pod>> {
    let pods = snapshot.pods.in_namespace(workload.meta.ns()).iter();
    let owned = |p: &&Arc<Pod>| {
        let direct = snapshot.controller_of(&p.meta);
        direct.is_some_and(|w| Arc::ptr_eq(w, workload))
            || snapshot.top_controller_of(&p.meta).is_some_and(|w| Arc::ptr_eq(w, workload))
    };
    pods.filter(owned).cloned().collect()
}

fn pending_pods(workload: &Arc<Workload>, snapshot: &Snapshot) -> impl Iterator<Item = Arc<Pod>> {
    pods_of(workload, snapshot).into_iter().filter(|p| is_pending(p))
}
