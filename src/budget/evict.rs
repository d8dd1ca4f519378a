//! The eviction endpoint. Mirrors `EvictionREST.Create` and `checkAndDecrement` of
//! `pkg/registry/core/pod/storage/eviction.go`, and the admission plugin `NamespaceLifecycle`, which stands before it.
//!
//! [`evict`] decides, from small views that a snapshot and a simulation fill alike. [`answer`] puts the server's words to
//! the decision, from what is stored: the endpoint judges by that, and not by the pods.

use crate::snapshot::Snapshot;
use crate::snapshot::budget::Budget;
use crate::snapshot::pod::{Phase, Pod, Truth};
use std::sync::Arc;

/// More entries of `disruptedPods` than this, and the endpoint refuses all evictions.
const MAX_DISRUPTED_PODS: usize = 2000;

/// The causes of a refusal were made precise with this minor version.
const PRECISE_CAUSES_SINCE: u32 = 35;

/// A refusal for a negative or overfull status names its cause since this minor version.
const FORBIDDEN_CAUSES_SINCE: u32 = 37;

/// What the endpoint looks at of a pod.
#[derive(Debug, Clone, Copy)]
pub struct PodView {
    /// Its phase.
    pub phase: Phase,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// Whether its condition Ready is True.
    pub ready: bool,
    /// Whether its namespace is being deleted.
    pub namespace_terminating: bool,
}

/// What the endpoint looks at of a budget.
#[derive(Debug, Clone, Copy)]
pub struct BudgetView {
    /// `unhealthyPodEvictionPolicy: AlwaysAllow`.
    pub always_allow: bool,
    /// Whether the status speaks of an older spec than the present one, or of none at all.
    pub behind: bool,
    /// Whether the status says that the last sync failed.
    pub sync_failed: bool,
    /// `status.disruptionsAllowed`.
    pub allowed: i32,
    /// `status.currentHealthy`.
    pub healthy: i32,
    /// `status.desiredHealthy`.
    pub desired: i32,
    /// How many entries `status.disruptedPods` has.
    pub disrupted_pods: usize,
}

/// How an eviction is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    /// Without any budget: none covers the pod, or none counts.
    Free,
    /// The budget allows one disruption fewer from now on.
    Spends,
}

/// Why an eviction is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// 403: nothing can be created in a namespace that is being deleted, an eviction neither.
    NamespaceTerminating,
    /// 500: more than one budget covers the pod.
    Overlap,
    /// 429: the status speaks of an older spec.
    Behind,
    /// 403: the status allows fewer than none.
    Negative,
    /// 403: too many evictions were granted and not seen by the controller.
    TooManyDisrupted,
    /// 429: the controller could not sync the budget, and so allows nothing.
    SyncFailed,
    /// 429: the status allows nothing.
    NoneAllowed,
}

impl Refusal {
    /// The HTTP status.
    pub fn code(self) -> u16 {
        match self {
            Self::Overlap => 500,
            Self::NamespaceTerminating | Self::Negative | Self::TooManyDisrupted => 403,
            Self::Behind | Self::SyncFailed | Self::NoneAllowed => 429,
        }
    }
}

/// Decides one eviction of a pod that these budgets cover.
pub fn evict(pod: PodView, budgets: &[BudgetView]) -> Result<Granted, Refusal> {
    if pod.namespace_terminating {
        return Err(Refusal::NamespaceTerminating);
    }
    if pod.ignores_budgets() {
        return Ok(Granted::Free);
    }
    let budget = match budgets {
        [] => return Ok(Granted::Free),
        [one] => one,
        _ => return Err(Refusal::Overlap),
    };
    let spare = budget.healthy >= budget.desired && budget.desired > 0;
    if !pod.ready && (budget.always_allow || spare) {
        return Ok(Granted::Free);
    }
    if budget.behind {
        return Err(Refusal::Behind);
    }
    if budget.allowed < 0 {
        return Err(Refusal::Negative);
    }
    if budget.disrupted_pods > MAX_DISRUPTED_PODS {
        return Err(Refusal::TooManyDisrupted);
    }
    match (budget.allowed, budget.sync_failed) {
        (0, true) => Err(Refusal::SyncFailed),
        (0, false) => Err(Refusal::NoneAllowed),
        _ => Ok(Granted::Spends),
    }
}

impl PodView {
    /// A pod as it is stored.
    pub fn of(snapshot: &Snapshot, pod: &Pod) -> Self {
        Self {
            phase: pod.status.phase,
            terminating: pod.is_terminating(),
            ready: pod.is_ready(),
            namespace_terminating: snapshot.is_namespace_terminating(pod.meta.ns()),
        }
    }

    /// Pods that have ended, have not started, or are being deleted are evicted without a budget's leave. Mirrors
    /// `canIgnorePDB`.
    pub fn ignores_budgets(self) -> bool {
        self.terminating || matches!(self.phase, Phase::Succeeded | Phase::Failed | Phase::Pending)
    }
}

impl From<&Budget> for BudgetView {
    /// A budget as it is stored.
    fn from(budget: &Budget) -> Self {
        let s = &budget.status;
        Self {
            always_allow: budget.always_allow_unhealthy,
            behind: is_behind(budget),
            sync_failed: budget.reports_sync_failed(),
            allowed: s.disruptions_allowed,
            healthy: s.current_healthy,
            desired: s.desired_healthy,
            disrupted_pods: s.disrupted_pods.len(),
        }
    }
}

/// Whether the stored status speaks of an older spec than the present one, or of none at all.
pub fn is_behind(budget: &Budget) -> bool {
    budget.status.observed_generation.unwrap_or_default() < budget.meta.generation
}

/// The answer of the eviction endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Eviction {
    /// The HTTP status: 201, 429, 500 or 403.
    pub code: u16,
    /// The server's words; empty where it grants.
    pub message: String,
    /// Its `details.causes`.
    pub causes: Vec<String>,
    /// Granted without spending a budget.
    pub bypass: bool,
}

impl Eviction {
    /// The word of the contract: `allowed`, `refused` or `error`.
    pub fn answer(&self) -> &'static str {
        match self.code {
            201 => "allowed",
            429 => "refused",
            _ => "error",
        }
    }

    /// Whether the pod would go.
    pub fn is_granted(&self) -> bool {
        self.code == 201
    }
}

/// What the endpoint would answer to one eviction sent now, for a pod that these budgets cover.
pub fn answer<'a>(snapshot: &Snapshot, pod: &Pod, budgets: impl Iterator<Item = &'a Arc<Budget>>) -> Eviction {
    let budgets: Vec<&Arc<Budget>> = budgets.collect();
    let views: Vec<BudgetView> = budgets.iter().map(|b| BudgetView::from(&***b)).collect();
    match evict(PodView::of(snapshot, pod), &views) {
        Ok(granted) => {
            Eviction { code: 201, message: String::new(), causes: Vec::new(), bypass: granted == Granted::Free }
        }
        Err(refusal) => {
            let (message, causes) = words(refusal, snapshot.minor(), pod, budgets.first().copied());
            Eviction { code: refusal.code(), message, causes, bypass: false }
        }
    }
}

/// Whether an eviction sent now is granted once one of the budgets that cover the pod is deleted. The endpoint judges by
/// the stored numbers of those that are left, and these may be old: no sync follows a deletion (`removeDB` looks at the
/// deleted one alone).
pub fn is_granted_without<'a>(
    snapshot: &Snapshot,
    pod: &Pod,
    budgets: impl Iterator<Item = &'a Arc<Budget>>,
    deleted: &Arc<Budget>,
) -> bool {
    answer(snapshot, pod, budgets.filter(|b| !Arc::ptr_eq(b, deleted))).is_granted()
}

/// The server's message and its causes.
fn words(refusal: Refusal, minor: u32, pod: &Pod, budget: Option<&Arc<Budget>>) -> (String, Vec<String>) {
    let name = budget.map_or("", |b| &*b.meta.name);
    let refused =
        |cause: String| ("Cannot evict pod as it would violate the pod's disruption budget.".to_owned(), vec![cause]);
    let forbidden = |why: &str, cause: &str| {
        let message = format!("poddisruptionbudgets.policy {name:?} is forbidden: {why}");
        let cause = format!("The disruption budget {name} does not allow evicting pods currently: {cause}");
        (message, if minor >= FORBIDDEN_CAUSES_SINCE { vec![cause] } else { Vec::new() })
    };
    match refusal {
        Refusal::NamespaceTerminating => {
            let ns = pod.meta.ns();
            let message = format!(
                "pods {:?} is forbidden: unable to create new content in namespace {ns} because it is being terminated",
                pod.meta.name
            );
            (message, vec![format!("namespace {ns} is being terminated")])
        }
        Refusal::Overlap => {
            let message =
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            (message.to_owned(), Vec::new())
        }
        Refusal::Behind => refused(format!("The disruption budget {name} is still being processed by the server.")),
        Refusal::Negative => forbidden("pdb disruptions allowed is negative", "pdb disruptions allowed is negative"),
        Refusal::TooManyDisrupted => forbidden(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
            "too many pending evictions not confirmed by PDB controller",
        ),
        Refusal::SyncFailed | Refusal::NoneAllowed => refused(budget.map_or_else(String::new, |b| cause(b, minor))),
    }
}

/// Why nothing is allowed, as upstream puts it.
fn cause(budget: &Budget, minor: u32) -> String {
    let (name, s) = (&budget.meta.name, &budget.status);
    let counts = format!(
        "The disruption budget {name} needs {} healthy pods and has {} currently",
        s.desired_healthy, s.current_healthy
    );
    if minor < PRECISE_CAUSES_SINCE {
        return counts;
    }
    let told = budget.condition().filter(|c| c.status == Truth::False && !c.message.is_empty());
    match told {
        Some(c) if &*c.reason == "SyncFailed" => {
            format!(
                "The disruption budget {name} does not allow evicting pods currently because it failed sync: {}",
                c.message
            )
        }
        _ if s.current_healthy <= s.desired_healthy => counts,
        Some(c) => {
            format!("The disruption budget {name} does not allow evicting pods currently ({}): {}", c.reason, c.message)
        }
        None => format!("The disruption budget {name} does not allow evicting pods currently"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNS: PodView =
        PodView { phase: Phase::Running, terminating: false, ready: true, namespace_terminating: false };
    const ALLOWS: BudgetView = BudgetView {
        always_allow: false,
        behind: false,
        sync_failed: false,
        allowed: 1,
        healthy: 3,
        desired: 2,
        disrupted_pods: 0,
    };

    #[test]
    fn evictions_are_judged_in_upstream_s_order() {
        // After TestEviction, TestEvictionIgnorePDB and TestEvictionPDBStatus of eviction_test.go, and NamespaceLifecycle.
        let unready = PodView { ready: false, ..RUNS };
        let phase = |phase| PodView { phase, ..unready };
        let none = BudgetView { allowed: 0, healthy: 2, ..ALLOWS };
        let (free, spends) = (Ok(Granted::Free), Ok(Granted::Spends));
        for (title, pod, budgets, want) in [
            ("no budget", RUNS, &[][..], free),
            ("one is allowed", RUNS, &[ALLOWS][..], spends),
            ("none is allowed", RUNS, &[none], Err(Refusal::NoneAllowed)),
            ("the sync failed", RUNS, &[BudgetView { sync_failed: true, ..none }], Err(Refusal::SyncFailed)),
            ("two budgets", RUNS, &[ALLOWS, ALLOWS], Err(Refusal::Overlap)),
            ("two budgets, and it is not Ready", unready, &[ALLOWS, ALLOWS], Err(Refusal::Overlap)),
            ("two budgets, and it has not started", phase(Phase::Pending), &[ALLOWS, ALLOWS], free),
            ("it has not started", phase(Phase::Pending), &[none], free),
            ("it has ended", phase(Phase::Succeeded), &[none], free),
            ("it has failed", phase(Phase::Failed), &[none], free),
            ("its phase is not known", phase(Phase::Unknown), &[none], free),
            ("it is being deleted", PodView { terminating: true, ..RUNS }, &[none], free),
            ("not Ready, enough others are", unready, &[none], free),
            ("not Ready, too few are", unready, &[BudgetView { healthy: 1, ..none }], Err(Refusal::NoneAllowed)),
            (
                "not Ready, none need be",
                unready,
                &[BudgetView { healthy: 0, desired: 0, ..none }],
                Err(Refusal::NoneAllowed),
            ),
            (
                "not Ready, always allowed",
                unready,
                &[BudgetView { always_allow: true, healthy: 0, behind: true, ..none }],
                free,
            ),
            (
                "always allowed, and Ready",
                RUNS,
                &[BudgetView { always_allow: true, ..none }],
                Err(Refusal::NoneAllowed),
            ),
            ("the status is behind", RUNS, &[BudgetView { behind: true, ..ALLOWS }], Err(Refusal::Behind)),
            // The old numbers decide for a pod that is not Ready, before anybody asks how old they are.
            ("behind, and not Ready", unready, &[BudgetView { behind: true, ..ALLOWS }], free),
            ("fewer than none", RUNS, &[BudgetView { allowed: -1, ..ALLOWS }], Err(Refusal::Negative)),
            ("as many as there may be", RUNS, &[BudgetView { disrupted_pods: 2000, ..ALLOWS }], spends),
            ("too many", RUNS, &[BudgetView { disrupted_pods: 2001, ..ALLOWS }], Err(Refusal::TooManyDisrupted)),
            (
                "too many before none is allowed",
                RUNS,
                &[BudgetView { disrupted_pods: 2001, ..none }],
                Err(Refusal::TooManyDisrupted),
            ),
            (
                "its namespace is being deleted",
                PodView { namespace_terminating: true, ..phase(Phase::Pending) },
                &[],
                Err(Refusal::NamespaceTerminating),
            ),
        ] {
            assert_eq!(evict(pod, budgets), want, "{title}");
        }
    }
}
