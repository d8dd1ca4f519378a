//! The first item of a file that `snapshot` wrote: when and from where it was read, and what was read.

use super::coverage::ReadOutcome;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// `kubectl-pdb/v1`, kind `Snapshot`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Header {
    /// When it was read.
    pub now: Option<Timestamp>,
    /// The API server's version.
    pub server_version: Option<String>,
    /// The kubeconfig context.
    pub context: Option<String>,
    /// What was asked for.
    pub read: Vec<HeaderRead>,
}

/// What came of reading one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct HeaderRead {
    /// `pods`, `poddisruptionbudgets.policy` …
    pub resource: String,
    /// The one namespace that was read; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// `read`, `forbidden`, `absent` or `failed`.
    pub outcome: String,
}

impl HeaderRead {
    /// What the file says of the resource.
    pub(super) fn outcome(&self) -> ReadOutcome {
        match &*self.outcome {
            "read" => ReadOutcome::Read,
            "forbidden" => ReadOutcome::Forbidden("when the snapshot was written".to_owned()),
            "absent" => ReadOutcome::Absent,
            _ => ReadOutcome::Failed("when the snapshot was written".to_owned()),
        }
    }
}
