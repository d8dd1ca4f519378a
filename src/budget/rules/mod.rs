//! What can be found out about a budget: a rule a file, each with its table of tests, joined by one ordered list.

mod cause;
mod disruption;
pub(super) mod hpa_floor;
mod invalid;
mod missing;
mod no_pods;
mod no_rule;
pub(super) mod not_evictable;
mod not_guarded;
mod operator_owned;
mod over_permissive;
pub(super) mod overlap;
pub(super) mod partial;
pub(super) mod quorum;
mod rollout;
mod scaled_down;
mod shared;
mod stale;
mod sync;
mod terminating;
mod unhealthy;
mod unmanaged;
mod unread;
mod zero_by_rule;

pub use cause::{Cause, reason};

use super::context::{Basis, BudgetContext};
use super::verdict::Verdict;

/// Looks at one thing.
pub type BudgetRule = fn(&BudgetContext<'_>) -> Option<Cause>;

/// What a rule judges by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// What is written: budgets and workloads as they are configured. Such a rule holds before anything runs.
    Spec,
    /// The pods, nodes and statuses of the present moment.
    State,
}

/// Every rule. Of several that hold, the verdict is the first one in the order of [`Verdict`]; of several that give it,
/// the first one in this list leads.
pub const RULES: &[(By, BudgetRule)] = &[
    // It cannot be used as written.
    (By::Spec, invalid::find),
    (By::Spec, overlap::find),
    (By::Spec, sync::find),
    // It cannot be judged, or not yet.
    (By::State, unread::find),
    (By::State, stale::find),
    // It covers nothing.
    (By::Spec, no_pods::find),
    (By::Spec, scaled_down::find),
    // It allows nothing, whatever becomes of the pods.
    (By::Spec, no_rule::find),
    (By::Spec, unmanaged::find),
    (By::Spec, zero_by_rule::find),
    // It allows nothing at this moment.
    (By::State, disruption::find),
    (By::State, unhealthy::find),
    (By::State, missing::find),
    // What holds beside the verdict.
    (By::Spec, over_permissive::find),
    (By::Spec, quorum::find),
    (By::Spec, partial::find),
    (By::Spec, shared::find),
    (By::State, not_evictable::find),
    (By::Spec, hpa_floor::find),
    (By::State, terminating::find),
    (By::State, not_guarded::find),
    (By::Spec, rollout::find),
    (By::Spec, operator_owned::find),
];

/// All that is found about a budget, what gives the verdict first, and the verdict.
pub fn assess(context: &BudgetContext<'_>) -> (Verdict, Vec<Cause>) {
    let mut causes: Vec<Cause> = RULES
        .iter()
        .filter(|(by, _)| *by == By::Spec || context.basis == Basis::Present)
        .filter_map(|(_, rule)| rule(context))
        .collect();
    causes.sort_by_key(|cause| cause.verdict.unwrap_or(Verdict::Allows));
    let by_numbers = if context.numbers.allowed > 0 { Verdict::Allows } else { Verdict::Waits };
    (causes.iter().find_map(|cause| cause.verdict).unwrap_or(by_numbers), causes)
}

#[cfg(test)]
mod testing {
    //! What one rule says of the only budget of a small cluster.

    use super::*;
    use crate::budget::Selection;
    use crate::budget::scope::Scope;
    use crate::testing::Cluster;

    /// The verdict and the message of a rule, where it holds.
    pub(super) fn says(rule: BudgetRule, cluster: &Cluster) -> Option<(Option<Verdict>, String)> {
        let snapshot = cluster.snapshot();
        let budget = snapshot.budgets[0].clone();
        let scope = Scope::new(&snapshot, &Selection::new(&snapshot), 0);
        rule(&BudgetContext::new(&snapshot, budget, scope)).map(|c| (c.verdict, c.finding.message))
    }

    /// A row of a table: title, cluster, what the rule says.
    pub(super) type Row<'a, S> = (&'a str, Cluster, Option<(Verdict, S)>);

    /// Holds a rule against a table.
    pub(super) fn table<S: Into<String>>(rule: BudgetRule, rows: Vec<Row<'_, S>>) {
        for (title, cluster, want) in rows {
            let want = want.map(|(verdict, message)| (Some(verdict), message.into()));
            assert_eq!(says(rule, &cluster), want, "{title}");
        }
    }

    /// The same for a rule that leaves the verdict to the numbers.
    pub(super) fn notes(rule: BudgetRule, rows: Vec<(&str, Cluster, Option<&str>)>) {
        for (title, cluster, want) in rows {
            assert_eq!(says(rule, &cluster), want.map(|message| (None, message.to_owned())), "{title}");
        }
    }
}
