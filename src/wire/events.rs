//! Events, and leases.

use super::macros::wire;
use super::meta::{ObjectMeta, ObjectReference};
use super::time::{MicroTime, Time};

wire! {
    as (api::core::v1);

    /// `core.Event`, the form in which both APIs are read from a server.
    Event {
        metadata: msg(ObjectMeta) = 1,
        involved_object: msg(ObjectReference) = 2,
        reason: str = 3,
        message: str = 4,
        source: msg(EventSource) = 5,
        first_timestamp: msg(Time) = 6,
        last_timestamp: msg(Time) = 7,
        count: i32 = 8,
        type_: str = 9,
        event_time: msg(MicroTime) = 10,
        series: msg(EventSeries) = 11,
        related: msg(ObjectReference) = 13,
        reporting_component: str = 14,
    }

    /// `core.EventSource`.
    EventSource {
        component: str = 1,
    }

    /// `core.EventSeries`.
    EventSeries {
        count: i32 = 1,
        last_observed_time: msg(MicroTime) = 2,
    }
}

wire! {
    as (api::coordination::v1);

    /// `coordination.Lease`.
    Lease {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(LeaseSpec) = 2,
    }

    /// `coordination.LeaseSpec`.
    LeaseSpec {
        holder_identity: str = 1,
        renew_time: msg(MicroTime) = 4,
    }
}
