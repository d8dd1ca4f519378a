//! What the eviction endpoint would answer to one eviction sent now. Mirrors `EvictionREST.Create` and
//! `checkAndDecrement` of `pkg/registry/core/pod/storage/eviction.go`: it judges by what is stored, not by the pods.

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
    fn granted(bypass: bool) -> Self {
        Self { code: 201, message: String::new(), causes: Vec::new(), bypass }
    }

    fn refused(cause: String) -> Self {
        let message = "Cannot evict pod as it would violate the pod's disruption budget.".to_owned();
        Self { code: 429, message, causes: vec![cause], bypass: false }
    }

    fn forbidden(message: String, causes: Vec<String>) -> Self {
        Self { code: 403, message, causes, bypass: false }
    }

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

/// The answer for a pod that these budgets cover.
pub fn answer<'a>(snapshot: &Snapshot, pod: &Pod, budgets: impl Iterator<Item = &'a Arc<Budget>>) -> Eviction {
    if let Some(refusal) = terminating_namespace(snapshot, pod) {
        return refusal;
    }
    if ignores_budgets(pod) {
        return Eviction::granted(true);
    }
    let budgets: Vec<&Arc<Budget>> = budgets.collect();
    let budget = match budgets[..] {
        [] => return Eviction::granted(true),
        [one] => one,
        _ => {
            let message =
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Eviction { code: 500, message: message.to_owned(), causes: Vec::new(), bypass: false };
        }
    };
    if !pod.is_ready() {
        let s = &budget.status;
        if budget.always_allow_unhealthy || (s.current_healthy >= s.desired_healthy && s.desired_healthy > 0) {
            return Eviction::granted(true);
        }
    }
    check_and_decrement(budget, snapshot.minor())
}

/// Pods that have ended, have not started, or are being deleted go without a budget's leave. Mirrors `canIgnorePDB`.
pub fn ignores_budgets(pod: &Pod) -> bool {
    pod.is_terminating() || matches!(pod.status.phase, Phase::Succeeded | Phase::Failed | Phase::Pending)
}

/// Nothing can be created in a namespace that is being deleted, an eviction neither. Mirrors the admission plugin
/// `NamespaceLifecycle`.
fn terminating_namespace(snapshot: &Snapshot, pod: &Pod) -> Option<Eviction> {
    let ns = snapshot.namespaces.named("", pod.meta.ns())?;
    let terminating = ns.meta.is_terminating() || ns.status.as_ref().is_some_and(|s| s.phase == "Terminating");
    terminating.then(|| {
        let cause = format!("namespace {} is being terminated", ns.meta.name);
        let message = format!(
            "pods {:?} is forbidden: unable to create new content in namespace {} because it is being terminated",
            pod.meta.name, ns.meta.name
        );
        Eviction::forbidden(message, vec![cause])
    })
}

fn check_and_decrement(budget: &Budget, minor: u32) -> Eviction {
    let (name, s) = (&budget.meta.name, &budget.status);
    if is_behind(budget) {
        return Eviction::refused(format!("The disruption budget {name} is still being processed by the server."));
    }
    let forbidden = |why: &str, cause: &str| {
        let message = format!("poddisruptionbudgets.policy {name:?} is forbidden: {why}");
        let cause = format!("The disruption budget {name} does not allow evicting pods currently: {cause}");
        Eviction::forbidden(message, if minor >= FORBIDDEN_CAUSES_SINCE { vec![cause] } else { Vec::new() })
    };
    if s.disruptions_allowed < 0 {
        return forbidden("pdb disruptions allowed is negative", "pdb disruptions allowed is negative");
    }
    if s.disrupted_pods.len() > MAX_DISRUPTED_PODS {
        return forbidden(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
            "too many pending evictions not confirmed by PDB controller",
        );
    }
    if s.disruptions_allowed > 0 {
        return Eviction::granted(false);
    }
    let counts = format!(
        "The disruption budget {name} needs {} healthy pods and has {} currently",
        s.desired_healthy, s.current_healthy
    );
    if minor < PRECISE_CAUSES_SINCE {
        return Eviction::refused(counts);
    }
    let told = budget.condition().filter(|c| c.status == Truth::False && !c.message.is_empty());
    Eviction::refused(match told {
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
    })
}

/// Whether the stored status speaks of an older spec than the present one, or of none at all.
pub fn is_behind(budget: &Budget) -> bool {
    budget.status.observed_generation.unwrap_or_default() < budget.meta.generation
}
