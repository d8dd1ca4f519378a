//! Objects of kinds that the tool does not know: owners of pods, and those operators whose settings bear on a drain.

use super::intern::{Interner, Str};
use super::kinds::split_api_version;
use super::meta::Meta;
use super::workload::Scale;
use crate::wire::crd::CustomResourceDefinition;
use crate::wire::meta::ObjectMeta;
use serde_json::Value;

/// API groups of operators, queues and autoscalers whose objects are kept whole, as answers name their settings.
pub const KEPT_GROUPS: &[&str] = &[
    "postgresql.cnpg.io",
    "longhorn.io",
    "ceph.rook.io",
    "kafka.strimzi.io",
    "core.strimzi.io",
    "karpenter.sh",
    "kueue.x-k8s.io",
    "argoproj.io",
    "autoscaling.k8s.io",
    "keda.sh",
];

/// An object of a kind that the tool does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct Custom {
    /// Names, labels, owner, age.
    pub meta: Meta,
    /// Its API group.
    pub group: Str,
    /// Its API version, without its group.
    pub version: Str,
    /// Its kind.
    pub kind: Str,
    /// The object without its metadata; `null` where its group is not among [`KEPT_GROUPS`].
    pub body: Value,
    /// Its integers by path (`.spec.replicas`), until its scale is known.
    pub(super) integers: Vec<(String, i64)>,
}

impl Custom {
    /// Reads any object.
    pub fn read(api_version: &str, kind: &str, mut object: Value, i: &mut Interner) -> Result<Self, String> {
        let (group, version) = split_api_version(api_version);
        let metadata = object.as_object_mut().and_then(|o| o.shift_remove("metadata")).unwrap_or_default();
        let metadata: Option<ObjectMeta> = serde_json::from_value(metadata).map_err(|e| format!("metadata: {e}"))?;
        let mut integers = Vec::new();
        collect_integers(&object, &mut String::new(), 0, &mut integers);
        Ok(Self {
            meta: Meta::read(metadata, i),
            group: i.str(group),
            version: i.str(version),
            kind: i.str(kind),
            body: if KEPT_GROUPS.contains(&group) { object } else { Value::Null },
            integers,
        })
    }

    /// The value at a path such as `/spec/instances`.
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.body.pointer(pointer)
    }

    /// Its scale, by what its definition says. Mirrors `apiextensions-apiserver/pkg/registry/customresource/etcd.go`:
    /// a path at which nothing stands is an error there, and so no scale.
    pub(super) fn scale(&self, definition: Option<&CustomResourceDefinition>) -> Scale {
        let Some(definition) = definition else { return Scale::Unknown };
        let version = definition.spec.versions.iter().find(|v| *v.name == *self.version);
        let Some(scale) = version.and_then(|v| v.subresources.as_ref()).and_then(|s| s.scale.as_ref()) else {
            return Scale::NoScale;
        };
        let found = self.integers.iter().find(|(path, _)| *path == scale.spec_replicas_path);
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
