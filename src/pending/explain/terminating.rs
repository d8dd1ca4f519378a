//! Room that pods on their way out still hold: it is free by itself, and no new node is needed for it.

use crate::pending::facts::{Facts, some};
use crate::sched::cycle::Cycle;
use crate::snapshot::age::duration_words;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

/// Where the pod fits once pods that are being deleted are gone: which, where, and how long that lasts at most. A pod past
/// its grace period ends at an unknown time, or never, and promises nothing.
pub fn room(f: &Facts<'_>) -> Option<String> {
    if !f.tries {
        return None;
    }
    let now = f.snapshot().now;
    let ends = |p: &Pod| {
        p.is_terminating()
            && p.meta.foreign_finalizers().next().is_none()
            && p.meta.deletion_timestamp.is_some_and(|t| t >= now)
    };
    let mut state = f.state.clone();
    let mut any = false;
    for node in f.state.nodes().iter().filter(|n| n.node.is_ready()) {
        for slot in node.pods.iter().filter(|s| s.terminating && ends(&s.info.pod)) {
            any |= state.remove_from(&slot.info.pod, node.name());
        }
    }
    if !any {
        return None;
    }
    let mut cycle = Cycle::new(&state, f.pod());
    let node = state.nodes().iter().find(|n| cycle.takes(n))?;
    let here = f.state.node(node.id)?.pods.iter().filter(|s| s.terminating && ends(&s.info.pod));
    let pods: Vec<&Arc<Pod>> = here.map(|s| &s.info.pod).collect();
    let last = pods.iter().filter_map(|p| p.meta.deletion_timestamp).max()?;
    let left = last.duration_since(now).as_secs().max(0);
    Some(format!(
        "{} on {} {} being deleted, and the pod fits there once {} deleted, in at most {}: no new node is needed for it",
        some(pods.iter().map(|p| p.meta.path())),
        node.name(),
        if pods.len() == 1 { "is" } else { "are" },
        if pods.len() == 1 { "that pod is" } else { "they are" },
        duration_words(left)
    ))
}

#[cfg(test)]
mod tests {
    use crate::pending::{Request, pending};
    use crate::sched::State;
    use crate::testing::{Object, cluster, node, pod};
    use serde_json::json;

    #[test]
    fn room_that_will_be_free_is_told_with_its_time() {
        // The node has 4 cpu.
        let old = |at: &str| pod("a/old").requests("cpu", "4").on("n1").ready().deleted(at, 600);
        let p = |cpu: &str| pod("a/p").requests("cpu", cpu);
        let rows: [(&str, Vec<Object>, bool); 5] = [
            ("in ten minutes", vec![old("2026-01-01T12:10:00Z"), p("2")], true),
            ("past its grace period", vec![old("2026-01-01T11:50:00Z"), p("2")], false),
            (
                "held by a finalizer of somebody",
                vec![old("2026-01-01T12:10:00Z").with(json!({"metadata": {"finalizers": ["x/y"]}})), p("2")],
                false,
            ),
            ("too little even then", vec![old("2026-01-01T12:10:00Z"), p("5")], false),
            ("nothing is being deleted", vec![pod("a/old").requests("cpu", "4").on("n1").ready(), p("2")], false),
        ];
        for (title, objects, told) in rows {
            let snapshot = cluster().add(node("n1")).all(objects).snapshot();
            let answer = pending(&Request::default(), &snapshot, &State::new(&snapshot)).unwrap();
            let said: Vec<&str> = answer.items.iter().flat_map(|i| &i.findings).map(|f| &*f.message).collect();
            let words = "the pod fits there once that pod is deleted, in at most 10 min";
            assert_eq!(said.iter().any(|m| m.contains(words)), told, "{title}: {said:?}");
        }
    }
}
