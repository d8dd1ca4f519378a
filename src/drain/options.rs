//! The flags of `kubectl drain` that decide what it does, with its own defaults. Mirrors `drain.Helper`.

use super::actor::Actor;
use crate::finding::Ref;
use crate::snapshot::selector::LabelSelector;
use std::time::Duration;

/// The flags of `kubectl drain`.
#[derive(Debug, Clone)]
pub struct DrainOptions {
    /// `--by`: who drains, where that was said; else it is `kubectl drain`.
    pub by: Option<Actor>,
    /// `--force-after`: what is left then is removed past budgets, where the actor can be set to do so.
    pub force_after: Option<Duration>,
    /// `--parallel`: so many drains are under way at the same time, each node in its turn.
    pub parallel: Option<usize>,
    /// `--surge`: so many nodes are added before, like those that are drained.
    pub surge: usize,
    /// What the cluster itself holds of how the actor drains.
    pub held: Option<Held>,
    /// `--force`: go on although a pod has no controller, or its DaemonSet is gone.
    pub force: bool,
    /// `--ignore-daemonsets`: go on although DaemonSet pods stay.
    pub ignore_daemonsets: bool,
    /// `--delete-emptydir-data`: go on although scratch data is lost.
    pub delete_emptydir_data: bool,
    /// `--grace-period`, in seconds; negative leaves each pod its own.
    pub grace_period: i64,
    /// `--timeout`; zero waits without end.
    pub timeout: Duration,
    /// `--pod-selector`, and how it was written: only these pods are looked at.
    pub pod_selector: Option<(LabelSelector, String)>,
    /// `--disable-eviction`: delete instead, without asking budgets.
    pub disable_eviction: bool,
    /// `--skip-wait-for-delete-timeout`, in seconds: pods whose deletion is overdue by more are not waited for. Zero waits.
    pub skip_wait_for_delete: i64,
    /// `--chunk-size`, where it was given.
    pub chunk_size: Option<i64>,
    /// `--dry-run`, where it was given.
    pub dry_run: Option<String>,
}

/// What the cluster itself holds of how the actor drains, beside what flags of `kubectl drain` say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The object.
    pub by: Ref,
    /// The flags that it passes, in the place of those that the actor passes by default.
    pub passes: Vec<Flag>,
    /// Seconds of its deadline, 0 for none; `None` where the actor's own holds.
    pub deadline: Option<i64>,
}

impl Default for DrainOptions {
    fn default() -> Self {
        Self {
            by: None,
            force_after: None,
            parallel: None,
            surge: 0,
            held: None,
            force: false,
            ignore_daemonsets: false,
            delete_emptydir_data: false,
            grace_period: -1,
            timeout: Duration::ZERO,
            pod_selector: None,
            disable_eviction: false,
            skip_wait_for_delete: 0,
            chunk_size: None,
            dry_run: None,
        }
    }
}

impl DrainOptions {
    /// Whether a flag that drain asks for was given.
    pub fn has(&self, flag: Flag) -> bool {
        match flag {
            Flag::IgnoreDaemonSets => self.ignore_daemonsets,
            Flag::DeleteEmptyDirData => self.delete_emptydir_data,
            Flag::Force => self.force,
        }
    }

    /// Who drains.
    pub fn actor(&self) -> Actor {
        self.by.unwrap_or_default()
    }
}

/// A flag without which drain refuses some pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flag {
    /// `--ignore-daemonsets`.
    IgnoreDaemonSets,
    /// `--delete-emptydir-data`.
    DeleteEmptyDirData,
    /// `--force`.
    Force,
}

impl Flag {
    /// The flag as it is typed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::IgnoreDaemonSets => "--ignore-daemonsets",
            Self::DeleteEmptyDirData => "--delete-emptydir-data",
            Self::Force => "--force",
        }
    }
}

/// What becomes of a node once it is drained, before the next ones are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum After {
    /// The node comes back: a reboot, an upgrade in place.
    #[default]
    Back,
    /// The node is removed: a pool that is replaced.
    Gone,
}
