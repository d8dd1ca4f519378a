//! What a control plane holds, as `kubectl get -o json` would print it: a List, headed by a `Snapshot` entry.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::api::Api;
use crate::generate::worlds::World;
use crate::kinds::Kind;
use crate::plane::Plane;

/// Takes a snapshot of everything the product may read. Service accounts are left out: they are not enforced where whole
/// control planes are asked about.
pub fn take(plane: &Plane) -> Result<Value> {
    let kinds = Kind::built_in().into_iter().filter(|kind| kind.kind != "ServiceAccount").collect();
    read(kinds, &plane.components.version, |kind| Ok(list_items(&plane.api.get(&kind.all())?)))
}

/// Takes a snapshot of one world, and of what all worlds use.
pub fn of_world(api: &Api, version: &str, world: &World) -> Result<Value> {
    let kinds = Kind::built_in().into_iter().chain(Kind::reports()).collect();
    let mut list = read(kinds, version, |kind| collect(api, kind, world))?;
    if let Some(items) = list["items"].as_array_mut() {
        items.retain(|item| item["kind"] != "Event" || item["reason"] != "FailedScheduling");
        items.iter_mut().for_each(forget_others);
    }
    Ok(list)
}

/// The scheduler counts the nodes of all worlds; what it said of a pod is no part of this one.
fn forget_others(item: &mut Value) {
    let conditions = item.pointer_mut("/status/conditions").and_then(Value::as_array_mut).into_iter().flatten();
    for condition in conditions.filter(|c| c["type"] == "PodScheduled" && c["status"] == "False") {
        condition["message"] = json!("");
    }
}

/// The objects of a kind that are of the world, or of all worlds.
pub fn collect(api: &Api, kind: &Kind, world: &World) -> Result<Vec<Value>> {
    if kind.namespaced {
        let mut all = Vec::new();
        for namespace in &world.namespaces {
            all.extend(list_items(&api.get(&kind.collection(namespace))?));
        }
        return Ok(all);
    }
    let mut all = list_items(&api.get(&kind.all())?);
    all.retain(|object| is_of(world, kind, object) || OF_ALL.contains(&&*kind.kind));
    Ok(all)
}

/// Kinds of which all worlds use the same objects.
const OF_ALL: &[&str] = &["PriorityClass", "StorageClass", "CustomResourceDefinition", "DeviceClass", "CSIDriver"];

/// Whether an object outside of namespaces is of the world: the world's name begins its own.
pub fn is_of(world: &World, kind: &Kind, object: &Value) -> bool {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let own = name.strip_prefix(&*world.name).is_some_and(|rest| rest.starts_with('-'));
    own && !kind.namespaced
}

/// Says of everything that happened before `until` that it happened so much earlier.
pub fn age(list: &mut Value, until: Timestamp, by: Duration) {
    match list {
        Value::String(text) => {
            let Some(at) = time(text).filter(|at| *at <= until) else { return };
            if let Ok(earlier) = at.checked_sub(by) {
                // A MicroTime without its fraction is none.
                let fraction = text.get(19..).unwrap_or_default();
                *text = format!("{}{fraction}", earlier.strftime("%Y-%m-%dT%H:%M:%S"));
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|value| age(value, until, by)),
        Value::Object(fields) => fields.values_mut().for_each(|value| age(value, until, by)),
        _ => {}
    }
}

fn time(text: &str) -> Option<Timestamp> {
    // A date alone, or a quantity, is no time of the API, which writes all of them in UTC.
    (text.len() >= 20 && text.as_bytes().get(10) == Some(&b'T') && text.ends_with('Z'))
        .then(|| text.parse().ok())
        .flatten()
}

fn list_items(list: &Value) -> Vec<Value> {
    items(list).to_vec()
}

fn read(kinds: Vec<Kind>, version: &str, list: impl Fn(&Kind) -> Result<Vec<Value>>) -> Result<Value> {
    let (mut items, mut read, mut kinds) = (Vec::new(), Vec::new(), kinds);
    let mut at = 0;
    while let Some(kind) = kinds.get(at).cloned() {
        at += 1;
        let found = list(&kind)?;
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
    let head = json!({"apiVersion": "kubectl-pdb/v1", "kind": "Snapshot", "now": Timestamp::now().to_string(),
        "serverVersion": version, "context": "controlplane", "read": read});
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_older_is_aged() {
        let mut list = json!({"old": "2026-03-01T00:00:00Z", "micro": ["2026-03-01T00:00:00.123456Z"],
            "young": "2026-03-01T00:10:00Z", "text": "2026-03-01T is a day"});
        age(&mut list, "2026-03-01T00:05:00Z".parse().unwrap(), Duration::from_secs(300));
        let aged = json!({"old": "2026-02-28T23:55:00Z", "micro": ["2026-02-28T23:55:00.123456Z"],
            "young": "2026-03-01T00:10:00Z", "text": "2026-03-01T is a day"});
        assert_eq!(list, aged);
    }
}
