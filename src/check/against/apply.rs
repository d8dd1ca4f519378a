//! Manifests applied to a cluster, as `kubectl apply` does: what is there keeps what the manifest does not speak of, and
//! its status; what the manifests leave out stays.

use super::immutable;
use crate::check::expand::is_custom;
use crate::check::manifest::{Key, key, text};
use crate::cure::scale_target;
use crate::finding::{Finding, Ref};
use crate::snapshot::budget::Budget;
use crate::snapshot::builder::Builder;
use crate::snapshot::meta::Meta;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::{Detail, Scale, Workload};
use crate::snapshot::{Snapshot, Source, Str, api_version};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// A cluster with manifests applied, before any controller has looked.
pub(super) struct Applied {
    /// The cluster: its pods are those of before.
    pub snapshot: Snapshot,
    /// The workloads that are new or changed: as they were, and as they are.
    pub workloads: Vec<(Option<Arc<Workload>>, Arc<Workload>)>,
    /// Pods that manifests make themselves.
    pub pods: Vec<Arc<Pod>>,
    /// Changes that the API server refuses, each with its object.
    pub refused: Vec<(Ref, Finding)>,
}

/// What the manifests write.
struct Written {
    snapshot: Snapshot,
    /// Workloads of custom kinds that have a pod template and a scale.
    customs: Vec<Workload>,
    /// Workloads whose number of replicas is written.
    counted: HashSet<Key>,
}

/// Applies objects that have what the API server sets.
pub(super) fn apply<'v>(objects: impl Iterator<Item = &'v Value>, cluster: &Snapshot) -> Applied {
    let written = read(objects);
    let mut snapshot = cluster.clone();
    let mut refused = immutable::classes(&written.snapshot, cluster);
    others(&written.snapshot, &mut snapshot, &refused);
    for budget in written.snapshot.budgets.iter().filter(|b| b.fault.is_none()) {
        let there = cluster.budgets.named(budget.meta.ns(), &budget.meta.name);
        let meta = kept(there.map(|b| &b.meta), &budget.meta);
        let status = there.map(|b| b.status.clone()).unwrap_or_default();
        let new = Budget { meta, status, ..(**budget).clone() };
        if there.is_none_or(|old| **old != new) {
            snapshot.budgets.put(Arc::new(new));
        }
    }
    let mut workloads = Vec::new();
    let all = written.snapshot.workloads.iter().cloned().chain(written.customs.into_iter().map(Arc::new));
    for workload in all {
        let old = cluster.workload(&workload.kind, workload.meta.ns(), &workload.meta.name);
        let old = old.filter(|old| old.group == workload.group).cloned();
        if let Some(old) = &old
            && let Some(field) = immutable::changed(old, &workload)
        {
            refused.push((Ref::workload(old), immutable::of_workload(old, field, cluster)));
            continue;
        }
        // A Job has made its pods.
        if matches!(workload.detail, Detail::Job(_)) && old.is_some() {
            continue;
        }
        let key = (workload.kind.to_string(), workload.meta.ns().to_owned(), workload.meta.name.to_string());
        let mut new = merged(old.as_deref(), &workload);
        if let (Some(old), false) = (&old, written.counted.contains(&key)) {
            new.scale = old.scale;
        }
        snapshot.workloads.put(Arc::new(new.clone()));
        workloads.push((old, new));
    }
    snapshot.reindex();
    let mut changed: Vec<(Option<Arc<Workload>>, Arc<Workload>)> = Vec::new();
    for (old, new) in workloads {
        changed.push((old.clone(), scaled(old.as_deref(), Arc::new(new), &mut snapshot)));
    }
    // An autoscaler that is changed moves what it scales, although no manifest has that.
    for autoscaler in written.snapshot.horizontal_pod_autoscalers.iter() {
        let Some(target) = scale_target(&snapshot, autoscaler).cloned() else { continue };
        if !changed.iter().any(|(_, new)| new.object() == target.object()) {
            let new = scaled(Some(&target), target.clone(), &mut snapshot);
            if new.scale != target.scale {
                changed.push((Some(target), new));
            }
        }
    }
    snapshot.reindex();
    let is_new = |p: &&Arc<Pod>| cluster.pods.named(p.meta.ns(), &p.meta.name).is_none();
    let pods = written.snapshot.pods.iter().filter(is_new).cloned().collect();
    Applied { snapshot, workloads: changed, pods, refused }
}

fn read<'v>(objects: impl Iterator<Item = &'v Value>) -> Written {
    let (mut builder, mut customs) = (Builder::default(), Vec::new());
    let mut counted = HashSet::new();
    for object in objects {
        if object.pointer("/spec/replicas").is_some_and(Value::is_i64) {
            counted.insert(key(object));
        }
        if is_custom(object) {
            customs.extend(custom(object));
            continue;
        }
        // What cannot be read is told of its manifest.
        let _ = builder.add_json(object.to_string().as_bytes());
    }
    Written { snapshot: builder.finish(Source::default(), Some(Timestamp::UNIX_EPOCH)), customs, counted }
}

/// A workload of a custom kind, read as the Deployment whose form it has.
fn custom(object: &Value) -> Option<Workload> {
    let mut like = object.clone();
    let fields = like.as_object_mut()?;
    fields.insert("apiVersion".to_owned(), json!("apps/v1"));
    fields.insert("kind".to_owned(), json!("Deployment"));
    let spec = fields.get_mut("spec").and_then(Value::as_object_mut)?;
    spec.remove("strategy");
    let mut builder = Builder::default();
    builder.add_json(like.to_string().as_bytes()).ok()?;
    let read = builder.finish(Source::default(), Some(Timestamp::UNIX_EPOCH));
    let workload = read.workloads.first()?;
    let (group, version) = api_version::split(text(object, "/apiVersion"));
    Some(Workload {
        group: group.into(),
        version: version.into(),
        kind: text(object, "/kind").into(),
        detail: Detail::Custom,
        ..(**workload).clone()
    })
}

/// The metadata of what was there, with the labels of the manifest.
fn kept(there: Option<&Meta>, written: &Meta) -> Meta {
    let Some(there) = there else { return written.clone() };
    let labels = written.labels.iter().fold(there.labels.clone(), |labels, (key, value)| labels.with(key, value));
    Meta { labels, ..there.clone() }
}

/// A workload as the API server keeps it: the spec of the manifest, and the status of what was there.
fn merged(old: Option<&Workload>, written: &Workload) -> Workload {
    let mut new = Workload { meta: kept(old.map(|w| &w.meta), &written.meta), ..written.clone() };
    match (&mut new.detail, old.map(|w| &w.detail)) {
        (Detail::Deployment(new), Some(Detail::Deployment(old))) => new.1 = old.1.clone(),
        (Detail::StatefulSet(new), Some(Detail::StatefulSet(old))) => new.1 = old.1.clone(),
        (Detail::CronJob(new), Some(Detail::CronJob(old))) => new.1 = old.1.clone(),
        (Detail::DaemonSet(new), Some(Detail::DaemonSet(old))) => new.1 = old.1.clone(),
        (Detail::ReplicaSet(new), Some(Detail::ReplicaSet(old))) => new.clone_from(old),
        (Detail::ReplicationController(new), Some(Detail::ReplicationController(old))) => new.clone_from(old),
        _ => {}
    }
    new
}

/// The workload at the scale that its autoscaler keeps: as many as before, within the bounds. An autoscaler leaves alone
/// what is scaled to 0. Mirrors `reconcileAutoscaler` of `pkg/controller/podautoscaler/horizontal.go`, with a load that
/// stays as it is.
fn scaled(old: Option<&Workload>, new: Arc<Workload>, snapshot: &mut Snapshot) -> Arc<Workload> {
    let is_target = |a: &&Arc<crate::snapshot::HorizontalPodAutoscaler>| {
        scale_target(snapshot, a).is_some_and(|t| t.object() == new.object() && t.group == new.group)
    };
    let of = snapshot.horizontal_pod_autoscalers.in_namespace(new.meta.ns()).iter().find(is_target);
    let Some(spec) = of.and_then(|a| a.spec.as_ref()) else { return new };
    let least = spec.min_replicas.unwrap_or(1).max(0);
    let most = spec.max_replicas.unwrap_or(i32::MAX).max(least);
    let (Some(written), before) = (new.replicas(), old.and_then(Workload::replicas)) else { return new };
    if written == 0 {
        return new;
    }
    let count = before.filter(|n| *n > 0).unwrap_or(written).clamp(least, most);
    let new = Arc::new(Workload { scale: Scale::Replicas(count), ..(*new).clone() });
    snapshot.workloads.put(new.clone());
    new
}

/// Everything else that bears on an answer.
fn others(written: &Snapshot, snapshot: &mut Snapshot, refused: &[(Ref, Finding)]) {
    let is_refused =
        |kind: &str, name: &str| refused.iter().any(|(object, _)| object.kind == kind && object.name == name);
    macro_rules! put {
        ($($table:ident),*) => {
            $(written.$table.iter().for_each(|o| {
                let mut new = (**o).clone();
                let there = snapshot.$table.named(o.meta.ns(), &o.meta.name);
                new.meta = kept(there.map(|o| &o.meta), &o.meta);
                snapshot.$table.put(Arc::new(new));
            });)*
        };
    }
    macro_rules! put_new {
        ($($table:ident),*) => {
            $(written.$table.iter().for_each(|o| {
                if snapshot.$table.named(o.meta.ns(), &o.meta.name).is_none() {
                    snapshot.$table.put(o.clone());
                }
            });)*
        };
    }
    put!(horizontal_pod_autoscalers, limit_ranges, services, validating_webhooks, mutating_webhooks);
    macro_rules! put_allowed {
        ($($table:ident of $kind:literal),*) => {
            $(written.$table.iter().filter(|o| !is_refused($kind, &o.meta.name)).for_each(|o| {
                snapshot.$table.put(o.clone());
            });)*
        };
    }
    put_allowed!(priority_classes of "PriorityClass", storage_classes of "StorageClass");
    // Of these the state counts, which no manifest has.
    put_new!(namespaces, service_accounts, persistent_volume_claims, persistent_volumes, resource_claims, definitions);
    for quota in written.quotas.iter() {
        let there = snapshot.quotas.named(quota.meta.ns(), &quota.meta.name);
        let mut new = (**quota).clone();
        if let Some(there) = there {
            new.meta = there.meta.clone();
            let used = there.body.status.as_ref().map(|s| s.used.clone());
            let mut status = new.body.status.take().unwrap_or_default();
            status.used = used.unwrap_or_default();
            status.hard = new.body.spec.as_ref().map(|s| s.hard.clone()).unwrap_or_default();
            new.body.status = Some(status);
        }
        snapshot.quotas.put(Arc::new(new));
    }
    // Every namespace gets the account that pods use where they name none.
    for namespace in written.namespaces.iter() {
        let name: &Str = &namespace.meta.name;
        if snapshot.service_accounts.named(name, "default").is_none() {
            let meta = Meta { namespace: Some(name.clone()), name: "default".into(), ..Meta::default() };
            let body = crate::wire::core::ServiceAccount::default();
            snapshot.service_accounts.put(Arc::new(crate::snapshot::object::Object { meta, body }));
        }
    }
}
