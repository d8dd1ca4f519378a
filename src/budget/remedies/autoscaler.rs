//! A floor of an autoscaler at which the rule allows an eviction.

use super::promise::allows;
use crate::budget::context::BudgetContext;
use crate::budget::rules::hpa_floor::{floor as low_floor, min_replicas};
use crate::cure::{Cure, Remedy};

/// Above a floor by so many replicas no other one is looked for: 100 more are enough for every percentage.
const MOST_MORE: i32 = 100;

pub(super) fn floor(b: &BudgetContext<'_>) -> Option<Remedy> {
    let (autoscaler, share, _) = low_floor(b)?;
    let least = min_replicas(autoscaler);
    let enough = |n: &i32| b.ideal.allowed_with(&b.budget, i64::from(*n) - i64::from(share.scale)) > 0;
    let n = (least..=least.saturating_add(MOST_MORE)).find(enough)?;
    Cure::replicas(b.snapshot, &share.owner, n).tried(b.snapshot, |changed| allows(b, changed))
}
