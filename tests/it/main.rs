//! Runs the real executable.

#[cfg(feature = "live")]
mod cluster;
#[cfg(feature = "live")]
mod complete;
#[cfg(feature = "live")]
mod fake_api;
#[cfg(feature = "live")]
mod live;
#[cfg(feature = "live")]
mod run;
#[cfg(feature = "live")]
mod snapshot;
