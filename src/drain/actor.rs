//! Who drains.

use clap::ValueEnum;

/// Who drains a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, ValueEnum)]
pub enum Actor {
    /// `kubectl drain`
    #[default]
    Kubectl,
    /// Karpenter, once a NodeClaim is deleted
    Karpenter,
    /// The Cluster Autoscaler, as it removes a node
    ClusterAutoscaler,
    /// The update of an EKS managed node group
    Eks,
    /// The upgrade of a GKE node pool
    Gke,
    /// The upgrade of an AKS node pool
    Aks,
    /// OpenShift's machine config operator
    Openshift,
    /// Cluster API, as it deletes a Machine
    ClusterApi,
    /// kured, before it reboots a node
    Kured,
    /// The system-upgrade-controller of Rancher and k3s
    SystemUpgradeController,
    /// The descheduler, on a node that is cordoned
    Descheduler,
}

impl Actor {
    /// Every actor, in the order of the documentation.
    pub const ALL: &'static [Self] = &[
        Self::Kubectl,
        Self::Karpenter,
        Self::ClusterAutoscaler,
        Self::Eks,
        Self::Gke,
        Self::Aks,
        Self::Openshift,
        Self::ClusterApi,
        Self::Kured,
        Self::SystemUpgradeController,
        Self::Descheduler,
    ];

    /// The word that `--by` takes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kubectl => "kubectl",
            Self::Karpenter => "karpenter",
            Self::ClusterAutoscaler => "cluster-autoscaler",
            Self::Eks => "eks",
            Self::Gke => "gke",
            Self::Aks => "aks",
            Self::Openshift => "openshift",
            Self::ClusterApi => "cluster-api",
            Self::Kured => "kured",
            Self::SystemUpgradeController => "system-upgrade-controller",
            Self::Descheduler => "descheduler",
        }
    }
}

/// Who drains, and how.
#[derive(Debug, Clone)]
pub struct ActorPlan {
    /// Who it is.
    pub actor: Actor,
    /// What people call it.
    pub title: &'static str,
    /// Its settings: each with what it does.
    pub settings: Vec<(&'static str, String)>,
    /// Where that is written.
    pub source: String,
}
