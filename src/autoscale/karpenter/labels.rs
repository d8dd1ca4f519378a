//! The node labels that Karpenter knows. Mirrors `pkg/apis/v1/labels.go`, and what each provider adds to it.

/// The label with the name of a node's NodePool.
pub const NODE_POOL: &str = "karpenter.sh/nodepool";
/// `spot`, `on-demand` or `reserved`.
pub const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
/// Set on a node once it has joined; `true`.
pub const REGISTERED: &str = "karpenter.sh/registered";
/// Set on a node once pods may run there; `true`.
pub const INITIALIZED: &str = "karpenter.sh/initialized";
/// The zone.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// The region.
pub const REGION: &str = "topology.kubernetes.io/region";
/// The instance type.
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
/// The processor's architecture.
pub const ARCH: &str = "kubernetes.io/arch";
/// The operating system.
pub const OS: &str = "kubernetes.io/os";
pub use crate::snapshot::node::HOSTNAME;

/// Labels that every provider's instance types may set, so that a pool need not name them.
const WELL_KNOWN: [&str; 8] =
    [NODE_POOL, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, CAPACITY_TYPE, "node.kubernetes.io/windows-build"];

/// Older names of labels, which Karpenter takes for the present ones.
const OLD_NAMES: [(&str, &str); 5] = [
    ("failure-domain.beta.kubernetes.io/zone", ZONE),
    ("failure-domain.beta.kubernetes.io/region", REGION),
    ("beta.kubernetes.io/arch", ARCH),
    ("beta.kubernetes.io/os", OS),
    ("beta.kubernetes.io/instance-type", INSTANCE_TYPE),
];

/// Who makes the nodes: the part of Karpenter that differs from cloud to cloud. Known by the API group of its NodeClass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Provider {
    /// Nodes without machines, for tests: `karpenter.kwok.sh`.
    Kwok,
    /// `karpenter.k8s.aws`.
    Aws,
    /// Amazon's own, outside the cluster: `eks.amazonaws.com`.
    EksAuto,
    /// `karpenter.azure.com`; also run by AKS outside the cluster.
    Azure,
    /// `karpenter.k8s.gcp`.
    Gcp,
    /// Any other.
    Other,
}

impl Provider {
    /// The provider whose NodeClasses are of an API group.
    pub fn of_group(group: &str) -> Self {
        match group {
            "karpenter.kwok.sh" => Self::Kwok,
            "karpenter.k8s.aws" => Self::Aws,
            "eks.amazonaws.com" => Self::EksAuto,
            "karpenter.azure.com" => Self::Azure,
            "karpenter.k8s.gcp" => Self::Gcp,
            _ => Self::Other,
        }
    }

    /// The present name of a label.
    pub fn normalized(self, key: &str) -> &str {
        if let Some((_, now)) = OLD_NAMES.iter().find(|(old, _)| *old == key) {
            return now;
        }
        // Drivers of volumes call the zone by names of their own.
        match (self, key) {
            (
                Self::Aws | Self::EksAuto,
                "topology.ebs.csi.aws.com/zone" | "topology.ebs.csi.eks.amazonaws.com/zone",
            )
            | (Self::Azure, "topology.disk.csi.azure.com/zone")
            | (Self::Gcp, "topology.gke.io/zone") => ZONE,
            _ => key,
        }
    }

    /// Whether instance types may set a label, so that a pod may ask for it although its pool does not name it.
    pub fn is_well_known(self, key: &str) -> bool {
        let domain = domain(key);
        WELL_KNOWN.contains(&key)
            || match self {
                Self::Kwok => matches!(
                    key,
                    "karpenter.kwok.sh/instance-cpu"
                        | "karpenter.kwok.sh/instance-family"
                        | "karpenter.kwok.sh/instance-memory"
                        | "karpenter.kwok.sh/instance-size"
                ),
                Self::Aws => matches!(domain, "karpenter.k8s.aws" | "topology.k8s.aws"),
                Self::EksAuto => matches!(domain, "eks.amazonaws.com" | "topology.k8s.aws"),
                Self::Azure => domain == "karpenter.azure.com",
                Self::Gcp => domain == "karpenter.k8s.gcp",
                // Which labels an unknown provider's types set is not known: its own domain is left open.
                Self::Other => domain.starts_with("karpenter.") && !is_within(domain, "karpenter.sh"),
            }
    }

    /// Whether no pod may ask for a label: its pod is then not looked at. Mirrors `IsRestrictedLabel`.
    pub fn is_restricted(self, key: &str) -> bool {
        let own = match self {
            Self::Kwok => "karpenter.kwok.sh",
            Self::Aws => "karpenter.k8s.aws",
            Self::EksAuto => "eks.amazonaws.com",
            Self::Azure => "karpenter.azure.com",
            Self::Gcp => "karpenter.k8s.gcp",
            Self::Other => "karpenter.sh",
        };
        let domain = domain(key);
        let reserved = is_within(domain, "karpenter.sh") || is_within(domain, own);
        !self.is_well_known(key) && (reserved || key == HOSTNAME)
    }
}

/// The part of a key before the slash.
fn domain(key: &str) -> &str {
    key.split_once('/').map_or("", |(domain, _)| domain)
}

fn is_within(domain: &str, parent: &str) -> bool {
    domain == parent || domain.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_told_apart_as_upstream() {
        use Provider::{Aws, Kwok, Other};
        // Provider, label, whether types may set it, whether a pod may not ask for it.
        for (provider, key, known, restricted) in [
            (Kwok, "topology.kubernetes.io/zone", true, false),
            (Kwok, "karpenter.sh/nodepool", true, false),
            (Kwok, "karpenter.sh/initialized", false, true),
            (Kwok, "sub.karpenter.sh/x", false, true),
            (Kwok, "karpenter.kwok.sh/instance-cpu", true, false),
            (Kwok, "karpenter.kwok.sh/kwoknodeclass", false, true),
            (Kwok, "kubernetes.io/hostname", false, true),
            (Kwok, "example.com/team", false, false),
            (Kwok, "notkarpenter.sh/x", false, false),
            (Aws, "karpenter.k8s.aws/instance-category", true, false),
            (Aws, "karpenter.kwok.sh/instance-cpu", false, false),
            (Other, "karpenter.example.com/instance-size", true, false),
            (Other, "karpenter.sh/registered", false, true),
        ] {
            assert_eq!(provider.is_well_known(key), known, "{provider:?} {key}");
            assert_eq!(provider.is_restricted(key), restricted, "{provider:?} {key}");
        }
    }

    #[test]
    fn old_names_are_the_new_ones() {
        assert_eq!(Provider::Kwok.normalized("beta.kubernetes.io/arch"), ARCH);
        assert_eq!(Provider::Aws.normalized("topology.ebs.csi.aws.com/zone"), ZONE);
        assert_eq!(Provider::Kwok.normalized("topology.ebs.csi.aws.com/zone"), "topology.ebs.csi.aws.com/zone");
    }
}
