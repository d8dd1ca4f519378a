//! Objects of API versions that are no longer served, read as the version that took their place.

use super::manifest::text;
use crate::finding::{Code, Finding};
use serde_json::{Value, json};

/// A version of a kind that the API server no longer has, or that has another form.
struct Old {
    version: &'static str,
    kinds: &'static [&'static str],
    /// What took its place.
    new: &'static str,
    /// The minor version of Kubernetes from which on it is not served; `None` where it still is.
    removed: Option<u32>,
}

/// After the deprecated API migration guide. In the fields that are read here the new version has the same form.
const OLD: &[Old] = &[
    Old { version: "policy/v1beta1", kinds: &["PodDisruptionBudget"], new: "policy/v1", removed: Some(25) },
    Old {
        version: "extensions/v1beta1",
        kinds: &["Deployment", "ReplicaSet", "DaemonSet"],
        new: "apps/v1",
        removed: Some(16),
    },
    Old { version: "apps/v1beta1", kinds: &["Deployment", "StatefulSet"], new: "apps/v1", removed: Some(16) },
    Old {
        version: "apps/v1beta2",
        kinds: &["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"],
        new: "apps/v1",
        removed: Some(16),
    },
    Old { version: "batch/v1beta1", kinds: &["CronJob"], new: "batch/v1", removed: Some(25) },
    Old {
        version: "autoscaling/v2beta1",
        kinds: &["HorizontalPodAutoscaler"],
        new: "autoscaling/v2",
        removed: Some(25),
    },
    Old {
        version: "autoscaling/v2beta2",
        kinds: &["HorizontalPodAutoscaler"],
        new: "autoscaling/v2",
        removed: Some(26),
    },
    Old { version: "autoscaling/v1", kinds: &["HorizontalPodAutoscaler"], new: "autoscaling/v2", removed: None },
    Old {
        version: "scheduling.k8s.io/v1beta1",
        kinds: &["PriorityClass"],
        new: "scheduling.k8s.io/v1",
        removed: Some(22),
    },
    Old {
        version: "scheduling.k8s.io/v1alpha1",
        kinds: &["PriorityClass"],
        new: "scheduling.k8s.io/v1",
        removed: Some(17),
    },
];

/// Makes an object of an older version one of the present version, and says what that means.
pub(super) fn translate(object: &mut Value) -> Option<Finding> {
    let (version, kind) = (text(object, "/apiVersion").to_owned(), text(object, "/kind").to_owned());
    let old = OLD.iter().find(|o| o.version == version && o.kinds.contains(&&*kind))?;
    let selects_all = kind == "PodDisruptionBudget" && is_empty_selector(object);
    if let Some(version) = object.get_mut("apiVersion") {
        *version = json!(old.new);
    }
    let removed = old.removed?;
    let mut message =
        format!("{version} {kind} is not served since Kubernetes 1.{removed}; it is judged as {}", old.new);
    if selects_all {
        message.push_str(
            ". The empty selector changes its meaning: in policy/v1beta1 it selects no pods, in policy/v1 every pod of the \
             namespace",
        );
    }
    let remedy = crate::cure::Remedy::advice(format!("set apiVersion: {}", old.new));
    Some(Finding::new(Code::RemovedApi, message).remedy(remedy))
}

/// `{}`, or one whose parts are empty.
fn is_empty_selector(object: &Value) -> bool {
    let Some(selector) = object.pointer("/spec/selector").and_then(Value::as_object) else { return false };
    selector.values().all(|part| match part {
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        other => other.is_null(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After the deprecated API migration guide of Kubernetes.
    #[test]
    fn older_versions_are_told_and_read_as_the_present_one() {
        let empty = json!({"selector": {}});
        let app = json!({"selector": {"matchLabels": {"app": "web"}}});
        for (version, kind, spec, want, says) in [
            ("policy/v1", "PodDisruptionBudget", &app, "policy/v1", None),
            ("policy/v1beta1", "PodDisruptionBudget", &app, "policy/v1", Some("not served since Kubernetes 1.25")),
            (
                "policy/v1beta1",
                "PodDisruptionBudget",
                &empty,
                "policy/v1",
                Some("in policy/v1 every pod of the namespace"),
            ),
            ("extensions/v1beta1", "Deployment", &app, "apps/v1", Some("1.16")),
            ("batch/v1beta1", "CronJob", &app, "batch/v1", Some("1.25")),
            ("autoscaling/v2beta2", "HorizontalPodAutoscaler", &app, "autoscaling/v2", Some("1.26")),
            ("autoscaling/v1", "HorizontalPodAutoscaler", &app, "autoscaling/v2", None),
            ("example.org/v1beta1", "Deployment", &app, "example.org/v1beta1", None),
        ] {
            let mut object = json!({"apiVersion": version, "kind": kind, "spec": spec});
            let found = translate(&mut object).map(|f| f.message);
            assert_eq!(text(&object, "/apiVersion"), want, "{version} {kind}");
            assert_eq!(found.is_some(), says.is_some(), "{version} {kind}: {found:?}");
            assert!(found.unwrap_or_default().contains(says.unwrap_or_default()), "{version} {kind}");
        }
    }
}
