//! `rollout-past-budget`: a rollout deletes pods through its controller and not through the eviction endpoint, so that its
//! strategy, and no budget, says how many are unavailable at once.

use super::cause::Cause;
use crate::budget::context::BudgetContext;
use crate::budget::ideal::Share;
use crate::budget::rolling_update::{DEFAULT, resolve_fenceposts};
use crate::finding::{Code, Ref, Severity};
use crate::snapshot::workload::Detail;
use crate::wire::apps::DeploymentStrategy;
use crate::wire::scalar::IntOrString;

pub(super) fn find(b: &BudgetContext<'_>) -> Option<Cause> {
    let allowed = i64::from(b.ideal.allowed(&b.budget));
    if b.pods.is_empty() || b.budget.rule.value().is_none() {
        return None;
    }
    let takes = |share: &Share| {
        let Detail::Deployment(d) = &share.owner.detail else { return None };
        let rollout = Rollout::new(d.0.strategy.as_ref(), share.scale);
        (rollout.unavailable > allowed && share.covered == i64::from(share.scale)).then_some(rollout)
    };
    let (share, rollout) = b.ideal.owners.iter().find_map(|share| Some((share, takes(share)?)))?;
    let (name, scale) = (&share.owner.meta.name, share.scale);
    let message = match rollout.by {
        By::Recreate => format!(
            "a rollout of Deployment {name} deletes all {scale} pods before it makes new ones (strategy Recreate); the budget \
             allows {allowed}, and does not limit rollouts"
        ),
        By::RollingUpdate(_) => format!(
            "a rollout of Deployment {name} makes up to {} of {scale} pods unavailable at once (rollingUpdate.maxUnavailable \
             {}); the budget allows {allowed}, and does not limit rollouts",
            rollout.unavailable, rollout.by
        ),
    };
    let finding = b.finding(Code::RolloutPastBudget, message, []).about([Ref::workload(&share.owner)]);
    // What nobody chose is no fault of the strategy's.
    let chosen = rollout.by != By::RollingUpdate(None) && scale > 1;
    Some(Cause::note(if chosen { finding } else { finding.severity(Severity::Info) }))
}

/// How many pods a rollout makes unavailable, and by which strategy.
struct Rollout {
    unavailable: i64,
    by: By,
}

/// What a strategy says.
#[derive(Debug, Clone, PartialEq)]
enum By {
    /// All pods first.
    Recreate,
    /// `rollingUpdate.maxUnavailable`; `None` where it is the default.
    RollingUpdate(Option<IntOrString>),
}

impl Rollout {
    fn new(strategy: Option<&DeploymentStrategy>, replicas: i32) -> Self {
        let replicas = i64::from(replicas);
        let Some((_, unavailable)) = resolve_fenceposts(strategy, replicas) else {
            return Self { unavailable: replicas, by: By::Recreate };
        };
        let max = strategy.and_then(|s| s.rolling_update.as_ref()?.max_unavailable.as_ref());
        let chosen = max.filter(|v| v.percent() != Some(Ok(25))).cloned();
        Self { unavailable: unavailable.min(replicas), by: By::RollingUpdate(chosen) }
    }
}

impl std::fmt::Display for By {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Recreate => f.write_str("Recreate"),
            Self::RollingUpdate(Some(value)) => value.fmt(f),
            Self::RollingUpdate(None) => write!(f, "{DEFAULT}, the default"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::notes;
    use super::*;
    use crate::testing::{Cluster, budget, cluster, deployment, stateful_set};
    use serde_json::{Value, json};

    /// After TestResolveFenceposts: surge is rounded up, unavailable down, and both are never 0.
    #[test]
    fn fenceposts_are_resolved_as_upstream() {
        for (surge, max, replicas, want) in [
            (json!("0%"), json!("0%"), 0, 0),
            (json!("39%"), json!("0%"), 10, 0),
            (json!("oops"), json!("39%"), 10, 3),
            (json!("39%"), json!("60%"), 10, 6),
            (json!(0), json!(0), 3, 1),
            (json!(null), json!(null), 3, 0),
            (json!(null), json!(null), 8, 2),
            (json!(1), json!(5), 3, 3),
        ] {
            let strategy: DeploymentStrategy = serde_json::from_value(
                json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": max}}),
            )
            .unwrap();
            assert_eq!(Rollout::new(Some(&strategy), replicas).unavailable, want, "{surge} {max} {replicas}");
        }
    }

    #[test]
    fn rollouts_that_a_budget_does_not_limit() {
        let web = |n: usize, strategy: Value| deployment("a/web").on(&vec!["n"; n]).spec(json!({"strategy": strategy}));
        let with = |rule: Value, n: usize, strategy: Value| -> Cluster {
            let template = json!({"template": {"metadata": {"labels": {"app": "web"}}}});
            cluster().add(budget("a/b").selects("app=web").spec(rule)).add(web(n, strategy).spec(template))
        };
        let rolling = |max: Value| json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": max}});
        let most = json!({"minAvailable": "80%"});
        let sixty = "a rollout of Deployment web makes up to 6 of 10 pods unavailable at once (rollingUpdate.maxUnavailable 60%); \
                     the budget allows 2, and does not limit rollouts";
        let all = "a rollout of Deployment web deletes all 3 pods before it makes new ones (strategy Recreate); the budget allows \
                   1, and does not limit rollouts";
        let unchosen = "a rollout of Deployment web makes up to 2 of 8 pods unavailable at once (rollingUpdate.maxUnavailable \
                        25%, the default); the budget allows 1, and does not limit rollouts";
        notes(
            find,
            vec![
                ("60 % beside 80 %", with(most.clone(), 10, rolling(json!("60%"))), Some(sixty)),
                ("as many as the budget", with(most, 10, rolling(json!(2))), None),
                ("all at once", with(json!({"maxUnavailable": 1}), 3, json!({"type": "Recreate"})), Some(all)),
                ("the default of eight is two", with(json!({"maxUnavailable": 1}), 8, json!({})), Some(unchosen)),
                ("the default of three is none", with(json!({"maxUnavailable": 1}), 3, json!({})), None),
                (
                    "a StatefulSet replaces one at a time",
                    cluster()
                        .add(budget("a/b").selects("app=db").max_unavailable(1))
                        .add(stateful_set("a/db").on(&["n"; 3])),
                    None,
                ),
            ],
        );
    }
}
