//! `apiVersion`: a group and a version in one string.

/// An `apiVersion` as group (empty for the core group) and version.
pub fn split(api_version: &str) -> (&str, &str) {
    api_version.rsplit_once('/').unwrap_or(("", api_version))
}

/// The `apiVersion` of a group (empty for the core group) and version.
pub fn join(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
