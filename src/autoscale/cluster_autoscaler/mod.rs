//! Which nodes the Cluster Autoscaler takes away, and what keeps the others. Mirrors
//! `kubernetes/autoscaler/cluster-autoscaler` 1.36 with the flags of its Deployment, as far as that is seen, else its defaults.
//!
//! ```text
//! Node ─► size of its group ─► annotation, utilization ─► drainability of its pods ─► a place for them ─► scale-up, waiting
//! ```
//!
//! Each node is judged as it is now and alone. It writes none of this into the API, so nothing here is read from it.

mod drainability;
mod fate;
mod groups;
mod place;
mod scale_down;
mod settings;
mod utilization;
mod words;

pub use fate::{Blocks, Fate, Keeps};
pub use groups::Groups;
pub use place::TO_BE_DELETED;
pub use scale_down::ScaleDown;
pub use settings::Settings;
