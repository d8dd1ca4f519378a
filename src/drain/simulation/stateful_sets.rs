//! The ordinals of StatefulSets: which is there, and which may be made again. Mirrors `updateStatefulSet` of
//! `pkg/controller/statefulset/stateful_set_control.go`.

use super::pods::PodId;
use crate::drain::controllers::{controller_key, pods_of};
use crate::drain::replacement::of_ordinal;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Detail;
use crate::snapshot::{Snapshot, Str};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Where an ordinal stands.
#[derive(Debug, Clone)]
pub enum Ordinal {
    /// Its pod is Ready.
    Ready(Arc<Pod>),
    /// Its pod is there and not Ready.
    Starting(Arc<Pod>),
    /// Its pod is being deleted.
    Leaving(Arc<Pod>),
    /// Its pod, which was like this one, is gone; the pod of the simulation that it was.
    Missing(Arc<Pod>, Option<PodId>),
}

impl Ordinal {
    fn pod(&self) -> &Arc<Pod> {
        match self {
            Self::Ready(p) | Self::Starting(p) | Self::Leaving(p) | Self::Missing(p, _) => p,
        }
    }
}

/// At most so many pods are made that a set never had: with more of them missing, more decide nothing else.
const NEW: usize = 100;

/// The pods of one set.
#[derive(Debug, Clone, Default)]
struct StatefulSet {
    ordinals: BTreeMap<i32, Ordinal>,
    /// The ordinals whose pod is not Ready.
    not_ready: BTreeSet<i32>,
    /// Of these, those whose pod is gone.
    missing: BTreeSet<i32>,
    /// From the first ordinal up to here none is without a pod, or none can be made.
    known_below: i32,
    /// How many ordinals have got their first pod, or cannot get it.
    new: usize,
}

impl StatefulSet {
    fn put(&mut self, n: i32, stands: Ordinal) {
        for (list, holds) in [
            (&mut self.not_ready, !matches!(stands, Ordinal::Ready(_))),
            (&mut self.missing, matches!(stands, Ordinal::Missing(..))),
        ] {
            if holds {
                list.insert(n);
            } else {
                list.remove(&n);
            }
        }
        self.new += usize::from(self.ordinals.insert(n, stands).is_none());
    }

    /// The lowest ordinal of these that has had no pod.
    fn without_pod(&mut self, (first, last): (i32, i32)) -> Option<i32> {
        let mut n = self.known_below.max(first);
        while n <= last && self.ordinals.contains_key(&n) {
            n = n.checked_add(1)?;
        }
        self.known_below = n;
        (n <= last && self.new < NEW).then_some(n)
    }

    /// The lowest ordinal that is missing.
    fn missing(&self, (first, last): (i32, i32)) -> Option<i32> {
        self.missing.range(first..=last).next().copied()
    }

    fn old(&self, n: i32) -> Option<(Arc<Pod>, Option<PodId>)> {
        match self.ordinals.get(&n)? {
            Ordinal::Missing(old, id) => Some((old.clone(), *id)),
            Ordinal::Ready(_) | Ordinal::Starting(_) | Ordinal::Leaving(_) => None,
        }
    }
}

/// The StatefulSets that take part.
#[derive(Debug, Clone, Default)]
pub struct StatefulSets(HashMap<Str, StatefulSet>);

impl StatefulSets {
    fn of(&mut self, snapshot: &Snapshot, pod: &Pod) -> Option<&mut StatefulSet> {
        let ordinals = || {
            let mut set = StatefulSet::default();
            for pod in pods_of(snapshot, pod) {
                let stands = match pod {
                    p if p.is_terminating() => Ordinal::Leaving(p.clone()),
                    p if p.is_ready() => Ordinal::Ready(p.clone()),
                    p => Ordinal::Starting(p.clone()),
                };
                if let Some(n) = pod.ordinal() {
                    set.put(n, stands);
                }
            }
            set.new = 0;
            set
        };
        Some(self.0.entry(controller_key(pod)?).or_insert_with(ordinals))
    }

    /// Sets where the ordinal of a pod stands; nothing for a pod of another kind of controller.
    pub fn put(&mut self, snapshot: &Snapshot, pod: &Pod, stands: Ordinal) {
        if let (Some(n), Some(set)) = (pod.ordinal(), self.of(snapshot, pod)) {
            set.put(n, stands);
        }
    }

    /// The next pod that the set of `pod` may make: what it is like, and the pod whose place it takes.
    pub fn next_to_make(
        &mut self,
        snapshot: &Snapshot,
        pod: &Pod,
        in_order: bool,
        wanted: i64,
    ) -> Option<(Arc<Pod>, Option<PodId>)> {
        let first = snapshot.controller_of(&pod.meta).map_or(0, |w| match &w.detail {
            Detail::StatefulSet(s) => s.0.first_ordinal(),
            _ => 0,
        });
        let last = i32::try_from(i64::from(first).saturating_add(wanted) - 1).unwrap_or(i32::MAX);
        if wanted <= 0 || last < first {
            return None;
        }
        let set = self.of(snapshot, pod)?;
        loop {
            let new = set.without_pod((first, last));
            let old =
                if in_order { set.not_ready.range(first..=last).next().copied() } else { set.missing((first, last)) };
            match (old, new) {
                (Some(old), new) if new.is_none_or(|new| old < new) => return set.old(old),
                (_, Some(new)) => match of_ordinal(pod, new, snapshot) {
                    Some(pod) => return Some((pod, None)),
                    None if in_order => return None,
                    // Where its claims will be is not known.
                    None => {
                        set.known_below = new.saturating_add(1);
                        set.new += 1;
                    }
                },
                (_, None) => return None,
            }
        }
    }

    /// The pod of the lowest ordinal below that of `pod` which is not Ready.
    pub fn blocker(&self, pod: &Pod) -> Option<Arc<Pod>> {
        let set = self.0.get(&controller_key(pod)?)?;
        let lowest = set.not_ready.range(..pod.ordinal()?).next()?;
        set.ordinals.get(lowest).map(|o| o.pod().clone())
    }
}
