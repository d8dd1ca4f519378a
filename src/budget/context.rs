//! A budget with all that the rules look at.

use super::evict::{self, Eviction};
use super::expected::Expected;
use super::ideal::Ideal;
use super::numbers::{Numbers, SyncError, compute, counts_as_healthy};
use super::scope::Scope;
use super::verdict::fails;
use crate::finding::{Code, Finding, Ref};
use crate::lists::some;
use crate::snapshot::budget::{Budget, BudgetStatus};
use crate::snapshot::pod::{Phase, Pod};
use crate::snapshot::pod_state::{NotReady, why_not_ready};
use crate::snapshot::{Snapshot, Str};
use jiff::SignedDuration;
use std::collections::HashSet;
use std::sync::Arc;

/// A pod that goes on terminating for so long after its grace period does not end by itself.
const DELETION_MARGIN: SignedDuration = SignedDuration::from_mins(1);

/// A pod under a budget.
#[derive(Debug, Clone)]
pub struct CoveredPod {
    /// The pod.
    pub pod: Arc<Pod>,
    /// Whether the controller counts it as healthy.
    pub counted: bool,
    /// What the eviction endpoint would answer now.
    pub eviction: Eviction,
    /// Names of the budgets that cover it: all of them, up to twenty.
    pub budgets: Vec<Str>,
}

/// A live pod that is not Ready.
#[derive(Debug, Clone)]
pub struct UnreadyPod {
    /// The pod.
    pub pod: Arc<Pod>,
    /// Why it is not Ready.
    pub why: NotReady,
}

/// What a budget is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The pods that there are, as they are.
    Present,
    /// What is written: every workload with all its pods Ready. In the snapshot one pod stands for all of a workload, as
    /// there may be 2147483647 of them, and the numbers are those of the [`Ideal`].
    Spec,
}

/// A budget with all that the rules look at.
#[derive(Debug, Clone)]
pub struct BudgetContext<'a> {
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// What it is judged by.
    pub basis: Basis,
    /// The budget.
    pub budget: Arc<Budget>,
    /// What it covers.
    pub scope: Scope,
    /// The pods that it covers.
    pub pods: Vec<CoveredPod>,
    /// The four numbers, from the pods; the reported ones where they cannot be computed.
    pub numbers: Numbers,
    /// Whose scales the expected count is made of; `None` where it counts pods, or cannot be made.
    pub owners: Option<Expected>,
    /// Why the numbers cannot be computed.
    pub failure: Option<SyncError>,
    /// What would be there if all were well.
    pub ideal: Ideal,
    /// Pods that live and are not Ready, in order.
    pub unready: Vec<UnreadyPod>,
}

impl<'a> BudgetContext<'a> {
    /// Looks at a budget of a snapshot, with the pods that there are.
    pub fn new(snapshot: &'a Snapshot, budget: Arc<Budget>, scope: Scope) -> Self {
        Self::on(Basis::Present, snapshot, budget, scope)
    }

    /// Looks at a budget of a snapshot.
    pub fn on(basis: Basis, snapshot: &'a Snapshot, budget: Arc<Budget>, scope: Scope) -> Self {
        let covered = |(pod, budgets): &(Arc<Pod>, Vec<Arc<Budget>>)| CoveredPod {
            pod: pod.clone(),
            counted: counts_as_healthy(pod, &budget, snapshot.now),
            eviction: evict::answer(snapshot, pod, budgets.iter()),
            budgets: budgets.iter().map(|b| b.meta.name.clone()).collect(),
        };
        let pods: Vec<CoveredPod> = scope.pods.iter().map(covered).collect();
        let all = scope.pods.iter().map(|(pod, _)| pod);
        let why = |pod: &Arc<Pod>| {
            pod.is_active().then(|| Some(UnreadyPod { pod: pod.clone(), why: why_not_ready(snapshot, pod)? }))?
        };
        let unready: Vec<UnreadyPod> = all.clone().filter_map(why).collect();
        let lasting = unready.iter().filter(|u| u.why.lasts()).map(|u| &u.pod);
        let hanging = all.clone().filter(|p| hangs(snapshot, p));
        let stuck: HashSet<*const Pod> = lasting.chain(hanging).map(Arc::as_ptr).collect();
        let ideal = Ideal::new(snapshot, &budget, &scope, &stuck);
        let (numbers, owners, failure) = match compute(snapshot, &budget, all) {
            Ok((_, owners)) if basis == Basis::Spec => (ideal.numbers(&budget), owners, None),
            Ok((numbers, owners)) => (numbers, owners, None),
            Err(error) => (reported(&budget), None, Some(error)),
        };
        Self { snapshot, basis, budget, scope, pods, numbers, owners, failure, ideal, unready }
    }

    /// The same budget in a cluster that was changed, once the controller has looked at it again; `None` where it is gone.
    pub fn after<'b>(&self, changed: &'b Snapshot) -> Option<BudgetContext<'b>> {
        let budget = changed.budgets.named(self.budget.meta.ns(), &self.budget.meta.name)?;
        let mut scope = self.scope.after(&self.budget, changed, budget);
        let synced = Arc::new(synced(changed, budget, &scope));
        for (_, budgets) in &mut scope.pods {
            budgets.iter_mut().filter(|b| Arc::ptr_eq(b, budget)).for_each(|b| *b = synced.clone());
        }
        Some(BudgetContext::on(self.basis, changed, synced, scope))
    }

    /// Whether the controller's sync fails for certain: by what is in the input, or as it is reported.
    pub fn sync_fails(&self) -> bool {
        self.failure.as_ref().is_some_and(|error| fails(error, &self.budget))
    }

    /// Whether the reported numbers are those of the last sync, however old: of budgets that share a pod the controller
    /// looks at one only when that pod changes (`getPdbForPod`).
    pub fn keeps_old_numbers(&self) -> bool {
        self.pods.iter().any(|p| p.budgets.len() > 1)
            && !evict::is_behind(&self.budget)
            && self.budget.condition().is_some()
    }

    /// Whether the reported status is that of the present spec and pods.
    pub fn is_in_sync(&self) -> bool {
        self.failure.is_none()
            && self.budget.status.observed_generation.is_some_and(|g| g == self.budget.meta.generation)
            && !self.budget.reports_sync_failed()
            && reported(&self.budget) == self.numbers
    }

    /// Whether it covers pods, has numbers, and they allow nothing.
    pub fn allows_nothing(&self) -> bool {
        self.failure.is_none() && !self.pods.is_empty() && self.numbers.allowed == 0
    }

    /// Whether it allows nothing although its rule could allow something over these pods.
    pub fn is_short(&self) -> bool {
        self.allows_nothing() && self.budget.rule.value().is_some() && !self.has_only_unmanaged_pods()
    }

    /// Whether owners are counted, and no pod has one.
    pub fn has_only_unmanaged_pods(&self) -> bool {
        self.owners.as_ref().is_some_and(|o| o.owners.is_empty() && !o.unmanaged.is_empty())
    }

    /// Pods that are being deleted and do not end.
    pub fn hanging(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.scope.pods.iter().map(|(pod, _)| pod).filter(|pod| hangs(self.snapshot, pod))
    }

    /// A finding about this budget and these pods.
    pub fn finding<'p>(&self, code: Code, message: String, pods: impl IntoIterator<Item = &'p Arc<Pod>>) -> Finding {
        let budget = std::iter::once(Ref::budget(&self.budget));
        Finding::new(code, message).about(budget.chain(pods.into_iter().map(|p| Ref::pod(p))))
    }
}

/// The budget with the status that the controller writes when it looks at it; as it is where the sync fails.
fn synced(snapshot: &Snapshot, budget: &Budget, scope: &Scope) -> Budget {
    let mut budget = budget.clone();
    if let Ok((numbers, _)) = compute(snapshot, &budget, scope.pods.iter().map(|(pod, _)| pod)) {
        let disrupted_pods = std::mem::take(&mut budget.status.disrupted_pods);
        budget.status = BudgetStatus { disrupted_pods, ..numbers.status(&budget) };
    }
    budget
}

/// What the controller wrote last.
pub fn reported(budget: &Budget) -> Numbers {
    let s = &budget.status;
    Numbers {
        expected: s.expected_pods,
        desired: s.desired_healthy,
        healthy: s.current_healthy,
        allowed: s.disruptions_allowed,
    }
}

/// A pod that is there on paper only: it has no node.
pub fn is_missing(pod: &Pod) -> bool {
    pod.status.phase == Phase::Pending && pod.node.is_none()
}

/// A few names, and how many more there are.
pub fn names<'p>(pods: impl IntoIterator<Item = &'p Arc<Pod>>) -> String {
    some(pods.into_iter().map(|p| &*p.meta.name), 3)
}

/// `is` for one, `are` for several.
pub fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn hangs(snapshot: &Snapshot, pod: &Pod) -> bool {
    let past = pod.meta.deletion_timestamp.filter(|_| !pod.is_finished());
    past.is_some_and(|t| snapshot.now.duration_since(t) > DELETION_MARGIN)
}
