//! How many pods an autoscaler keeps at the least. What is written as `replicas` beside an autoscaler holds until the
//! autoscaler looks: its floor is what counts.

use super::manifest::{Key, key, text};
use serde_json::{Value, json};
use std::collections::HashMap;

/// KEDA's `maxReplicaCount` where none is given.
const KEDA_CEILING: i64 = 100;

/// The floors of the autoscalers of some objects, by what they scale.
#[derive(Debug, Default)]
pub(super) struct Floors(HashMap<Key, i64>);

impl Floors {
    /// Of HorizontalPodAutoscalers that have their namespaces.
    pub fn new<'v>(objects: impl Iterator<Item = &'v Value>) -> Self {
        let floor = |hpa: &Value| {
            let target = |field: &str| text(hpa, &format!("/spec/scaleTargetRef/{field}")).to_owned();
            let least = hpa.pointer("/spec/minReplicas").and_then(Value::as_i64).unwrap_or(1);
            ((target("kind"), text(hpa, "/metadata/namespace").to_owned(), target("name")), least.max(1))
        };
        Self(objects.filter(|o| text(o, "/kind") == "HorizontalPodAutoscaler").map(floor).collect())
    }

    /// How many pods the object's autoscaler keeps at the least; `None` where it has no autoscaler.
    pub fn of(&self, object: &Value) -> Option<i64> {
        self.0.get(&key(object)).copied()
    }
}

/// The HorizontalPodAutoscaler that KEDA makes for a ScaledObject. Mirrors `newHPAForScaledObject` of
/// `controllers/keda/hpa.go`: a floor of 0 is the autoscaler's 1, and KEDA itself takes the last pod away.
pub(super) fn of_scaled_object(object: &Value) -> Option<Value> {
    let is_scaled_object =
        text(object, "/kind") == "ScaledObject" && text(object, "/apiVersion").starts_with("keda.sh/");
    if !is_scaled_object {
        return None;
    }
    let name = text(object, "/metadata/name");
    let number = |field: &str| object.pointer(field).and_then(Value::as_i64);
    let least = number("/spec/minReplicaCount").unwrap_or(0).max(1);
    let most = number("/spec/maxReplicaCount").unwrap_or(KEDA_CEILING);
    let or = |pointer: &str, other: &str| match text(object, pointer) {
        "" => other.to_owned(),
        given => given.to_owned(),
    };
    let target = json!({
        "apiVersion": or("/spec/scaleTargetRef/apiVersion", "apps/v1"),
        "kind": or("/spec/scaleTargetRef/kind", "Deployment"),
        "name": text(object, "/spec/scaleTargetRef/name"),
    });
    let own = or("/spec/advanced/horizontalPodAutoscalerConfig/name", &format!("keda-hpa-{name}"));
    Some(json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {
            "name": own, "namespace": text(object, "/metadata/namespace"),
            "ownerReferences": [{"apiVersion": text(object, "/apiVersion"), "kind": "ScaledObject", "name": name, "controller": true,
                "uid": text(object, "/metadata/uid")}],
        },
        "spec": {"minReplicas": least, "maxReplicas": most, "scaleTargetRef": target},
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scaled_object_becomes_an_autoscaler() {
        let of = |spec: Value| {
            let object = json!({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject",
                "metadata": {"name": "web", "namespace": "a"}, "spec": spec});
            of_scaled_object(&object).unwrap()
        };
        // After the defaults of KEDA's ScaledObject: 0 to 100 of a Deployment.
        for (spec, want) in [
            (json!({"scaleTargetRef": {"name": "web"}}), ("keda-hpa-web", 1, 100, "Deployment")),
            (
                json!({"scaleTargetRef": {"name": "web", "kind": "StatefulSet"}, "minReplicaCount": 2, "maxReplicaCount": 5}),
                ("keda-hpa-web", 2, 5, "StatefulSet"),
            ),
            (
                json!({"scaleTargetRef": {"name": "web"}, "minReplicaCount": 0,
                    "advanced": {"horizontalPodAutoscalerConfig": {"name": "own"}}}),
                ("own", 1, 100, "Deployment"),
            ),
        ] {
            let hpa = of(spec);
            let number = |p: &str| hpa.pointer(p).and_then(Value::as_i64).unwrap();
            let got = (
                text(&hpa, "/metadata/name"),
                number("/spec/minReplicas"),
                number("/spec/maxReplicas"),
                text(&hpa, "/spec/scaleTargetRef/kind"),
            );
            assert_eq!(got, want);
        }
        assert_eq!(of_scaled_object(&json!({"apiVersion": "x/v1", "kind": "ScaledObject"})), None);
    }

    #[test]
    fn the_floor_of_an_autoscaler_is_one_where_none_is_set() {
        let hpa =
            |spec: Value| json!({"kind": "HorizontalPodAutoscaler", "metadata": {"namespace": "a"}, "spec": spec});
        let target = json!({"kind": "Deployment", "name": "web"});
        let web = |ns: &str| json!({"kind": "Deployment", "metadata": {"namespace": ns, "name": "web"}});
        for (least, want) in [(json!(3), 3), (json!(null), 1), (json!(0), 1)] {
            let all = [hpa(json!({"scaleTargetRef": target, "minReplicas": least}))];
            let floors = Floors::new(all.iter());
            assert_eq!(floors.of(&web("a")), Some(want));
            assert_eq!(floors.of(&web("b")), None);
        }
    }
}
