//! Budgets: what the disruption controller counts, what the eviction endpoint answers, and what that means.

pub mod causes;
pub mod evict;
pub mod expected;
pub mod ideal;
pub mod numbers;
pub mod operators;
pub mod remedies;
pub mod selection;
pub mod verdict;

pub use evict::Eviction;
pub use numbers::Numbers;
pub use selection::Selection;
pub use verdict::{Judgement, Verdict, judge};
