//! Small clusters for tests, written with few words: `pod("shop/web-0").on("n1").ready()`.
//!
//! An object is JSON as the API writes it, so that a test goes the way that input goes. What the short methods do not
//! say, [`Object::with`] says. Uids follow from kind and name, so that an owner is named without being looked up.
//!
//! ```text
//! cluster()
//!     .add(node("n1"))
//!     .add(budget("shop/web").selects("app=web").max_unavailable(1).allows(1))
//!     .add(deployment("shop/web").on(&["n1", "n1"]))       the Deployment, its ReplicaSet, two Ready pods
//!     .add(pod("shop/once").on("n1").crashing())
//!     .snapshot()
//! ```

#![allow(dead_code, reason = "a test takes from it what it needs")]
#![allow(clippy::needless_pass_by_value, reason = "a test writes its JSON where it is taken")]

use crate::snapshot::builder::Builder;
use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Source};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The time that test clusters speak of where they do not say another.
pub(crate) const NOW: &str = "2026-01-01T12:00:00Z";

/// The version that test clusters are judged by where they do not say another.
pub(crate) const VERSION: &str = "v1.36.3";

/// A cluster under construction.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    objects: Vec<Value>,
    now: String,
    version: String,
}

/// An empty cluster of [`VERSION`] at [`NOW`].
pub(crate) fn cluster() -> Cluster {
    Cluster { objects: Vec::new(), now: NOW.to_owned(), version: VERSION.to_owned() }
}

impl Cluster {
    /// With an object, or a workload and its pods.
    #[must_use]
    pub fn add(mut self, objects: impl Into<Objects>) -> Self {
        self.objects.extend(objects.into().0);
        self
    }

    /// With every one of these.
    #[must_use]
    pub fn all(self, objects: impl IntoIterator<Item = impl Into<Objects>>) -> Self {
        objects.into_iter().fold(self, Self::add)
    }

    /// At another time.
    #[must_use]
    pub fn at(mut self, now: &str) -> Self {
        now.clone_into(&mut self.now);
        self
    }

    /// Of another version: `v1.37.2`.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        version.clone_into(&mut self.version);
        self
    }

    /// The cluster as it would be read from a file without a `Snapshot` entry: a kind that has no object is a gap.
    pub fn snapshot(&self) -> Snapshot {
        let mut b = Builder::default();
        for object in &self.objects {
            b.add_json(object.to_string().as_bytes()).unwrap_or_else(|e| panic!("{e}: {object}"));
        }
        let source = Source { server_version: Some(self.version.clone()), ..Source::default() };
        b.finish(source, Some(self.now.parse().expect("a time in RFC 3339")))
    }
}

/// Objects that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Objects(Vec<Value>);

impl Objects {
    /// The JSON.
    pub fn json(self) -> Vec<Value> {
        self.0
    }
}

impl From<Object> for Objects {
    fn from(object: Object) -> Self {
        Self(vec![object.0])
    }
}

impl From<Value> for Objects {
    fn from(object: Value) -> Self {
        Self(vec![object])
    }
}

/// One object, as the API writes it.
#[derive(Debug, Clone)]
pub(crate) struct Object(Value);

/// An object of any kind: its API version, kind, and `namespace/name` or `name`.
pub(crate) fn object(api_version: &str, kind: &str, path: &str) -> Object {
    let mut meta = Map::new();
    let (ns, name) = path.rsplit_once('/').unwrap_or(("", path));
    meta.insert("name".to_owned(), json!(name));
    if !ns.is_empty() {
        meta.insert("namespace".to_owned(), json!(ns));
    }
    meta.insert("uid".to_owned(), json!(uid(kind, ns, name)));
    meta.insert("generation".to_owned(), json!(1));
    Object(json!({"apiVersion": api_version, "kind": kind, "metadata": meta}))
}

fn uid(kind: &str, ns: &str, name: &str) -> String {
    format!("{ns}-{kind}-{name}")
}

/// A node with 4 cpu, 8Gi of memory, 10Gi of ephemeral storage and 110 pod slots, Ready.
pub(crate) fn node(name: &str) -> Object {
    let allocatable = json!({"cpu": "4", "memory": "8Gi", "ephemeral-storage": "10Gi", "pods": "110"});
    object("v1", "Node", name).label("kubernetes.io/hostname", name).with(json!({"spec": {},
        "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}}))
}

/// A Pending pod with one container `c` that asks for nothing.
pub(crate) fn pod(path: &str) -> Object {
    object("v1", "Pod", path).with(json!({"spec": {"containers": [{"name": "c"}]}, "status": {"phase": "Pending"}}))
}

/// A budget without a rule, whose status is up to date with its spec and allows nothing.
pub(crate) fn budget(path: &str) -> Object {
    object("policy/v1", "PodDisruptionBudget", path)
        .with(json!({"spec": {}, "status": {"observedGeneration": 1, "disruptionsAllowed": 0}}))
}

impl Object {
    /// Merged with `more`, key by key; lists and scalars of `more` take the place of those that are there.
    #[must_use]
    pub fn with(self, more: Value) -> Self {
        Self(merged(self.0, more))
    }

    /// With a label.
    #[must_use]
    pub fn label(self, key: &str, value: &str) -> Self {
        self.with(json!({"metadata": {"labels": {key: value}}}))
    }

    /// With labels, written `app=web,tier=front`.
    #[must_use]
    pub fn labels(self, labels: &str) -> Self {
        self.with(json!({"metadata": {"labels": pairs(labels)}}))
    }

    /// With an annotation.
    #[must_use]
    pub fn annotation(self, key: &str, value: &str) -> Self {
        self.with(json!({"metadata": {"annotations": {key: value}}}))
    }

    /// Controlled by `Kind/name` of its own namespace.
    #[must_use]
    pub fn owned_by(self, api_version: &str, owner: &str) -> Self {
        let (kind, name) = owner.split_once('/').expect("Kind/name");
        let ns = self.0.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default();
        let uid = uid(kind, ns, name);
        self.with(json!({"metadata": {"ownerReferences": [
            {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true}]}}))
    }

    /// Made at this time.
    #[must_use]
    pub fn created(self, at: &str) -> Self {
        self.with(json!({"metadata": {"creationTimestamp": at}}))
    }

    /// Being deleted, to be gone at this time, with so many seconds of grace.
    #[must_use]
    pub fn deleted(self, at: &str, grace: i64) -> Self {
        self.with(json!({"metadata": {"deletionTimestamp": at, "deletionGracePeriodSeconds": grace}}))
    }

    /// With this spec, merged into what is there.
    #[must_use]
    pub fn spec(self, spec: Value) -> Self {
        self.with(json!({"spec": spec}))
    }

    /// With this status, merged into what is there.
    #[must_use]
    pub fn status(self, status: Value) -> Self {
        self.with(json!({"status": status}))
    }

    /// With a condition in the place of all others.
    #[must_use]
    pub fn condition(self, kind: &str, status: &str, reason: &str) -> Self {
        self.status(json!({"conditions": [{"type": kind, "status": status, "reason": reason}]}))
    }

    /// The JSON.
    pub fn json(self) -> Value {
        self.0
    }
}

/// Pods.
impl Object {
    /// A pod bound to a node, and running.
    #[must_use]
    pub fn on(self, node: &str) -> Self {
        self.with(json!({"spec": {"nodeName": node}, "status": {"phase": "Running"}}))
    }

    /// A pod that is Ready.
    #[must_use]
    pub fn ready(self) -> Self {
        self.condition("Ready", "True", "")
    }

    /// A pod whose container is in CrashLoopBackOff.
    #[must_use]
    pub fn crashing(self) -> Self {
        self.condition("Ready", "False", "ContainersNotReady").status(json!({"containerStatuses": [
            {"name": "c", "ready": false, "restartCount": 9, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}))
    }

    /// A pod that ended: `Succeeded` or `Failed`.
    #[must_use]
    pub fn ended(self, phase: &str) -> Self {
        self.status(json!({"phase": phase}))
    }

    /// A pod whose container `c` asks for this much: `requests("cpu", "500m")`.
    #[must_use]
    pub fn requests(mut self, resource: &str, quantity: &str) -> Self {
        let container = self.0.pointer_mut("/spec/containers/0").expect("a pod with a container");
        *container = merged(container.take(), json!({"resources": {"requests": {resource: quantity}}}));
        self
    }
}

/// Nodes.
impl Object {
    /// A node that is cordoned, with the taint that follows.
    #[must_use]
    pub fn cordoned(self) -> Self {
        self.spec(json!({"unschedulable": true})).taint("node.kubernetes.io/unschedulable:NoSchedule")
    }

    /// A node with one taint more, written as kubectl writes it: `dedicated=gpu:NoSchedule`.
    #[must_use]
    pub fn taint(mut self, taint: &str) -> Self {
        let (pair, effect) = taint.rsplit_once(':').expect("key=value:Effect");
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let mut taints = self.0.pointer_mut("/spec/taints").map_or_else(|| json!([]), Value::take);
        taints.as_array_mut().expect("a list").push(json!({"key": key, "value": value, "effect": effect}));
        self.spec(json!({"taints": taints}))
    }

    /// A node whose kubelet says `False`, or is not heard of: `Unknown`.
    #[must_use]
    pub fn not_ready(self, status: &str) -> Self {
        self.condition("Ready", status, "")
    }

    /// A node with this much allocatable: `allocatable("cpu", "2")`.
    #[must_use]
    pub fn allocatable(self, resource: &str, quantity: &str) -> Self {
        self.status(json!({"allocatable": {resource: quantity}}))
    }
}

/// Budgets.
impl Object {
    /// A budget over the pods with these labels; `{}` for every pod.
    #[must_use]
    pub fn selects(self, labels: &str) -> Self {
        let selector = if labels == "{}" { json!({}) } else { json!({"matchLabels": pairs(labels)}) };
        self.spec(json!({"selector": selector}))
    }

    /// A budget with this minAvailable: a number or a percentage.
    #[must_use]
    pub fn min_available(self, value: impl Into<Value>) -> Self {
        self.spec(json!({"minAvailable": value.into()}))
    }

    /// A budget with this maxUnavailable: a number or a percentage.
    #[must_use]
    pub fn max_unavailable(self, value: impl Into<Value>) -> Self {
        self.spec(json!({"maxUnavailable": value.into()}))
    }

    /// A budget whose stored status allows so many.
    #[must_use]
    pub fn allows(self, allowed: i32) -> Self {
        self.status(json!({"disruptionsAllowed": allowed}))
    }
}

/// A workload with its pods: each is called after it, has the label `app` with its name, and is Ready.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    object: Object,
    /// What stands between it and its pods: a Deployment's ReplicaSet.
    between: Option<Object>,
    pods: Vec<Object>,
}

/// A Deployment, with its ReplicaSet `NAME-1`.
pub(crate) fn deployment(path: &str) -> Workload {
    let (_, name) = path.rsplit_once('/').expect("namespace/name");
    let between = object("apps/v1", "ReplicaSet", &format!("{path}-1"));
    Workload {
        between: Some(between.owned_by("apps/v1", &format!("Deployment/{name}"))),
        ..workload("apps/v1", "Deployment", path)
    }
}

/// A StatefulSet under OrderedReady.
pub(crate) fn stateful_set(path: &str) -> Workload {
    workload("apps/v1", "StatefulSet", path)
}

/// A workload of any kind whose pods it controls itself.
pub(crate) fn workload(api_version: &str, kind: &str, path: &str) -> Workload {
    Workload { object: object(api_version, kind, path), between: None, pods: Vec::new() }
}

impl Workload {
    /// With a Ready pod on each of these nodes, and as many replicas.
    #[must_use]
    pub fn on(mut self, nodes: &[&str]) -> Self {
        let meta = self.object.0.get("metadata").cloned().unwrap_or_default();
        let text = |key: &str| meta.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (ns, name) = (text("namespace"), text("name"));
        let owner = self.between.as_ref().unwrap_or(&self.object).0.clone();
        let field = |pointer: &str| owner.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (version, kind, parent) = (field("/apiVersion"), field("/kind"), field("/metadata/name"));
        for node in nodes {
            let at = self.pods.len();
            let made = pod(&format!("{ns}/{parent}-{at}")).label("app", &name).on(node).ready();
            self.pods.push(made.owned_by(&version, &format!("{kind}/{parent}")));
        }
        let replicas = self.pods.len();
        self.replicas(replicas)
    }

    /// That wants so many pods.
    #[must_use]
    pub fn replicas(self, replicas: usize) -> Self {
        self.spec(json!({"replicas": replicas}))
    }

    /// With this spec, merged into what is there; that of a Deployment's ReplicaSet likewise.
    #[must_use]
    pub fn spec(mut self, spec: Value) -> Self {
        self.between = self.between.map(|b| b.spec(spec.clone()));
        self.object = self.object.spec(spec);
        self
    }

    /// Itself changed, and not its pods.
    #[must_use]
    pub fn itself(mut self, change: impl FnOnce(Object) -> Object) -> Self {
        self.object = change(self.object);
        self
    }

    /// With each of its pods changed; they are numbered from 0.
    #[must_use]
    pub fn pods(mut self, change: impl Fn(usize, Object) -> Object) -> Self {
        self.pods = self.pods.into_iter().enumerate().map(|(at, pod)| change(at, pod)).collect();
        self
    }
}

impl From<Workload> for Objects {
    fn from(w: Workload) -> Self {
        Self(std::iter::once(w.object).chain(w.between).chain(w.pods).map(|o| o.0).collect())
    }
}

/// The pod `namespace/name` of a snapshot.
pub(crate) fn find(snapshot: &Snapshot, path: &str) -> Arc<Pod> {
    let (ns, name) = path.split_once('/').expect("namespace/name");
    snapshot.pods.named(ns, name).unwrap_or_else(|| panic!("pod {path}")).clone()
}

/// Merges objects key by key; lists and scalars of the second take the place of those of the first.
pub(crate) fn merged(mut base: Value, more: Value) -> Value {
    if let (Some(to), Value::Object(from)) = (base.as_object_mut(), more) {
        for (key, value) in from {
            let old = to.remove(&key).unwrap_or(Value::Null);
            let new = if old.is_object() && value.is_object() { merged(old, value) } else { value };
            to.insert(key, new);
        }
    }
    base
}

fn pairs(labels: &str) -> Value {
    let pair = |p: &str| {
        let (key, value) = p.split_once('=').expect("key=value");
        (key.to_owned(), json!(value))
    };
    Value::Object(labels.split(',').map(pair).collect())
}

#[test]
fn a_workload_is_found_from_its_pods() {
    let snapshot = cluster().add(node("n1")).add(deployment("shop/web").on(&["n1", "n1"])).snapshot();
    let web = find(&snapshot, "shop/web-1-1");
    let top = snapshot.top_controller_of(&web.meta).expect("its Deployment");
    assert_eq!((top.object().as_str(), top.replicas()), ("Deployment/shop/web", Some(2)));
    assert!(web.is_ready() && web.node.as_deref() == Some("n1") && web.meta.labels.get("app").is_some());
}
