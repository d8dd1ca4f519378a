//! Objects of kinds that are not built in, as far as they may own pods.

use super::api_version;
use super::intern::{Interner, Str};
use super::meta::Meta;
use super::workload::Scale;
use crate::wire::crd::CustomResourceDefinition;
use crate::wire::meta::ObjectMeta;
use serde_json::Value;

/// An object of a kind that is not built in, until it is known whether it owns anything.
pub(super) struct Custom {
    /// Names, labels, owner, age.
    pub meta: Meta,
    /// Its API group.
    pub group: Str,
    /// Its API version, without its group.
    pub version: Str,
    /// Its kind.
    pub kind: Str,
    /// Its integers by path: `.spec.replicas`.
    integers: Vec<(String, i64)>,
}

impl Custom {
    /// Reads any object.
    pub fn read(api_version: &str, kind: &str, mut object: Value, i: &mut Interner) -> Result<Self, String> {
        let (group, version) = api_version::split(api_version);
        let metadata = object.as_object_mut().and_then(|o| o.shift_remove("metadata")).unwrap_or_default();
        let metadata: Option<ObjectMeta> = serde_json::from_value(metadata).map_err(|e| format!("metadata: {e}"))?;
        let mut integers = Vec::new();
        collect_integers(&object, &mut String::new(), 0, &mut integers);
        Ok(Self {
            meta: Meta::read(metadata, i),
            group: i.str(group),
            version: i.str(version),
            kind: i.str(kind),
            integers,
        })
    }

    /// Its scale, by what its definition says. Mirrors `apiextensions-apiserver/pkg/registry/customresource/etcd.go`:
    /// a path at which nothing stands is an error there, and so no scale.
    pub(super) fn scale(&self, definition: Option<&CustomResourceDefinition>) -> Scale {
        let Some(definition) = definition else { return Scale::Unknown };
        let version = definition.version(&self.version);
        let Some(replicas) = version.and_then(|v| v.replicas_path()) else { return Scale::NoScale };
        let found = self.integers.iter().find(|(path, _)| path == replicas);
        found.and_then(|(_, n)| i32::try_from(*n).ok()).map_or(Scale::NoScale, Scale::Replicas)
    }
}

/// Integers deeper than this are no replica counts.
const DEEPEST: usize = 6;

fn collect_integers(value: &Value, path: &mut String, depth: usize, into: &mut Vec<(String, i64)>) {
    match value {
        Value::Number(n) => into.extend(n.as_i64().map(|n| (path.clone(), n))),
        Value::Object(fields) if depth < DEEPEST => {
            for (key, value) in fields {
                let length = path.len();
                path.push('.');
                path.push_str(key);
                collect_integers(value, path, depth + 1, into);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// As `apiextensions-apiserver`'s `scaleFromCustomResource`: a path without a number is no scale.
    #[test]
    fn the_scale_stands_where_the_definition_says() {
        let defined = |versions: Value| -> CustomResourceDefinition {
            let names = json!({"kind": "Db", "plural": "dbs"});
            serde_json::from_value(json!({"spec": {"group": "x.io", "names": names, "versions": versions}})).unwrap()
        };
        let at = |path: &str| defined(json!([{"name": "v1", "subresources": {"scale": {"specReplicasPath": path}}}]));
        for (spec, definition, want) in [
            (json!({"replicas": 3}), Some(at(".spec.replicas")), Scale::Replicas(3)),
            (json!({"pods": {"count": 2}}), Some(at(".spec.pods.count")), Scale::Replicas(2)),
            (json!({"replicas": 3}), Some(at(".spec.size")), Scale::NoScale),
            (json!({"replicas": "3"}), Some(at(".spec.replicas")), Scale::NoScale),
            (json!({"replicas": i64::MAX}), Some(at(".spec.replicas")), Scale::NoScale),
            (json!({"replicas": 3}), Some(defined(json!([{"name": "v1"}]))), Scale::NoScale),
            (json!({"replicas": 3}), Some(defined(json!([{"name": "v2"}]))), Scale::NoScale),
            (json!({"replicas": 3}), None, Scale::Unknown),
        ] {
            let object = json!({"metadata": {"name": "d"}, "spec": spec});
            let custom = Custom::read("x.io/v1", "Db", object, &mut Interner::default()).unwrap();
            assert_eq!(custom.scale(definition.as_ref()), want, "{spec} {definition:?}");
        }
    }
}
