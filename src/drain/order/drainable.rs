//! A node that can be drained by itself.

use crate::drain::node_pod::NodePod;
use crate::snapshot::Str;

/// A node that can be drained by itself.
#[derive(Debug, Clone)]
pub struct Drainable<'c> {
    /// Its name.
    pub node: Str,
    /// Its pods.
    pub pods: &'c [NodePod],
}
