//! What every object has: names, labels, owner, age.

use super::api_version;
use super::intern::{Interner, Map, Str};
use crate::wire::meta::ObjectMeta;
use crate::wire::time::Time;
use jiff::Timestamp;

/// The part of an object's metadata that answers depend on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meta {
    /// `None` for an object outside namespaces.
    pub namespace: Option<Str>,
    /// The object's name.
    pub name: Str,
    /// `None` where the input has none.
    pub uid: Option<Str>,
    /// Counts the changes of everything in the cluster: of two copies of an object the one with the higher is newer. 0
    /// where the input has none.
    pub resource_version: u64,
    /// Counts the changes of the spec.
    pub generation: i64,
    /// Labels, sorted.
    pub labels: Map,
    /// Only those annotations that some answer depends on: see [`KEPT_ANNOTATIONS`].
    pub annotations: Map,
    /// The owner with `controller: true`.
    pub controller: Option<OwnerRef>,
    /// The first other owner (some operators own their budgets without being the controller).
    pub owner: Option<OwnerRef>,
    /// When it was made.
    pub creation_timestamp: Option<Timestamp>,
    /// Set while the object is being deleted: the time by which it should be gone.
    pub deletion_timestamp: Option<Timestamp>,
    /// Seconds of grace that were given at its deletion.
    pub deletion_grace_period: Option<i64>,
    /// What has to happen before a deletion ends.
    pub finalizers: Box<[Str]>,
}

/// A reference to an owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OwnerRef {
    /// The owner's API group, empty for the core group.
    pub group: Str,
    /// The owner's API version, without its group.
    pub version: Str,
    /// The owner's kind.
    pub kind: Str,
    /// The owner's name.
    pub name: Str,
    /// The owner's uid.
    pub uid: Str,
}

impl OwnerRef {
    /// The owner's `apiVersion`, as the reference was written.
    pub fn api_version(&self) -> String {
        api_version::join(&self.group, &self.version)
    }
}

/// Annotations that some answer depends on: exact names, and prefixes, which end in `/`. All others are dropped
/// as they are read and never written to a snapshot: they may hold secrets, and they are large.
pub const KEPT_ANNOTATIONS: &[&str] = &[
    "alpha.jobset.sigs.k8s.io/",
    "argocd.argoproj.io/tracking-id",
    "batch.kubernetes.io/job-index-failure-count",
    "cluster-autoscaler.kubernetes.io/",
    "cluster.x-k8s.io/machine",
    "controller.kubernetes.io/pod-deletion-cost",
    "deployment.kubernetes.io/revision",
    "eks.amazonaws.com/role-arn",
    "elbv2.k8s.aws/pod-readiness-gate-inject",
    "karpenter.sh/",
    "kubectl-pdb/ignore",
    "kubernetes.io/config.mirror",
    "machine.cluster.x-k8s.io/exclude-node-draining",
    "machineconfiguration.openshift.io/desiredDrain",
    "machineconfiguration.openshift.io/lastAppliedDrain",
    "meta.helm.sh/release-name",
    "meta.helm.sh/release-namespace",
    "operator.cluster.x-k8s.io/",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/provisioned-by",
    "reloader.stakater.com/",
    "configmap.reloader.stakater.com/",
    "secret.reloader.stakater.com/",
    "secretproviderclass.reloader.stakater.com/",
    "scheduler.alpha.kubernetes.io/",
    "scheduling.k8s.io/group-name",
    "scheduling.volcano.sh/group-name",
    "storageclass.kubernetes.io/is-default-class",
    "volume.beta.kubernetes.io/storage-class",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
    "storage.alpha.kubernetes.io/migrated-plugins",
    "kueue.x-k8s.io/",
    "weave.works/kured-node-lock",
    "weave.works/kured-reboot-in-progress",
];

/// Whether an annotation is kept.
pub fn keeps_annotation(name: &str) -> bool {
    KEPT_ANNOTATIONS.iter().any(|k| if k.ends_with('/') { name.starts_with(k) } else { name == *k })
}

/// Finalizers that Kubernetes' own controllers set and take off by themselves.
const OWN_FINALIZERS: [&str; 3] = ["batch.kubernetes.io/job-tracking", "foregroundDeletion", "orphan"];

impl Meta {
    /// The finalizers that somebody else than Kubernetes' own controllers has to take off.
    pub fn foreign_finalizers(&self) -> impl Iterator<Item = &str> {
        self.finalizers.iter().map(|f| &**f).filter(|f| !OWN_FINALIZERS.contains(f))
    }

    /// The kept part of the wire form.
    pub fn read(wire: Option<ObjectMeta>, i: &mut Interner) -> Self {
        let mut wire = wire.unwrap_or_default();
        wire.annotations.retain(|k, _| keeps_annotation(k));
        let mut owner = None;
        let mut controller = None;
        for r in &wire.owner_references {
            let (group, version) = api_version::split(&r.api_version);
            let read = OwnerRef {
                group: i.str(group),
                version: i.str(version),
                kind: i.str(&r.kind),
                name: i.str(&r.name),
                uid: i.str(&r.uid),
            };
            if r.controller && controller.is_none() {
                controller = Some(read);
            } else if owner.is_none() {
                owner = Some(read);
            }
        }
        Self {
            namespace: i.opt(&wire.namespace),
            name: i.str(&wire.name),
            uid: i.opt(&wire.uid),
            resource_version: wire.resource_version.parse().unwrap_or_default(),
            generation: wire.generation.unwrap_or_default(),
            labels: i.map(&wire.labels),
            annotations: i.map(&wire.annotations),
            controller,
            owner,
            creation_timestamp: wire.creation_timestamp.and_then(Time::timestamp),
            // That there is a time says that the object is being deleted, whatever time it is.
            deletion_timestamp: wire.deletion_timestamp.map(|t| t.timestamp().unwrap_or_default()),
            deletion_grace_period: wire.deletion_grace_period_seconds,
            finalizers: i.strs(&wire.finalizers),
        }
    }

    /// The namespace, empty for an object outside namespaces.
    pub fn ns(&self) -> &str {
        self.namespace.as_deref().unwrap_or_default()
    }

    /// `namespace/name`, or the name alone outside namespaces.
    pub fn path(&self) -> String {
        match &self.namespace {
            Some(ns) => format!("{ns}/{}", self.name),
            None => self.name.to_string(),
        }
    }

    /// Whether the object is being deleted.
    pub fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, object, pod};
    use serde_json::json;

    #[test]
    fn only_annotations_that_some_answer_needs_are_kept() {
        for (name, want) in [
            ("kubernetes.io/config.mirror", true),
            ("kubernetes.io/config.source", false),
            ("reloader.stakater.com/auto", true),
            ("reloader.stakater.com", false),
            ("kubectl.kubernetes.io/last-applied-configuration", false),
        ] {
            assert_eq!(keeps_annotation(name), want, "{name}");
            let snapshot = cluster().add(pod("a/p").annotation(name, "v")).snapshot();
            assert_eq!(snapshot.pods[0].meta.annotations.get(name).is_some(), want, "{name}");
        }
    }

    /// `metav1.GetControllerOf`: the first owner with `controller: true`.
    #[test]
    fn one_owner_controls_and_another_may_own() {
        let owner = |name: &str, controls: bool| json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": name, "controller": controls});
        for (owners, controller, other) in [
            (vec![], None, None),
            (vec![owner("a", true)], Some("a"), None),
            (vec![owner("a", false)], None, Some("a")),
            (vec![owner("a", false), owner("b", true)], Some("b"), Some("a")),
            (vec![owner("a", true), owner("b", true)], Some("a"), Some("b")),
        ] {
            let metadata = json!({"metadata": {"ownerReferences": owners}});
            let snapshot = cluster().add(object("v1", "Pod", "a/p").with(metadata)).snapshot();
            let meta = &snapshot.pods[0].meta;
            let name = |owner: &Option<OwnerRef>| owner.as_ref().map(|o| o.name.to_string());
            assert_eq!(
                (name(&meta.controller).as_deref(), name(&meta.owner).as_deref()),
                (controller, other),
                "{owners:?}"
            );
        }
    }
}
