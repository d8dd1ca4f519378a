//! How many nodes of a NodePool Karpenter may disrupt at the same time. Mirrors `BuildDisruptionBudgetMapping`
//! (`disruption/helpers.go`) and `GetAllowedDisruptionsByReason` (`apis/v1/nodepool.go`).

use super::super::labels::NODE_POOL;
use super::super::machine::Machine;
use super::super::node_claim::span;
use super::super::node_pool::NodePool;
use super::schedule::Schedule;
use super::why::Why;
use crate::snapshot::Str;
use crate::wire::karpenter::Budget;
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;

/// What the API server fills in where a NodePool names no budgets.
const DEFAULT: &str = "10%";

/// The nodes of NodePools, as their budgets count them.
#[derive(Debug, Default)]
pub struct PoolBudgets(HashMap<Str, Counts>);

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    nodes: i64,
    /// Not Ready, or being taken away: these use the budgets.
    disrupting: i64,
}

/// What a NodePool's budgets allow for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// So many nodes now.
    pub now: i64,
    /// The same before the nodes that are not Ready or being taken away were subtracted.
    pub at_most: i64,
    /// Nodes that are not Ready or being taken away.
    pub disrupting: i64,
    /// The budget that allows the least, in words; empty where none is in force.
    pub by: String,
}

impl PoolBudgets {
    /// Counts the nodes.
    pub fn new(machines: &[Machine]) -> Self {
        let mut pools: HashMap<Str, Counts> = HashMap::new();
        for machine in machines.iter().filter(|m| m.is_managed() && m.is_initialized()) {
            if machine.claim.as_ref().is_some_and(|c| c.is("InstanceTerminating")) {
                continue;
            }
            let Some(pool) = machine.labels().get(NODE_POOL).cloned() else { continue };
            let counts = pools.entry(pool).or_default();
            counts.nodes += 1;
            let ready = machine.node.as_ref().is_some_and(|n| n.node.is_ready());
            counts.disrupting += i64::from(!ready || machine.is_going());
        }
        Self(pools)
    }

    /// What the budgets of a pool allow for a reason.
    pub fn allowed(&self, pool: &NodePool, why: Why, now: Timestamp) -> Allowed {
        let counts = self.0.get(pool.name()).copied().unwrap_or_default();
        let default = [Budget { nodes: DEFAULT.to_owned(), ..Budget::default() }];
        let budgets = pool.object.spec.disruption.budgets.as_deref().unwrap_or(&default);
        let mut least =
            Allowed { now: 0, at_most: i64::from(i32::MAX), disrupting: counts.disrupting, by: String::new() };
        for budget in budgets {
            let Some(at_most) = of_budget(budget, counts.nodes, now) else {
                // One that cannot be read closes all, whatever its reasons are.
                least = Allowed { at_most: 0, by: format!("{} cannot be read", words(budget)), ..least };
                break;
            };
            let concerned = budget.reasons.as_ref().is_none_or(|all| all.iter().any(|r| r == why.word()));
            if concerned && at_most < least.at_most {
                least = Allowed { at_most, by: words(budget), ..least };
            }
        }
        Allowed { now: (least.at_most - least.disrupting).max(0), ..least }
    }
}

/// How many one budget allows of so many nodes; `None` where it cannot be read. Mirrors `GetAllowedDisruptions`.
fn of_budget(budget: &Budget, nodes: i64, now: Timestamp) -> Option<i64> {
    if budget.schedule.is_some() || budget.duration.is_some() {
        let schedule = Schedule::read(budget.schedule.as_deref().unwrap_or_default())?;
        let lasts = budget.duration.as_deref().and_then(span).unwrap_or(SignedDuration::ZERO);
        if !schedule.is_open(lasts, now) {
            return Some(i32::MAX.into());
        }
    }
    if let Ok(count) = budget.nodes.parse::<i64>() {
        return Some(count);
    }
    let percent = i128::from(budget.nodes.strip_suffix('%')?.parse::<i64>().ok()?);
    // Rounded up.
    let all = percent * i128::from(nodes);
    i64::try_from(all / 100 + i128::from(all % 100 > 0)).ok()
}

/// `nodes: 10%, reasons: Empty, schedule: 0 9 * * 1, duration: 8h`.
fn words(budget: &Budget) -> String {
    let reasons = budget.reasons.as_ref().map(|all| format!("reasons: {}", all.join(", ")));
    let schedule = budget.schedule.as_ref().map(|s| format!("schedule: {s}"));
    let duration = budget.duration.as_ref().map(|d| format!("duration: {d}"));
    let rest: String = [reasons, schedule, duration].into_iter().flatten().map(|w| format!(", {w}")).collect();
    format!("nodes: {}{rest}", budget.nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, object};
    use serde_json::{Value, json};

    fn allowed(budgets: &Value, nodes: i64, disrupting: i64, why: Why) -> i64 {
        let pool = object("karpenter.sh/v1", "NodePool", "main").spec(json!({"disruption": {"budgets": budgets}}));
        let pool = NodePool::all(&cluster().add(pool).snapshot()).remove(0);
        let counts = PoolBudgets([("main".into(), Counts { nodes, disrupting })].into());
        // A Monday.
        counts.allowed(&pool, why, "2026-01-05T10:00:00Z".parse().expect("a time")).now
    }

    #[test]
    fn budgets_allow_what_upstream_s_tests_say() {
        // `nodepool_budgets_test.go`, and "disruption budgets" of `disruption/suite_test.go`.
        let open = json!({"nodes": "0", "schedule": "0 9 * * 1", "duration": "8h"});
        let closed = json!({"nodes": "0", "schedule": "0 0 * * 2", "duration": "1h"});
        let of_drift = json!({"nodes": "0", "reasons": ["Drifted"]});
        let unlimited = i64::from(i32::MAX);
        for (budgets, nodes, disrupting, why, want) in [
            (Value::Null, 1, 0, Why::Empty, 1),
            (Value::Null, 11, 0, Why::Empty, 2),
            (json!([]), 3, 0, Why::Empty, unlimited),
            (json!([{"nodes": "34%"}]), 2, 0, Why::Empty, 1),
            (json!([{"nodes": "0%"}]), 10, 0, Why::Empty, 0),
            (json!([{"nodes": "100%"}]), 10, 2, Why::Empty, 8),
            (json!([{"nodes": "1"}]), 10, 1, Why::Empty, 0),
            (json!([{"nodes": "1"}]), 10, 3, Why::Empty, 0),
            (json!([{"nodes": "5"}, {"nodes": "2"}]), 10, 0, Why::Empty, 2),
            (json!([open, {"nodes": "5"}]), 10, 0, Why::Empty, 0),
            (json!([closed, {"nodes": "5"}]), 10, 0, Why::Empty, 5),
            (json!([closed]), 10, 0, Why::Empty, unlimited),
            (json!([of_drift, {"nodes": "2"}]), 10, 0, Why::Drifted, 0),
            (json!([of_drift, {"nodes": "2"}]), 10, 0, Why::Underutilized, 2),
            (json!([{"nodes": "5", "reasons": []}]), 10, 0, Why::Empty, unlimited),
            (json!([{"nodes": "5", "reasons": ["Drifted"], "schedule": "x"}]), 10, 0, Why::Empty, 0),
            (json!([{"nodes": "5", "duration": "1h"}]), 10, 0, Why::Empty, 0),
        ] {
            assert_eq!(allowed(&budgets, nodes, disrupting, why), want, "{budgets} {nodes} {why:?}");
        }
    }
}
