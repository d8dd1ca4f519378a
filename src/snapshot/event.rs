//! Events of both APIs in one shape.

use super::intern::Str;
use super::keep::{Keep, Reader};
use super::meta::Meta;
use super::table::Keyed;
use crate::wire::time::{MicroTime, Time};
use crate::wire::{events as wire, events_v1};
use jiff::Timestamp;

/// What happened to an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Names and age of the event itself.
    pub meta: Meta,
    /// The kind of the object it is about.
    pub kind: Str,
    /// The namespace of the object; `None` outside namespaces.
    pub namespace: Option<Str>,
    /// The name of the object.
    pub name: Str,
    /// The uid of the object, where given.
    pub uid: Option<Str>,
    /// The object that had part in it, as `namespace/name`: the pod for which another was preempted.
    pub related: Option<Str>,
    /// A word: `FailedScheduling`, `FailedCreate` …
    pub reason: Str,
    /// A sentence.
    pub message: Str,
    /// Whether it is a warning.
    pub warning: bool,
    /// Who says so.
    pub reporter: Str,
    /// How often.
    pub count: i32,
    /// When it was seen last: the newest of all its times, as today's scheduler leaves `lastTimestamp` empty.
    pub last_seen: Option<Timestamp>,
}

impl Keyed for Event {
    fn meta(&self) -> &Meta {
        &self.meta
    }
}

impl Keep for wire::Event {
    type Kept = Event;

    fn keep(self, reader: &mut Reader) -> Result<Event, String> {
        let i = &mut reader.interner;
        let w = self;
        let about = w.involved_object.unwrap_or_default();
        let source = w.source.unwrap_or_default().component;
        let series = w.series.unwrap_or_default();
        let meta = Meta::read(w.metadata, i);
        let times = [w.first_timestamp, w.last_timestamp].map(|t| t.and_then(Time::timestamp));
        let micro_times = [w.event_time, series.last_observed_time].map(|t| t.and_then(MicroTime::timestamp));
        Ok(Event {
            kind: i.str(&about.kind),
            namespace: i.opt(&about.namespace),
            name: i.str(&about.name),
            uid: i.opt(&about.uid),
            related: w.related.map(|r| i.str(&format!("{}/{}", r.namespace, r.name))),
            reason: i.str(&w.reason),
            message: i.str(&w.message),
            warning: w.type_ == "Warning",
            reporter: i.str(if w.reporting_component.is_empty() { &source } else { &w.reporting_component }),
            count: series.count.or(w.count).unwrap_or(1),
            last_seen: times.into_iter().chain(micro_times).flatten().max().or(meta.creation_timestamp),
            meta,
        })
    }
}

impl From<events_v1::Event> for wire::Event {
    fn from(w: events_v1::Event) -> Self {
        Self {
            metadata: w.metadata,
            involved_object: w.regarding,
            related: w.related,
            reason: w.reason,
            message: w.note,
            source: None,
            first_timestamp: w.deprecated_first_timestamp,
            last_timestamp: w.deprecated_last_timestamp,
            count: w.deprecated_count,
            type_: w.type_,
            event_time: w.event_time,
            series: w.series,
            reporting_component: w.reporting_controller,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{cluster, object};
    use serde_json::json;

    /// Today's scheduler leaves `lastTimestamp` empty and writes `eventTime` and `series`.
    #[test]
    fn the_newest_of_its_times_counts() {
        let [t1, t2, t3] = ["2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T03:00:00Z"];
        let micro = |time: &str| time.replace('Z', ".000000Z");
        let (m2, m3) = (micro(t2), micro(t3));
        let core = |fields| object("v1", "Event", "a/e").created(t1).with(fields);
        let newer = |fields| object("events.k8s.io/v1", "Event", "a/e").created(t1).with(fields);
        for (event, last, count, reporter) in [
            (core(json!({})), t1, 1, ""),
            (
                core(json!({"firstTimestamp": t1, "lastTimestamp": t2, "count": 4, "source": {"component": "old"}})),
                t2,
                4,
                "old",
            ),
            (
                core(
                    json!({"lastTimestamp": null, "eventTime": m2, "reportingComponent": "new", "source": {"component": "old"}}),
                ),
                t2,
                1,
                "new",
            ),
            (core(json!({"eventTime": m2, "count": 1, "series": {"count": 9, "lastObservedTime": m3}})), t3, 9, ""),
            (
                newer(
                    json!({"eventTime": m2, "series": {"count": 9, "lastObservedTime": m3}, "reportingController": "new"}),
                ),
                t3,
                9,
                "new",
            ),
            (newer(json!({"deprecatedLastTimestamp": t2, "deprecatedCount": 3})), t2, 3, ""),
        ] {
            let words = event.clone().json().to_string();
            let snapshot = cluster().add(event).snapshot();
            let read = &snapshot.events[0];
            let got = (read.last_seen.unwrap().to_string(), read.count, &*read.reporter);
            assert_eq!(got, (last.to_owned(), count, reporter), "{words}");
        }
    }
}
