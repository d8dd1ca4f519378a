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

pub(crate) mod catalogue;
pub(crate) mod census;
pub(crate) mod class;
pub(crate) mod cycle;
pub(crate) mod devices;
pub(crate) mod diagnosis;
pub(crate) mod domains;
pub(crate) mod filters;
pub(crate) mod gang;
pub(crate) mod kin;
pub(crate) mod message;
pub(crate) mod node;
#[cfg(test)]
mod not_read;
pub(crate) mod nowhere;
pub(crate) mod place;
pub(crate) mod pre_enqueue;
pub(crate) mod preempt;
pub(crate) mod preemption;
pub(crate) mod resources;
pub(crate) mod score;
pub(crate) mod search;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod terms;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod victims;

pub use diagnosis::Diagnosis;
pub use node::NodeId;
pub use preemption::{Candidate, Preemption};
pub use state::State;
pub use status::{Plugin, Reason, Status, Verdict};

/// What every answer about scheduling takes for granted.
pub const ASSUMED: &str =
    "Assumed: the default scheduler profile; added affinity, disabled plugins, extenders cannot be seen.";
