//! Nodes that come and go: what Karpenter and the Cluster Autoscaler would do, by their own rules.

pub mod cluster_autoscaler;
pub mod karpenter;
pub mod new_nodes;
pub mod outlook;
pub mod presence;

pub use new_nodes::{NewNode, NewNodes};
pub use outlook::{Outlook, said};
