//! Karpenter's NodePools and NodeClaims, and what clouds define beside them. They come as JSON alone.

use super::macros::json;
use super::meta::{Condition, ObjectMeta};
use super::node::Taint;
use super::scalar::Quantity;
use super::time::Time;
use std::collections::BTreeMap;

json! {
    /// `karpenter.sh/v1.NodePool`.
    NodePool {
        metadata: Option<ObjectMeta>,
        spec: NodePoolSpec,
        status: NodePoolStatus,
    }

    /// `karpenter.sh/v1.NodePoolSpec`.
    NodePoolSpec {
        template: NodeClaimTemplate,
        disruption: Disruption,
        limits: BTreeMap<String, Quantity>,
        weight: Option<i64>,
        replicas: Option<i64>,
    }

    /// `karpenter.sh/v1.NodeClaimTemplate`.
    NodeClaimTemplate {
        metadata: TemplateMetadata,
        spec: NodeClaimSpec,
    }

    /// `karpenter.sh/v1.ObjectMeta`.
    TemplateMetadata {
        labels: BTreeMap<String, String>,
    }

    /// `karpenter.sh/v1.Disruption`.
    Disruption {
        consolidate_after: Option<String>,
        consolidation_policy: String,
        budgets: Option<Vec<Budget>>,
    }

    /// `karpenter.sh/v1.Budget`.
    Budget {
        reasons: Option<Vec<String>>,
        nodes: String,
        schedule: Option<String>,
        duration: Option<String>,
    }

    /// `karpenter.sh/v1.NodePoolStatus`.
    NodePoolStatus {
        resources: BTreeMap<String, Quantity>,
        conditions: Vec<Condition>,
    }

    /// `karpenter.sh/v1.NodeClaim`.
    NodeClaim {
        metadata: Option<ObjectMeta>,
        spec: NodeClaimSpec,
        status: NodeClaimStatus,
    }

    /// `karpenter.sh/v1.NodeClaimSpec`, which is also that of a NodePool's template.
    NodeClaimSpec {
        taints: Vec<Taint>,
        startup_taints: Vec<Taint>,
        requirements: Vec<NodeSelectorRequirementWithMinValues>,
        node_class_ref: NodeClassReference,
        termination_grace_period: Option<String>,
        expire_after: Option<String>,
    }

    /// `karpenter.sh/v1.NodeSelectorRequirementWithMinValues`.
    NodeSelectorRequirementWithMinValues {
        key: String,
        operator: String,
        values: Vec<String>,
        min_values: Option<usize>,
    }

    /// `karpenter.sh/v1.NodeClassReference`.
    NodeClassReference {
        group: String,
        kind: String,
        name: String,
    }

    /// `karpenter.sh/v1.NodeClaimStatus`.
    NodeClaimStatus {
        node_name: String,
        #[serde(rename = "providerID")]
        provider_id: String,
        capacity: BTreeMap<String, Quantity>,
        allocatable: BTreeMap<String, Quantity>,
        conditions: Vec<Condition>,
        last_pod_event_time: Option<Time>,
    }

    /// `karpenter.k8s.aws/v1.EC2NodeClass`.
    EC2NodeClass {
        metadata: Option<ObjectMeta>,
        status: EC2NodeClassStatus,
    }

    /// `eks.amazonaws.com/v1.NodeClass`.
    EKSNodeClass {
        metadata: Option<ObjectMeta>,
        status: EC2NodeClassStatus,
    }

    /// `karpenter.k8s.aws/v1.EC2NodeClassStatus`.
    EC2NodeClassStatus {
        subnets: Vec<Subnet>,
    }

    /// `karpenter.k8s.aws/v1.Subnet`.
    Subnet {
        zone: String,
    }
}
