//! What is known of a cluster at one moment: immutable, interned, indexed, with its own `now` and its gaps.

pub(crate) mod age;
pub(crate) mod api_version;
pub(crate) mod budget;
pub mod builder;
pub mod coverage;
mod custom;
pub(crate) mod entrypoint;
pub(crate) mod event;
pub(crate) mod header;
pub(crate) mod intern;
pub(crate) mod keep;
pub(crate) mod kinds;
pub(crate) mod meta;
mod newest;
pub(crate) mod node;
pub(crate) mod object;
pub(crate) mod pod;
pub mod pod_state;
pub(crate) mod probe;
pub(crate) mod quantity;
pub(crate) mod read_pod;
pub(crate) mod requirement;
pub(crate) mod selector;
mod selector_text;
#[cfg(any(feature = "live", test))]
pub(crate) mod slim;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod version;
pub mod workload;

pub use intern::{Map, Str};
pub use kinds::Kind;
pub use table::{Table, Twice};
#[cfg(test)]
pub(crate) use tables::samples::samples;

use crate::wire;
use coverage::Coverage;
use event::Event;
use foldhash::HashMap;
use jiff::Timestamp;
use meta::{Meta, OwnerRef};
use object::Object;
use pod::Pod;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use tables::Tables;
use version::Version;
use workload::Workload;

/// A Namespace.
pub type Namespace = Object<wire::core::Namespace>;
/// A PersistentVolumeClaim.
pub type PersistentVolumeClaim = Object<wire::volume::PersistentVolumeClaim>;
/// A PersistentVolume.
pub type PersistentVolume = Object<wire::volume::PersistentVolume>;
/// A StorageClass.
pub type StorageClass = Object<wire::storage::StorageClass>;
/// A CSIStorageCapacity.
pub type CSIStorageCapacity = Object<wire::storage::CSIStorageCapacity>;
/// A PriorityClass.
pub type PriorityClass = Object<wire::policy::PriorityClass>;
/// A HorizontalPodAutoscaler.
pub type HorizontalPodAutoscaler = Object<wire::apps::HorizontalPodAutoscaler>;

/// Where a snapshot came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// Files it was read from, as the user named them; empty for a live cluster.
    pub files: Vec<String>,
    /// The kubeconfig context of a live cluster.
    pub context: Option<String>,
    /// The URL of the API server.
    pub server: Option<String>,
    /// The server's version as it calls itself, such as `v1.36.3`.
    pub server_version: Option<String>,
}

/// A cluster at one moment. Cloning is cheap: the tables are shared until one is changed.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The time all answers speak of.
    pub now: Timestamp,
    /// Where it came from.
    pub source: Source,
    /// What was read and what could not be.
    pub coverage: Coverage,
    /// What the files have two states of.
    pub twice: Twice,
    tables: Tables,
    /// Every eviction asks for the version, so the nodes are looked through once.
    newest_kubelet: Option<Version>,
    index: Arc<Index>,
}

/// The tables are fields of the snapshot in all but name: `snapshot.pods`.
impl Deref for Snapshot {
    type Target = Tables;
    fn deref(&self) -> &Tables {
        &self.tables
    }
}

impl DerefMut for Snapshot {
    fn deref_mut(&mut self) -> &mut Tables {
        &mut self.tables
    }
}

/// The label by which the API server gives each namespace its name.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Look-ups that the order of the tables does not give. Positions in the tables of pods and workloads.
#[derive(Debug, Default)]
struct Index {
    pods_by_node: HashMap<Str, Vec<u32>>,
    pods_by_controller: HashMap<Str, Vec<u32>>,
    workloads_by_controller: HashMap<Str, Vec<u32>>,
    workloads_by_uid: HashMap<Str, u32>,
}

impl Index {
    fn new(pods: &Table<Pod>, workloads: &Table<Workload>) -> Self {
        let mut index = Self::default();
        for (at, pod) in (0u32..).zip(pods.iter()) {
            if let Some(node) = &pod.node {
                index.pods_by_node.entry(node.clone()).or_default().push(at);
            }
            if let Some(owner) = &pod.meta.controller {
                index.pods_by_controller.entry(owner.uid.clone()).or_default().push(at);
            }
        }
        for (at, workload) in (0u32..).zip(workloads.iter()) {
            if let Some(owner) = &workload.meta.controller {
                index.workloads_by_controller.entry(owner.uid.clone()).or_default().push(at);
            }
        }
        index.workloads_by_uid =
            (0u32..).zip(workloads.iter()).filter_map(|(at, w)| Some((w.meta.uid.clone()?, at))).collect();
        index
    }
}

impl Snapshot {
    /// Of tables that are sorted.
    fn new(now: Timestamp, source: Source, coverage: Coverage, tables: Tables, twice: Twice) -> Self {
        let kubelets = tables.nodes.iter().filter_map(|n| Version::parse(n.kubelet_version.as_deref()?));
        Self {
            now,
            source,
            coverage,
            twice,
            newest_kubelet: kubelets.max(),
            index: Arc::new(Index::new(&tables.pods, &tables.workloads)),
            tables,
        }
    }

    /// The minor version of Kubernetes to judge by: the server's, else the newest kubelet's, else the newest known.
    pub fn minor(&self) -> u32 {
        let server = self.source.server_version.as_deref().and_then(Version::parse);
        server.or(self.newest_kubelet).map_or(version::NEWEST_MINOR, |v| v.minor)
    }

    /// The pods bound to a node, in order of namespace and name; finished and terminating ones included.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Arc<Pod>> {
        self.at(self.index.pods_by_node.get(node))
    }

    /// The pods whose controller has this uid.
    pub fn pods_of(&self, controller_uid: &str) -> impl Iterator<Item = &Arc<Pod>> {
        self.at(self.index.pods_by_controller.get(controller_uid))
    }

    /// The workloads whose controller has this uid.
    pub fn workloads_of(&self, controller_uid: &str) -> impl Iterator<Item = &Arc<Workload>> {
        let positions = self.index.workloads_by_controller.get(controller_uid);
        positions.into_iter().flatten().filter_map(|at| self.workloads.get(*at as usize))
    }

    /// The pods that a workload controls itself; by its name where the input has lost its uid.
    pub fn pods_controlled_by(&self, workload: &Arc<Workload>) -> Vec<&Arc<Pod>> {
        match &workload.meta.uid {
            Some(uid) => self.pods_of(uid).collect(),
            None => {
                let own = |p: &&Arc<Pod>| self.controller_of(&p.meta).is_some_and(|w| Arc::ptr_eq(w, workload));
                self.pods.in_namespace(workload.meta.ns()).iter().filter(own).collect()
            }
        }
    }

    /// The workloads that a workload controls itself; by its name where the input has lost its uid.
    pub fn workloads_controlled_by(&self, workload: &Arc<Workload>) -> Vec<&Arc<Workload>> {
        match &workload.meta.uid {
            Some(uid) => self.workloads_of(uid).collect(),
            None => {
                let own = |w: &&Arc<Workload>| self.controller_of(&w.meta).is_some_and(|o| Arc::ptr_eq(o, workload));
                self.workloads.in_namespace(workload.meta.ns()).iter().filter(own).collect()
            }
        }
    }

    fn at(&self, positions: Option<&Vec<u32>>) -> impl Iterator<Item = &Arc<Pod>> {
        positions.into_iter().flatten().filter_map(|at| self.pods.get(*at as usize))
    }

    /// The workload of a kind, namespace and name.
    pub fn workload(&self, kind: &str, ns: &str, name: &str) -> Option<&Arc<Workload>> {
        let from = self.workloads.position(ns, name)?;
        self.workloads
            .get(from..)?
            .iter()
            .take_while(|w| &*w.meta.name == name && w.meta.ns() == ns)
            .find(|w| &*w.kind == kind)
    }

    /// The workload that a reference names: by uid, else (a file may have lost uids) by kind and name.
    pub fn workload_of(&self, ns: &str, owner: &OwnerRef) -> Option<&Arc<Workload>> {
        let by_uid = self.index.workloads_by_uid.get(&owner.uid).and_then(|at| self.workloads.get(*at as usize));
        by_uid.or_else(|| {
            self.workload(&owner.kind, ns, &owner.name).filter(|w| owner.uid.is_empty() || w.meta.uid.is_none())
        })
    }

    /// The controller of an object, where it is in the input.
    pub fn controller_of(&self, meta: &Meta) -> Option<&Arc<Workload>> {
        self.workload_of(meta.ns(), meta.controller.as_ref()?)
    }

    /// The topmost controller of an object that is in the input: the Deployment rather than its ReplicaSet. Owners
    /// that own each other in a ring end after a few steps.
    pub fn top_controller_of(&self, meta: &Meta) -> Option<&Arc<Workload>> {
        let mut top = self.controller_of(meta)?;
        for _ in 0..8 {
            match self.controller_of(&top.meta) {
                Some(above) if !Arc::ptr_eq(above, top) => top = above,
                _ => break,
            }
        }
        Some(top)
    }

    /// The labels of a namespace. Of one that is not in the input, the one that the API server gives to each.
    pub fn namespace_labels(&self, name: &str) -> Map {
        let known = self.namespaces.named("", name).map(|n| n.meta.labels.clone()).unwrap_or_default();
        if known.has(NAMESPACE_NAME) { known } else { known.with(NAMESPACE_NAME, name) }
    }

    /// Whether a namespace is being deleted: nothing can be created in it.
    pub fn is_namespace_terminating(&self, name: &str) -> bool {
        let terminating =
            |n: &Namespace| n.meta.is_terminating() || n.status.as_ref().is_some_and(|s| s.phase == "Terminating");
        self.namespaces.named("", name).is_some_and(|n| terminating(n))
    }

    /// Builds the look-ups again, after pods or workloads were added, removed or moved.
    pub fn reindex(&mut self) {
        self.index = Arc::new(Index::new(&self.tables.pods, &self.tables.workloads));
    }

    /// The events about an object, in no special order.
    pub fn events_about<'a>(
        &'a self,
        kind: &'a str,
        ns: &'a str,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Arc<Event>> {
        // Events about objects outside namespaces stand in `default`.
        let table = if ns.is_empty() { &self.events[..] } else { self.events.in_namespace(ns) };
        table.iter().filter(move |e| &*e.kind == kind && &*e.name == name)
    }
}
