//! What the API server calls things: the plural of a kind, and whether it can be scaled.

use serde::Deserialize;

/// A kind that the server has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// `StatefulSet`.
    pub kind: String,
    /// The word in paths: `statefulsets`.
    pub plural: String,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
    /// Whether it has the subresource `scale`.
    pub has_scale: bool,
}

#[derive(Deserialize)]
struct ApiResourceList {
    resources: Vec<ApiResource>,
}

#[derive(Deserialize)]
struct ApiResource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
}

/// The path of a group and version, `v1` or `apps/v1`: what is below it lists its kinds.
#[must_use]
pub fn group_path(api_version: &str) -> String {
    if api_version.contains('/') { format!("/apis/{api_version}") } else { format!("/api/{api_version}") }
}

/// The kinds in an `APIResourceList`.
///
/// # Errors
/// It is none.
pub fn parse(body: &[u8]) -> Result<Vec<Resource>, serde_json::Error> {
    let ApiResourceList { resources } = serde_json::from_slice(body)?;
    let has_scale = |plural: &str| resources.iter().any(|r| r.name.strip_suffix("/scale") == Some(plural));
    let kinds = resources.iter().filter(|r| !r.name.contains('/'));
    Ok(kinds
        .map(|r| Resource {
            kind: r.kind.clone(),
            plural: r.name.clone(),
            namespaced: r.namespaced,
            has_scale: has_scale(&r.name),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_their_scale() {
        let body = br#"{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[
            {"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":["get","list"]},
            {"name":"widgets/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale"},
            {"name":"widgets/status","singularName":"","namespaced":true,"kind":"Widget"},
            {"name":"pools","singularName":"pool","namespaced":false,"kind":"Pool"}]}"#;
        let resource = |kind: &str, plural: &str, namespaced, has_scale| Resource {
            kind: kind.into(),
            plural: plural.into(),
            namespaced,
            has_scale,
        };
        assert_eq!(
            parse(body).unwrap(),
            [resource("Widget", "widgets", true, true), resource("Pool", "pools", false, false)]
        );
        assert!(parse(b"{}").is_err());
    }

    #[test]
    fn paths() {
        assert_eq!(group_path("v1"), "/api/v1");
        assert_eq!(group_path("apps/v1"), "/apis/apps/v1");
    }
}
