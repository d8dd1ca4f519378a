//! Numbers for what has long names, and amounts.

use crate::snapshot::quantity::Quantity;
use crate::wire::scalar;

/// The number of a device by its driver, pool and name. Two slices may publish the same one.
pub type DeviceId = u32;
/// The number of a device as one slice publishes it.
pub type Entry = u32;
/// The number of a slice.
pub type SliceId = u32;
/// The number of a pool.
pub type PoolId = u32;
/// The number of an expression.
pub type ExpressionId = u32;

/// Amounts by name: a counter set, what a device takes of one.
pub type Counters = Vec<(String, Quantity)>;

/// An amount; nothing where there is none.
pub fn amount(q: Option<&scalar::Quantity>) -> Quantity {
    q.map(|q| q.value).unwrap_or_default()
}

/// A number, of which there are never so many.
pub(super) fn id(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
