//! The rest of core/v1: namespaces, service accounts, replication controllers, quotas, services.

use super::macros::wire;
use super::meta::ObjectMeta;
use super::pod::PodTemplateSpec;
use super::scalar::Quantity;
use super::time::Time;

wire! {
    as (api::core::v1);

    /// `core.Namespace`.
    Namespace {
        metadata: msg(ObjectMeta) = 1,
        status: msg(NamespaceStatus) = 3,
    }

    /// `core.NamespaceStatus`.
    NamespaceStatus {
        phase: str = 1,
    }

    /// `core.ServiceAccount`.
    ServiceAccount {
        metadata: msg(ObjectMeta) = 1,
    }

    /// `core.ReplicationController`.
    ReplicationController {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(ReplicationControllerSpec) = 2,
        status: msg(ReplicationControllerStatus) = 3,
    }

    /// `core.ReplicationControllerSpec`.
    ReplicationControllerSpec {
        replicas: i32 = 1,
        selector: map = 2,
        template: msg(PodTemplateSpec) = 3,
        min_ready_seconds: i32 = 4,
    }

    /// `core.ReplicationControllerStatus`.
    ReplicationControllerStatus {
        replicas: i32 = 1,
        ready_replicas: i32 = 4,
        observed_generation: i64 = 3,
        conditions: list(ReplicationControllerCondition) = 6,
    }

    /// `core.ReplicationControllerCondition`.
    ReplicationControllerCondition {
        type_: str = 1,
        status: str = 2,
        last_transition_time: msg(Time) = 3,
        reason: str = 4,
        message: str = 5,
    }

    /// `core.ResourceQuota`.
    ResourceQuota {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(ResourceQuotaSpec) = 2,
        status: msg(ResourceQuotaStatus) = 3,
    }

    /// `core.ResourceQuotaSpec`.
    ResourceQuotaSpec {
        hard: map_of(Quantity) = 1,
        scopes: strings = 2,
        scope_selector: msg(ScopeSelector) = 3,
    }

    /// `core.ScopeSelector`.
    ScopeSelector {
        match_expressions: list(ScopedResourceSelectorRequirement) = 1,
    }

    /// `core.ScopedResourceSelectorRequirement`.
    ScopedResourceSelectorRequirement {
        scope_name: str = 1,
        operator: str = 2,
        values: strings = 3,
    }

    /// `core.ResourceQuotaStatus`.
    ResourceQuotaStatus {
        hard: map_of(Quantity) = 1,
        used: map_of(Quantity) = 2,
    }

    /// `core.LimitRange`.
    LimitRange {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(LimitRangeSpec) = 2,
    }

    /// `core.LimitRangeSpec`.
    LimitRangeSpec {
        limits: list(LimitRangeItem) = 1,
    }

    /// `core.LimitRangeItem`.
    LimitRangeItem {
        type_: str = 1,
        max: map_of(Quantity) = 2,
        min: map_of(Quantity) = 3,
        default_: map_of(Quantity) = 4,
        default_request: map_of(Quantity) = 5,
        max_limit_request_ratio: map_of(Quantity) = 6,
    }

    /// `core.Service`.
    Service {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(ServiceSpec) = 2,
    }

    /// `core.ServiceSpec`.
    ServiceSpec {
        selector: map = 2,
        type_: str = 4,
    }
}
