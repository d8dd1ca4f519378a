//! Devices and the search for those that claims ask for. Mirrors `k8s.io/dynamic-resource-allocation/structured`, the
//! allocator that kube-scheduler uses with its default features (see [`features`]).
//!
//! ```text
//! ResourceSlices ─► inventory ─► pools of a node ─► search ─► devices for each request
//!                                                     ▲
//!            claims ─► requests, constraints, taken ──┘
//! ```

pub mod capacity;
pub mod constraint;
pub mod counters;
pub mod features;
pub mod ids;
pub mod inventory;
pub mod lacking;
pub mod pool;
pub mod pools;
pub mod request;
pub mod search;
pub mod selectors;
pub mod taken;
