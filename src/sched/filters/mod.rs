//! The filters of kube-scheduler's default profile, one a file, and the order in which they run.

pub mod claims;
pub mod devices;
pub mod dynamic_resources;
mod filter;
pub mod inter_pod_affinity;
pub mod node_affinity;
pub mod node_declared_features;
pub mod node_name;
pub mod node_ports;
pub mod node_resources_fit;
pub mod node_unschedulable;
pub mod node_volume_limits;
pub mod pod_topology_spread;
pub mod storage_capacity;
pub mod taint_toleration;
pub mod volume_binding;
pub mod volume_restrictions;
pub mod volume_zone;

pub(crate) use filter::simple;
pub use filter::{Filter, Incoming, Prepare, Prepared};

use super::status::Plugin;

/// The plugins in the order of `getDefaultPlugins` (`pkg/scheduler/apis/config/v1/default_plugins.go`), both for what
/// they do before nodes are looked at and for what they say of nodes. A node's message comes from its first refusal.
pub const ORDER: &[(Plugin, Prepare)] = &[
    (Plugin::NodeUnschedulable, node_unschedulable::prepare),
    (Plugin::NodeName, node_name::prepare),
    (Plugin::TaintToleration, taint_toleration::prepare),
    (Plugin::NodeAffinity, node_affinity::prepare),
    (Plugin::NodePorts, node_ports::prepare),
    (Plugin::NodeResourcesFit, node_resources_fit::prepare),
    (Plugin::VolumeRestrictions, volume_restrictions::prepare),
    (Plugin::NodeVolumeLimits, node_volume_limits::prepare),
    (Plugin::VolumeBinding, volume_binding::prepare),
    (Plugin::VolumeZone, volume_zone::prepare),
    (Plugin::PodTopologySpread, pod_topology_spread::prepare),
    (Plugin::InterPodAffinity, inter_pod_affinity::prepare),
    // Put before preemption when its feature is on, which it is by default since 1.34.
    (Plugin::DynamicResources, dynamic_resources::prepare),
    // Appended by its feature gate, on by default since 1.36.
    (Plugin::NodeDeclaredFeatures, node_declared_features::prepare),
];
