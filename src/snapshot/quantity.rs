//! Named amounts.

use super::intern::{Interner, Str};
pub use crate::wire::quantity::Quantity;
use crate::wire::scalar;
use std::collections::BTreeMap;

/// Named amounts, sorted by name: requests, limits, capacity, a quota.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Amounts(Box<[(Str, Quantity)]>);

impl Amounts {
    /// Reads the wire form.
    pub fn read(wire: &BTreeMap<String, scalar::Quantity>, i: &mut Interner) -> Self {
        Self(wire.iter().map(|(name, q)| (i.str(name), q.value)).collect())
    }

    /// The amount under a name.
    pub fn get(&self, name: &str) -> Option<Quantity> {
        self.0.iter().find(|(n, _)| **n == *name).map(|(_, q)| *q)
    }

    /// All pairs, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, Quantity)> {
        self.0.iter().map(|(n, q)| (n, *q))
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Str, Quantity)> for Amounts {
    fn from_iter<I: IntoIterator<Item = (Str, Quantity)>>(pairs: I) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort();
        Self(pairs.into())
    }
}
