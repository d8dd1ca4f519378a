//! What a rule finds.

use crate::budget::verdict::Verdict;
use crate::finding::Finding;

/// Something that was found out, and what it means for the verdict; `None` where it means nothing for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// The verdict that it gives.
    pub verdict: Option<Verdict>,
    /// What was found.
    pub finding: Finding,
}

impl Cause {
    pub(super) fn new(verdict: Verdict, finding: Finding) -> Self {
        Self { verdict: Some(verdict), finding }
    }

    /// One that leaves the verdict to the numbers.
    pub(super) fn note(finding: Finding) -> Self {
        Self { verdict: None, finding }
    }
}
