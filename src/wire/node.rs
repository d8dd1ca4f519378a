//! Nodes, and what selects them, of core/v1.

use super::macros::wire;
use super::meta::ObjectMeta;
use super::scalar::Quantity;
use super::time::Time;

wire! {
    as (api::core::v1);

    /// `core.Node`.
    Node {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(NodeSpec) = 2,
        status: msg(NodeStatus) = 3,
    }

    /// `core.NodeSpec`.
    NodeSpec {
        unschedulable: bool = 4,
        taints: list(Taint) = 5,
        provider_id as "providerID": str = 3,
    }

    /// `core.Taint`.
    Taint {
        key: str = 1,
        value: str = 2,
        effect: str = 3,
        time_added: msg(Time) = 4,
    }

    /// `core.NodeStatus`.
    NodeStatus {
        capacity: map_of(Quantity) = 1,
        allocatable: map_of(Quantity) = 2,
        conditions: list(NodeCondition) = 4,
        node_info: msg(NodeSystemInfo) = 7,
        declared_features: strings = 14,
    }

    /// `core.NodeCondition`.
    NodeCondition {
        type_: str = 1,
        status: str = 2,
        last_heartbeat_time: msg(Time) = 3,
        last_transition_time: msg(Time) = 4,
        reason: str = 5,
        message: str = 6,
    }

    /// `core.NodeSystemInfo`.
    NodeSystemInfo {
        kubelet_version: str = 7,
    }

    /// `core.TopologySelectorTerm`.
    TopologySelectorTerm {
        match_label_expressions: list(TopologySelectorLabelRequirement) = 1,
    }

    /// `core.TopologySelectorLabelRequirement`.
    TopologySelectorLabelRequirement {
        key: str = 1,
        values: strings = 2,
    }

    /// `core.NodeSelector`.
    NodeSelector {
        node_selector_terms: list(NodeSelectorTerm) = 1,
    }

    /// `core.NodeSelectorTerm`.
    NodeSelectorTerm {
        match_expressions: list(NodeSelectorRequirement) = 1,
        match_fields: list(NodeSelectorRequirement) = 2,
    }

    /// `core.NodeSelectorRequirement`.
    NodeSelectorRequirement {
        key: str = 1,
        operator: str = 2,
        values: strings = 3,
    }
}
