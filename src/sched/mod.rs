//! The scheduler's mind: kube-scheduler's default filters, its words, and its preemption, run over a snapshot.
//!
//! ```text
//! Snapshot ─► State ─► Cycle (one pod: filters made ready) ─► Diagnosis ─► message
//!               │                                                 └──────► Preemption
//!               └─ copy, bind, remove, cordon …
//! ```
//!
//! One filter a file, in [`filters`]; [`filters::ORDER`] joins them. What a profile adds to the defaults (added
//! affinity, disabled plugins, extenders) cannot be seen from the API and is not mirrored: [`ASSUMED`] says so.

pub mod catalogue;
pub mod census;
pub mod class;
pub mod cycle;
pub mod diagnosis;
pub mod domains;
pub mod filters;
pub mod kin;
pub mod message;
pub mod node;
pub mod nowhere;
pub mod place;
pub mod preempt;
pub mod preemption;
pub mod resources;
pub mod search;
pub mod state;
pub mod status;
pub mod terms;
#[cfg(test)]
pub mod testing;
pub mod victims;

pub use diagnosis::Diagnosis;
pub use node::NodeId;
pub use preemption::{Candidate, Preemption};
pub use state::State;
pub use status::{Plugin, Reason, Status, Verdict};

/// What every answer about scheduling takes for granted.
pub const ASSUMED: &str =
    "Assumed: the default scheduler profile; added affinity, disabled plugins, extenders cannot be seen.";
