//! What can be found out about a workload before it is applied: a rule a file, joined by one ordered list. What concerns
//! its budget is told of the budget.

mod refused;
mod unprotected;

use super::context::WorkloadContext;
use crate::finding::Finding;

/// Looks at one thing.
pub(super) type WorkloadRule = fn(&WorkloadContext<'_>) -> Option<Finding>;

/// Every rule.
pub(super) const RULES: &[WorkloadRule] = &[refused::refused, unprotected::single, unprotected::several];
