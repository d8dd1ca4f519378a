//! Which nodes Karpenter takes away, and what keeps the others. Mirrors `pkg/controllers/disruption` of
//! `sigs.k8s.io/karpenter` 1.14 and the expiration of NodeClaims, with the default settings.
//!
//! ```text
//! Machine ─► blockers of node and pods ─► method by method: Empty, Drifted, Underutilized
//!                                           policy, consolidateAfter ─► budgets of the pool ─► a place for its pods
//! ```
//!
//! Each node is judged as it is now and alone; several that are consolidated together are looked at together, too. What
//! others leave room for once they are gone is not played on.

mod blockers;
mod candidate;
mod consolidation;
mod cost;
mod fate;
mod pool_budgets;
mod price;
mod reschedule;
mod schedule;
mod why;
mod words;

pub use blockers::{DO_NOT_DISRUPT, do_not_disrupt};
pub use consolidation::Disruption;
pub use fate::{Fate, Keeps};
pub use why::Why;
