//! What is read of each kind, as the API writes it: wire types that live for a page.
//!
//! Every struct declares only the fields that some answer depends on, once, and so reads both encodings of the API:
//! JSON (files, custom resources) through serde and protobuf (built-in kinds from a server) through prost. The tags
//! are those of upstream's `generated.proto`; what an encoding writes differently (`null` lists, embedded Go structs,
//! zero times) is evened out here, so that the model never sees it. Writing a struct as JSON gives the slim object
//! that the `snapshot` command keeps.

pub mod apps;
pub mod core;
pub(crate) mod crd;
pub(crate) mod events;
pub(crate) mod events_v1;
pub(crate) mod groups;
pub(crate) mod item;
pub(crate) mod karpenter;
pub(crate) mod kueue;
pub mod machines;
mod macros;
pub(crate) mod meta;
pub mod node;
pub(crate) mod operators;
#[cfg(test)]
pub(crate) mod oracle;
pub mod pod;
pub mod policy;
pub(crate) mod quantity;
pub(crate) mod resource;
pub(crate) mod scalar;
pub(crate) mod scheduling;
pub(crate) mod status;
pub(crate) mod storage;
pub(crate) mod time;
pub(crate) mod type_meta;
pub(crate) mod volume;
