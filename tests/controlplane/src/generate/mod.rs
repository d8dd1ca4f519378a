//! Random clusters, each from a seed.

pub mod budgets;
pub mod constraints;
pub mod devices;
pub mod drain;
pub mod oddities;
pub mod pending;
pub mod perturb;
pub mod storage;
