//! What a manifest file holds, a document each.

use serde_json::Value;
use std::sync::Arc;

/// One document of a manifest file, or one item of a List.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// The file, as it was found.
    pub file: Arc<str>,
    /// The line on which the object begins, from 1.
    pub line: usize,
    /// The template that it was rendered from, where Helm says so (`# Source: web/templates/pdb.yaml`).
    pub template: Option<String>,
    /// What it holds.
    pub content: Content,
}

/// What a document holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// An object that has a kind.
    Object(Value),
    /// A template that was not rendered, so that nobody knows what it makes; what renders it.
    Unrendered(&'static str),
    /// Something else than a Kubernetes object, such as the values of a chart.
    NoObject,
    /// Something that cannot be read; why.
    Unreadable(String),
}

/// Kind, namespace (empty outside namespaces) and name of an object.
pub(super) type Key = (String, String, String);

/// What tells an object from all others.
pub(super) fn key(object: &Value) -> Key {
    let [kind, namespace, name] =
        ["/kind", "/metadata/namespace", "/metadata/name"].map(|p| text(object, p).to_owned());
    (kind, namespace, name)
}

/// A text of an object, by a JSON pointer; empty where it has none.
pub(super) fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
