//! Small clusters for tests, written as the API writes objects.

use super::context::{DrainContext, state_of};
use super::node_pod::NodePod;
use super::note::{Drainability, Note};
use super::options::DrainOptions;
use super::rules::Rules;
use super::simulation::Simulation;
use super::simulation::drain::NodeRun;
use crate::budget::Selection;
use crate::finding::Code;
use crate::snapshot::builder::Builder;
use crate::snapshot::pod::Pod;
use crate::snapshot::{Snapshot, Source};
use std::sync::Arc;

/// A cluster under construction.
#[derive(Default)]
pub(crate) struct Cluster {
    objects: Vec<String>,
}

impl Cluster {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node with this spec.
    pub fn node(&mut self, name: &str, spec: &str) {
        self.objects.push(format!(
            r#"{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "{name}", "labels": {{"kubernetes.io/hostname": "{name}"}}}},
                "spec": {spec}, "status": {{"allocatable": {{"cpu": "4", "memory": "8Gi", "pods": "110"}},
                "conditions": [{{"type": "Ready", "status": "True"}}]}}}}"#
        ));
    }

    /// Adds an object as it stands.
    pub fn object(&mut self, json: &str) {
        self.objects.push(json.to_owned());
    }

    /// Adds an object with this spec.
    pub fn add(&mut self, api_version: &str, kind: &str, ns: &str, name: &str, spec: &str) {
        self.objects.push(format!(
            r#"{{"apiVersion": "{api_version}", "kind": "{kind}", "metadata": {{"name": "{name}", "namespace": "{ns}",
                "uid": "{ns}-{kind}-{name}", "generation": 1}}, "spec": {spec}}}"#
        ));
    }

    /// Adds a budget whose status is up to date with its spec, and allows as many as there can be: what is stored never
    /// refuses.
    pub fn synced_budget(&mut self, ns: &str, name: &str, spec: &str) {
        self.objects.push(format!(
            r#"{{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {{"name": "{name}",
                "namespace": "{ns}", "uid": "{ns}-{name}", "generation": 1}}, "spec": {spec},
                "status": {{"observedGeneration": 1, "disruptionsAllowed": 100}}}}"#
        ));
    }

    /// Adds a pod that asks for so much cpu; the last three are further fields of its metadata, spec and status.
    pub fn pod_asking(&mut self, cpu: &str, ns: &str, name: &str, node: &str, more: (&str, &str, &str)) {
        let container = format!(r#"{{"name": "c", "resources": {{"requests": {{"cpu": "{cpu}"}}}}}}"#);
        self.push_pod(&container, ns, name, node, more);
    }

    /// Adds a pod; `meta`, `spec` and `status` are further fields of these.
    pub fn pod_of(&mut self, ns: &str, name: &str, node: &str, meta: &str, spec: &str, status: &str) -> Arc<Pod> {
        self.push_pod(r#"{"name": "c"}"#, ns, name, node, (meta, spec, status));
        let snapshot = self.snapshot();
        snapshot.pods.named(ns, name).cloned().expect("the pod that was just added")
    }

    /// Adds a pod with this container.
    pub fn push_pod(&mut self, container: &str, ns: &str, name: &str, node: &str, more_of: (&str, &str, &str)) {
        let (meta, spec, status) = more_of;
        let more = |s: &str| if s.is_empty() { String::new() } else { format!(", {s}") };
        let phase = if status.contains("\"phase\"") { "" } else { r#""phase": "Running", "# };
        let status = if status.is_empty() { r#""conditions": [{"type": "Ready", "status": "True"}]"# } else { status };
        self.objects.push(format!(
            r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{name}", "namespace": "{ns}"{}}},
                "spec": {{"nodeName": "{node}", "containers": [{container}]{}}}, "status": {{{phase}{status}}}}}"#,
            more(meta),
            more(spec),
        ));
    }

    /// What pod `a/p` meets under a code when its node is drained with these flags.
    pub fn met(&self, code: Code, options: &DrainOptions) -> Vec<Note> {
        let snapshot = self.snapshot();
        let pod = snapshot.pods.named("a", "p").expect("pod a/p");
        with_context(&snapshot, options, |context| {
            let met = Rules::new(context).node_pod(pod, context.budgets.of(pod).to_vec());
            met.notes.into_iter().filter(|n| n.code == code).collect()
        })
    }

    /// The cluster by now.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_at("2026-01-01T00:00:00Z")
    }

    /// The same at another time.
    pub fn snapshot_at(&self, now: &str) -> Snapshot {
        let mut builder = Builder::default();
        for object in &self.objects {
            builder.add_json(object.as_bytes()).unwrap_or_else(|e| panic!("{e}: {object}"));
        }
        builder.finish(Source::default(), now.parse().ok())
    }
}

/// What a drain of a snapshot with these flags is about.
pub(crate) fn with_context<T>(
    snapshot: &Snapshot,
    options: &DrainOptions,
    look: impl FnOnce(&DrainContext<'_>) -> T,
) -> T {
    let (selection, state) = (Selection::new(snapshot), state_of(snapshot));
    look(&DrainContext::new(snapshot, &selection, &state, options))
}

/// Drains one node: what was on it, how that went, and the cluster then.
pub(crate) fn drained<T>(
    snapshot: &Snapshot,
    options: &DrainOptions,
    node: &str,
    look: impl FnOnce(&DrainContext<'_>, &[NodePod], &NodeRun, &Simulation<'_>) -> T,
) -> T {
    with_context(snapshot, options, |context| {
        let pods = Rules::new(context).node_pods(node);
        let mut sim = Simulation::new(context);
        let runs = sim.drain(&[(node.into(), &pods)]);
        look(context, &pods, runs.first().expect("the run of one node"), &sim)
    })
}

/// The metadata of a pod in namespace `a` that this object, added with [`Cluster::add`], controls.
pub(crate) fn owned_by(api_version: &str, kind: &str, name: &str) -> String {
    format!(
        r#""ownerReferences": [{{"apiVersion": "{api_version}", "kind": "{kind}", "name": "{name}",
            "uid": "a-{kind}-{name}", "controller": true}}]"#
    )
}

/// Holds notes against what is wanted: what each means for the pod, and words that its text has.
pub(crate) fn assert_notes(title: &str, notes: &[Note], want: &[(Drainability, &str)]) {
    let as_wanted = |(note, (means, words)): (&Note, &(Drainability, &str))| {
        note.drainability == *means && note.text.contains(words)
    };
    assert!(
        notes.len() == want.len() && notes.iter().zip(want).all(as_wanted),
        "{title}: {notes:#?} rather than {want:?}"
    );
}
