//! Empties a control plane, so that the next cluster needs no new one.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::kinds::Kind;
use crate::plane::{Plane, wait_for};
use crate::snapshot::items;

/// Removes every object that was loaded, whatever holds it. Namespaces stay.
pub fn reset(plane: &mut Plane) -> Result<()> {
    plane.stop_scheduler();
    plane.stop_controllers();
    let kinds: Vec<Kind> = Kind::built_in().into_iter().rev().filter(|kind| kind.kind != "Namespace").collect();
    for kind in &kinds {
        for object in loaded(plane, kind)? {
            let path = kind.path(&object);
            if object["metadata"]["finalizers"].as_array().is_some_and(|f| !f.is_empty()) {
                plane.api.merge(&path, &json!({"metadata": {"finalizers": null}}))?;
            }
            plane.api.delete(&path, 0)?;
        }
    }
    for kind in &kinds {
        wait_for(&format!("the {} to go", kind.plural), 10, || Ok(loaded(plane, kind)?.is_empty().then_some(())))?;
    }
    plane.check()?;
    if plane.api.get("/api/v1/pods")?["items"].as_array().is_some_and(|pods| !pods.is_empty()) {
        bail!("pods are left");
    }
    Ok(())
}

/// The objects of a kind that the API server did not make itself.
fn loaded(plane: &Plane, kind: &Kind) -> Result<Vec<Value>> {
    let list = plane.api.get(&kind.all())?;
    let own = |object: &&Value| {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let system = kind.kind == "PriorityClass" && name.starts_with("system-");
        let server = object["metadata"]["namespace"] == "default" && name == "kubernetes";
        !system && !server
    };
    Ok(items(&list).iter().filter(own).cloned().collect())
}
