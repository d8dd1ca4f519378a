//! `not-guarded`: what deletes pods of this budget now, and does not ask it. Taints with the effect NoExecute are one such
//! cause: the taint eviction controller deletes pods (it does not evict them). Mirrors `processPodOnNode` of
//! `pkg/controller/tainteviction/taint_eviction.go`.

use super::cause::Cause;
use crate::budget::context::{BudgetContext, names};
use crate::finding::{Code, Ref};
use crate::snapshot::node::{Node, Taint};
use crate::snapshot::pod::{Pod, Toleration};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let now = b.snapshot.now;
    let live = b.pods.iter().map(|p| &p.pod).filter(|p| p.is_active());
    let threatened = live.filter_map(|pod| {
        let node = b.snapshot.nodes.named("", pod.node.as_deref()?)?;
        Some((pod, node, end(pod, node, now)?))
    });
    let mut threatened: Vec<(&Arc<Pod>, &Arc<Node>, End<'_>)> = threatened.collect();
    threatened.sort_by_key(|(_, _, end)| end.at);
    let (_, node, first) = threatened.first()?;
    let same: Vec<&Arc<Pod>> =
        threatened.iter().filter(|(_, n, e)| Arc::ptr_eq(n, node) && e == first).map(|t| t.0).collect();
    let others = threatened.len() - same.len();
    let when = match first.tolerated {
        None => "now".to_owned(),
        Some(seconds) if first.at <= now => format!("now (tolerated for {seconds} s, which are over)"),
        Some(seconds) => format!("at {:.0} (tolerated for {seconds} s)", first.at),
    };
    let more = match others {
        0 => String::new(),
        1 => "; 1 further pod later or on another node".to_owned(),
        n => format!("; {n} further pods later or on other nodes"),
    };
    let message = format!(
        "the budget does not stop taints: {} on node {} {} deleted {when} for taint {}{more}",
        names(same.iter().copied()),
        node.meta.name,
        if same.len() == 1 { "is" } else { "are" },
        first.taint
    );
    let refs = std::iter::once(Ref::node(&node.meta.name));
    Some(Cause::note(b.finding(Code::NotGuarded, message, same).about(refs)))
}

/// When a pod is deleted for its node's taints.
#[derive(Debug, Clone, PartialEq)]
struct End<'n> {
    at: Timestamp,
    /// For so many seconds the taint is tolerated; `None` where it is not.
    tolerated: Option<i64>,
    taint: &'n Taint,
}

/// When the pod is deleted for taints of its node; `None` where it tolerates all of them for ever. The controller counts
/// from when it saw pod and taint together, here from the later of both.
fn end<'n>(pod: &Pod, node: &'n Node, now: Timestamp) -> Option<End<'n>> {
    let mut least: Option<(i64, &Taint)> = None;
    let mut since = pod.status.started;
    for taint in node.taints.iter().filter(|t| &*t.effect == "NoExecute") {
        let tolerates = |t: &&Toleration| t.tolerates(&taint.key, &taint.value, &taint.effect);
        let Some(toleration) = pod.spec.tolerations.iter().find(tolerates) else {
            return Some(End { at: now, tolerated: None, taint });
        };
        since = since.max(taint.since);
        if let Some(seconds) = toleration.seconds
            && least.is_none_or(|(least, _)| seconds < least)
        {
            least = Some((seconds.max(0), taint));
        }
    }
    let (seconds, taint) = least?;
    let at = since.unwrap_or(now).saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX);
    Some(End { at, tolerated: Some(seconds), taint })
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes;
    use super::*;
    use crate::testing::{Cluster, Object, budget, cluster, deployment, node};
    use serde_json::{Value, json};

    #[test]
    fn taints_go_past_a_budget() {
        // After TestUpdateNode… and TestGetMinTolerationTime of upstream: no toleration, for ever, for a while, the least of several.
        let tainted = |taints: Value| node("n").spec(json!({"taints": taints}));
        let taint = |key: &str| json!({"key": key, "effect": "NoExecute", "timeAdded": "2026-01-01T11:58:00Z"});
        let tolerates = |tolerations: Value| move |_: usize, p: Object| p.spec(json!({"tolerations": tolerations}));
        let with = |taints: Value, tolerations: Value| -> Cluster {
            let web = deployment("a/web").on(&["n", "m"]).pods(tolerates(tolerations));
            cluster().all([tainted(taints), node("m")]).add(budget("a/b").selects("app=web").min_available(2)).add(web)
        };
        let exists = |key: &str, seconds: Value| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds});
        let now = "the budget does not stop taints: web-1-0 on node n is deleted now for taint maintenance:NoExecute";
        let later = "the budget does not stop taints: web-1-0 on node n is deleted at 2026-01-01T12:08:00Z (tolerated for 600 s) for \
                     taint maintenance:NoExecute";
        let sooner = "the budget does not stop taints: web-1-0 on node n is deleted at 2026-01-01T12:03:00Z (tolerated for 300 s) for \
                      taint node.kubernetes.io/unreachable:NoExecute";
        let over = "the budget does not stop taints: web-1-0 on node n is deleted now (tolerated for 60 s, which are over) for \
                    taint maintenance:NoExecute";
        let unreachable = "node.kubernetes.io/unreachable";
        notes(
            find,
            vec![
                ("no taint", with(json!([]), json!([])), None),
                ("not tolerated", with(json!([taint("maintenance")]), json!([])), Some(now)),
                (
                    "for a while",
                    with(json!([taint("maintenance")]), json!([exists("maintenance", json!(600))])),
                    Some(later),
                ),
                (
                    "the while is over",
                    with(json!([taint("maintenance")]), json!([exists("maintenance", json!(60))])),
                    Some(over),
                ),
                ("for ever", with(json!([taint("maintenance")]), json!([exists("maintenance", Value::Null)])), None),
                (
                    "the least of two",
                    with(
                        json!([taint("maintenance"), taint(unreachable)]),
                        json!([exists("maintenance", json!(600)), exists(unreachable, json!(300))]),
                    ),
                    Some(sooner),
                ),
                (
                    "one of two is not tolerated",
                    with(json!([taint("maintenance"), taint(unreachable)]), json!([exists(unreachable, json!(300))])),
                    Some(now),
                ),
                (
                    "no other effect deletes",
                    with(json!([{"key": "maintenance", "effect": "NoSchedule"}]), json!([])),
                    None,
                ),
            ],
        );
    }
}
