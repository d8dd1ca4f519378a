//! The kinds that are read: one table.

use std::fmt;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident: $group:literal $version:literal $name:literal $plural:literal $scope:ident),* $(,)?) => {
        /// A kind that the tool knows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the names are those of the Kubernetes API")]
        pub enum Kind { $($(#[$doc])* $kind),* }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Its API group, version, name, plural, and whether it lives in namespaces.
            pub fn info(self) -> KindInfo {
                match self {
                    $(Self::$kind => KindInfo {
                        group: $group, version: $version, name: $name, plural: $plural,
                        namespaced: matches!(Scope::$scope, Scope::Namespaced),
                    }),*
                }
            }
        }
    };
}

enum Scope {
    Namespaced,
    Cluster,
}

/// What the API calls a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindInfo {
    /// The API group, empty for the core group.
    pub group: &'static str,
    /// The version that is read.
    pub version: &'static str,
    /// The kind's name, as in an object's `kind`.
    pub name: &'static str,
    /// The resource's name, as in a URL.
    pub plural: &'static str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

kinds! {
    Pod: "" "v1" "Pod" "pods" Namespaced,
    Node: "" "v1" "Node" "nodes" Cluster,
    Namespace: "" "v1" "Namespace" "namespaces" Cluster,
    PodDisruptionBudget: "policy" "v1" "PodDisruptionBudget" "poddisruptionbudgets" Namespaced,
    Deployment: "apps" "v1" "Deployment" "deployments" Namespaced,
    ReplicaSet: "apps" "v1" "ReplicaSet" "replicasets" Namespaced,
    StatefulSet: "apps" "v1" "StatefulSet" "statefulsets" Namespaced,
    DaemonSet: "apps" "v1" "DaemonSet" "daemonsets" Namespaced,
    ReplicationController: "" "v1" "ReplicationController" "replicationcontrollers" Namespaced,
    Job: "batch" "v1" "Job" "jobs" Namespaced,
    CronJob: "batch" "v1" "CronJob" "cronjobs" Namespaced,
    HorizontalPodAutoscaler: "autoscaling" "v2" "HorizontalPodAutoscaler" "horizontalpodautoscalers" Namespaced,
    PriorityClass: "scheduling.k8s.io" "v1" "PriorityClass" "priorityclasses" Cluster,
    PersistentVolumeClaim: "" "v1" "PersistentVolumeClaim" "persistentvolumeclaims" Namespaced,
    PersistentVolume: "" "v1" "PersistentVolume" "persistentvolumes" Cluster,
    StorageClass: "storage.k8s.io" "v1" "StorageClass" "storageclasses" Cluster,
    CsiNode: "storage.k8s.io" "v1" "CSINode" "csinodes" Cluster,
    CsiDriver: "storage.k8s.io" "v1" "CSIDriver" "csidrivers" Cluster,
    CsiStorageCapacity: "storage.k8s.io" "v1" "CSIStorageCapacity" "csistoragecapacities" Namespaced,
    VolumeAttachment: "storage.k8s.io" "v1" "VolumeAttachment" "volumeattachments" Cluster,
    ResourceClaim: "resource.k8s.io" "v1" "ResourceClaim" "resourceclaims" Namespaced,
    ResourceSlice: "resource.k8s.io" "v1" "ResourceSlice" "resourceslices" Cluster,
    DeviceClass: "resource.k8s.io" "v1" "DeviceClass" "deviceclasses" Cluster,
    ResourceQuota: "" "v1" "ResourceQuota" "resourcequotas" Namespaced,
    LimitRange: "" "v1" "LimitRange" "limitranges" Namespaced,
    ServiceAccount: "" "v1" "ServiceAccount" "serviceaccounts" Namespaced,
    Service: "" "v1" "Service" "services" Namespaced,
    EndpointSlice: "discovery.k8s.io" "v1" "EndpointSlice" "endpointslices" Namespaced,
    ValidatingWebhookConfiguration: "admissionregistration.k8s.io" "v1" "ValidatingWebhookConfiguration" "validatingwebhookconfigurations" Cluster,
    MutatingWebhookConfiguration: "admissionregistration.k8s.io" "v1" "MutatingWebhookConfiguration" "mutatingwebhookconfigurations" Cluster,
    Event: "" "v1" "Event" "events" Namespaced,
    Lease: "coordination.k8s.io" "v1" "Lease" "leases" Namespaced,
    CustomResourceDefinition: "apiextensions.k8s.io" "v1" "CustomResourceDefinition" "customresourcedefinitions" Cluster,
}

/// What an object's `apiVersion` and `kind` say it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognised {
    /// A kind that is read.
    Known(Kind),
    /// The newer API's form of an event.
    EventsV1Event,
    /// A known kind in a version that is not read.
    OtherVersion(Kind),
    /// Any other kind.
    Unknown,
}

/// An `apiVersion` as group (empty for the core group) and version.
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.rsplit_once('/').unwrap_or(("", api_version))
}

/// The `apiVersion` of a group (empty for the core group) and version.
pub fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// Says what an object is.
pub fn recognise(api_version: &str, kind: &str) -> Recognised {
    let (group, version) = split_api_version(api_version);
    if (group, version, kind) == ("events.k8s.io", "v1", "Event") {
        return Recognised::EventsV1Event;
    }
    match Kind::ALL.iter().find(|k| k.info().name == kind && k.info().group == group) {
        Some(k) if k.info().version == version => Recognised::Known(*k),
        Some(k) => Recognised::OtherVersion(*k),
        None => Recognised::Unknown,
    }
}

impl Kind {
    /// The kind of a `resource.group` as kubectl writes it: `poddisruptionbudgets.policy`, `pods`.
    pub fn from_resource(resource: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|k| k.resource() == resource)
    }

    /// `poddisruptionbudgets.policy`, `pods`: how gaps and errors name it.
    pub fn resource(self) -> String {
        let i = self.info();
        if i.group.is_empty() { i.plural.to_owned() } else { format!("{}.{}", i.plural, i.group) }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_versions() {
        for (api, kind, want) in [
            ("v1", "Pod", Recognised::Known(Kind::Pod)),
            ("policy/v1", "PodDisruptionBudget", Recognised::Known(Kind::PodDisruptionBudget)),
            ("policy/v1beta1", "PodDisruptionBudget", Recognised::OtherVersion(Kind::PodDisruptionBudget)),
            ("events.k8s.io/v1", "Event", Recognised::EventsV1Event),
            ("example.dev/v1", "Pod", Recognised::Unknown),
        ] {
            assert_eq!(recognise(api, kind), want, "{api} {kind}");
        }
        for kind in Kind::ALL {
            assert_eq!(Kind::from_resource(&kind.resource()), Some(*kind));
        }
    }
}
