//! How a drainer goes about a node, declared: `kubectl drain` is the first. The simulation plays what stands here, so
//! another drainer is another profile.

use super::filters::{PodDeleteStatus, filter};
use super::options::DrainOptions;
use crate::snapshot::Snapshot;
use crate::snapshot::pod::Pod;

/// kubectl tries a refused eviction again after so many seconds (`EvictErrorRetryDelay`).
pub const RETRY: i64 = 5;

/// How a drainer goes about a node.
#[derive(Debug, Clone)]
pub struct Drainer {
    /// What people call it.
    pub name: &'static str,
    /// Which nodes are cordoned before the first one is drained.
    pub cordons: Cordons,
    /// Which pods it evicts, and which it leaves alone.
    pub filter: fn(&Snapshot, &DrainOptions, &Pod) -> PodDeleteStatus,
    /// The pods of a lower wave are gone before those of the next one are tried; in a wave all are tried at once.
    pub wave: fn(&Pod) -> u8,
    /// How a pod is removed.
    pub removes: Removes,
    /// Seconds of grace that each pod gets; `None` leaves each its own.
    pub grace: Option<i64>,
    /// Seconds between two tries of a refused eviction.
    pub retry: i64,
    /// How long it works on one node, and what it does then; `None` is without end.
    pub deadline: Option<Deadline>,
    /// Pods whose deletion is overdue by more seconds than this are not waited for; `None` waits.
    pub skips_overdue: Option<i64>,
}

/// Which nodes are cordoned before the first one is drained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cordons {
    /// All of the command.
    All,
    /// Each when its turn comes.
    Each,
}

/// How a pod is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removes {
    /// By an eviction; an error that is no refusal ends the try of that pod alone.
    ByEviction,
    /// By a deletion, which no budget is asked about; the first error ends the drain of the node.
    ByDeletion,
}

/// How long a drainer works on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// Seconds since it began with the node.
    pub after: i64,
    /// What it does then.
    pub then: AtDeadline,
}

/// What a drainer does at its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtDeadline {
    /// It ends in an error.
    Fails,
}

impl Drainer {
    /// `kubectl drain` with these flags. Mirrors `RunDrain` of `k8s.io/kubectl/pkg/cmd/drain/drain.go` and
    /// `DeleteOrEvictPods` of `pkg/drain/drain.go`.
    pub fn kubectl(options: &DrainOptions) -> Self {
        // Part of a second is time that passes, too.
        let timeout = i64::try_from(options.timeout.as_secs()).unwrap_or(i64::MAX);
        let timeout = timeout.saturating_add(i64::from(options.timeout.subsec_nanos() > 0));
        Self {
            name: "kubectl drain",
            cordons: Cordons::All,
            filter,
            wave: |_| 0,
            removes: if options.disable_eviction { Removes::ByDeletion } else { Removes::ByEviction },
            grace: (options.grace_period >= 0).then_some(options.grace_period),
            retry: RETRY,
            deadline: (timeout > 0).then_some(Deadline { after: timeout, then: AtDeadline::Fails }),
            skips_overdue: (options.skip_wait_for_delete > 0).then_some(options.skip_wait_for_delete),
        }
    }

    /// How long a pod has to end once it is removed, in seconds.
    pub fn grace_of(&self, pod: &Pod) -> i64 {
        self.grace.unwrap_or(pod.spec.termination_grace.max(0))
    }
}
