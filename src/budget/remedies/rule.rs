//! Another rule, or more pods: what lets a budget that allows nothing allow one eviction.

use super::promise::allows;
use super::{pods, sync};
use crate::budget::context::BudgetContext;
use crate::budget::rules::quorum;
use crate::cure::{Change, Cure, Remedy};
use crate::snapshot::budget::Rule;
use crate::wire::scalar::IntOrString;

/// What to do about a rule that never allows anything, least first.
pub(super) fn zero_by_rule(b: &BudgetContext<'_>) -> Vec<Remedy> {
    // maxUnavailable 0 over one pod is how the documentation says "ask me first".
    let zero = |v: &IntOrString| v.percent().map_or(v.int == 0, |p| p == Ok(0));
    let asks_first = matches!(&b.budget.rule, Rule::MaxUnavailable(v) if zero(v));
    let alone = asks_first && b.ideal.healthy == 1;
    let lasting: Vec<Remedy> = less_strict(b).into_iter().chain(more_pods(b)).collect();
    let last = !alone && (asks_first || lasting.is_empty());
    let mut all: Vec<Remedy> = pods::always_allow(b).into_iter().chain(sync::job_needs_none(b)).collect();
    all.extend(alone.then(|| for_once(b)).flatten());
    all.extend(lasting);
    all.extend(last.then(|| for_once(b)).flatten());
    all
}

/// A rule that allows one: maxUnavailable 1, or where owners have no scale the integer that leaves one over.
pub(super) fn less_strict(b: &BudgetContext<'_>) -> Option<Remedy> {
    let one = Rule::MaxUnavailable(IntOrString::int(1));
    let less = Rule::MinAvailable(IntOrString::int(i32::try_from(b.ideal.healthy - 1).unwrap_or(0).max(0)));
    let mut cures = [one, less].into_iter().filter(|rule| *rule != b.budget.rule).map(|rule| {
        let cure = Cure::from(Change::SetRule(b.budget.clone(), rule));
        let down = "the only pod can be evicted: the service is down until a new pod is Ready";
        match b.ideal.healthy {
            _ if sync::only_jobs(b) => cure.risk(sync::WORK_LOST),
            ..=1 => cure.risk(down),
            _ => cure,
        }
    });
    cures.find_map(|cure| cure.tried(b.snapshot, |changed| allows(b, changed)))
}

/// One member of a store at a time.
pub(super) fn quorum(b: &BudgetContext<'_>) -> Option<Remedy> {
    let one = Change::SetRule(b.budget.clone(), Rule::MaxUnavailable(IntOrString::int(1)));
    Cure::from(one).tried(b.snapshot, |changed| b.after(changed).is_some_and(|after| quorum::find(&after).is_none()))
}

/// The smallest number of replicas at which the rule allows one.
fn more_pods(b: &BudgetContext<'_>) -> Option<Remedy> {
    let (share, count) = b.ideal.enough_replicas(&b.budget)?;
    Cure::replicas(b.snapshot, &share.owner, count).tried(b.snapshot, |changed| allows(b, changed))
}

/// Taking the budget away for a maintenance, and putting it back.
fn for_once(b: &BudgetContext<'_>) -> Option<Remedy> {
    let text = format!(
        "for one maintenance: consult the owner of the pods, delete budget {}, and create the budget again afterwards",
        b.budget.meta.path()
    );
    Cure::from(Change::DeleteBudget(b.budget.clone())).text(text).tried(b.snapshot, |changed| allows(b, changed))
}
