//! How many pods the owners of a budget's pods want together. Mirrors `getExpectedScale` and the finders of
//! `pkg/controller/disruption/disruption.go`.

use crate::snapshot::coverage::ReadOutcome;
use crate::snapshot::kinds::{self, Recognised};
use crate::snapshot::meta::OwnerRef;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::{Scale, Workload};
use crate::snapshot::{Kind, Snapshot, Str};
use crate::wire::crd::CustomResourceDefinitionVersion;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// What the owners of some pods want together.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// The sum of the owners' scales.
    pub count: i64,
    /// The owners whose scales were added, each once: the Deployment of a ReplicaSet's pod.
    pub owners: Vec<Arc<Workload>>,
    /// Pods without a controller: they add nothing.
    pub unmanaged: Vec<Arc<Pod>>,
}

/// Why the sum cannot be made.
#[derive(Debug, Clone, PartialEq)]
pub enum NoScale {
    /// The sync fails: the pod at whose owner it does, its owner, and the controller's words.
    Fails {
        /// The pod.
        pod: Arc<Pod>,
        /// Its owner.
        owner: OwnerRef,
        /// What the controller writes into the condition.
        message: String,
    },
    /// The input does not tell: the owner, or the definition of its kind, is not in it.
    Unknown {
        /// The pod.
        pod: Arc<Pod>,
        /// Its owner.
        owner: OwnerRef,
    },
}

/// Adds the scales of the owners of `pods` up, in the order of the pods; ends at the first owner that has none.
pub fn expected<'a>(snapshot: &Snapshot, pods: impl Iterator<Item = &'a Arc<Pod>>) -> Result<Expected, NoScale> {
    let mut sum = Sum::default();
    let mut unmanaged = Vec::new();
    // Pods of one owner stand together; the last answer is often the next one.
    let mut last: Option<&OwnerRef> = None;
    for pod in pods {
        let Some(owner) = &pod.meta.controller else {
            unmanaged.push(pod.clone());
            continue;
        };
        if last.is_some_and(|l| l.uid == owner.uid && l.name == owner.name) {
            continue;
        }
        last = Some(owner);
        sum.add(&scale_of(snapshot, pod, owner));
    }
    let (count, owners) = sum.total()?;
    Ok(Expected { count, owners, unmanaged })
}

/// Scales added up, each workload's once.
#[derive(Default)]
struct Sum {
    count: i64,
    owners: Vec<Arc<Workload>>,
    counted: HashSet<*const Workload>,
    failure: Option<NoScale>,
    unknown: Option<NoScale>,
}

impl Sum {
    fn add(&mut self, scale: &Result<(Arc<Workload>, i32), NoScale>) {
        match scale {
            Ok((workload, scale)) => {
                if self.counted.insert(Arc::as_ptr(workload)) {
                    self.count += i64::from(*scale);
                    self.owners.push(workload.clone());
                }
            }
            Err(NoScale::Fails { .. }) if self.failure.is_some() => {}
            Err(fails @ NoScale::Fails { .. }) => self.failure = Some(fails.clone()),
            Err(_) if self.unknown.is_some() => {}
            Err(other) => self.unknown = Some(other.clone()),
        }
    }

    /// A failure that is certain outweighs one that the input cannot tell.
    fn total(self) -> Result<(i64, Vec<Arc<Workload>>), NoScale> {
        match self.failure.or(self.unknown) {
            Some(error) => Err(error),
            None => Ok((self.count, self.owners)),
        }
    }
}

/// The scales behind a budget's pods, as these come and go.
#[derive(Debug, Clone, Default)]
pub struct OwnerScales {
    owners: BTreeMap<OwnerKey, Owned>,
    /// Owners whose scale makes the sync fail.
    failing: BTreeSet<OwnerKey>,
    /// Owners whose scale the input does not tell.
    unknown: BTreeSet<OwnerKey>,
    /// How many of the owners each workload gives its scale to: it counts once.
    workloads: HashMap<*const Workload, usize>,
    count: i64,
}

/// The name and the uid of an owner.
type OwnerKey = (Str, Str);

/// The pods of one owner that are there.
#[derive(Debug, Clone)]
struct Owned {
    scale: Result<(Arc<Workload>, i32), NoScale>,
    pods: usize,
}

impl OwnerScales {
    /// A pod has come.
    pub fn add(&mut self, snapshot: &Snapshot, pod: &Arc<Pod>) {
        let Some(owner) = &pod.meta.controller else { return };
        let key = (owner.name.clone(), owner.uid.clone());
        if let Some(owned) = self.owners.get_mut(&key) {
            owned.pods += 1;
            return;
        }
        let scale = scale_of(snapshot, pod, owner);
        match &scale {
            Ok((workload, scale)) => {
                let owners = self.workloads.entry(Arc::as_ptr(workload)).or_default();
                *owners += 1;
                self.count += if *owners == 1 { i64::from(*scale) } else { 0 };
            }
            Err(NoScale::Fails { .. }) => {
                self.failing.insert(key.clone());
            }
            Err(NoScale::Unknown { .. }) => {
                self.unknown.insert(key.clone());
            }
        }
        self.owners.insert(key, Owned { scale, pods: 1 });
    }

    /// A pod is gone.
    pub fn remove(&mut self, pod: &Pod) {
        let Some(owner) = &pod.meta.controller else { return };
        let key = (owner.name.clone(), owner.uid.clone());
        let Some(owned) = self.owners.get_mut(&key) else { return };
        owned.pods = owned.pods.saturating_sub(1);
        if owned.pods > 0 {
            return;
        }
        if let Ok((workload, scale)) = &owned.scale
            && let Some(owners) = self.workloads.get_mut(&Arc::as_ptr(workload))
        {
            *owners = owners.saturating_sub(1);
            if *owners == 0 {
                self.count -= i64::from(*scale);
            }
        }
        self.owners.remove(&key);
        self.failing.remove(&key);
        self.unknown.remove(&key);
    }

    /// What the owners want together that have pods.
    pub fn total(&self) -> Result<i64, NoScale> {
        // A failure that is certain outweighs one that the input cannot tell.
        let wrong = self.failing.first().or(self.unknown.first()).and_then(|key| self.owners.get(key));
        match wrong.map(|owned| &owned.scale) {
            Some(Err(error)) => Err(error.clone()),
            _ => Ok(self.count),
        }
    }
}

/// The workload that gives a pod its scale. Mirrors the finders, in their order.
fn scale_of(snapshot: &Snapshot, pod: &Arc<Pod>, owner: &OwnerRef) -> Result<(Arc<Workload>, i32), NoScale> {
    let ns = pod.meta.ns();
    let fails = |message: String| NoScale::Fails { pod: pod.clone(), owner: owner.clone(), message };
    let unknown = || NoScale::Unknown { pod: pod.clone(), owner: owner.clone() };
    let found = snapshot.workload_of(ns, owner).filter(|w| is_named_by(w, owner));
    let Some(workload) = found else {
        return Err(match kinds::recognise(&owner.api_version(), &owner.kind) {
            Recognised::Known(kind) if !has_scale(kind) => fails(no_subresource(snapshot, owner)),
            Recognised::Known(kind) if *snapshot.coverage.of(kind) == ReadOutcome::Read => {
                fails(format!("found no controllers for pod {:?}", pod.meta.name))
            }
            Recognised::Known(_) => unknown(),
            _ => match definition_of(snapshot, owner) {
                Some(version) if version.replicas_path().is_none() => fails(no_subresource(snapshot, owner)),
                None if snapshot.coverage.has(Kind::CustomResourceDefinition) => {
                    fails(format!("no matches for kind {:?} in version {:?}", owner.kind, owner.api_version()))
                }
                _ => unknown(),
            },
        });
    };
    let workload = scale_holder(snapshot, workload);
    match workload.scale {
        Scale::Replicas(n) => Ok((workload.clone(), n)),
        Scale::NoScale => Err(fails(no_subresource(snapshot, owner))),
        Scale::Unknown => Err(unknown()),
    }
}

/// Whether the reference names the workload's kind, in whatever version. Mirrors `verifyGroupKind`: a ReplicaSet may
/// still be called one of `extensions`.
fn is_named_by(workload: &Workload, owner: &OwnerRef) -> bool {
    let old_name = &*owner.group == "extensions" && &*workload.group == "apps" && &*workload.kind == "ReplicaSet";
    workload.kind == owner.kind && (workload.group == owner.group || old_name)
}

/// The workload whose scale stands for a pod's owner: the Deployment for its ReplicaSet. Mirrors `getPodDeployment`.
pub(super) fn scale_holder<'a>(snapshot: &'a Snapshot, owner: &'a Arc<Workload>) -> &'a Arc<Workload> {
    let is_deployment = |w: &Workload| &*w.kind == "Deployment" && matches!(&*w.group, "apps" | "extensions");
    let above = snapshot.controller_of(&owner.meta).filter(|d| is_deployment(d) && &*owner.kind == "ReplicaSet");
    above.unwrap_or(owner)
}

/// The version of a custom kind that the reference names, as it is defined.
fn definition_of<'a>(snapshot: &'a Snapshot, owner: &OwnerRef) -> Option<&'a CustomResourceDefinitionVersion> {
    let definition = snapshot.definitions.iter().find(|d| d.is_of(&owner.group, &owner.kind))?;
    definition.version(&owner.version)
}

fn has_scale(kind: Kind) -> bool {
    matches!(kind, Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet | Kind::ReplicationController)
}

/// The controller's words for a kind without the subresource.
fn no_subresource(snapshot: &Snapshot, owner: &OwnerRef) -> String {
    let known = match kinds::recognise(&owner.api_version(), &owner.kind) {
        Recognised::Known(kind) => Some(kind.info().plural.to_owned()),
        _ => snapshot
            .definitions
            .iter()
            .find(|d| d.is_of(&owner.group, &owner.kind))
            .and_then(|d| d.plural().map(str::to_owned)),
    };
    let plural = known.unwrap_or_else(|| format!("{}s", owner.kind.to_lowercase()));
    let resource = if owner.group.is_empty() { plural } else { format!("{plural}.{}", owner.group) };
    format!("{resource} does not implement the scale subresource")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Source;
    use crate::snapshot::builder::Builder;

    const SETS: &str = r#"{"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"namespace": "a", "name": "web", "uid": "u1"}, "spec": {"replicas": 4}},
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"namespace": "a", "name": "db", "uid": "u2"}, "spec": {"replicas": 2}}]}"#;

    #[test]
    fn owners_are_known_by_group_and_kind() {
        // What 1.36.3's controller answered to pods with these owner references.
        for (api_version, kind, name, uid, want) in [
            ("apps/v1", "ReplicaSet", "web", "u1", Some(4)),
            ("extensions/v1beta1", "ReplicaSet", "web", "u1", Some(4)),
            ("apps/v1", "StatefulSet", "db", "u2", Some(2)),
            ("apps/v1", "StatefulSet", "db", "other", None),
        ] {
            let mut builder = Builder::default();
            let sets: serde_json::Value = serde_json::from_str(SETS).unwrap();
            for item in sets["items"].as_array().unwrap() {
                builder.add_json(item.to_string().as_bytes()).unwrap();
            }
            let pod = serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "a", "name": "p",
                "ownerReferences": [{"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true}]}});
            builder.add_json(pod.to_string().as_bytes()).unwrap();
            let snapshot = builder.finish(Source::default(), None);
            let sum = expected(&snapshot, snapshot.pods.iter());
            assert_eq!(sum.ok().map(|e| e.count), want, "{api_version} {kind} {name} {uid}");
        }
    }
}
