//! What a budget would allow if all were well: every owner at its present scale, every such pod Ready and none
//! terminating. Whether it then still allows nothing tells *never* from *not now*. And what is to be hoped for: the same
//! without the pods that time does not cure, which tells *unhealthy* from *waits*.

use super::expected::{Expected, expected, scale_holder};
use super::numbers::{Numbers, desired};
use super::scope::Scope;
use crate::snapshot::Snapshot;
use crate::snapshot::budget::Budget;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::{Detail, Workload};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What would be there if all were well.
#[derive(Debug, Clone, Default)]
pub struct Ideal {
    /// How many healthy pods there would be.
    pub healthy: i64,
    /// How many would be counted on.
    pub expected: i64,
    /// How many pods become healthy, if none is lost, without anybody doing anything.
    pub hoped: i64,
    /// The owners with a scale, each once, and how many pods under the budget each would have.
    pub owners: Vec<Share>,
    /// Owners that want fewer pods than live under the budget.
    pub shrinking: Vec<Arc<Workload>>,
}

/// An owner's part of a budget.
#[derive(Debug, Clone)]
pub struct Share {
    /// The owner.
    pub owner: Arc<Workload>,
    /// How many pods it wants.
    pub scale: i32,
    /// How many of them the budget covers.
    pub covered: i64,
}

/// The pods of an owner under a budget.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    /// Neither terminating nor finished.
    live: i64,
    /// Of these, those that time does not cure.
    stuck: i64,
    /// Terminating pods that do not end, whose names a new pod needs.
    held: i64,
}

impl Ideal {
    /// The ideal of a budget over what it covers; `stuck` holds (by address) the pods that time does not cure.
    pub fn new(snapshot: &Snapshot, budget: &Budget, scope: &Scope, stuck: &HashSet<*const Pod>) -> Self {
        let mut ideal = Self::default();
        let mut owners: Vec<(Arc<Workload>, Tally)> = Vec::new();
        let mut known: HashMap<*const Workload, usize> = HashMap::new();
        for (pod, _) in &scope.pods {
            let is_stuck = stuck.contains(&Arc::as_ptr(pod));
            let live = pod.is_active();
            let holder = snapshot.controller_of(&pod.meta).map(|owner| wanting(snapshot, owner).clone());
            match holder.filter(|w| w.replicas().is_some()) {
                Some(owner) => {
                    let at = *known.entry(Arc::as_ptr(&owner)).or_insert(owners.len());
                    if at == owners.len() {
                        owners.push((owner, Tally::default()));
                    }
                    let Some((_, tally)) = owners.get_mut(at) else { continue };
                    tally.live += i64::from(live);
                    tally.stuck += i64::from(live && is_stuck);
                    tally.held += i64::from(!live && is_stuck && !pod.is_finished());
                }
                // No owner, or one without a scale: what lives is what is wanted.
                None => {
                    ideal.healthy += i64::from(live);
                    ideal.hoped += i64::from(live && !is_stuck);
                }
            }
        }
        // Workloads whose pods the budget would cover and that have none at the moment.
        for w in scope.workloads.iter().filter(|w| w.replicas().is_some()) {
            if !known.contains_key(&Arc::as_ptr(w)) && Arc::ptr_eq(wanting(snapshot, w), w) {
                owners.push((w.clone(), Tally::default()));
            }
        }
        owners.into_iter().for_each(|(owner, tally)| ideal.add(snapshot, budget, owner, tally));
        ideal.expected = if budget.rule.counts_owners() {
            let known = expected(snapshot, scope.pods.iter().map(|(p, _)| p)).map_or(0, |e: Expected| e.count);
            known.max(ideal.owners.iter().map(|s| i64::from(s.scale)).sum())
        } else {
            ideal.healthy
        };
        ideal
    }

    fn add(&mut self, snapshot: &Snapshot, budget: &Budget, owner: Arc<Workload>, tally: Tally) {
        let scale = owner.replicas().unwrap_or_default();
        let covered = if covers_all_of(snapshot, budget, &owner) { i64::from(scale) } else { tally.live };
        if (tally.live > i64::from(scale) || scale == 0) && !is_rolling(&owner) {
            self.shrinking.push(owner.clone());
        }
        let missing = (covered - tally.live).max(0);
        let made = match &owner.detail {
            // Under OrderedReady it makes no pod while another one is not Ready; never two of one name.
            Detail::StatefulSet(d) if d.0.is_ordered() && tally.stuck + tally.held > 0 => 0,
            Detail::StatefulSet(_) => (missing - tally.held).max(0),
            _ => missing,
        };
        self.hoped += tally.live - tally.stuck + made;
        self.healthy += covered;
        self.owners.push(Share { owner, scale, covered });
    }

    /// What the controller would write.
    pub fn numbers(&self, budget: &Budget) -> Numbers {
        numbers(budget, self.expected, self.healthy)
    }

    /// How many the budget's rule would allow to be evicted.
    pub fn allowed(&self, budget: &Budget) -> i32 {
        self.allowed_with(budget, 0)
    }

    /// The same with so many more (or fewer) pods of one owner.
    pub fn allowed_with(&self, budget: &Budget, more: i64) -> i32 {
        allowed(budget, self.expected.saturating_add(more), self.healthy.saturating_add(more))
    }

    /// The same with the pods that become healthy without anybody doing anything.
    pub fn allowed_in_time(&self, budget: &Budget) -> i32 {
        allowed(budget, self.expected, self.hoped)
    }

    /// The smallest number of further pods with which the rule allows one eviction; `None` where no number does.
    fn enough_more(&self, budget: &Budget) -> Option<i64> {
        let value = budget.rule.value()?;
        let candidates = if value.kind == 0 {
            // One more than the integer asks for; maxUnavailable 0 is met by no number.
            let short = i64::from(desired(&budget.rule, self.expected).ok()?) + 1 - self.healthy;
            short..=short
        } else {
            // A percentage p leaves one over at 100/(100-p) pods: 100 more are enough for all but 100 %.
            1..=100
        };
        candidates.into_iter().find(|more| *more > 0 && self.allowed_with(budget, *more) > 0)
    }

    /// The owner of which more pods let the rule allow one eviction, and how many it then has: the largest one that the
    /// budget covers as a whole.
    pub fn enough_replicas(&self, budget: &Budget) -> Option<(&Share, i32)> {
        let more = self.enough_more(budget)?;
        let share = self.owners.iter().filter(|s| s.covered == i64::from(s.scale)).max_by_key(|s| s.scale)?;
        Some((share, i32::try_from(i64::from(share.scale).checked_add(more)?).ok()?))
    }
}

/// The workload that wants an owner's pods. One that was made again under its old name has another uid than its ReplicaSets
/// name: the garbage collector deletes these, and the new one makes the pods that it wants itself.
fn wanting<'a>(snapshot: &'a Snapshot, owner: &'a Arc<Workload>) -> &'a Arc<Workload> {
    let holder = scale_holder(snapshot, owner);
    let named = holder.meta.controller.as_ref().filter(|_| snapshot.controller_of(&holder.meta).is_none());
    let again = named.and_then(|c| snapshot.workload(&c.kind, holder.meta.ns(), &c.name));
    again.filter(|w| w.replicas().is_some()).unwrap_or(holder)
}

fn allowed(budget: &Budget, expected: i64, healthy: i64) -> i32 {
    numbers(budget, expected, healthy).allowed
}

fn numbers(budget: &Budget, expected: i64, healthy: i64) -> Numbers {
    let clamp = |n: i64| i32::try_from(n.max(0)).unwrap_or(i32::MAX);
    match desired(&budget.rule, expected.max(0)) {
        Ok(desired) if budget.rule.value().is_some() => Numbers::new(clamp(expected), desired, clamp(healthy)),
        _ => Numbers::new(0, 0, clamp(healthy)),
    }
}

/// Whether all pods of an owner fall under the budget: by its template, else by the pods it has.
fn covers_all_of(snapshot: &Snapshot, budget: &Budget, owner: &Workload) -> bool {
    match &owner.template {
        Some(t) => budget.selector.matches(&t.meta.labels),
        None => {
            let uid = owner.meta.uid.as_deref().unwrap_or_default();
            snapshot.pods_of(uid).all(|p| budget.selector.matches(&p.meta.labels))
        }
    }
}

/// Whether a rollout makes more pods than are wanted for a while.
fn is_rolling(w: &Workload) -> bool {
    match &w.detail {
        Detail::Deployment(d) => d.1.updated_replicas.unwrap_or_default() < d.1.replicas.unwrap_or_default(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Selection;
    use crate::snapshot::pod_state::why_not_ready;
    use crate::testing::{Cluster, budget, cluster, deployment, object, pod, stateful_set};
    use serde_json::json;

    /// Expected, healthy and hoped for, of the only budget.
    fn of(cluster: &Cluster) -> (i64, i64, i64) {
        let s = cluster.snapshot();
        let lasting = |p: &&Arc<Pod>| why_not_ready(&s, p).is_some_and(|n| n.lasts());
        let stuck = s.pods.iter().filter(lasting).map(Arc::as_ptr).collect();
        let ideal = Ideal::new(&s, &s.budgets[0], &Scope::new(&s, &Selection::new(&s), 0), &stuck);
        (ideal.expected, ideal.healthy, ideal.hoped)
    }

    fn over(labels: &str) -> Cluster {
        cluster().add(budget("a/b").selects(labels).max_unavailable(1))
    }

    #[test]
    fn owners_are_taken_at_their_scale() {
        let three = ["n", "n", "n"];
        let template = |labels: &str| json!({"template": {"metadata": {"labels": {"app": labels}}}});
        for (title, cluster, want) in [
            ("all there", over("app=web").add(deployment("a/web").on(&three)), (3, 3, 3)),
            ("one is to be made", over("app=web").add(deployment("a/web").on(&three).replicas(4)), (4, 4, 4)),
            ("none is there", over("app=web").add(deployment("a/web").spec(template("web")).replicas(2)), (2, 2, 2)),
            (
                "another's template",
                over("app=web").add(deployment("a/web").spec(template("api")).replicas(2)),
                (0, 0, 0),
            ),
            (
                "a part of the pods",
                over("track=canary").add(
                    deployment("a/web")
                        .on(&three)
                        .spec(template("web"))
                        .pods(|at, p| if at == 0 { p.label("track", "canary") } else { p }),
                ),
                (3, 1, 1),
            ),
            (
                "made again under its old name: the ReplicaSet of the old one is not a second workload",
                over("app=web").add(
                    deployment("a/web")
                        .on(&["n", "n"])
                        .spec(template("web"))
                        .itself(|o| o.with(json!({"metadata": {"uid": "made-again"}}))),
                ),
                (2, 2, 2),
            ),
            (
                "owners without a scale, and none at all",
                over("app=x")
                    .add(pod("a/bare").label("app", "x").on("n").ready())
                    .add(pod("a/job").label("app", "x").on("n").ready().owned_by("batch/v1", "Job/j"))
                    .add(object("batch/v1", "Job", "a/j")),
                (0, 2, 2),
            ),
        ] {
            assert_eq!(of(&cluster), want, "{title}");
        }
    }

    #[test]
    fn pods_that_time_does_not_cure_are_not_hoped_for() {
        let three = ["n", "n", "n"];
        let crash = |at: usize, p: crate::testing::Object| if at == 0 { p.crashing() } else { p };
        let ends =
            |at: usize, p: crate::testing::Object| if at == 0 { p.deleted("2026-01-01T12:00:30Z", 30) } else { p };
        for (title, cluster, want) in [
            ("one crashes", over("app=web").add(deployment("a/web").on(&three).pods(crash)), (3, 3, 2)),
            (
                "one crashes, one is to be made",
                over("app=web").add(deployment("a/web").on(&three).pods(crash).replicas(4)),
                (4, 4, 3),
            ),
            ("one is replaced", over("app=web").add(deployment("a/web").on(&three).pods(ends)), (3, 3, 3)),
            (
                "OrderedReady makes none while one crashes",
                over("app=db").add(stateful_set("a/db").on(&three).pods(crash).replicas(4)),
                (4, 4, 2),
            ),
            (
                "Parallel does",
                over("app=db").add(
                    stateful_set("a/db")
                        .spec(json!({"podManagementPolicy": "Parallel"}))
                        .on(&three)
                        .pods(crash)
                        .replicas(4),
                ),
                (4, 4, 3),
            ),
        ] {
            assert_eq!(of(&cluster), want, "{title}");
        }
    }

    #[test]
    fn the_smallest_count_that_allows_one_is_found() {
        // rule, replicas, how many more. By the documentation's rounding: 80 % leaves one over at five.
        for (rule, replicas, want) in [
            (json!({"minAvailable": "80%"}), 1, Some(4)),
            (json!({"minAvailable": "80%"}), 4, Some(1)),
            (json!({"minAvailable": "99%"}), 1, Some(99)),
            (json!({"minAvailable": "100%"}), 3, None),
            (json!({"minAvailable": 3}), 3, Some(1)),
            (json!({"minAvailable": 7}), 3, Some(5)),
            (json!({"maxUnavailable": 0}), 3, None),
            (json!({"maxUnavailable": "0%"}), 3, None),
        ] {
            let pods = vec!["n"; replicas];
            let cluster = cluster()
                .add(budget("a/b").selects("app=web").spec(rule.clone()))
                .add(deployment("a/web").on(&pods))
                .snapshot();
            let scope = Scope::new(&cluster, &Selection::new(&cluster), 0);
            let ideal = Ideal::new(&cluster, &cluster.budgets[0], &scope, &HashSet::new());
            assert_eq!(ideal.enough_more(&cluster.budgets[0]), want, "{rule} of {replicas}");
        }
    }
}
