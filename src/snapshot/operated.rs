//! Objects of operators that some answer names: few, and of each a field or two. A file may hold more of them; from a
//! cluster these are read, and no others.

use serde_json::{Value, json};

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
    /// The fields that are read beside the metadata, as JSON pointers.
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
        fields: &["/value"],
    },
    // Whether CloudNativePG has another instance to make the primary.
    Operated {
        group: "postgresql.cnpg.io",
        plural: "clusters",
        namespaced: true,
        name: None,
        fields: &["/spec/instances"],
    },
    // The longest grace that Karpenter gives to pods of its nodes, and what nodes it could add.
    Operated {
        group: "karpenter.sh",
        plural: "nodepools",
        namespaced: false,
        name: None,
        fields: &[
            "/metadata/deletionTimestamp",
            "/spec/template/spec/terminationGracePeriod",
            "/spec/template/metadata/labels",
            "/spec/template/spec/requirements",
            "/spec/template/spec/taints",
            "/spec/limits",
            "/spec/weight",
            "/spec/replicas",
            "/status/resources",
            "/status/conditions",
        ],
    },
];

/// What is kept of the rest: what the object is, and who owns what by it.
const HEAD: &[&str] =
    &["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace", "/metadata/uid", "/metadata/labels"];

impl Operated {
    /// The object without what is not read of it.
    #[must_use]
    pub fn slim(&self, object: &Value) -> Value {
        let mut slim = json!({});
        for pointer in HEAD.iter().chain(self.fields) {
            if let Some(value) = object.pointer(pointer) {
                put(&mut slim, pointer, value);
            }
        }
        slim
    }
}

/// Puts a value where a pointer points, with the objects around it.
fn put(object: &mut Value, pointer: &str, value: &Value) {
    let mut at = object;
    for name in pointer.split('/').skip(1) {
        at = &mut at[name];
    }
    *at = value.clone();
}

#[cfg(test)]
mod tests {
    use super::super::custom::KEPT_GROUPS;
    use super::*;

    #[test]
    fn what_is_read_is_also_kept() {
        assert!(OPERATED.iter().all(|operated| KEPT_GROUPS.contains(&operated.group)));
    }

    #[test]
    fn only_what_is_read_is_written() {
        let cluster = json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
            "metadata": {"name": "db", "namespace": "shop", "annotations": {"a": "s3cr3t"}, "managedFields": []},
            "spec": {"instances": 3, "superuserSecret": {"name": "s3cr3t"}}, "status": {"phase": "s3cr3t"}});
        let want = json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
            "metadata": {"name": "db", "namespace": "shop"}, "spec": {"instances": 3}});
        let operated = OPERATED.iter().find(|operated| operated.plural == "clusters").unwrap();
        assert_eq!(operated.slim(&cluster), want);
        let without = json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "metadata": {"name": "db"}});
        assert_eq!(operated.slim(&without), without);
    }
}
