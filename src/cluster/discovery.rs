//! What the API server calls things: the plural of a kind, and whether it can be scaled.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;

/// A kind that the server has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// `StatefulSet`.
    pub kind: String,
    /// The word in paths: `statefulsets`.
    pub plural: String,
    /// Whether it has the subresource `scale`.
    pub has_scale: bool,
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
pub fn parse(body: &[u8]) -> Result<Vec<Resource>, String> {
    let list: APIResourceList = serde_json::from_slice(body).map_err(|e| e.to_string())?;
    if list.group_version.is_empty() {
        return Err("it is of no group and version".to_owned());
    }
    let has_scale = |plural: &str| list.resources.iter().any(|r| r.name.strip_suffix("/scale") == Some(plural));
    let kinds = list.resources.iter().filter(|r| !r.name.contains('/'));
    Ok(kinds
        .map(|r| Resource { kind: r.kind.clone(), plural: r.name.clone(), has_scale: has_scale(&r.name) })
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
        let resource =
            |kind: &str, plural: &str, has_scale| Resource { kind: kind.into(), plural: plural.into(), has_scale };
        assert_eq!(parse(body).unwrap(), [resource("Widget", "widgets", true), resource("Pool", "pools", false)]);
        assert!(parse(b"{}").is_err());
    }

    #[test]
    fn paths() {
        assert_eq!(group_path("v1"), "/api/v1");
        assert_eq!(group_path("apps/v1"), "/apis/apps/v1");
    }
}
