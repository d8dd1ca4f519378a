//! From what the API writes to what a snapshot keeps.

use super::intern::{Interner, Shared};
use super::pod::{PodSpec, Volume};
use super::table::Keyed;

/// What the objects of a snapshot share while they are read: one copy of equal strings, pod specs, lists of volumes.
#[derive(Default)]
pub struct Reader {
    pub(super) interner: Interner,
    pub(super) specs: Shared<PodSpec>,
    pub(super) volumes: Shared<Vec<Volume>>,
}

/// A wire type of which a snapshot keeps something.
pub trait Keep: Sized {
    /// The shape in which it is kept.
    type Kept: Keyed;

    /// What is kept of it.
    ///
    /// # Errors
    /// The field that cannot be read.
    fn keep(self, reader: &mut Reader) -> Result<Self::Kept, String>;
}
