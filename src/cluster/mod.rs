//! The live cluster, and nothing but reading from it.
//!
//! ```text
//! flags, kubeconfig, environment ──► target ──► client (GET only, retries) ──► pages of bytes ──► whoever decodes them
//! ```
//!
//! Only this module knows kube and tokio. To everything outside it blocks: a thread of its own talks to the server
//! while the caller's decodes what came before.

mod client;
mod connection;
mod credentials;
mod discovery;
mod environment;
mod exec;
mod explain;
mod export;
mod kubeconfig;
mod list;
mod list_meta;
mod names;
mod options;
mod pages;
mod progress;
mod proxy;
mod read;
mod status;
mod target;
mod userinfo;

pub use self::connection::{Cluster, Got};
pub use self::export::Export;
pub use self::list::{ListEvent, ListOutcome, ListRequest, Page};
pub use self::names::{configured, names, namespace};
pub use self::options::ConnectOptions;
pub use self::pages::each_item;
#[cfg(test)]
pub(crate) use self::pages::page_of;
pub use self::progress::{Observer, Silent, Terminal};
pub use self::read::{Needs, list_of};
pub use self::status::Encoding;
pub use self::target::Configured;
#[cfg(any(test, fuzzing))]
pub(crate) use self::target::try_kubeconfig;
