//! What is read of each kind, as the API writes it: wire types that live for a page.
//!
//! Every struct declares only the fields that some answer depends on, once, and so reads both encodings of the API:
//! JSON (files, custom resources) through serde and protobuf (built-in kinds from a server) through prost. The tags
//! are those of upstream's `generated.proto`; what an encoding writes differently (`null` lists, embedded Go structs,
//! zero times) is evened out here, so that the model never sees it. Writing a struct as JSON gives the slim object
//! that the `snapshot` command keeps.

pub mod apps;
pub mod core;
pub mod crd;
pub mod events;
pub mod events_v1;
pub mod item;
mod macros;
pub mod meta;
pub mod node;
pub mod operators;
#[cfg(test)]
pub(crate) mod oracle;
pub mod pod;
pub mod policy;
pub mod quantity;
pub mod resource;
pub mod scalar;
pub mod storage;
pub mod time;
pub mod type_meta;
pub mod volume;
