//! Manifests judged before they are applied: by the rules of `status`, on the snapshot that their controllers would make.
//!
//! ```text
//! Manifest (file, line, object) ─► translate (older API versions) ─► expand (workloads as their controllers run them)
//!                                                                        │
//!              a snapshot in which one pod stands for all of a workload ◄─┘
//!                    │  budgets: the rules of `budget`, by what is written      workloads: rules, one a file
//!                    ▼
//!                 Checked (an object each) ─► ignore ─► report
//! ```

pub mod against;
mod context;
mod engine;
mod expand;
mod fields;
mod hooks;
pub mod manifest;
mod rules;
mod scale;
mod translate;

pub use engine::{Checked, Options, check};
pub use manifest::{Content, Manifest};
