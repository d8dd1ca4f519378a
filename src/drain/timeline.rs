//! The upgrade of several nodes, a few at a time: when each is drained, what that waits for, and what would stop it.

use super::actor::Actor;
use super::context::DrainContext;
use super::drainer::AtDeadline;
use super::options::After;
use super::outcome::Verdict;
use super::simulation::drain::{Attempt, NodeRun};
use super::simulation::scheduler::NODE_STARTUP;
use crate::snapshot::Str;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// Drains of several nodes over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TimelineReport")]
pub struct Timeline {
    /// So many drains are under way at the same time.
    pub parallel: usize,
    /// So many nodes, like those that are drained, were added before.
    pub surge: usize,
    /// Each drain, by when it begins.
    #[serde(rename = "nodes")]
    pub turns: Vec<NodeTurn>,
    /// Seconds until all nodes are drained; `null` where it does not come to that.
    pub seconds: Option<i64>,
    /// The drains that follow each other the longest, and so decide how long the whole takes.
    pub longest_chain: Vec<Str>,
    /// The nodes that stop it: their drains never end, or are given up by an actor that then goes on with no other node.
    pub stopped_by: Vec<Str>,
    /// What the times rest on.
    pub basis: String,
}

/// The drain of a node among others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TurnReport")]
pub struct NodeTurn {
    /// The node.
    #[serde(rename = "name")]
    pub node: Str,
    /// How its drain ends.
    pub verdict: Verdict,
    /// Which of the drains under way at the same time it is, from 1.
    pub lane: usize,
    /// Seconds from the beginning of the first drain to that of this one.
    pub begins: i64,
    /// The same to its end; `null` where it never ends.
    pub ends: Option<i64>,
    /// The node whose drain has to end first; `null` for those that begin at once.
    pub after: Option<Str>,
    /// `namespace/name` of the budgets that refuse an eviction at first.
    pub waits_for: Vec<Str>,
    /// Whether it begins: `false` where earlier drains stop the upgrade, and it is judged as if somebody saw to them.
    pub reached: bool,
}

impl Timeline {
    /// That of drains which were simulated together; `parallel` at a time.
    pub fn new(
        context: &DrainContext<'_>,
        verdicts: &[Verdict],
        runs: &[NodeRun],
        parallel: usize,
        after: After,
    ) -> Self {
        let mut turns: Vec<NodeTurn> =
            verdicts.iter().zip(runs).map(|(verdict, run)| turn(context, *verdict, run)).collect();
        turns.sort_by_key(|t| (t.begins, t.lane));
        let failed = runs.iter().filter(|run| run.gave_up && stops_at_failure(context, run));
        let failed: HashSet<&Str> = failed.map(|run| &run.node).collect();
        let stops = |t: &&NodeTurn| t.ends.is_none() || failed.contains(&t.node);
        let stopped_by: Vec<Str> = turns.iter().filter(stops).map(|t| t.node.clone()).collect();
        // A drain that never ends keeps its place; one that fails ends the upgrade.
        let end = turns.iter().filter(stops).filter_map(|t| t.ends).min();
        let mut held: HashSet<Str> = turns.iter().filter(|t| t.ends.is_none()).map(|t| t.node.clone()).collect();
        for t in &mut turns {
            let behind = t.after.as_ref().is_some_and(|after| held.contains(after));
            t.reached = !behind && end.is_none_or(|end| t.begins < end);
            if behind {
                held.insert(t.node.clone());
            }
        }
        let back = if after == After::Back { NODE_STARTUP } else { 0 };
        let last = turns.iter().filter(|t| t.reached).filter_map(|t| t.ends.map(|e| (e, t))).max_by_key(|(e, _)| *e);
        let seconds = last.filter(|_| stopped_by.is_empty()).map(|(end, _)| end + back);
        let longest_chain = last.map(|(_, t)| chain(&turns, t)).unwrap_or_default();
        let then = match after {
            After::Back => format!(
                "a node is back, or its replacement is there, {NODE_STARTUP} s after its drain (a guess: nothing in the API tells)"
            ),
            After::Gone => "a node is taken away once it is drained".to_owned(),
        };
        let basis = format!("each pod uses its whole grace period; {then}");
        Self { parallel, surge: context.options.surge, turns, seconds, longest_chain, stopped_by, basis }
    }
}

/// The drains that had to end before one began, and that one.
fn chain(turns: &[NodeTurn], last: &NodeTurn) -> Vec<Str> {
    let by_node: HashMap<&Str, &NodeTurn> = turns.iter().map(|t| (&t.node, t)).collect();
    let mut names = vec![last.node.clone()];
    let mut at = last;
    while let Some(before) = at.after.as_ref().and_then(|node| by_node.get(node)) {
        names.push(before.node.clone());
        at = before;
        if names.len() > turns.len() {
            break;
        }
    }
    names.reverse();
    names
}

/// Whether whoever drains goes on with no other node once it has given up one. `kubectl drain` goes on with the next.
fn stops_at_failure(context: &DrainContext<'_>, run: &NodeRun) -> bool {
    let goes_on = matches!(context.drainer.actor, Actor::Kubectl | Actor::ClusterAutoscaler);
    !goes_on && matches!(run.deadline.map(|d| d.then), Some(AtDeadline::Fails(_)))
}

fn turn(context: &DrainContext<'_>, verdict: Verdict, run: &NodeRun) -> NodeTurn {
    let stays = run.attempts.iter().any(Attempt::stays);
    let refused = run.attempts.iter().filter(|a| a.refused_first).filter_map(|a| a.refusal?.budget());
    let mut ids: Vec<_> = refused.collect();
    ids.sort_unstable();
    ids.dedup();
    NodeTurn {
        node: run.node.clone(),
        verdict,
        lane: run.lane + 1,
        begins: run.began,
        ends: (!stays || run.gave_up).then_some(run.ended),
        after: run.after.clone(),
        waits_for: context.budgets.paths(&ids),
        reached: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Selection;
    use crate::drain::options::DrainOptions;
    use crate::drain::{Request, plan};
    use crate::testing::{budget, cluster, deployment, node};
    use serde_json::json;
    use std::fmt::Write as _;

    /// The timeline of a cluster of these nodes, each with a pod of `web`, or of an app of its own. A pod takes 30 s to end,
    /// and 10 s to start.
    fn timeline(shared: bool, never: Option<&str>, options: DrainOptions, after: After) -> Timeline {
        let names = ["n1", "n2", "n3"];
        let grace = json!({"spec": {"terminationGracePeriodSeconds": 30}});
        let mut world = cluster().add(node("spare").allocatable("cpu", "100"));
        for name in names {
            world = world.add(node(name).allocatable("cpu", "4"));
        }
        if shared {
            let web = deployment("shop/web").on(&names).pods(|_, p| p.label("app", "web").with(grace.clone()));
            world = world.add(web).add(budget("shop/web").selects("app=web").max_unavailable(1).allows(1));
        } else {
            for name in names {
                let app = deployment(&format!("shop/{name}")).on(&[name]);
                world = world.add(app.pods(|_, p| p.label("app", name).requests("cpu", "1").with(grace.clone())));
            }
        }
        if let Some(never) = never {
            world = world.add(budget("shop/never").selects(&format!("app={never}")).max_unavailable(0));
        }
        let snapshot = world.snapshot();
        let nodes = names.iter().filter_map(|n| snapshot.nodes.named("", n).cloned()).collect();
        let request = Request { nodes, each_alone: false, options, after };
        plan(&snapshot, &Selection::new(&snapshot), &request).timeline.expect("several drains at a time were asked for")
    }

    fn words(t: &Timeline) -> String {
        let mut out = String::new();
        for turn in &t.turns {
            let ends = turn.ends.map_or("never".to_owned(), |e| e.to_string());
            let after = turn.after.as_ref().map(|a| format!(" after {a}")).unwrap_or_default();
            let waits =
                if turn.waits_for.is_empty() { String::new() } else { format!(" for {}", turn.waits_for.join(",")) };
            let reached = if turn.reached { "" } else { " not begun" };
            let _ = write!(out, "{}/{} {}-{ends}{after}{waits}{reached}; ", turn.node, turn.lane, turn.begins);
        }
        let over = t.seconds.map_or(format!("stopped by {}", t.stopped_by.join(",")), |s| format!("over {s}"));
        format!("{out}{over}; chain {}", t.longest_chain.join(","))
    }

    #[test]
    fn drains_follow_each_other_in_their_lanes() {
        let by = |by: Option<Actor>, parallel: usize| DrainOptions {
            by,
            parallel: Some(parallel),
            ..DrainOptions::default()
        };
        let kubectl = |parallel: usize| by(None, parallel);
        let (gone, back) = (After::Gone, After::Back);
        for (title, shared, never, options, after, want) in [
            (
                "one",
                false,
                None,
                kubectl(1),
                gone,
                "n1/1 0-30; n2/1 30-60 after n1; n3/1 60-90 after n2; over 90; chain n1,n2,n3",
            ),
            ("two", false, None, kubectl(2), gone, "n1/1 0-30; n2/2 0-30; n3/1 30-60 after n1; over 60; chain n1,n3"),
            (
                "more than there are",
                false,
                None,
                kubectl(9),
                gone,
                "n1/1 0-30; n2/2 0-30; n3/3 0-30; over 30; chain n3",
            ),
            // A node is back 60 s after its drain, and only then is the next one's turn.
            (
                "two, and back",
                false,
                None,
                kubectl(2),
                back,
                "n1/1 0-30; n2/2 0-30; n3/1 90-120 after n1; over 180; chain n1,n3",
            ),
            // One eviction at a time: the next one once the new pod is Ready, after 10 s, at a retry of kubectl's.
            (
                "a budget that they share",
                true,
                None,
                kubectl(3),
                gone,
                "n1/1 0-30; n2/2 0-40 for shop/web; n3/3 0-50 for shop/web; over 50; chain n3",
            ),
            (
                "it never ends and keeps its place",
                false,
                Some("n1"),
                kubectl(2),
                gone,
                "n1/1 0-never for shop/never; n2/2 0-30; n3/2 30-60 after n2; stopped by n1; chain n2,n3",
            ),
            (
                "it never ends in the only place",
                false,
                Some("n1"),
                kubectl(1),
                gone,
                "n1/1 0-never for shop/never; n2/1 0-30 after n1 not begun; n3/1 30-60 after n2 not begun; stopped by n1; chain ",
            ),
            (
                "a failure ends the update of a node group",
                false,
                Some("n1"),
                by(Some(Actor::Eks), 1),
                gone,
                "n1/1 0-900 for shop/never; n2/1 900-930 after n1 not begun; n3/1 930-960 after n2 not begun; stopped by n1; chain n1",
            ),
            (
                "forced after an hour",
                false,
                Some("n1"),
                by(Some(Actor::Gke), 1),
                gone,
                "n1/1 0-3600 for shop/never; n2/1 3600-3630 after n1; n3/1 3630-3660 after n2; over 3660; chain n1,n2,n3",
            ),
        ] {
            assert_eq!(words(&timeline(shared, never, options, after)), want, "{title}");
        }
    }

    #[test]
    fn a_pod_that_an_earlier_drain_has_moved_is_evicted_again() {
        // Nothing but n2 has room for the pod of n1, and the budget never allows a second eviction from there.
        let web = deployment("shop/web").on(&["n1"]).pods(|_, p| p.label("app", "web").requests("cpu", "2"));
        let full = deployment("shop/full").on(&["n3"]).pods(|_, p| p.requests("cpu", "4"));
        let of = |name: &str| node(name).allocatable("cpu", "4");
        let snapshot = cluster().add(of("n1")).add(of("n2")).add(of("n3")).add(web).add(full).snapshot();
        let nodes = ["n1", "n2"].iter().filter_map(|n| snapshot.nodes.named("", n).cloned()).collect();
        let options = DrainOptions { parallel: Some(1), grace_period: 20, ..DrainOptions::default() };
        let request = Request { nodes, each_alone: false, options, after: After::Gone };
        let planned = plan(&snapshot, &Selection::new(&snapshot), &request);
        assert_eq!(
            words(&planned.timeline.expect("it was asked for")),
            "n1/1 0-20; n2/1 20-40 after n1; over 40; chain n1,n2"
        );
        assert!(planned.nodes[1].pods.is_empty(), "the node has no pod now");
    }
}
