//! What `kubectl drain`, the eviction endpoint and the scheduler will say, before they say it.

pub mod error;
