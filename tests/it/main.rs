//! Runs the real executable: against recorded clusters, bad input, and a fake API server.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accessible;
mod agreement;
mod cases;
mod check;
#[cfg(feature = "live")]
mod cluster;
#[cfg(feature = "live")]
mod complete;
#[cfg(feature = "live")]
mod fake_api;
#[cfg(feature = "live")]
mod faults;
mod first_lines;
mod forgotten;
mod half;
mod html;
mod imports;
mod input;
mod keeps;
mod lint;
#[cfg(feature = "live")]
mod live;
mod many;
mod needs;
mod numbers;
mod page;
mod program;
#[cfg(feature = "live")]
mod proxy;
mod readme;
#[cfg(feature = "live")]
mod reply;
mod schema;
#[cfg(feature = "live")]
mod snapshot;
mod upgrade;
mod verdicts;
mod widths;
