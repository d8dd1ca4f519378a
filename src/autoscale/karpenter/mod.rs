//! Karpenter's mind: which pods it looks at, what nodes it could add for them, which nodes it would take away.
//!
//! ```text
//! NodePool ─► Template (instance types, daemons) ─┐
//! State, NodeClaims ─► Machine ─► Host ───────────┴─► Solve (one batch of pods) ─► Place of each pod, new nodes
//! ```
//!
//! Mirrors `sigs.k8s.io/karpenter` 1.14 with its default settings: a change of them (`PREFERENCE_POLICY`,
//! `MIN_VALUES_POLICY`, feature gates) cannot be seen from the API.

pub mod claims;
pub mod daemons;
pub mod disruption;
pub mod fleet;
pub mod instance_type;
pub mod kwok;
pub mod labels;
pub mod machine;
pub mod node_claim;
pub mod node_pool;
pub mod ports;
pub mod provision;
pub mod relax;
pub mod requirement;
pub mod requirements;
pub mod solve;
pub mod taints;
pub mod template;
pub mod topology;
pub mod topology_group;
pub mod types;
pub mod volumes;
mod words;
