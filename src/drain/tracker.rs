//! What the disruption controller knows of budgets, tracked as pods come and go. Mirrors `trySync` and `failSafe` of
//! `pkg/controller/disruption/disruption.go`, by the rule that `status` computes with.

use crate::budget::context::reported;
use crate::budget::evict::BudgetView;
use crate::budget::expected::{NoScale, OwnerScales};
use crate::budget::numbers::{self, Numbers, SyncError, counts_as_healthy};
use crate::budget::{Judgement, Selection, judge, verdict};
use crate::snapshot::budget::{Budget, Rule};
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Snapshot, Str};
use std::cell::OnceCell;
use std::sync::Arc;

/// The position of a budget in the snapshot's table.
pub type BudgetId = u32;

/// What came of the controller's last look at a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Its numbers are those of the pods.
    Done,
    /// It fails: the numbers are those of the last look that did not, and nothing is allowed.
    Failed,
    /// The input does not tell.
    Unknown,
}

/// A budget as the disruption controller would have it.
#[derive(Debug, Clone)]
pub struct Tracker {
    rule: Rule,
    always_allow: bool,
    reported_failed: bool,
    bad_selector: bool,
    pods: i64,
    healthy: i64,
    owners: OwnerScales,
    /// Its numbers.
    pub numbers: Numbers,
    /// What came of the last look.
    pub sync: Sync,
}

impl Tracker {
    /// A budget over the pods that it covers now.
    fn new<'p>(snapshot: &Snapshot, budget: &Budget, pods: impl Iterator<Item = &'p Arc<Pod>>) -> Self {
        let mut tracker = Self {
            rule: budget.rule.clone(),
            always_allow: budget.always_allow_unhealthy,
            reported_failed: budget.reports_sync_failed(),
            bad_selector: budget.selector == LabelSelector::Invalid,
            pods: 0,
            healthy: 0,
            owners: OwnerScales::default(),
            numbers: Numbers { allowed: 0, ..reported(budget) },
            sync: Sync::Done,
        };
        for pod in pods {
            tracker.count(snapshot, pod, 1);
            tracker.healthy += i64::from(counts_as_healthy(pod, budget, snapshot.now));
        }
        tracker.recompute();
        tracker
    }

    fn count(&mut self, snapshot: &Snapshot, pod: &Arc<Pod>, by: i64) {
        self.pods += by;
        if self.rule.counts_owners() {
            match by {
                1.. => self.owners.add(snapshot, pod),
                _ => self.owners.remove(pod),
            }
        }
    }

    /// A pod has come into being.
    pub fn created(&mut self, snapshot: &Snapshot, pod: &Arc<Pod>) {
        self.count(snapshot, pod, 1);
        self.recompute();
    }

    /// A pod is gone.
    pub fn gone(&mut self, snapshot: &Snapshot, pod: &Arc<Pod>) {
        self.count(snapshot, pod, -1);
        self.recompute();
    }

    /// A pod counts as healthy (`by` 1), or does not any more (-1).
    pub fn health(&mut self, by: i64) {
        self.healthy += by;
        self.recompute();
    }

    /// What the controller writes now.
    fn recompute(&mut self) {
        let expected = if self.rule.counts_owners() { self.owners.total() } else { Ok(self.pods) };
        let desired = match expected {
            _ if self.bad_selector => Err(SyncError::BadSelector),
            Ok(n) => numbers::desired(&self.rule, n).map(|desired| (n, desired)).map_err(SyncError::BadRule),
            Err(no_scale) => Err(SyncError::Scale(no_scale)),
        };
        match desired {
            Ok((expected, desired)) => {
                let clamp = |n: i64| i32::try_from(n).unwrap_or(if n < 0 { i32::MIN } else { i32::MAX });
                let expected = if self.rule == Rule::None { 0 } else { clamp(expected) };
                self.numbers = Numbers::new(expected, desired, clamp(self.healthy));
                self.sync = Sync::Done;
            }
            Err(error) => {
                self.numbers.allowed = 0;
                let unknown = matches!(error, SyncError::Scale(NoScale::Unknown { .. })) && !self.reported_failed;
                self.sync = if unknown { Sync::Unknown } else { Sync::Failed };
            }
        }
    }

    /// What the eviction endpoint sees of it.
    pub fn view(&self) -> BudgetView {
        BudgetView {
            always_allow: self.always_allow,
            behind: false,
            sync_failed: self.sync == Sync::Failed,
            allowed: self.numbers.allowed,
            healthy: self.numbers.healthy,
            desired: self.numbers.desired,
            disrupted_pods: 0,
        }
    }
}

/// All budgets as a plan finds them; each is looked at once it is asked for.
pub struct Budgets<'a> {
    snapshot: &'a Snapshot,
    selection: &'a Selection,
    // Few are asked for, and each trial of a cure has a list of its own: boxes keep it short.
    trackers: Vec<OnceCell<Box<Tracker>>>,
    judgements: Vec<OnceCell<Option<Box<Judgement>>>>,
}

impl<'a> Budgets<'a> {
    /// Knows nothing yet.
    pub fn new(snapshot: &'a Snapshot, selection: &'a Selection) -> Self {
        let cells = || snapshot.budgets.iter();
        Self {
            snapshot,
            selection,
            trackers: cells().map(|_| OnceCell::new()).collect(),
            judgements: cells().map(|_| OnceCell::new()).collect(),
        }
    }

    /// A budget.
    pub fn get(&self, id: BudgetId) -> Option<&'a Arc<Budget>> {
        self.snapshot.budgets.get(id as usize)
    }

    /// A budget as the controller would have it before the plan begins.
    pub fn tracker(&self, id: BudgetId) -> Option<&Tracker> {
        let (budget, cell) = (self.get(id)?, self.trackers.get(id as usize)?);
        Some(cell.get_or_init(|| Box::new(Tracker::new(self.snapshot, budget, self.pods(id)))))
    }

    /// What `status` says of it.
    pub fn judgement(&self, id: BudgetId) -> Option<&Judgement> {
        let at = id as usize;
        self.judgements.get(at)?.get_or_init(|| judge(self.snapshot, self.selection, at).map(Box::new)).as_deref()
    }

    /// Its verdict.
    pub fn verdict(&self, id: BudgetId) -> Option<verdict::Verdict> {
        self.judgement(id).map(|j| j.verdict)
    }

    /// The pods that it covers.
    pub fn pods(&self, id: BudgetId) -> impl Iterator<Item = &'a Arc<Pod>> + Clone + use<'a> {
        self.selection.pods(self.snapshot, id as usize)
    }

    /// The budgets that cover a pod of the snapshot.
    pub fn of(&self, pod: &Pod) -> &'a [BudgetId] {
        self.selection.positions_of(self.snapshot, pod)
    }

    /// The budgets that cover a pod that the snapshot does not have.
    pub fn of_new(&self, pod: &Pod) -> Vec<BudgetId> {
        let first = self.snapshot.budgets.partition_point(|b| b.meta.ns() < pod.meta.ns());
        let first = BudgetId::try_from(first).unwrap_or(BudgetId::MAX);
        let all = (first..).zip(self.snapshot.budgets.in_namespace(pod.meta.ns()));
        all.filter(|(_, b)| b.selector.matches(&pod.meta.labels)).map(|(id, _)| id).collect()
    }

    /// `namespace/name` of budgets.
    pub fn paths(&self, ids: &[BudgetId]) -> Vec<Str> {
        ids.iter().filter_map(|id| self.get(*id)).map(|b| b.meta.path().into()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Object, budget, cluster, deployment, pod, workload};

    #[test]
    fn a_tracker_follows_the_pods_as_the_controller_would() {
        // After TestMultipleControllers, TestReplicaSet and TestJobWithPodDisruptionBudget: what a sync writes before and
        // after a pod goes. A pod of a Job, or of an owner that is gone, makes the sync fail as long as it is there.
        let job = |o: Object| o.label("app", "web").on("n1").ended("Succeeded").owned_by("batch/v1", "Job/mig");
        let orphan = |o: Object| o.label("app", "web").on("n1").owned_by("apps/v1", "ReplicaSet/gone");
        let lone = |o: Object| o.label("app", "web").on("n1").ready();
        let (done, failed) = (Sync::Done, Sync::Failed);
        let max = |n: i32| budget("a/b").selects("app=web").max_unavailable(n);
        let min = |n: i32| budget("a/b").selects("app=web").min_available(n);
        for (title, budget, extra, before, after) in [
            ("a finished Job's pod", max(1), job(pod("a/x")), (failed, 0), (done, 1)),
            ("a pod of an owner that is gone", max(1), orphan(pod("a/x")), (failed, 0), (done, 1)),
            ("it does not matter where pods are counted", min(1), job(pod("a/x")), (done, 1), (done, 1)),
            ("a pod without a controller", max(1), lone(pod("a/x")), (done, 2), (done, 1)),
            ("it counts where pods are counted", min(2), lone(pod("a/x")), (done, 1), (done, 0)),
        ] {
            let mig = workload("batch/v1", "Job", "a/mig");
            let snapshot =
                cluster().add(budget).add(mig).add(deployment("a/web").on(&["n1", "n2"])).add(extra).snapshot();
            let selection = Selection::new(&snapshot);
            let budgets = Budgets::new(&snapshot, &selection);
            let mut tracker = budgets.tracker(0).unwrap().clone();
            assert_eq!((tracker.sync, tracker.numbers.allowed), before, "{title}");
            let x = snapshot.pods.named("a", "x").unwrap();
            if x.is_ready() {
                tracker.health(-1);
            }
            tracker.gone(&snapshot, x);
            assert_eq!((tracker.sync, tracker.numbers.allowed), after, "{title}, once it is gone");
            let anew = {
                let mut s = snapshot.clone();
                s.pods.remove("a", "x");
                s.reindex();
                s
            };
            let selection = Selection::new(&anew);
            let as_computed = numbers::compute(&anew, &anew.budgets[0], selection.pods(&anew, 0)).unwrap().0;
            assert_eq!(tracker.numbers, as_computed, "{title}, as `status` computes it");
        }
    }
}
