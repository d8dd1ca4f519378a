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
