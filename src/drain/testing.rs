//! Small clusters for tests, written as the API writes objects.

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

    /// Adds an object with this spec.
    pub fn add(&mut self, api_version: &str, kind: &str, ns: &str, name: &str, spec: &str) {
        self.objects.push(format!(
            r#"{{"apiVersion": "{api_version}", "kind": "{kind}", "metadata": {{"name": "{name}", "namespace": "{ns}",
                "uid": "{ns}-{kind}-{name}", "generation": 1}}, "spec": {spec}}}"#
        ));
    }

    /// Adds a pod; `meta`, `spec` and `status` are further fields of these.
    pub fn pod_of(&mut self, ns: &str, name: &str, node: &str, meta: &str, spec: &str, status: &str) -> Arc<Pod> {
        let more = |s: &str| if s.is_empty() { String::new() } else { format!(", {s}") };
        let phase = if status.contains("\"phase\"") { "" } else { r#""phase": "Running", "# };
        let status = if status.is_empty() { r#""conditions": [{"type": "Ready", "status": "True"}]"# } else { status };
        self.objects.push(format!(
            r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{name}", "namespace": "{ns}"{}}},
                "spec": {{"nodeName": "{node}", "containers": [{{"name": "c"}}]{}}}, "status": {{{phase}{status}}}}}"#,
            more(meta),
            more(spec),
        ));
        let snapshot = self.snapshot();
        snapshot.pods.named(ns, name).cloned().expect("the pod that was just added")
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
