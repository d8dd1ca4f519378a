//! What every object has: names, labels, owners, selectors; and how one refers to another.

use super::macros::wire;
use super::time::Time;

wire! {
    as (apimachinery::pkg::apis::meta::v1);

    /// `meta.ObjectMeta`.
    ObjectMeta {
        name: str = 1,
        generate_name: str = 2,
        namespace: str = 3,
        uid: str = 5,
        resource_version: str = 6,
        generation: i64 = 7,
        creation_timestamp: msg(Time) = 8,
        deletion_timestamp: msg(Time) = 9,
        deletion_grace_period_seconds: i64 = 10,
        labels: map = 11,
        annotations: map = 12,
        owner_references: list(OwnerReference) = 13,
        finalizers: strings = 14,
    }

    /// `meta.OwnerReference`.
    OwnerReference {
        api_version: str = 5,
        kind: str = 1,
        name: str = 3,
        uid: str = 4,
        controller: bool = 6,
    }

    /// `meta.LabelSelector`.
    LabelSelector {
        match_labels: map = 1,
        match_expressions: list(LabelSelectorRequirement) = 2,
    }

    /// `meta.LabelSelectorRequirement`.
    LabelSelectorRequirement {
        key: str = 1,
        operator: str = 2,
        values: strings = 3,
    }

    /// `meta.Condition`.
    Condition {
        type_: str = 1,
        status: str = 2,
        observed_generation: i64 = 3,
        last_transition_time: msg(Time) = 4,
        reason: str = 5,
        message: str = 6,
    }

    /// `meta.ListMeta`.
    ListMeta {
        resource_version: str = 2,
        continue_: str = 3,
        remaining_item_count: i64 = 4,
    }
}

wire! {
    as (api::core::v1);

    /// `core.ObjectReference`.
    ObjectReference {
        kind: str = 1,
        namespace: str = 2,
        name: str = 3,
        uid: str = 4,
        api_version: str = 5,
    }
}
