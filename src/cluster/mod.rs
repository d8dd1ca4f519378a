//! The live cluster, and nothing but reading from it.

mod credentials;
mod exec;
pub mod host;
mod kubeconfig;
pub mod options;
mod proxy;
pub mod target;
