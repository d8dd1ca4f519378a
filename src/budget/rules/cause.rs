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

/// How a message begins that says that the budget's rule allows nothing, whatever becomes of the pods.
pub(super) const NEVER: &str = "no eviction is ever allowed";
/// How one begins that says that the controller's sync fails.
pub(super) const NONE: &str = "no eviction is allowed";
/// How one begins that says that the budget cannot be judged.
pub(super) const UNKNOWN: &str = "the expected number of pods is not known";

/// The cause alone, of a message that begins with its answer: for a sentence that has given the answer itself.
pub fn reason(message: &str) -> &str {
    let answers = [NEVER, NONE, UNKNOWN].into_iter();
    answers.filter_map(|answer| message.strip_prefix(answer)?.strip_prefix(": ")).next().unwrap_or(message)
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

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_answer_is_taken_off_a_message() {
        for (message, want) in [
            ("no eviction is ever allowed: 1 of 1 pods must stay", "1 of 1 pods must stay"),
            ("no eviction is allowed: the controller cannot count pods", "the controller cannot count pods"),
            ("the expected number of pods is not known: it is not there", "it is not there"),
            ("web-1 is not Ready: it crashes", "web-1 is not Ready: it crashes"),
            ("no eviction is allowed", "no eviction is allowed"),
        ] {
            assert_eq!(reason(message), want);
        }
    }
}
