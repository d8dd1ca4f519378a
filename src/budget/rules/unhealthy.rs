//! `unhealthy-pods`: pods that count are not Ready. The verdict is `unhealthy` where there is evidence that time does not
//! cure them, and those that it may cure are not enough (`countHealthyPods` looks at the Ready condition alone).

use super::cause::Cause;
use crate::budget::context::{BudgetContext, UnreadyPod, is_missing, is_or_are, names};
use crate::budget::verdict::Verdict;
use crate::finding::Code;
use crate::lists::count;
use std::collections::HashMap;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let mut bad: Vec<&UnreadyPod> = b.unready.iter().filter(|u| !is_missing(&u.pod)).collect();
    if bad.is_empty() || !b.is_short() {
        return None;
    }
    // Those that time does not cure come first.
    bad.sort_by_key(|u| !u.why.lasts());
    let lasts = bad.first().is_some_and(|u| u.why.lasts()) && b.ideal.allowed_in_time(&b.budget) == 0;
    let groups = alike(&bad);
    let mut parts: Vec<String> = groups.iter().take(MOST_REASONS).map(|pods| is_not_ready(pods)).collect();
    let rest: usize = groups.iter().skip(MOST_REASONS).map(Vec::len).sum();
    if rest > 0 {
        parts.push(format!("{} more {} not Ready", count(rest, "pod"), is_or_are(rest)));
    }
    let message = parts.join("; ");
    let verdict = if lasts { Verdict::Unhealthy } else { Verdict::Waits };
    Some(Cause::new(verdict, b.finding(Code::UnhealthyPods, message, bad.iter().map(|u| &u.pod))))
}

/// Of the reasons why pods are not Ready so many are told.
const MOST_REASONS: usize = 3;

/// The pods, those with one reason together, in the order in which the reasons come.
fn alike<'u>(bad: &[&'u UnreadyPod]) -> Vec<Vec<&'u UnreadyPod>> {
    let mut groups: Vec<Vec<&UnreadyPod>> = Vec::new();
    let mut at: HashMap<&str, usize> = HashMap::new();
    for u in bad {
        let group = *at.entry(&u.why.text).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(u);
    }
    groups
}

fn is_not_ready(pods: &[&UnreadyPod]) -> String {
    let who = names(pods.iter().map(|u| &u.pod));
    format!("{who} {} not Ready: {}", is_or_are(pods.len()), pods[0].why.text)
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::testing::{Object, Workload, budget, cluster, deployment, stateful_set};
    use serde_json::{Value, json};

    #[test]
    fn broken_pods_are_told_from_those_that_start() {
        let three = ["n", "n", "n"];
        let with = |rule: Value, w: Workload| cluster().add(budget("a/b").selects("app=web").spec(rule)).add(w);
        let max = |n: i32| json!({"maxUnavailable": n});
        let starting = |p: Object| {
            p.condition("Ready", "False", "").status(json!({"containerStatuses": [
                {"name": "c", "ready": false, "state": {"waiting": {"reason": "ContainerCreating"}}}]}))
        };
        let web = |change: fn(usize, Object) -> Object| deployment("a/web").on(&three).pods(change);
        let first = |at: usize, p: Object| if at == 0 { p.crashing() } else { p };
        let crash = "web-1-0 is not Ready: container c: CrashLoopBackOff, 9 restarts";
        let start = "is not Ready: container c is starting (ContainerCreating)";
        table(
            find,
            vec![
                ("all Ready", with(max(0), deployment("a/web").on(&three)), None),
                (
                    "one crashes, and that is the one allowed",
                    with(max(1), web(first)),
                    Some((Verdict::Unhealthy, crash)),
                ),
                ("one crashes, and another one is allowed", with(max(2), web(first)), None),
                (
                    "one starts",
                    with(
                        max(1),
                        deployment("a/web").on(&three).pods(move |at, p| if at == 0 { starting(p) } else { p }),
                    ),
                    Some((Verdict::Waits, &*format!("web-1-0 {start}"))),
                ),
                (
                    "one crashes and one starts, and when that is Ready none is allowed yet",
                    with(
                        max(1),
                        deployment("a/web").on(&three).pods(move |at, p| match at {
                            0 => starting(p),
                            1 => p.crashing(),
                            _ => p,
                        }),
                    ),
                    Some((
                        Verdict::Unhealthy,
                        &*format!("web-1-1 is not Ready: container c: CrashLoopBackOff, 9 restarts; web-1-0 {start}"),
                    )),
                ),
                (
                    "one crashes and two start, of which one is enough",
                    with(
                        json!({"minAvailable": 1}),
                        deployment("a/web")
                            .on(&three)
                            .pods(move |at, p| if at == 0 { p.crashing() } else { starting(p) }),
                    ),
                    Some((
                        Verdict::Waits,
                        "web-1-0 is not Ready: container c: CrashLoopBackOff, 9 restarts; web-1-1, web-1-2 are not \
                         Ready: container c is starting (ContainerCreating)",
                    )),
                ),
                (
                    "the only one crashes, and none is needed",
                    with(max(1), deployment("a/web").on(&["n"]).pods(first)),
                    Some((Verdict::Unhealthy, crash)),
                ),
                (
                    "OrderedReady makes no other one",
                    with(json!({"minAvailable": 3}), stateful_set("a/web").on(&three).pods(first).replicas(5)),
                    Some((Verdict::Unhealthy, "web-0 is not Ready: container c: CrashLoopBackOff, 9 restarts")),
                ),
                (
                    "a Deployment makes others",
                    with(json!({"minAvailable": 3}), web(first).replicas(5)),
                    Some((Verdict::Waits, crash)),
                ),
            ],
        );
    }
}
