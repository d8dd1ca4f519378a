//! Budgets: what the disruption controller counts, what the eviction endpoint answers, and what that means.
//!
//! ```text
//! Selection ─► Scope (pods, and workloads that make such pods)
//!                │    expected, numbers: what the controller writes     evict: what the endpoint answers
//!                │    ideal: what would be there if all were well
//!                ▼
//!          BudgetContext ─► rules (one a file, one ordered list) ─► verdict and causes
//!                                                                     │   remedies: a change, and the rules again
//!                                                                     ▼
//!                                                                 Judgement
//! ```

pub mod arithmetic;
pub mod context;
pub mod evict;
pub mod expected;
mod faulty;
pub mod ideal;
pub mod judgement;
mod nearest;
pub mod numbers;
pub mod operators;
mod remedies;
pub mod rolling_update;
mod rules;
mod scope;
pub mod selection;
pub mod verdict;

pub use context::{Basis, CoveredPod};
pub use evict::Eviction;
pub use judgement::{Judgement, judge, judge_by, numbers_by};
pub use numbers::Numbers;
pub use rules::reason;
pub use selection::Selection;
pub use verdict::Verdict;
