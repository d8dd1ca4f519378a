//! The verdict on a budget.

use super::expected::NoScale;
use super::numbers::SyncError;
use crate::snapshot::budget::Budget;
use schemars::JsonSchema;
use serde::Serialize;

/// What a budget's numbers mean, in the words of the contract. Of several that hold, the first one is the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It cannot be used as written.
    Broken,
    /// It could not be judged, or the controller has not looked yet.
    Unknown,
    /// It selects no pods.
    Unused,
    /// It allows nothing, however healthy the pods become.
    Never,
    /// It allows nothing as pods are broken, and there is evidence that time does not cure them.
    Unhealthy,
    /// It allows nothing now, and time can cure that.
    Waits,
    /// It allows at least one.
    Allows,
}

impl Verdict {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::Unknown => "unknown",
            Self::Unused => "unused",
            Self::Never => "never",
            Self::Unhealthy => "unhealthy",
            Self::Waits => "waits",
            Self::Allows => "allows",
        }
    }

    /// Whether evictions under it are granted, now or in time, without anybody doing anything.
    pub fn comes_to_allow(self) -> bool {
        matches!(self, Self::Waits | Self::Allows)
    }
}

/// Whether a sync that ends in this error fails for certain.
pub fn fails(error: &SyncError, budget: &Budget) -> bool {
    !matches!(error, SyncError::Scale(NoScale::Unknown { .. })) || budget.reports_sync_failed()
}
