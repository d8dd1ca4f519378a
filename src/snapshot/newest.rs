//! The time that a file speaks of where it does not say: the newest that any of its objects speaks of.

use super::meta::Meta;
use super::pod::ContainerState;
use super::tables::Tables;
use crate::wire::time::MicroTime;
use jiff::{SignedDuration, Timestamp};

/// The newest creation, deletion, condition, heartbeat, container, event and lease time.
pub(super) fn newest(tables: &Tables) -> Option<Timestamp> {
    let mut newest = None;
    let mut see = |t: Option<Timestamp>| newest = newest.max(t);
    for p in tables.pods.iter() {
        see_meta(&p.meta, &mut see);
        see(p.status.started);
        p.status.conditions.iter().for_each(|c| see(c.since));
        for c in p.status.containers.iter().chain(&p.status.init_containers) {
            see(c.last.as_ref().and_then(|t| t.finished));
            match &c.state {
                ContainerState::Running(t) => see(*t),
                ContainerState::Terminated(t) => see(t.finished),
                _ => {}
            }
        }
    }
    for n in tables.nodes.iter() {
        see_meta(&n.meta, &mut see);
        see(n.heartbeat);
        n.conditions.iter().for_each(|c| see(c.since));
    }
    for b in tables.budgets.iter() {
        see_meta(&b.meta, &mut see);
        b.status.conditions.iter().for_each(|c| see(c.since));
    }
    for e in tables.events.iter() {
        see(e.last_seen);
    }
    for w in tables.workloads.iter() {
        see_meta(&w.meta, &mut see);
    }
    for c in tables.persistent_volume_claims.iter() {
        see_meta(&c.meta, &mut see);
    }
    for l in tables.leases.iter() {
        see(l.spec.as_ref().and_then(|s| s.renew_time).and_then(MicroTime::timestamp));
    }
    newest
}

fn see_meta(meta: &Meta, see: &mut impl FnMut(Option<Timestamp>)) {
    see(meta.creation_timestamp);
    // The server writes the time by which the object should be gone.
    let grace = SignedDuration::from_secs(meta.deletion_grace_period.unwrap_or_default());
    see(meta.deletion_timestamp.and_then(|t| t.checked_sub(grace).ok()));
}

#[cfg(test)]
mod tests {
    use crate::snapshot::builder::Builder;
    use crate::snapshot::{Snapshot, Source};
    use crate::testing::{Object, budget, node, object, pod, workload};
    use serde_json::{Value, json};

    fn now_of(objects: &[Value]) -> String {
        let mut builder = Builder::default();
        objects.iter().for_each(|o| builder.add_json(o.to_string().as_bytes()).unwrap());
        let snapshot: Snapshot = builder.finish(Source::default(), None);
        snapshot.now.to_string()
    }

    const EARLY: &str = "2026-01-01T00:00:00Z";
    const LATE: &str = "2026-01-01T12:00:00Z";

    /// The contract: creation, condition, heartbeat, container, event and lease times, and the deletion less its grace.
    #[test]
    fn each_time_that_an_object_speaks_of_counts() {
        let at = |time: &str| -> Vec<(&str, Object)> {
            let condition =
                |kind: &str| json!({"conditions": [{"type": kind, "status": "True", "lastTransitionTime": time}]});
            let micro = time.replace('Z', ".000000Z");
            let container = |state: Value| json!({"containerStatuses": [{"name": "c", "state": state}]});
            vec![
                ("creation", pod("a/p").created(time)),
                ("start", pod("a/p").status(json!({"startTime": time}))),
                ("condition of a pod", pod("a/p").status(condition("Ready"))),
                ("running", pod("a/p").status(container(json!({"running": {"startedAt": time}})))),
                ("terminated", pod("a/p").status(container(json!({"terminated": {"finishedAt": time}})))),
                (
                    "heartbeat",
                    node("n").status(json!({"conditions":
                    [{"type": "Ready", "status": "True", "lastHeartbeatTime": time}]})),
                ),
                ("condition of a node", node("n").status(condition("Ready"))),
                ("condition of a budget", budget("a/b").status(condition("DisruptionAllowed"))),
                ("event", object("v1", "Event", "a/e").with(json!({"eventTime": micro}))),
                (
                    "event of the newer API",
                    object("events.k8s.io/v1", "Event", "a/e").with(json!({"eventTime": micro})),
                ),
                ("lease", object("coordination.k8s.io/v1", "Lease", "a/l").spec(json!({"renewTime": micro}))),
                ("claim", object("v1", "PersistentVolumeClaim", "a/c").created(time)),
            ]
        };
        for ((what, early), (_, late)) in at(EARLY).into_iter().zip(at(LATE)) {
            let other = pod("a/other").created("2026-01-01T06:00:00Z").json();
            assert_eq!(now_of(&[early.json(), other.clone()]), "2026-01-01T06:00:00Z", "{what}");
            assert_eq!(now_of(&[late.json(), other]), LATE, "{what}");
        }
        let made = workload("apps/v1", "Deployment", "a/w").itself(|o| o.created(LATE));
        assert_eq!(now_of(&crate::testing::Objects::from(made).json()), LATE);
    }

    #[test]
    fn a_deletion_was_asked_for_before_its_grace() {
        assert_eq!(now_of(&[pod("a/p").deleted("2026-01-01T12:00:30Z", 30).json()]), LATE);
        assert_eq!(now_of(&[pod("a/p").json()]), "1970-01-01T00:00:00Z");
    }
}
