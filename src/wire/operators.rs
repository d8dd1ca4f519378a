//! Resources that operators define, and of which an answer depends on a field. They come as JSON alone.

use super::macros::json;
use super::meta::{Condition, ObjectMeta};
use super::node::NodeSelectorRequirement;
use super::node::Taint;
use super::scalar::Quantity;
use std::collections::BTreeMap;

json! {
    /// `longhorn.io/v1beta2.Setting`.
    LonghornSetting {
        metadata: Option<ObjectMeta>,
        value: String,
    }

    /// `postgresql.cnpg.io/v1.Cluster`.
    CloudNativePGCluster {
        metadata: Option<ObjectMeta>,
        spec: CloudNativePGClusterSpec,
    }

    /// `postgresql.cnpg.io/v1.ClusterSpec`.
    CloudNativePGClusterSpec {
        instances: Option<i64>,
    }

    /// `karpenter.sh/v1.NodePool`.
    NodePool {
        metadata: Option<ObjectMeta>,
        spec: NodePoolSpec,
        status: NodePoolStatus,
    }

    /// `karpenter.sh/v1.NodePoolSpec`.
    NodePoolSpec {
        template: NodeClaimTemplate,
        limits: BTreeMap<String, Quantity>,
        weight: Option<i64>,
        replicas: Option<i64>,
    }

    /// `karpenter.sh/v1.NodeClaimTemplate`.
    NodeClaimTemplate {
        metadata: NodeClaimTemplateMetadata,
        spec: NodeClaimTemplateSpec,
    }

    /// `karpenter.sh/v1.ObjectMeta`.
    NodeClaimTemplateMetadata {
        labels: BTreeMap<String, String>,
    }

    /// `karpenter.sh/v1.NodeClaimTemplateSpec`.
    NodeClaimTemplateSpec {
        requirements: Vec<NodeSelectorRequirement>,
        taints: Vec<Taint>,
        termination_grace_period: Option<String>,
    }

    /// `karpenter.sh/v1.NodePoolStatus`.
    NodePoolStatus {
        resources: BTreeMap<String, Quantity>,
        conditions: Vec<Condition>,
    }
}
