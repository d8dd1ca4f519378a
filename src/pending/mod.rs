//! Why pods are not running: where each stands, what refuses it on every node, and what would let it fit.

pub mod admission;
pub mod amounts;
pub mod claims;
pub mod components;
pub mod context;
pub mod controllers;
pub mod detail;
pub mod enqueue;
pub mod explain;
pub mod facts;
pub mod item;
pub mod kueue;
pub mod nomination;
pub mod planned;
pub mod preempted;
mod provisioners;
pub mod queue;
pub mod recorded;
pub mod report;
mod running;
pub mod scheduler_error;
pub mod scheduling;
pub mod select;
pub mod stage;
pub mod startup;
pub mod storage;
pub mod threats;

#[cfg(test)]
mod reported;

pub use item::{Item, Subject};
pub use planned::{admitted, planned, pods_wanted};
pub use report::{Answer, pending};
pub use select::{KindWord, Request, Target};
pub use stage::Stage;
