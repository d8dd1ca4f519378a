//! The ordinals of StatefulSets: which is there, and which may be made again. Mirrors `updateStatefulSet` of
//! `pkg/controller/statefulset/stateful_set_control.go`.

use super::pods::PodId;
use crate::drain::controllers::{controller_key, pods_of};
use crate::drain::replacement::{of_ordinal, ordinal};
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Detail;
use crate::snapshot::{Snapshot, Str};
use std::collections::{BTreeMap, HashMap};
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

/// The StatefulSets that take part.
#[derive(Debug, Clone, Default)]
pub struct StatefulSets(HashMap<Str, BTreeMap<i32, Ordinal>>);

impl StatefulSets {
    fn of(&mut self, snapshot: &Snapshot, pod: &Pod) -> Option<&mut BTreeMap<i32, Ordinal>> {
        let ordinals = || {
            let ordinal = |pod: &Arc<Pod>| {
                let stands = match pod {
                    p if p.is_terminating() => Ordinal::Leaving(p.clone()),
                    p if p.is_ready() => Ordinal::Ready(p.clone()),
                    p => Ordinal::Starting(p.clone()),
                };
                Some((ordinal(pod)?, stands))
            };
            pods_of(snapshot, pod).into_iter().filter_map(ordinal).collect()
        };
        Some(self.0.entry(controller_key(pod)?).or_insert_with(ordinals))
    }

    /// Sets where the ordinal of a pod stands; nothing for a pod of another kind of controller.
    pub fn put(&mut self, snapshot: &Snapshot, pod: &Pod, stands: Ordinal) {
        if let (Some(n), Some(set)) = (ordinal(pod), self.of(snapshot, pod)) {
            set.insert(n, stands);
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
            Detail::StatefulSet(s) => s.0.ordinals.as_ref().and_then(|o| o.start).unwrap_or_default(),
            _ => 0,
        });
        let set = self.of(snapshot, pod)?;
        for n in (0..wanted).filter_map(|i| first.checked_add(i32::try_from(i).ok()?)) {
            match set.get(&n) {
                Some(Ordinal::Ready(_)) => {}
                Some(Ordinal::Missing(old, actor)) => return Some((old.clone(), *actor)),
                None => match of_ordinal(pod, n, snapshot) {
                    Some(new) => return Some((new, None)),
                    None if in_order => return None,
                    None => {}
                },
                Some(Ordinal::Starting(_) | Ordinal::Leaving(_)) if in_order => return None,
                Some(Ordinal::Starting(_) | Ordinal::Leaving(_)) => {}
            }
        }
        None
    }

    /// The pod of the lowest ordinal below that of `pod` which is not Ready.
    pub fn blocker(&self, pod: &Pod) -> Option<Arc<Pod>> {
        let below = self.0.get(&controller_key(pod)?)?.range(..ordinal(pod)?);
        below.map(|(_, o)| o).find(|o| !matches!(o, Ordinal::Ready(_))).map(|o| o.pod().clone())
    }
}
