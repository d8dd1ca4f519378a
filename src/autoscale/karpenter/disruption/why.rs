//! Why Karpenter takes a node away.

/// Why Karpenter takes a node away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// No pods that would have to move are on it.
    Empty,
    /// Its pods fit elsewhere, or on a cheaper node.
    Underutilized,
    /// It is no longer what its NodePool specifies.
    Drifted,
    /// Its NodeClaim is older than its `expireAfter`.
    Expired,
}

impl Why {
    /// As Karpenter writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Underutilized => "Underutilized",
            Self::Drifted => "Drifted",
            Self::Expired => "Expired",
        }
    }

    /// As a sentence without its end.
    pub fn words(self) -> &'static str {
        match self {
            Self::Empty => "the node is empty: no pod would have to move",
            Self::Underutilized => "the pods of the node fit on other nodes, or on a cheaper new node",
            Self::Drifted => "the node has drifted from what its NodePool specifies",
            Self::Expired => "the NodeClaim of the node is older than its expireAfter",
        }
    }
}
