//! Where each kind lives in the API.

use serde_json::Value;

/// A kind and its resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// `v1`, `apps/v1`, …
    pub api_version: String,
    /// `Pod`
    pub kind: String,
    /// `pods`
    pub plural: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// (apiVersion, kind, plural, namespaced), in an order in which a snapshot can be loaded: what others refer to by uid
/// or by name first; what refuses others (quotas, limits, webhooks) last. A budget comes after its pods, so that its
/// first sync sees all of them.
const KINDS: &[(&str, &str, &str, bool)] = &[
    ("v1", "Namespace", "namespaces", false),
    ("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", false),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", false),
    ("storage.k8s.io/v1", "StorageClass", "storageclasses", false),
    ("storage.k8s.io/v1", "CSIDriver", "csidrivers", false),
    ("v1", "Node", "nodes", false),
    ("storage.k8s.io/v1", "CSINode", "csinodes", false),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true),
    ("v1", "PersistentVolume", "persistentvolumes", false),
    ("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", false),
    ("storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities", true),
    ("resource.k8s.io/v1", "DeviceClass", "deviceclasses", false),
    ("resource.k8s.io/v1", "ResourceSlice", "resourceslices", false),
    ("resource.k8s.io/v1", "ResourceClaim", "resourceclaims", true),
    ("v1", "ServiceAccount", "serviceaccounts", true),
    ("v1", "Service", "services", true),
    ("apps/v1", "Deployment", "deployments", true),
    ("apps/v1", "ReplicaSet", "replicasets", true),
    ("apps/v1", "StatefulSet", "statefulsets", true),
    ("apps/v1", "DaemonSet", "daemonsets", true),
    ("batch/v1", "CronJob", "cronjobs", true),
    ("batch/v1", "Job", "jobs", true),
    ("v1", "ReplicationController", "replicationcontrollers", true),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
    ("v1", "Pod", "pods", true),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true),
    ("v1", "ResourceQuota", "resourcequotas", true),
    ("v1", "LimitRange", "limitranges", true),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", false),
];

/// Kinds that are only looked at: components write them about the others.
const REPORTS: &[(&str, &str, &str, bool)] = &[("v1", "Event", "events", true)];

impl Kind {
    /// The built-in kinds, in loading order.
    pub fn built_in() -> Vec<Self> {
        Self::all_of(KINDS)
    }

    /// What components report about objects: part of a snapshot, and never loaded.
    pub fn reports() -> Vec<Self> {
        Self::all_of(REPORTS)
    }

    fn all_of(table: &[(&str, &str, &str, bool)]) -> Vec<Self> {
        let one = |&(api_version, kind, plural, namespaced): &(&str, &str, &str, bool)| {
            Self::new(api_version, kind, plural, namespaced)
        };
        table.iter().map(one).collect()
    }

    /// The kinds that these CustomResourceDefinitions define, at their first served version.
    pub fn custom(definitions: &[Value]) -> Vec<Self> {
        let one = |definition: &Value| {
            let spec = &definition["spec"];
            let version = spec["versions"].as_array()?.iter().find(|v| v["served"] == true)?["name"].as_str()?;
            let api_version = format!("{}/{version}", spec["group"].as_str()?);
            let names = &spec["names"];
            Some(Self::new(
                &api_version,
                names["kind"].as_str()?,
                names["plural"].as_str()?,
                spec["scope"] == "Namespaced",
            ))
        };
        definitions.iter().filter_map(one).collect()
    }

    fn new(api_version: &str, kind: &str, plural: &str, namespaced: bool) -> Self {
        Self { api_version: api_version.to_owned(), kind: kind.to_owned(), plural: plural.to_owned(), namespaced }
    }

    /// Whether the object is of this kind (in whatever version of the group).
    pub fn is_of(&self, object: &Value) -> bool {
        object["kind"] == self.kind.as_str()
            && group(object["apiVersion"].as_str().unwrap_or_default()) == group(&self.api_version)
    }

    /// The path of the collection, over all namespaces: `/api/v1/pods`.
    pub fn all(&self) -> String {
        format!("{}/{}", self.root(), self.plural)
    }

    /// The path of the collection in the object's namespace: `/api/v1/namespaces/x/pods`.
    pub fn collection(&self, namespace: &str) -> String {
        match self.namespaced {
            true => format!("{}/namespaces/{namespace}/{}", self.root(), self.plural),
            false => self.all(),
        }
    }

    /// The path of the object: `/api/v1/namespaces/x/pods/y`.
    pub fn path(&self, object: &Value) -> String {
        let metadata = &object["metadata"];
        let namespace = metadata["namespace"].as_str().unwrap_or("default");
        format!("{}/{}", self.collection(namespace), metadata["name"].as_str().unwrap_or_default())
    }

    fn root(&self) -> String {
        match self.api_version.contains('/') {
            true => format!("/apis/{}", self.api_version),
            false => format!("/api/{}", self.api_version),
        }
    }
}

fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_are_those_of_the_api() {
        let find = |kind: &str| Kind::built_in().into_iter().find(|k| k.kind == kind).unwrap();
        let object = json!({"metadata": {"namespace": "shop", "name": "web"}});
        for (kind, path) in [
            ("Pod", "/api/v1/namespaces/shop/pods/web"),
            ("Deployment", "/apis/apps/v1/namespaces/shop/deployments/web"),
            ("Node", "/api/v1/nodes/web"),
            ("StorageClass", "/apis/storage.k8s.io/v1/storageclasses/web"),
        ] {
            assert_eq!(find(kind).path(&object), path);
        }
    }
}
