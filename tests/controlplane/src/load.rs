//! Puts the objects of a snapshot into a control plane, as near to what was recorded as the API allows: owners' uids
//! mapped to the new ones, statuses written, terminating objects made terminating.

use std::collections::{HashMap, HashSet};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::api::{Api, refused};
use crate::kinds::Kind;
use crate::plane::wait_for;

/// Keeps an object that the API server would remove at once on its deletion (a pod that has no node, say).
const HOLD: &str = "controlplane.test/hold";

/// What came of it.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Objects that the API server would not take, and why.
    pub refused: Vec<String>,
}

/// Loads the items, kind by kind in the order of [`Kind::built_in`]. Items of kinds that no API serves are left out.
pub fn load(api: &Api, items: &[Value]) -> Result<Loaded> {
    let mut loader = Loader { api, uids: HashMap::new(), namespaces: HashSet::new(), loaded: Loaded::default() };
    loader.ensure_namespaces(items)?;
    let definitions: Vec<Value> = items.iter().filter(|i| i["kind"] == "CustomResourceDefinition").cloned().collect();
    let custom = Kind::custom(&definitions);
    for kind in Kind::built_in() {
        for item in items.iter().filter(|item| kind.is_of(item)) {
            loader.put(&kind, item)?;
        }
        if kind.kind == "CustomResourceDefinition" {
            for kind in &custom {
                // The new API answers a moment after its definition is taken.
                wait_for(&format!("the API of {}", kind.plural), 30, || Ok(api.get(&kind.all()).ok()))?;
                for item in items.iter().filter(|item| kind.is_of(item)) {
                    loader.put(kind, item)?;
                }
            }
        }
    }
    for item in items.iter().filter(|i| i["kind"] == "Namespace" && !i["metadata"]["deletionTimestamp"].is_null()) {
        api.delete(&format!("/api/v1/namespaces/{}", item["metadata"]["name"].as_str().unwrap_or_default()), 0)?;
    }
    Ok(loader.loaded)
}

struct Loader<'a> {
    api: &'a Api,
    /// uid in the snapshot → uid in the control plane
    uids: HashMap<String, String>,
    namespaces: HashSet<String>,
    loaded: Loaded,
}

impl Loader<'_> {
    /// Namespaces that objects are in and that have no object of their own.
    fn ensure_namespaces(&mut self, items: &[Value]) -> Result<()> {
        let own: HashSet<&str> =
            items.iter().filter(|i| i["kind"] == "Namespace").filter_map(|i| i["metadata"]["name"].as_str()).collect();
        for name in items.iter().filter_map(|i| i["metadata"]["namespace"].as_str()) {
            if !own.contains(name) && self.namespaces.insert(name.to_owned()) {
                self.create("/api/v1/namespaces", &json!({"metadata": {"name": name}}))?;
            }
        }
        Ok(())
    }

    fn put(&mut self, kind: &Kind, item: &Value) -> Result<()> {
        let mut object = item.clone();
        let Some(old_uid) = object.get("metadata").map(|m| m["uid"].as_str().unwrap_or_default().to_owned()) else {
            return Ok(());
        };
        let status = object.as_object_mut().and_then(|o| o.remove("status"));
        object["apiVersion"] = json!(kind.api_version);
        self.clean_metadata(&mut object);
        clean_spec(kind, &mut object);
        self.map_claim(&mut object);
        let terminating = !item["metadata"]["deletionTimestamp"].is_null() && kind.kind != "Namespace";
        if terminating && goes_at_once(kind, item) {
            hold(&mut object);
        }
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default").to_owned();
        let Some(created) = self.create(&kind.collection(&namespace), &object)? else { return Ok(()) };
        let uid = created["metadata"]["uid"].as_str().unwrap_or_default();
        self.uids.insert(old_uid, uid.to_owned());
        let path = kind.path(&created);
        if let Some(status) = status.filter(|s| s.as_object().is_some_and(|s| !s.is_empty())) {
            self.write_status(&path, created, status)?;
        }
        if terminating {
            self.api.delete(&path, item["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0))?;
        }
        Ok(())
    }

    /// What the server sets itself goes; owners get the uids that they have here.
    fn clean_metadata(&self, object: &mut Value) {
        let Some(metadata) = object["metadata"].as_object_mut() else { return };
        for field in [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "generation",
            "managedFields",
            "selfLink",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "generateName",
        ] {
            metadata.remove(field);
        }
        for owner in metadata.get_mut("ownerReferences").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(uid) = owner["uid"].as_str().and_then(|uid| self.uids.get(uid)) {
                owner["uid"] = json!(uid);
            }
        }
    }

    /// A volume names its claim by uid; claims are loaded before volumes.
    fn map_claim(&self, object: &mut Value) {
        if let Some(uid) = object.pointer_mut("/spec/claimRef/uid")
            && let Some(new) = uid.as_str().and_then(|uid| self.uids.get(uid))
        {
            *uid = json!(new);
        }
    }

    /// Creates the object; `None` where the server refuses it for what it is (noted), or has it already.
    fn create(&mut self, path: &str, object: &Value) -> Result<Option<Value>> {
        for _ in 0..50 {
            match self.api.create(path, object) {
                Ok(created) => return Ok(Some(created)),
                Err(error) if refused(&error, 409) => {
                    let name = object["metadata"]["name"].as_str().unwrap_or_default();
                    return self.api.find(&format!("{path}/{name}"));
                }
                // Admission learns of a namespace, its service account or a PriorityClass a moment after it was made.
                Err(error) if refused(&error, 403) || refused(&error, 404) => {
                    std::thread::sleep(std::time::Duration::from_millis(100));
                    let comes = ["no PriorityClass", "error looking up service account"];
                    if refused(&error, 403) && !comes.iter().any(|words| error.to_string().contains(words)) {
                        self.loaded.refused.push(error.to_string());
                        return Ok(None);
                    }
                }
                Err(error) if refused(&error, 422) || refused(&error, 400) => {
                    self.loaded.refused.push(error.to_string());
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        bail!("{path} takes nothing after 5 s")
    }

    /// Writes the status; a conflict (a controller was quicker) is tried again on the newer object.
    fn write_status(&mut self, path: &str, created: Value, status: Value) -> Result<()> {
        let mut object = created;
        let mut status = status;
        // The server computes it once and for all; hand-written snapshots may say something else.
        if let Some(class) = object["status"].get("qosClass").cloned() {
            status["qosClass"] = class;
        }
        for _ in 0..10 {
            object["status"] = status.clone();
            match self.api.replace(&format!("{path}/status"), &object) {
                Ok(_) => return Ok(()),
                Err(error) if refused(&error, 409) => {
                    object = self.api.get(path).context("read again after a conflict")?;
                }
                // Kinds without a status subresource.
                Err(error) if refused(&error, 404) || refused(&error, 405) => return Ok(()),
                Err(error) if refused(&error, 422) => {
                    self.loaded.refused.push(error.to_string());
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        bail!("{path}: ten conflicts")
    }
}

/// What the API sets itself or refuses on creation.
fn clean_spec(kind: &Kind, object: &mut Value) {
    match kind.kind.as_str() {
        "Job" => {
            if let Some(spec) = object["spec"].as_object_mut() {
                spec.remove("selector");
                spec.remove("manualSelector");
            }
            if let Some(labels) = object.pointer_mut("/spec/template/metadata/labels").and_then(Value::as_object_mut) {
                for own in
                    ["controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"]
                {
                    labels.remove(own);
                }
            }
        }
        "Service" => {
            if let Some(spec) = object["spec"].as_object_mut()
                && spec.get("clusterIP").is_some_and(|ip| ip != "None")
            {
                spec.remove("clusterIP");
                spec.remove("clusterIPs");
            }
        }
        "Pod" => {
            if let Some(spec) = object["spec"].as_object_mut() {
                spec.remove("ephemeralContainers");
            }
        }
        "Namespace" => {
            if let Some(object) = object.as_object_mut() {
                object.remove("spec");
            }
        }
        _ => {}
    }
}

/// Whether the server would remove the object when it is deleted: nothing else holds it.
fn goes_at_once(kind: &Kind, item: &Value) -> bool {
    let finalizers = item["metadata"]["finalizers"].as_array().is_some_and(|f| !f.is_empty());
    if finalizers {
        return false;
    }
    if kind.kind != "Pod" {
        return true;
    }
    let finished = ["Succeeded", "Failed"].contains(&item["status"]["phase"].as_str().unwrap_or_default());
    let grace = item["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
    item["spec"]["nodeName"].is_null() || finished || grace == 0
}

fn hold(object: &mut Value) {
    object["metadata"]["finalizers"] = json!([HOLD]);
}
