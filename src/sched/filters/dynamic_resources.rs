//! `DynamicResources`.

use super::{Incoming, Prepared};

/// Makes it ready.
pub fn prepare<'a>(_incoming: &Incoming<'a>) -> Prepared<'a> {
    Prepared::Skip
}

/// Whether the pod has device claims.
pub fn has_claims(incoming: &Incoming<'_>) -> bool {
    !incoming.pod().spec.resource_claims.is_empty()
}
