//! What is said of a pod that is not Ready.

/// What the scheduler writes as the reason of a pod that fits nowhere (`PodReasonUnschedulable`).
pub(super) const UNSCHEDULABLE: &str = "Unschedulable";

/// Whether a pod that is not Ready may become so without anybody doing anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prospect {
    /// It is starting: nothing says that it will not end well.
    Starting,
    /// It waits for the scheduler. Its last answer is in the word: `Unschedulable` where it found no node.
    Unscheduled,
    /// It is being deleted, or will be as its node is gone.
    Terminating,
    /// It will not become Ready as things are.
    Stuck,
}

/// Why a pod is not Ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReady {
    /// Whether time may cure it.
    pub prospect: Prospect,
    /// A word where the kubelet or the API has one: `CrashLoopBackOff`, `ImagePullBackOff`, `Unschedulable` …
    pub word: String,
    /// The cause, as the part of a sentence that follows the pod's name and a colon.
    pub text: String,
}

impl NotReady {
    pub(super) fn new(prospect: Prospect, word: &str, text: impl Into<String>) -> Self {
        Self { prospect, word: word.to_owned(), text: text.into() }
    }

    /// Whether there is evidence that time alone does not cure it. Of a pod without a node that is the scheduler's last
    /// answer; who simulates the scheduler knows better.
    pub fn lasts(&self) -> bool {
        match self.prospect {
            Prospect::Stuck => true,
            Prospect::Unscheduled => self.word == UNSCHEDULABLE,
            Prospect::Starting | Prospect::Terminating => false,
        }
    }
}
