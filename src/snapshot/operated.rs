//! Objects of operators that some answer names: few, and of each a field or two. A file may hold more of them; from a
//! cluster these are read, and no others.

use serde_json::Value;

/// Objects of an operator that are read from a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operated {
    /// Their API group.
    pub group: &'static str,
    /// The word for their kind in paths.
    pub plural: &'static str,
    /// Whether they live in namespaces.
    pub namespaced: bool,
    /// The one object of interest; all of them where there is none.
    pub name: Option<&'static str>,
    /// The fields that are read, beside the metadata.
    pub fields: &'static [&'static str],
}

/// What is read of operators.
pub const OPERATED: &[Operated] = &[
    // What Longhorn does with its budgets while a node is drained.
    Operated {
        group: "longhorn.io",
        plural: "settings",
        namespaced: true,
        name: Some("node-drain-policy"),
        fields: &["value"],
    },
];

impl Operated {
    /// The object without what is not read of it.
    #[must_use]
    pub fn slim(&self, mut object: Value) -> Value {
        if let Some(fields) = object.as_object_mut() {
            fields.retain(|name, _| {
                ["apiVersion", "kind", "metadata"].contains(&name.as_str()) || self.fields.contains(&name.as_str())
            });
        }
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.retain(|name, _| ["name", "namespace", "uid", "labels"].contains(&name.as_str()));
        }
        object
    }
}

#[cfg(test)]
mod tests {
    use super::super::custom::KEPT_GROUPS;
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_read_is_also_kept() {
        assert!(OPERATED.iter().all(|operated| KEPT_GROUPS.contains(&operated.group)));
    }

    #[test]
    fn only_what_is_read_is_written() {
        let setting = json!({"apiVersion": "longhorn.io/v1beta2", "kind": "Setting", "value": "x", "status": {"a": 1},
            "metadata": {"name": "node-drain-policy", "namespace": "l", "annotations": {"a": "b"}, "managedFields": []}});
        let want = json!({"apiVersion": "longhorn.io/v1beta2", "kind": "Setting", "value": "x",
            "metadata": {"name": "node-drain-policy", "namespace": "l"}});
        assert_eq!(OPERATED[0].slim(setting), want);
    }
}
