//! Small clusters for the tests of the scheduler's parts.

use super::State;
use super::message::message;
use super::status::Plugin;
use crate::snapshot::Snapshot;
use crate::snapshot::pod::Pod;
pub(crate) use crate::testing::merged;
use crate::testing::{self, VERSION};
use serde_json::{Value, json};
use std::sync::Arc;

/// The snapshot of some objects, judged as of 1.36 where no node says otherwise.
pub fn cluster(objects: &[Value]) -> Snapshot {
    testing::cluster().all(objects.iter().cloned()).snapshot()
}

/// The snapshot of some objects, judged as of a version where no node says otherwise.
pub fn cluster_of(objects: &[Value], version: &str) -> Snapshot {
    testing::cluster().version(version).all(objects.iter().cloned()).snapshot()
}

/// A node with 4 cpu, 8Gi and 10 pod slots, merged with `more`.
pub fn node(name: &str, more: Value) -> Value {
    testing::node(name).allocatable("pods", "10").with(more).json()
}

/// A pod of namespace `a` that asks 1 cpu, merged with `more`. With a node in `more` it runs.
pub fn pod(name: &str, more: Value) -> Value {
    let uid = json!({"metadata": {"uid": name}});
    testing::pod(&format!("a/{name}")).requests("cpu", "1").with(uid).with(more).json()
}

/// The pod of namespace `a`.
pub fn find(snapshot: &Snapshot, name: &str) -> Arc<Pod> {
    testing::find(snapshot, &format!("a/{name}"))
}

/// What the scheduler writes about pod `p`; empty where it fits somewhere.
pub fn says(objects: &[Value]) -> String {
    says_in(objects, VERSION)
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
