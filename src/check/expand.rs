//! From manifests to the snapshot that they come to: defaults of the API server set, autoscalers at their floors, and one
//! Ready pod that stands for all the pods of a workload, however many they are.

use super::hooks::is_hook;
use super::manifest::{Content, Key, Manifest, key, text};
use super::scale::{self, Floors};
use super::translate::translate;
use crate::finding::{Code, Finding, Ref};
use crate::snapshot::builder::Builder;
use crate::snapshot::kinds::{Recognised, recognise};
use crate::snapshot::meta::OwnerRef;
use crate::snapshot::workload::Scale;
use crate::snapshot::{Kind, Snapshot, Source, api_version};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// What manifests come to.
pub(super) struct Expanded {
    /// The objects, each workload with one pod.
    pub snapshot: Snapshot,
    /// From which manifest an object is, by its position.
    pub places: HashMap<Key, usize>,
    /// For which object a pod stands that no manifest has: by namespace and name.
    pub stand_ins: HashMap<(String, String), Ref>,
    /// What was found on the way, by the position of the manifest.
    pub notes: Vec<(usize, Finding)>,
}

/// Where a kind has its pod template and, in the same form, how many pods it runs; of custom kinds those that have a
/// scale subresource with `.spec.replicas`, as their definitions say.
const CUSTOM: &[(&str, &str)] = &[
    ("argoproj.io", "Rollout"),
    ("apps.kruise.io", "CloneSet"),
    ("apps.kruise.io", "StatefulSet"),
    ("apps.openshift.io", "DeploymentConfig"),
];

/// Kinds whose reading the rules ask for: what manifests do not have is not there.
const READ: &[Kind] = &[
    Kind::Pod,
    Kind::PodDisruptionBudget,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::ReplicationController,
    Kind::HorizontalPodAutoscaler,
];

/// Something of a manifest, with the manifest's position.
type At<T> = (usize, T);

/// The objects of manifests, each with its position, and what was found on the way: in the version that is served, with
/// what the API server sets, and with what autoscalers' operators make of them. What names no namespace is of `namespace`.
pub(super) fn objects(manifests: &[Manifest], namespace: &str) -> (Vec<At<Value>>, Vec<At<Finding>>) {
    let mut notes = Vec::new();
    let mut objects: Vec<At<Value>> = Vec::new();
    for (at, manifest) in manifests.iter().enumerate() {
        let Content::Object(object) = &manifest.content else { continue };
        if is_hook(object) {
            continue;
        }
        let mut object = object.clone();
        let found = translate(&mut object);
        complete(&mut object, namespace);
        notes.extend(found.map(|f| (at, f.about([reference(&object)]))));
        objects.push((at, object));
    }
    notes.extend(twice(manifests, &objects));
    let there: HashSet<Key> = objects.iter().map(|(_, o)| key(o)).collect();
    objects.retain(|(_, o)| !is_made_by(o, &there));
    let autoscalers: Vec<At<Value>> =
        objects.iter().filter_map(|(at, o)| Some((*at, scale::of_scaled_object(o)?))).collect();
    objects.extend(autoscalers);
    (objects, notes)
}

/// Objects that are written more than once: the last one counts, and is told where the others stand.
fn twice(manifests: &[Manifest], objects: &[At<Value>]) -> Vec<At<Finding>> {
    let mut seen: HashMap<(&str, Key), usize> = HashMap::new();
    let mut notes = Vec::new();
    for (at, object) in objects {
        let group = api_version::split(text(object, "/apiVersion")).0;
        if matches!(recognise(text(object, "/apiVersion"), text(object, "/kind")), Recognised::Unknown)
            && !is_custom(object)
        {
            continue;
        }
        if let Some(before) = seen.insert((group, key(object)), *at)
            && let Some(Manifest { file, line, .. }) = manifests.get(before)
        {
            let message = format!(
                "{file}:{line} writes {} {}, too: the document applied last replaces the other one, and this one is checked",
                text(object, "/kind"),
                reference(object).path()
            );
            notes.push((*at, Finding::new(Code::Duplicate, message).about([reference(object)])));
        }
    }
    notes
}

/// Whether it is of a custom kind that has its pod template and its scale where a Deployment has them.
pub(super) fn is_custom(object: &Value) -> bool {
    CUSTOM.contains(&(api_version::split(text(object, "/apiVersion")).0, text(object, "/kind")))
}

/// Expands manifests; what names no namespace is of `namespace`.
pub(super) fn expand(manifests: &[Manifest], namespace: &str) -> Expanded {
    let (mut objects, notes) = objects(manifests, namespace);
    let there: HashSet<Key> = objects.iter().map(|(_, o)| key(o)).collect();
    let floors = Floors::new(objects.iter().map(|(_, o)| o));
    for (_, object) in &mut objects {
        if let Some(floor) = floors.of(object)
            && let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut)
        {
            spec.insert("replicas".to_owned(), json!(floor));
        }
    }
    let needed = objects.iter().filter_map(|(_, o)| o.pointer("/spec/minAvailable").and_then(Value::as_i64)).max();
    let refers = |o: &Value| o.pointer("/spec/workloadRef/name").is_some();
    let templates = match objects.iter().any(|(_, o)| refers(o)) {
        true => objects.iter().filter_map(|(_, o)| Some((key(o), o.pointer("/spec/template")?.clone()))).collect(),
        false => HashMap::new(),
    };
    let mut building = Building {
        builder: Builder::default(),
        places: HashMap::new(),
        stand_ins: HashMap::new(),
        notes,
        there,
        enough: needed.unwrap_or(0).saturating_add(1).clamp(1, MOST_PODS),
        templates,
    };
    READ.iter().for_each(|kind| building.builder.note(*kind, crate::snapshot::coverage::ReadOutcome::Read));
    objects.iter().for_each(|(at, object)| building.add(*at, object));
    let Building { builder, places, stand_ins, notes, .. } = building;
    // Nothing that is written has an age.
    let snapshot = builder.finish(Source::default(), Some(Timestamp::UNIX_EPOCH));
    Expanded { snapshot, places, stand_ins, notes }
}

/// A snapshot on its way.
struct Building {
    builder: Builder,
    places: HashMap<Key, usize>,
    stand_ins: HashMap<(String, String), Ref>,
    notes: Vec<(usize, Finding)>,
    /// All objects, so that no stand-in has the name of another pod.
    there: HashSet<Key>,
    /// So many pods of a workload without a scale are more than any budget needs.
    enough: i64,
    /// The pod templates of Deployments, which a Rollout can refer to.
    templates: HashMap<Key, Value>,
}

/// Of a workload without a scale no more pods are made than this.
const MOST_PODS: i64 = 1000;

impl Building {
    fn add(&mut self, at: usize, object: &Value) {
        if is_custom(object) {
            self.places.insert(key(object), at);
            self.custom_scale(object);
            self.stand_in(&self.with_template(object), object, replicas(object));
            return;
        }
        if let Err(error) = self.builder.add_json(object.to_string().as_bytes()) {
            let message = format!("cannot be read: {error}");
            let finding = Finding::new(Code::NotJudged, message).about([reference(object)]);
            self.notes.push((at, finding.severity(crate::finding::Severity::Error)));
            return;
        }
        self.places.insert(key(object), at);
        match (text(object, "/apiVersion"), text(object, "/kind")) {
            ("apps/v1", "Deployment" | "ReplicaSet" | "StatefulSet") | ("v1", "ReplicationController") => {
                self.stand_in(object, object, replicas(object));
            }
            ("apps/v1", "DaemonSet") => self.stand_in(object, object, 1),
            ("batch/v1", "Job") => self.pods_of_job(object, object),
            ("batch/v1", "CronJob") => self.job_of(object),
            _ => {}
        }
    }

    /// The Job that a CronJob makes, and its pod.
    fn job_of(&mut self, cron_job: &Value) {
        let spec = cron_job.pointer("/spec/jobTemplate/spec").cloned().unwrap_or_default();
        let mut job = json!({"apiVersion": "batch/v1", "kind": "Job", "spec": spec,
            "metadata": {"name": text(cron_job, "/metadata/name"), "ownerReferences": [owner_of(cron_job)]}});
        complete(&mut job, text(cron_job, "/metadata/namespace"));
        if self.builder.add_json(job.to_string().as_bytes()).is_ok() {
            self.pods_of_job(&job, cron_job);
        }
    }

    /// A Job has no scale: what a budget counts are its pods, of which there are as many as run at a time. More than the
    /// largest minAvailable tells nothing else.
    fn pods_of_job(&mut self, job: &Value, of: &Value) {
        let number = |field: &str| job.pointer(field).and_then(Value::as_i64);
        let most = number("/spec/completions").unwrap_or(i64::MAX);
        let parallel = number("/spec/parallelism").unwrap_or(1).min(most);
        for _ in 0..parallel.min(self.enough) {
            self.stand_in(job, of, parallel);
        }
    }

    /// A Rollout with the template of the workload that it refers to (`spec.workloadRef`).
    fn with_template(&self, object: &Value) -> Value {
        let mut object = object.clone();
        let target = |field: &str| text(&object, &format!("/spec/workloadRef/{field}")).to_owned();
        let key = (target("kind"), text(&object, "/metadata/namespace").to_owned(), target("name"));
        if let (Some(template), Some(spec)) = (self.templates.get(&key), object.pointer_mut("/spec"))
            && let Some(spec) = spec.as_object_mut()
        {
            spec.entry("template").or_insert_with(|| template.clone());
        }
        object
    }

    fn custom_scale(&mut self, object: &Value) {
        let (group, version) = api_version::split(text(object, "/apiVersion"));
        let owner = OwnerRef {
            group: group.into(),
            version: version.into(),
            kind: text(object, "/kind").into(),
            name: text(object, "/metadata/name").into(),
            uid: text(object, "/metadata/uid").into(),
        };
        let scale = i32::try_from(replicas(object)).unwrap_or(i32::MAX);
        self.builder.add_owner(text(object, "/metadata/namespace"), &owner, Scale::Replicas(scale));
    }

    /// One Ready pod for all those of an owner; `of` is the object that a finding about it names.
    fn stand_in(&mut self, owner: &Value, of: &Value, count: i64) {
        let Some(template) = owner.pointer("/spec/template").filter(|_| count > 0) else { return };
        let namespace = text(owner, "/metadata/namespace");
        let name = self.free_name(namespace, text(owner, "/metadata/name"));
        let mut labels = template.pointer("/metadata/labels").cloned().unwrap_or_else(|| json!({}));
        if text(owner, "/kind") == "StatefulSet"
            && let Some(labels) = labels.as_object_mut()
        {
            // What the controller adds to its pods.
            labels.insert(
                "statefulset.kubernetes.io/pod-name".to_owned(),
                json!(format!("{}-0", text(owner, "/metadata/name"))),
            );
            labels.insert("apps.kubernetes.io/pod-index".to_owned(), json!("0"));
        }
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "labels": labels, "ownerReferences": [owner_of(owner)],
                "annotations": template.pointer("/metadata/annotations").cloned().unwrap_or_default()},
            "spec": template.pointer("/spec").cloned().unwrap_or_default(),
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        });
        if self.builder.add_json(pod.to_string().as_bytes()).is_ok() {
            self.stand_ins.insert((namespace.to_owned(), name), reference(of));
        }
    }

    fn free_name(&mut self, namespace: &str, name: &str) -> String {
        let pod = |name: &str| ("Pod".to_owned(), namespace.to_owned(), name.to_owned());
        let more = (0_u32..).map(|n| format!("{name}-{n}"));
        let free = std::iter::once(name.to_owned()).chain(more).find(|name| self.there.insert(pod(name)));
        free.unwrap_or_default()
    }
}

/// Sets what the API server sets: namespace, uid, generation; and takes away what nobody writes.
fn complete(object: &mut Value, namespace: &str) {
    let namespaced = match recognise(text(object, "/apiVersion"), text(object, "/kind")) {
        Recognised::Known(kind) | Recognised::Custom(kind) | Recognised::OtherVersion(kind) => kind.info().namespaced,
        Recognised::EventsV1Event | Recognised::Unknown => true,
    };
    let kind = text(object, "/kind").to_owned();
    let name = match (text(object, "/metadata/name"), text(object, "/metadata/generateName")) {
        ("", prefix) => format!("{prefix}x"),
        (name, _) => name.to_owned(),
    };
    let Some(fields) = object.as_object_mut() else { return };
    if kind != "Pod" {
        fields.remove("status");
    }
    let metadata = fields.entry("metadata").or_insert_with(|| json!({}));
    let Some(metadata) = metadata.as_object_mut() else { return };
    let given = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default();
    let namespace = if given.is_empty() { namespace } else { given }.to_owned();
    let uid = format!("{kind}/{namespace}/{name}");
    metadata.insert("name".to_owned(), json!(name));
    if namespaced {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    metadata.entry("uid").or_insert_with(|| json!(uid));
    metadata.insert("generation".to_owned(), json!(1));
}

/// Whether a controller made it whose object is among these, too: it is judged by that.
fn is_made_by(object: &Value, there: &HashSet<Key>) -> bool {
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let is_there = |owner: &Value| {
        let namespace = text(object, "/metadata/namespace").to_owned();
        let is_controller = owner.get("controller").and_then(Value::as_bool) == Some(true);
        is_controller && there.contains(&(text(owner, "/kind").to_owned(), namespace, text(owner, "/name").to_owned()))
    };
    matches!(text(object, "/kind"), "Pod" | "ReplicaSet" | "Job") && owners.into_iter().flatten().any(is_there)
}

/// `spec.replicas`; where none is set, the API means one.
fn replicas(object: &Value) -> i64 {
    object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1)
}

fn owner_of(object: &Value) -> Value {
    json!({"apiVersion": text(object, "/apiVersion"), "kind": text(object, "/kind"), "name": text(object, "/metadata/name"),
        "uid": text(object, "/metadata/uid"), "controller": true})
}

pub(super) fn reference(object: &Value) -> Ref {
    let (kind, namespace, name) = key(object);
    Ref::new(text(object, "/apiVersion"), &kind, &namespace, &name)
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "a test writes its JSON where it is taken")]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn of(objects: &[Value]) -> Expanded {
        let manifest = |object: &Value| Manifest {
            file: Arc::from("f"),
            line: 1,
            template: None,
            content: Content::Object(object.clone()),
        };
        expand(&objects.iter().map(manifest).collect::<Vec<_>>(), "shop")
    }

    fn web(kind: &str, version: &str, spec: Value) -> Value {
        let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}});
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "web"}, "spec": spec});
        let place = if kind == "CronJob" { json!({"spec": {"template": template}}) } else { template };
        object["spec"][if kind == "CronJob" { "jobTemplate" } else { "template" }] = place;
        object
    }

    #[test]
    fn one_pod_stands_for_all_of_a_workload() {
        // What each controller would make: kind, replicas; the stand-in's names and the scale of its controller.
        let most = json!({"replicas": i32::MAX});
        for (kind, version, spec, pods, scale) in [
            ("Deployment", "apps/v1", &most, &["web"][..], Scale::Replicas(i32::MAX)),
            ("StatefulSet", "apps/v1", &json!({}), &["web"], Scale::Replicas(1)),
            ("Deployment", "apps/v1", &json!({"replicas": 0}), &[], Scale::Replicas(0)),
            ("DaemonSet", "apps/v1", &json!({}), &["web"], Scale::NoScale),
            ("Job", "batch/v1", &json!({}), &["web"], Scale::NoScale),
            ("CronJob", "batch/v1", &json!({}), &["web"], Scale::NoScale),
            ("Rollout", "argoproj.io/v1alpha1", &json!({"replicas": 4}), &["web"], Scale::Replicas(4)),
        ] {
            let expanded = of(&[web(kind, version, spec.clone())]);
            let names: Vec<&str> = expanded.snapshot.pods.iter().map(|p| &*p.meta.name).collect();
            assert_eq!(names, pods, "{kind}");
            assert_eq!(expanded.snapshot.workload(kind, "shop", "web").unwrap().scale, scale, "{kind}");
            for pod in expanded.snapshot.pods.iter() {
                assert!(pod.is_ready() && expanded.snapshot.controller_of(&pod.meta).is_some(), "{kind}");
                assert_eq!(expanded.stand_ins[&("shop".to_owned(), "web".to_owned())].kind, kind);
            }
        }
    }

    #[test]
    fn an_autoscaler_stands_at_its_floor() {
        let hpa = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
            "spec": {"minReplicas": 2, "maxReplicas": 9, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}});
        let keda = json!({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "web"},
            "spec": {"minReplicaCount": 3, "scaleTargetRef": {"name": "web"}}});
        for (autoscaler, want) in [(hpa, 2), (keda, 3)] {
            let expanded = of(&[web("Deployment", "apps/v1", json!({"replicas": 7})), autoscaler]);
            let web = expanded.snapshot.workload("Deployment", "shop", "web").unwrap();
            assert_eq!(web.scale, Scale::Replicas(want));
            assert_eq!(expanded.snapshot.horizontal_pod_autoscalers.len(), 1);
        }
    }

    #[test]
    fn what_a_controller_made_is_judged_by_its_controller() {
        let owned = |kind: &str, version: &str, owner: &str| {
            let mut object = web(kind, version, json!({}));
            object["metadata"] =
                json!({"name": "web-1", "ownerReferences": [{"kind": owner, "name": "web", "controller": true}]});
            object
        };
        let all = [
            web("Deployment", "apps/v1", json!({"replicas": 2})),
            owned("ReplicaSet", "apps/v1", "Deployment"),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare", "labels": {"app": "web"}}, "spec": {}}),
        ];
        let expanded = of(&all);
        let names: Vec<&str> = expanded.snapshot.pods.iter().map(|p| &*p.meta.name).collect();
        assert_eq!(names, ["bare", "web"]);
        assert_eq!(expanded.snapshot.workloads.len(), 1);
    }

    #[test]
    fn a_job_has_as_many_pods_as_run_at_a_time() {
        let min = |n: i64| {
            json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"},
            "spec": {"minAvailable": n}})
        };
        // Parallelism, completions, the largest minAvailable; how many pods: no more than that and one.
        for (parallelism, completions, min_available, want) in [
            (3, json!(9), 1, 2),
            (3, json!(9), 5, 3),
            (3, json!(2), 5, 2),
            (3, json!(null), 5, 3),
            (0, json!(1), 1, 0),
            (i32::MAX, json!(null), i32::MAX, 1000),
        ] {
            let job = web("Job", "batch/v1", json!({"parallelism": parallelism, "completions": completions}));
            let expanded = of(&[job, min(min_available.into())]);
            assert_eq!(expanded.snapshot.pods.len(), want, "{parallelism} {completions} {min_available}");
        }
    }

    #[test]
    fn a_rollout_runs_the_template_that_it_refers_to() {
        let rollout = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "green"},
            "spec": {"replicas": 4, "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}});
        let expanded = of(&[rollout, web("Deployment", "apps/v1", json!({"replicas": 0}))]);
        let pods: Vec<_> =
            expanded.snapshot.pods.iter().map(|p| (&*p.meta.name, p.meta.labels.get("app").is_some())).collect();
        assert_eq!(pods, [("green", true)]);
    }

    #[test]
    fn what_is_written_twice_is_told() {
        let one = || web("Deployment", "apps/v1", json!({"replicas": 2}));
        let unknown = || web("Deployment", "example.org/v1", json!({}));
        for (objects, want) in [(vec![one(), one()], 1), (vec![one(), unknown(), unknown()], 0), (vec![one()], 0)] {
            let notes = of(&objects).notes;
            assert_eq!(notes.len(), want, "{notes:?}");
            assert!(notes.iter().all(|(at, note)| *at == 1 && note.code == Code::Duplicate), "{notes:?}");
        }
    }

    #[test]
    fn stand_ins_have_names_of_their_own() {
        let all = [web("Deployment", "apps/v1", json!({})), web("StatefulSet", "apps/v1", json!({}))];
        assert_eq!(of(&all).snapshot.pods.len(), 2);
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let bad = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {"replicas": "two"}});
        let expanded = of(&[bad]);
        assert!(expanded.notes[0].1.message.contains("replicas"), "{:?}", expanded.notes);
    }
}
