//! Objects cut down to the fields that some answer depends on: what the `snapshot` command writes, so that it can be
//! attached to a ticket. Never an environment value, a Secret, or an annotation that is not used.

use super::api_version;
use super::entrypoint;
use super::intern::Interner;
use super::kinds::Kind;
use super::meta::{OwnerRef, keeps_annotation};
use super::read_pod::{keeps_env, sleep_in};
use super::tables::fields;
use super::workload::Scale;
use crate::wire::item::{Item, ItemError};
use serde_json::{Map, Value, json as value};
use std::collections::HashMap;

/// Cuts objects down.
#[derive(Debug, Default)]
pub struct Slimmer {
    /// Whether images are renamed, and cut out of messages.
    redact: bool,
    /// New names of images, so that equal ones stay equal.
    images: HashMap<String, String>,
}

impl Slimmer {
    /// One that renames images too if `redact`.
    #[must_use]
    pub fn new(redact: bool) -> Self {
        Self { redact, images: HashMap::new() }
    }

    /// The object as JSON, with its `apiVersion` and `kind`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn slim(&mut self, kind: Kind, item: Item<'_>) -> Result<Value, ItemError> {
        let info = kind.info();
        let mut object = head(&api_version::join(info.group, info.version), info.name);
        if let Value::Object(fields) = fields(kind, item)? {
            object.extend(fields);
        }
        let mut object = Value::Object(object);
        self.clean(&mut object);
        Ok(object)
    }

    fn clean(&mut self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                clean_metadata(fields);
                clean_container(fields);
                for (name, field) in fields.iter_mut() {
                    match (name.as_str(), field) {
                        ("image", Value::String(image)) if self.redact => *image = self.rename(image),
                        ("message" | "note", Value::String(text)) if self.redact => cut_image(text),
                        (_, field) => self.clean(field),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean(item)),
            _ => {}
        }
    }

    fn rename(&mut self, image: &str) -> String {
        let next = self.images.len() + 1;
        self.images.entry(image.to_owned()).or_insert_with(|| format!("image-{next}")).clone()
    }
}

fn clean_metadata(fields: &mut Map<String, Value>) {
    let Some(Value::Object(metadata)) = fields.get_mut("metadata") else { return };
    let Some(Value::Object(annotations)) = metadata.get_mut("annotations") else { return };
    annotations.retain(|name, _| keeps_annotation(name));
    if annotations.is_empty() {
        metadata.shift_remove("annotations");
    }
}

/// Of the environment only names that tell something, of commands only what tells how the container ends.
fn clean_container(fields: &mut Map<String, Value>) {
    // What has no name is no container, but a hook of one.
    if fields.contains_key("name") {
        clean_command(fields);
    }
    if let Some(Value::Array(env)) = fields.get_mut("env") {
        env.retain(|variable| variable["name"].as_str().is_some_and(keeps_env));
        if env.is_empty() {
            fields.shift_remove("env");
        }
    }
    if let Some(Value::Object(exec)) = fields.get_mut("preStop").and_then(|hook| hook.get_mut("exec")) {
        let command = exec.shift_remove("command").unwrap_or_default();
        let words: Vec<String> = serde_json::from_value(command).unwrap_or_default();
        if let Some(seconds) = sleep_in(&words) {
            exec.insert("command".into(), value!(["sleep", seconds.to_string()]));
        }
    }
}

fn clean_command(fields: &mut Map<String, Value>) {
    let mut words = |name| serde_json::from_value(fields.shift_remove(name).unwrap_or_default()).unwrap_or_default();
    let (command, args): (Vec<String>, Vec<String>) = (words("command"), words("args"));
    if let Some(entrypoint) = entrypoint::read(&command, &args, &mut Interner::default()) {
        fields.insert("command".into(), value!(entrypoint.command()));
    }
}

/// Messages of the kubelet and of events name an image in quotes, and then again in the words of the registry.
fn cut_image(text: &mut String) {
    if text.to_ascii_lowercase().contains("image") {
        let end = text.find('"').unwrap_or(text.len());
        text.truncate(end);
        text.push_str("(redacted)");
    }
}

fn head(api_version: &str, kind: &str) -> Map<String, Value> {
    Map::from_iter([("apiVersion".into(), value!(api_version)), ("kind".into(), value!(kind))])
}

/// An owner that is of no known kind, as a file says the same: the object with its count, and a definition that tells
/// where the count stands. An owner whose scale is not known has no definition; then a file does not know it, either.
#[must_use]
pub fn custom_owner(namespace: &str, owner: &OwnerRef, plural: &str, scale: Scale) -> Vec<Value> {
    let group = &*owner.group;
    let metadata = value!({"name": &*owner.name, "namespace": namespace, "uid": &*owner.uid});
    let mut object = value!({"apiVersion": owner.api_version(), "kind": &*owner.kind, "metadata": metadata});
    let mut version = value!({"name": &*owner.version});
    match scale {
        Scale::Unknown => return vec![object],
        Scale::NoScale => {}
        Scale::Replicas(replicas) => {
            object["spec"] = value!({"replicas": replicas});
            version["subresources"] = value!({"scale": {"specReplicasPath": ".spec.replicas"}});
        }
    }
    let definition = value!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "names": {"kind": &*owner.kind, "plural": plural},
            "scope": "Namespaced",
            "versions": [version],
        },
    });
    vec![object, definition]
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::super::builder::Builder;
    use super::*;

    fn slimmed(kind: Kind, object: &Value, redact: bool) -> Value {
        Slimmer::new(redact).slim(kind, Item::Json(object.to_string().as_bytes())).unwrap()
    }

    /// A pod with something in every place that must not be passed on.
    fn pod() -> Value {
        let container = value!({
            "name": "c", "image": "registry.corp/secret:1", "command": ["s3cr3t"],
            "env": [
                {"name": "PASSWORD", "value": "s3cr3t"},
                {"name": "AWS_ROLE_ARN", "value": "s3cr3t"},
                {"name": "KAFKA_BROKERS", "valueFrom": {"secretKeyRef": {"name": "s3cr3t"}}},
            ],
            "envFrom": [{"secretRef": {"name": "s3cr3t"}}],
            "lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", "curl -H token=s3cr3t x; sleep 20"]}}},
            "readinessProbe": {"httpGet": {"httpHeaders": [{"name": "a", "value": "s3cr3t"}]}},
        });
        value!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": "p", "namespace": "shop", "uid": "u",
                "annotations": {"foreign": "s3cr3t", "kubernetes.io/config.mirror": "x"},
                "managedFields": [{"manager": "s3cr3t"}],
            },
            "spec": {
                "containers": [container],
                "volumes": [{"name": "v", "secret": {"secretName": "s3cr3t"}}, {"name": "e", "emptyDir": {}}],
                "imagePullSecrets": [{"name": "s3cr3t"}],
            },
            "status": {"phase": "Pending", "containerStatuses": [{"name": "c", "image": "registry.corp/secret:1", "state":
                {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"registry.corp/secret:1\": not found: registry.corp"}}}]},
        })
    }

    #[test]
    fn nothing_secret_is_kept() {
        let text = slimmed(Kind::Pod, &pod(), false).to_string();
        assert!(!text.contains("s3cr3t"), "{text}");
        assert!(text.starts_with(r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p""#), "{text}");
        for kept in ["config.mirror", "AWS_ROLE_ARN", "KAFKA_BROKERS", r#"["sleep","20"]"#, "registry.corp/secret:1"] {
            assert!(text.contains(kept), "{kept} is not in {text}");
        }
        let template = value!({"metadata": {"annotations": {"foreign": "s3cr3t"}}, "spec": pod()["spec"]});
        let text = slimmed(Kind::Deployment, &value!({"spec": {"template": template}}), false).to_string();
        assert!(!text.contains("s3cr3t") && text.contains("emptyDir"), "{text}");
    }

    #[test]
    fn images_are_renamed_where_asked() {
        let mut slimmer = Slimmer::new(true);
        let body = pod().to_string();
        let first = slimmer.slim(Kind::Pod, Item::Json(body.as_bytes())).unwrap();
        let second = slimmer.slim(Kind::Pod, Item::Json(body.as_bytes())).unwrap();
        assert!(!first.to_string().contains("registry.corp"), "{first}");
        assert_eq!(first["spec"]["containers"][0]["image"], "image-1");
        assert_eq!(second["spec"]["containers"][0]["image"], "image-1");
        let message = &first["status"]["containerStatuses"][0]["state"]["waiting"]["message"];
        assert_eq!(message, "Back-off pulling image (redacted)");
    }

    #[test]
    fn a_slim_object_says_the_same() {
        let answers = |objects: &[Value]| {
            let mut builder = Builder::default();
            objects.iter().for_each(|object| builder.add_json(object.to_string().as_bytes()).unwrap());
            format!("{:?}", builder.finish(Source::default(), None))
        };
        assert_eq!(answers(&[pod()]), answers(&[slimmed(Kind::Pod, &pod(), false)]));
    }

    #[test]
    fn a_custom_owner_has_the_same_scale_in_a_file() {
        let owner = OwnerRef {
            group: "example.com".into(),
            version: "v1".into(),
            kind: "Widget".into(),
            name: "w".into(),
            uid: "uid-w".into(),
        };
        let reference =
            value!({"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "uid-w", "controller": true});
        let pod = value!({"apiVersion": "v1", "kind": "Pod", "metadata":
            {"name": "p", "namespace": "a", "ownerReferences": [reference]}});
        for scale in [Scale::Replicas(3), Scale::NoScale, Scale::Unknown] {
            let mut builder = Builder::default();
            for object in custom_owner("a", &owner, "widgets", scale).iter().chain([&pod]) {
                builder.add_json(object.to_string().as_bytes()).unwrap();
            }
            let snapshot = builder.finish(Source::default(), None);
            let workload = snapshot.workload("Widget", "a", "w").unwrap();
            assert_eq!(workload.scale, scale);
        }
    }
}
