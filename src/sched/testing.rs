//! Small clusters for the tests of the scheduler's parts.

use super::State;
use super::message::message;
use super::status::Plugin;
use crate::snapshot::builder::Builder;
use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Source};
use serde_json::{Value, json};
use std::sync::Arc;

/// The snapshot of some objects, judged as of 1.36 where no node says otherwise.
pub fn cluster(objects: &[Value]) -> Snapshot {
    let mut b = Builder::default();
    for o in objects {
        b.add_json(o.to_string().as_bytes()).unwrap();
    }
    let source = Source { server_version: Some("v1.36.3".to_owned()), ..Source::default() };
    b.finish(source, "2026-01-01T12:00:00Z".parse().ok())
}

/// A node with 4 cpu, 8Gi and 10 pod slots, merged with `more`.
pub fn node(name: &str, more: Value) -> Value {
    let allocatable = json!({"cpu": "4", "memory": "8Gi", "pods": "10", "ephemeral-storage": "10Gi"});
    let base = json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {}, "status": {"allocatable": allocatable}});
    merged(base, more)
}

/// A pod of namespace `a` that asks 1 cpu, merged with `more`. With a node in `more` it runs.
pub fn pod(name: &str, more: Value) -> Value {
    let base = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "a", "uid": name},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Pending"}});
    merged(base, more)
}

/// Merges objects key by key; lists and scalars of the second replace those of the first.
pub fn merged(mut base: Value, more: Value) -> Value {
    if let (Some(to), Value::Object(from)) = (base.as_object_mut(), more) {
        for (key, value) in from {
            let old = to.remove(&key).unwrap_or(Value::Null);
            let new = if old.is_object() && value.is_object() { merged(old, value) } else { value };
            to.insert(key, new);
        }
    }
    base
}

/// The pod of namespace `a`.
pub fn find(snapshot: &Snapshot, name: &str) -> Arc<Pod> {
    snapshot.pods.named("a", name).unwrap().clone()
}

/// What the scheduler writes about pod `p`; empty where it fits somewhere.
pub fn says(objects: &[Value]) -> String {
    says_in(objects, "v1.36.3")
}

/// What the scheduler of a version writes about pod `p`.
pub fn says_in(objects: &[Value], version: &str) -> String {
    let mut snapshot = cluster(objects);
    snapshot.source.server_version = Some(version.to_owned());
    let state = State::new(&snapshot);
    let p = find(&snapshot, "p");
    let d = state.diagnose(&p);
    if d.fits.is_empty() { message(&d, &state.preempt(&p, &d)) } else { String::new() }
}

/// What pod `p` meets on node `n`: each plugin that refuses it, whether fewer pods could help, and its words.
pub fn refusals(objects: &[Value]) -> Vec<(Plugin, bool, Vec<String>)> {
    let snapshot = cluster(objects);
    let state = State::new(&snapshot);
    let n = state.node_named("n").unwrap();
    let all = super::cycle::Cycle::new(&state, &find(&snapshot, "p")).explain(n);
    all.into_iter()
        .map(|s| (s.plugin, s.resolvable, s.reasons.iter().map(|r| r.text().into_owned()).collect()))
        .collect()
}

/// One refusal in the form of [`refusals`].
pub fn refusal(plugin: Plugin, resolvable: bool, words: &[&str]) -> Vec<(Plugin, bool, Vec<String>)> {
    vec![(plugin, resolvable, words.iter().map(|w| (*w).to_owned()).collect())]
}
