//! events.k8s.io/v1: the same events as a file of the newer API holds them.

use super::events::EventSeries;
use super::macros::wire;
use super::meta::{ObjectMeta, ObjectReference};
use super::time::{MicroTime, Time};

wire! {
    as (api::events::v1);

    /// `events.Event`.
    Event {
        metadata: msg(ObjectMeta) = 1,
        event_time: msg(MicroTime) = 2,
        series: msg(EventSeries) = 3,
        reporting_controller: str = 4,
        action: str = 6,
        reason: str = 7,
        regarding: msg(ObjectReference) = 8,
        related: msg(ObjectReference) = 9,
        note: str = 10,
        type_: str = 11,
        deprecated_last_timestamp: msg(Time) = 14,
        deprecated_first_timestamp: msg(Time) = 13,
        deprecated_count: i32 = 15,
    }
}
