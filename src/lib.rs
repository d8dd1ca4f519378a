//! What `kubectl drain`, the eviction endpoint and the scheduler will say, before they say it.
//!
//! One way through:
//!
//! ```text
//! main ──► plugin, cli: what was typed ──► commands: which kinds the answer needs, then
//!
//!   cluster  (live API, GET only) ─┐
//!   file     (List, YAML, stdin)  ─┴─ wire items ──► snapshot   immutable, interned, indexed, with its own `now` and its gaps
//!                                                       │
//!                                                       ▼
//!      budget ◄── sched ◄── autoscale ◄── pending ◄── drain ◄── check     pure functions: snapshot → facts. No I/O, no clock
//!                                                       │
//!                                                       ▼
//!                                                    report     the JSON contract: plain serde structs
//!                                                       │
//!                                                       ▼
//!                                                    render     every form that -o names
//! ```
//!
//! Each engine asks those on its left: `budget` has the disruption controller and the eviction endpoint, `sched` the
//! scheduler, `autoscale` Karpenter and the Cluster Autoscaler, `pending` answers `why-pending`, `drain` `drain-plan`, and
//! `check` asks the rules of `budget` about manifests, which it makes a snapshot of.
//!
//! Imports go one way, and never in a circle: wire ← snapshot ← budget ← sched ← autoscale ← pending ← drain ← check ←
//! report ← render ← cluster, file ← cli ← input, answer ← commands ← main. `tests/it/imports.rs` has the whole order, and
//! holds it. Only `cluster` knows the network, behind the feature `live`; only `render` knows colour and width.
//!
//! Beside the way stand what several engines ask: [`admission`] (which webhooks see a request), [`quota`] (whether a quota
//! refuses a pod), [`cel`] (the expressions that choose devices), and what they answer with: [`finding`] (the codes and the
//! shape of what is found), [`cure`] (what a person could do: commands, their undoing, their proof), [`shell`] (lines that
//! can be pasted) and [`lists`] (lists and counts in words).
#![recursion_limit = "512"]

mod admission;
pub mod answer;
pub mod autoscale;
pub mod budget;
pub mod cel;
pub mod check;
pub mod cli;
#[cfg(feature = "live")]
pub mod cluster;
pub mod commands;
pub mod complete;
pub mod cure;
pub mod drain;
mod duration;
pub mod error;
pub mod file;
mod finding;
#[cfg(all(any(test, fuzzing), feature = "live"))]
pub mod fuzz;
mod input;
mod lists;
pub mod logging;
pub mod pending;
pub mod plugin;
mod quota;
mod render;
mod report;
pub mod sched;
mod shell;
pub mod snapshot;
#[cfg(test)]
pub(crate) mod testing;
pub mod wire;
#[cfg(test)]
mod wrong_values;
