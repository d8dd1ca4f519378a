//! What a control plane holds, as `kubectl get -o json` would print it: a List, headed by a `Snapshot` entry.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::kinds::Kind;
use crate::plane::Plane;

/// Takes a snapshot of everything the product may read.
pub fn take(plane: &Plane) -> Result<Value> {
    let mut items = Vec::new();
    let mut read = Vec::new();
    let mut kinds = Kind::built_in();
    let mut at = 0;
    while let Some(kind) = kinds.get(at).cloned() {
        at += 1;
        let list = plane.api.get(&kind.all())?;
        let found = list["items"].as_array().cloned().unwrap_or_default();
        read.push(json!({"resource": resource(&kind), "outcome": "read"}));
        if kind.kind == "CustomResourceDefinition" {
            kinds.extend(Kind::custom(&found));
        }
        for mut item in found {
            item["apiVersion"] = json!(kind.api_version);
            item["kind"] = json!(kind.kind);
            if let Some(metadata) = item["metadata"].as_object_mut() {
                metadata.remove("managedFields");
            }
            items.push(item);
        }
    }
    let head = json!({"apiVersion": "kubectl-pdb/v1", "kind": "Snapshot", "now": jiff::Timestamp::now().to_string(),
        "serverVersion": plane.components.version, "context": "controlplane", "read": read});
    items.insert(0, head);
    Ok(json!({"apiVersion": "v1", "kind": "List", "items": items}))
}

/// `pods`, `deployments.apps`
fn resource(kind: &Kind) -> String {
    match kind.api_version.split_once('/') {
        Some((group, _)) => format!("{}.{group}", kind.plural),
        None => kind.plural.clone(),
    }
}

/// The items of a List.
pub fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map_or(&[], Vec::as_slice)
}

/// `namespace/name` of an object.
pub fn key(object: &Value) -> String {
    let metadata = &object["metadata"];
    let part = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
    format!("{}/{}", part("namespace"), part("name"))
}

/// Reads a JSON file, or the same with `.gz` added to its name.
pub fn read_json(path: &Path) -> Result<Option<Value>> {
    let packed = PathBuf::from(format!("{}.gz", path.display()));
    let mut text = String::new();
    if path.exists() {
        text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    } else if packed.exists() {
        let file = std::fs::File::open(&packed).with_context(|| format!("read {}", packed.display()))?;
        flate2::read::GzDecoder::new(file)
            .read_to_string(&mut text)
            .with_context(|| format!("unpack {}", packed.display()))?;
    } else {
        return Ok(None);
    }
    serde_json::from_str(&text).map(Some).with_context(|| format!("{} is not JSON", path.display()))
}
