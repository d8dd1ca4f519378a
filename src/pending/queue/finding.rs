//! What the queue means for one pod: who is before it, and gets the room.

use super::{Queue, Turn};
use crate::finding::{Code, Finding, Ref, Severity};
use crate::pending::facts::some;
use crate::pending::scheduling::Scheduling;
use crate::sched::{NodeId, State};
use crate::snapshot::pod::Pod;
use std::sync::Arc;

impl Queue {
    /// Where what holds for the pod alone does not hold in the queue: the room it would have goes to pods before it; or
    /// it gets a node once those have theirs.
    pub fn finding(&self, pod: &Pod, alone: &Scheduling, state: &State) -> Option<Finding> {
        let name = |id: &NodeId| state.node(*id).map(|n| n.name().to_string()).unwrap_or_default();
        let preempting = alone.preemption.chosen.is_some();
        match self.turn(pod)? {
            Turn::Waits if !alone.fits.is_empty() => {
                let before = self.before(pod, &alone.fits);
                let room = format!("there is room for the pod on {}", some(alone.fits.iter().map(name)));
                Some(self.hedged(behind(pod, &room, &before)))
            }
            Turn::Waits if preempting => {
                let nodes: Vec<NodeId> = alone.preemption.candidates.iter().map(|c| c.node).collect();
                let room = format!("preemption could make room on {}", some(nodes.iter().map(name)));
                Some(self.hedged(behind(pod, &room, &self.before(pod, &nodes))))
            }
            Turn::Placed { node, .. } | Turn::Preempts { node, .. } if alone.fits.is_empty() && !preempting => {
                let others: Vec<NodeId> = self.takers.keys().copied().collect();
                let before = self.before(pod, &others);
                let message = format!(
                    "once the pods before it in the scheduler's queue have their nodes ({}), the pod fits on {}",
                    some(before.iter().map(|p| p.meta.path())),
                    name(node)
                );
                (!before.is_empty()).then(|| Finding::new(Code::QueueBehind, message).severity(Severity::Info))
            }
            _ => None,
        }
    }

    /// Says that an outcome is likely and not certain, where it is not.
    fn hedged(&self, mut finding: Finding) -> Finding {
        if !self.certain {
            finding.message.push_str(" (likely: the scheduler chooses among nodes, and victims need time to end)");
        }
        finding
    }
}

fn behind(pod: &Pod, room: &str, before: &[&Arc<Pod>]) -> Finding {
    let why = |p: &Arc<Pod>| {
        let why = match p.priority().cmp(&pod.priority()) {
            std::cmp::Ordering::Equal => "older".to_owned(),
            _ => format!("priority {}", p.priority()),
        };
        format!("{} ({why})", p.meta.path())
    };
    let message = match before {
        // Chance, or a gang that is placed as a whole, decides.
        [] => format!("{room}, and not for every pod of the queue: this pod (priority {}) gets none", pod.priority()),
        _ => format!(
            "{room}, and pods before it in the scheduler's queue use that up: {}; this pod has priority {}",
            some(before.iter().map(|p| why(p))),
            pod.priority()
        ),
    };
    Finding::new(Code::QueueBehind, message).about(before.iter().take(10).map(|p| Ref::pod(p)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending::scheduling::schedule;
    use crate::testing::{Object, cluster, find, node, pod};
    use serde_json::json;

    #[test]
    fn who_gets_the_room_is_named() {
        let asks = |name: &str, cpu: &str, priority: i32, created: &str| {
            pod(&format!("a/{name}"))
                .created(&format!("2026-01-01T{created}:00Z"))
                .requests("cpu", cpu)
                .spec(json!({"priority": priority}))
        };
        let low = || asks("low", "4", 0, "08:00").on("n1").ready();
        let rows: [(&str, Vec<Object>, Option<&str>); 6] = [
            ("alone", vec![asks("p", "3", 0, "09:00")], None),
            (
                "behind a higher priority",
                vec![asks("p", "3", 0, "09:00"), asks("q", "3", 10, "10:00")],
                Some(
                    "there is room for the pod on n1, and pods before it in the scheduler's queue use that up: a/q (priority 10); this pod has priority 0",
                ),
            ),
            (
                "behind an older one",
                vec![asks("p", "3", 0, "10:00"), asks("q", "3", 0, "09:00")],
                Some("use that up: a/q (older)"),
            ),
            ("room for both", vec![asks("p", "2", 0, "10:00"), asks("q", "2", 10, "09:00")], None),
            (
                "both would preempt",
                vec![low(), asks("p", "3", 5, "10:00"), asks("q", "3", 10, "11:00")],
                Some(
                    "preemption could make room on n1, and pods before it in the scheduler's queue use that up: a/q (priority 10); this pod has priority 5 (likely: ",
                ),
            ),
            ("the room is not what is missing", vec![asks("p", "5", 0, "10:00"), asks("q", "3", 10, "09:00")], None),
        ];
        for (title, objects, want) in rows {
            let snapshot = cluster().add(node("n1")).all(objects).snapshot();
            let state = State::new(&snapshot);
            let p = find(&snapshot, "a/p");
            let found = Queue::play(&state).finding(&p, &schedule(&state, &p).0, &state);
            match (want, found) {
                (None, None) => {}
                (Some(words), Some(f)) => assert!(f.message.contains(words), "{title}: {}", f.message),
                (want, found) => panic!("{title}: {want:?}, {found:?}"),
            }
        }
    }
}
