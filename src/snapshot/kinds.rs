//! The kinds that are read: one table, from which everything else about a kind follows.

use super::api_version;
use std::fmt;

/// Hands the table of kinds to a macro. A kind is one row and a struct in [`wire`](crate::wire) with the fields that are
/// read; reading, forgetting, slimming, the rights in the README and the tests against upstream's types follow. A row:
///
/// ```text
/// how Kind: "group" "version" "resource" "short name" Scope, wire::type as upstream::module => table in the snapshot;
/// ```
///
/// How it is kept:
/// - `slim`: as it is read, beside its metadata.
/// - `own`: in a shape of its own, which `Keep` in [`tables`](super::tables) makes of the wire type.
/// - `work`: what makes pods, in the shape and the table that all of that share.
/// - `custom`: as `slim`. An operator defines it, so it comes as JSON alone, upstream has no type for it, and its
///   version is the one that the server prefers, or the file has. `= "Name"` where the API's name says too little here.
///
/// Which commands read a kind from a cluster, say their [`Need`](crate::report::Need)s.
macro_rules! each_kind {
    ($then:ident) => {
        $then! {
            own Pod: "" "v1" "pods" "po" Namespaced, pod::Pod as api::core::v1 => pods;
            own Node: "" "v1" "nodes" "no" Cluster, node::Node as api::core::v1 => nodes;
            own PodDisruptionBudget: "policy" "v1" "poddisruptionbudgets" "pdb" Namespaced,
                policy::PodDisruptionBudget as api::policy::v1 => budgets;
            own Event: "" "v1" "events" "ev" Namespaced, events::Event as api::core::v1 => events;

            work Deployment: "apps" "v1" "deployments" "deploy" Namespaced, apps::Deployment as api::apps::v1;
            work ReplicaSet: "apps" "v1" "replicasets" "rs" Namespaced, apps::ReplicaSet as api::apps::v1;
            work StatefulSet: "apps" "v1" "statefulsets" "sts" Namespaced, apps::StatefulSet as api::apps::v1;
            work DaemonSet: "apps" "v1" "daemonsets" "ds" Namespaced, apps::DaemonSet as api::apps::v1;
            work ReplicationController: "" "v1" "replicationcontrollers" "rc" Namespaced,
                core::ReplicationController as api::core::v1;
            work Job: "batch" "v1" "jobs" "" Namespaced, apps::Job as api::batch::v1;
            work CronJob: "batch" "v1" "cronjobs" "cj" Namespaced, apps::CronJob as api::batch::v1;

            slim Namespace: "" "v1" "namespaces" "ns" Cluster, core::Namespace as api::core::v1 => namespaces;
            slim HorizontalPodAutoscaler: "autoscaling" "v2" "horizontalpodautoscalers" "hpa" Namespaced,
                apps::HorizontalPodAutoscaler as api::autoscaling::v2 => horizontal_pod_autoscalers;
            slim PriorityClass: "scheduling.k8s.io" "v1" "priorityclasses" "pc" Cluster,
                policy::PriorityClass as api::scheduling::v1 => priority_classes;
            slim PersistentVolumeClaim: "" "v1" "persistentvolumeclaims" "pvc" Namespaced,
                volume::PersistentVolumeClaim as api::core::v1 => persistent_volume_claims;
            slim PersistentVolume: "" "v1" "persistentvolumes" "pv" Cluster,
                volume::PersistentVolume as api::core::v1 => persistent_volumes;
            slim StorageClass: "storage.k8s.io" "v1" "storageclasses" "sc" Cluster,
                storage::StorageClass as api::storage::v1 => storage_classes;
            slim CSINode: "storage.k8s.io" "v1" "csinodes" "" Cluster,
                storage::CSINode as api::storage::v1 => csi_nodes;
            slim CSIDriver: "storage.k8s.io" "v1" "csidrivers" "" Cluster,
                storage::CSIDriver as api::storage::v1 => csi_drivers;
            slim CSIStorageCapacity: "storage.k8s.io" "v1" "csistoragecapacities" "" Namespaced,
                storage::CSIStorageCapacity as api::storage::v1 => csi_capacities;
            slim VolumeAttachment: "storage.k8s.io" "v1" "volumeattachments" "" Cluster,
                storage::VolumeAttachment as api::storage::v1 => volume_attachments;
            slim ResourceClaim: "resource.k8s.io" "v1" "resourceclaims" "" Namespaced,
                resource::ResourceClaim as api::resource::v1 => resource_claims;
            slim ResourceSlice: "resource.k8s.io" "v1" "resourceslices" "" Cluster,
                resource::ResourceSlice as api::resource::v1 => resource_slices;
            slim DeviceClass: "resource.k8s.io" "v1" "deviceclasses" "" Cluster,
                resource::DeviceClass as api::resource::v1 => device_classes;
            slim DeviceTaintRule: "resource.k8s.io" "v1" "devicetaintrules" "" Cluster,
                resource::DeviceTaintRule as api::resource::v1 => device_taint_rules;
            slim ResourceQuota: "" "v1" "resourcequotas" "quota" Namespaced,
                core::ResourceQuota as api::core::v1 => quotas;
            slim LimitRange: "" "v1" "limitranges" "limits" Namespaced, core::LimitRange as api::core::v1 => limit_ranges;
            slim ServiceAccount: "" "v1" "serviceaccounts" "sa" Namespaced,
                core::ServiceAccount as api::core::v1 => service_accounts;
            slim Service: "" "v1" "services" "svc" Namespaced, core::Service as api::core::v1 => services;
            slim ValidatingWebhookConfiguration:
                "admissionregistration.k8s.io" "v1" "validatingwebhookconfigurations" "" Cluster,
                policy::ValidatingWebhookConfiguration as api::admissionregistration::v1 => validating_webhooks;
            slim MutatingWebhookConfiguration:
                "admissionregistration.k8s.io" "v1" "mutatingwebhookconfigurations" "" Cluster,
                policy::MutatingWebhookConfiguration as api::admissionregistration::v1 => mutating_webhooks;
            slim ValidatingAdmissionPolicy:
                "admissionregistration.k8s.io" "v1" "validatingadmissionpolicies" "" Cluster,
                policy::ValidatingAdmissionPolicy as api::admissionregistration::v1 => admission_policies;
            slim ValidatingAdmissionPolicyBinding:
                "admissionregistration.k8s.io" "v1" "validatingadmissionpolicybindings" "" Cluster,
                policy::ValidatingAdmissionPolicyBinding as api::admissionregistration::v1 => admission_policy_bindings;
            slim Lease: "coordination.k8s.io" "v1" "leases" "" Namespaced,
                events::Lease as api::coordination::v1 => leases;
            slim CustomResourceDefinition: "apiextensions.k8s.io" "v1" "customresourcedefinitions" "crd" Cluster,
                crd::CustomResourceDefinition as apiextensions_apiserver::pkg::apis::apiextensions::v1 => definitions;

            custom LonghornSetting = "Setting": "longhorn.io" "v1beta2" "settings" "" Namespaced,
                operators::LonghornSetting => longhorn_settings;
            custom CloudNativePGCluster = "Cluster": "postgresql.cnpg.io" "v1" "clusters" "" Namespaced,
                operators::CloudNativePGCluster => cloud_native_pg_clusters;
            custom VirtualMachineInstance: "kubevirt.io" "v1" "virtualmachineinstances" "" Namespaced,
                operators::VirtualMachineInstance => virtual_machine_instances;
            custom LeaderWorkerSet: "leaderworkerset.x-k8s.io" "v1" "leaderworkersets" "lws" Namespaced,
                groups::LeaderWorkerSet => leader_worker_sets;
            custom JobSet: "jobset.x-k8s.io" "v1alpha2" "jobsets" "" Namespaced, groups::JobSet => job_sets;
            custom VolcanoJob = "Job": "batch.volcano.sh" "v1alpha1" "jobs" "vcjob" Namespaced,
                groups::VolcanoJob => volcano_jobs;
            custom NodePool: "karpenter.sh" "v1" "nodepools" "" Cluster, karpenter::NodePool => node_pools;
            custom NodeClaim: "karpenter.sh" "v1" "nodeclaims" "" Cluster, karpenter::NodeClaim => node_claims;
            custom EC2NodeClass: "karpenter.k8s.aws" "v1" "ec2nodeclasses" "" Cluster,
                karpenter::EC2NodeClass => ec2_node_classes;
            custom EKSNodeClass = "NodeClass": "eks.amazonaws.com" "v1" "nodeclasses" "" Cluster,
                karpenter::EKSNodeClass => eks_node_classes;
            custom Machine: "cluster.x-k8s.io" "v1beta2" "machines" "" Namespaced, machines::Machine => machines;
            custom ClusterApiCluster = "Cluster": "cluster.x-k8s.io" "v1beta2" "clusters" "" Namespaced,
                machines::ClusterApiCluster => cluster_api_clusters;
            custom MachineDrainRule: "cluster.x-k8s.io" "v1beta2" "machinedrainrules" "" Namespaced,
                machines::MachineDrainRule => machine_drain_rules;
            custom UpgradePlan = "Plan": "upgrade.cattle.io" "v1" "plans" "" Namespaced,
                machines::UpgradePlan => upgrade_plans;
            custom KueueWorkload = "Workload": "kueue.x-k8s.io" "v1beta1" "workloads" "" Namespaced,
                kueue::KueueWorkload => kueue_workloads;
            custom KueueLocalQueue = "LocalQueue": "kueue.x-k8s.io" "v1beta1" "localqueues" "" Namespaced,
                kueue::KueueLocalQueue => kueue_local_queues;
            custom KueueClusterQueue = "ClusterQueue": "kueue.x-k8s.io" "v1beta1" "clusterqueues" "" Cluster,
                kueue::KueueClusterQueue => kueue_cluster_queues;
            custom PodGroup: "scheduling.k8s.io" "v1beta1" "podgroups" "" Namespaced, scheduling::PodGroup => pod_groups;
        }
    };
}
pub(crate) use each_kind;

macro_rules! define_kind {
    ($($how:ident $kind:ident $(= $name:literal)?: $group:literal $version:literal $plural:literal $short:literal
        $scope:ident, $wire:ty $(as $($upstream:ident)::+)? $(=> $table:ident)?;)*) => {
        /// A kind that the tool knows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the names are those of the Kubernetes API")]
        pub enum Kind { $($kind),* }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// What the API calls it.
            pub fn info(self) -> KindInfo {
                match self {
                    $(Self::$kind => KindInfo {
                        group: $group,
                        version: $version,
                        name: [$($name,)? stringify!($kind)][0],
                        plural: $plural,
                        short: $short,
                        namespaced: matches!(Scope::$scope, Scope::Namespaced),
                        custom: matches!(How::$how, How::custom),
                    }),*
                }
            }
        }
    };
}
each_kind!(define_kind);

enum Scope {
    Namespaced,
    Cluster,
}

#[allow(non_camel_case_types, reason = "the words of the table")]
enum How {
    own,
    work,
    slim,
    custom,
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
    /// kubectl's short name for it; empty where it has none.
    pub short: &'static str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Whether an operator defines it: a cluster without that operator does not serve it, and has none.
    pub custom: bool,
}

/// What an object's `apiVersion` and `kind` say it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognised {
    /// A built-in kind that is read.
    Known(Kind),
    /// A kind that is read and that an operator defines, in whatever version.
    Custom(Kind),
    /// The newer API's form of an event.
    EventsV1Event,
    /// A known kind in a version that is not read.
    OtherVersion(Kind),
    /// Any other kind. As one that an operator defines, it may own pods.
    Unknown,
}

/// Says what an object is.
pub fn recognise(api_version: &str, kind: &str) -> Recognised {
    let (group, version) = api_version::split(api_version);
    if (group, version, kind) == ("events.k8s.io", "v1", "Event") {
        return Recognised::EventsV1Event;
    }
    match Kind::of(group, kind) {
        Some(k) if k.info().custom => Recognised::Custom(k),
        Some(k) if k.info().version == version => Recognised::Known(k),
        Some(k) => Recognised::OtherVersion(k),
        None => Recognised::Unknown,
    }
}

impl Kind {
    /// The kind of a group that objects call by this name.
    pub fn of(group: &str, name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|k| k.info().name == name && k.info().group == group)
    }

    /// The kind of a `resource.group` as kubectl writes it: `poddisruptionbudgets.policy`, `pods`.
    pub fn from_resource(resource: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|k| k.resource() == resource)
    }

    /// The kind that kubectl takes a word for: its name, its resource or its short name, which its group may follow
    /// (`deployment.apps`), or its version and its group (`deployments.v1.apps`).
    pub fn from_word(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        let (name, behind) = word.split_once('.').unwrap_or((&word, ""));
        Self::ALL.iter().copied().find(|kind| {
            let i = kind.info();
            let named =
                name == i.name.to_ascii_lowercase() || name == i.plural || (name == i.short && !name.is_empty());
            named && (behind.is_empty() || behind == i.group || behind == format!("{}.{}", i.version, i.group))
        })
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
            ("longhorn.io/v1beta1", "Setting", Recognised::Custom(Kind::LonghornSetting)),
        ] {
            assert_eq!(recognise(api, kind), want, "{api} {kind}");
        }
        for kind in Kind::ALL {
            assert_eq!(Kind::from_resource(&kind.resource()), Some(*kind));
            assert_eq!(Kind::from_word(&kind.resource()), Some(*kind));
        }
    }

    #[test]
    fn words_are_kubectl_s() {
        for (word, want) in [
            ("pod", Some(Kind::Pod)),
            ("po", Some(Kind::Pod)),
            ("Pods", Some(Kind::Pod)),
            ("deploy", Some(Kind::Deployment)),
            ("deployment.apps", Some(Kind::Deployment)),
            ("deployments.v1.apps", Some(Kind::Deployment)),
            ("deployment.batch", None),
            ("pdb", Some(Kind::PodDisruptionBudget)),
            ("poddisruptionbudget.policy", Some(Kind::PodDisruptionBudget)),
            ("csinode", Some(Kind::CSINode)),
            ("shop", None),
            ("", None),
            (".", None),
        ] {
            assert_eq!(Kind::from_word(word), want, "{word}");
        }
    }
}
