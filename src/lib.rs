//! What `kubectl drain`, the eviction endpoint and the scheduler will say, before they say it.

#[cfg(feature = "live")]
pub mod cluster;
pub mod duration;
pub mod error;
pub mod logging;
