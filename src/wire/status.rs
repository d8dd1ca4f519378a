//! `meta.Status`: what the server says instead of an object.

use serde::Deserialize;

/// Why there is no object or list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Status {
    /// The server's words.
    pub message: String,
    /// The HTTP status.
    pub code: u16,
    /// What was asked for.
    pub details: Option<StatusDetails>,
}

/// What was asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StatusDetails {
    /// The object; empty for a list.
    pub name: String,
    /// Its API group, empty for the core group.
    pub group: String,
    /// The resource: `pods`.
    pub kind: String,
}
