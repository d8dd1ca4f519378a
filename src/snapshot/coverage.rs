//! What was read of the cluster, and what could not be: a missing list is a value, carried to the report.

use super::kinds::Kind;
use std::collections::{BTreeMap, BTreeSet};

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
    /// Only a part of it was read; which.
    Partial(String),
}

/// What came of reading each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    outcomes: BTreeMap<Kind, ReadOutcome>,
    /// The namespaces that were read of a kind; `None` among them for all.
    namespaces: BTreeMap<Kind, BTreeSet<Option<String>>>,
}

impl Coverage {
    /// Notes an outcome. A failure stays, whatever else is read of the kind.
    pub fn note(&mut self, kind: Kind, outcome: ReadOutcome) {
        let worse = |o: &ReadOutcome| !matches!(o, ReadOutcome::Read | ReadOutcome::Absent);
        match self.outcomes.get(&kind) {
            Some(known) if worse(known) && !worse(&outcome) => {}
            _ => {
                self.outcomes.insert(kind, outcome);
            }
        }
    }

    /// Notes that a kind was read of one namespace, or of all.
    pub(super) fn note_namespace(&mut self, kind: Kind, namespace: Option<&str>) {
        self.namespaces.entry(kind).or_default().insert(namespace.map(str::to_owned));
    }

    /// Says of kinds of which only other namespaces were read that they were read in part. `None` asks for all.
    pub fn limit_to(&mut self, wanted: Option<&str>) {
        let is_short = |read: &BTreeSet<Option<String>>| {
            !read.contains(&None) && !wanted.is_some_and(|ns| read.contains(&Some(ns.to_owned())))
        };
        let short: Vec<_> = self.namespaces.iter().filter(|(_, read)| is_short(read)).collect();
        let note = |(kind, read): (&Kind, &BTreeSet<Option<String>>)| {
            let namespaces: Vec<&str> = read.iter().flatten().map(String::as_str).collect();
            (*kind, format!("the input has those of namespace {} alone", namespaces.join(", ")))
        };
        let notes: Vec<_> = short.into_iter().map(note).collect();
        notes.into_iter().for_each(|(kind, words)| self.note(kind, ReadOutcome::Partial(words)));
    }

    /// What came of reading a kind; absent where nothing was noted.
    pub fn of(&self, kind: Kind) -> &ReadOutcome {
        self.outcomes.get(&kind).unwrap_or(&ReadOutcome::Absent)
    }

    /// Whether there may be objects of a kind that are not shown.
    pub fn hides(&self, kind: Kind) -> bool {
        !matches!(self.of(kind), ReadOutcome::Read | ReadOutcome::Absent)
    }

    /// Whether all of a kind was read, of every namespace.
    pub fn is_whole(&self, kind: Kind) -> bool {
        self.has(kind) && self.namespaces.get(&kind).is_none_or(|read| read.contains(&None))
    }

    /// Whether all of a kind was read.
    pub fn has(&self, kind: Kind) -> bool {
        *self.of(kind) == ReadOutcome::Read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_stays_whatever_else_is_read() {
        let forbidden = || ReadOutcome::Forbidden("no".to_owned());
        let failed = || ReadOutcome::Failed("cut".to_owned());
        for (noted, want) in [
            (vec![], ReadOutcome::Absent),
            (vec![ReadOutcome::Absent, ReadOutcome::Read], ReadOutcome::Read),
            (vec![ReadOutcome::Read, ReadOutcome::Absent], ReadOutcome::Absent),
            (vec![forbidden(), ReadOutcome::Read], forbidden()),
            (vec![ReadOutcome::Read, failed()], failed()),
            (vec![forbidden(), failed()], failed()),
        ] {
            let mut coverage = Coverage::default();
            noted.iter().for_each(|outcome| coverage.note(Kind::Pod, outcome.clone()));
            assert_eq!(*coverage.of(Kind::Pod), want, "{noted:?}");
            assert_eq!(coverage.has(Kind::Pod), want == ReadOutcome::Read);
            assert_eq!(*coverage.of(Kind::Node), ReadOutcome::Absent);
        }
    }
}
