//! What was read of the cluster, and what could not be: a missing list is a value, carried to the report.

use super::kinds::Kind;
use std::collections::BTreeMap;

/// What came of reading a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadOutcome {
    /// All of it was read (perhaps there is none).
    Read,
    /// The input has none, and does not say that it looked; or the server does not serve the kind.
    Absent,
    /// The server refuses; its words.
    Forbidden(String),
    /// Something went wrong, or the kind is there in a version that is not read; what.
    Failed(String),
}

/// What came of reading each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage(BTreeMap<Kind, ReadOutcome>);

impl Coverage {
    /// Notes an outcome. A failure stays, whatever else is read of the kind.
    pub fn note(&mut self, kind: Kind, outcome: ReadOutcome) {
        let worse = |o: &ReadOutcome| matches!(o, ReadOutcome::Failed(_) | ReadOutcome::Forbidden(_));
        match self.0.get(&kind) {
            Some(known) if worse(known) && !worse(&outcome) => {}
            _ => {
                self.0.insert(kind, outcome);
            }
        }
    }

    /// What came of reading a kind; absent where nothing was noted.
    pub fn of(&self, kind: Kind) -> &ReadOutcome {
        self.0.get(&kind).unwrap_or(&ReadOutcome::Absent)
    }

    /// Whether all of a kind was read.
    pub fn has(&self, kind: Kind) -> bool {
        *self.of(kind) == ReadOutcome::Read
    }
}
