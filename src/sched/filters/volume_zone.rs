//! `VolumeZone`.

use super::{Incoming, Prepared};

/// Makes it ready.
pub fn prepare<'a>(_incoming: &Incoming<'a>) -> Prepared<'a> {
    Prepared::Skip
}
