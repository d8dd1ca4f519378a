//! Pods that do not exist yet: how many of what a manifest describes would fit, on which nodes, and what stops the next.

use super::admission;
use super::amounts;
use super::context::Context;
use super::controllers::controller::pod_of;
use super::controllers::daemon_set;
use super::item::{Item, Placement, Subject};
use super::report::{explained, gated};
use super::stage::Stage;
use crate::autoscale::Outlook;
use crate::finding::{Code, Finding};
use crate::sched::State;
use crate::sched::place::Placed;
use crate::snapshot::keep::{Keep, Reader};
use crate::snapshot::node::Node;
use crate::snapshot::pod::{Pod, VolumeSource};
use crate::snapshot::workload::{Detail, Workload};
use crate::snapshot::{Snapshot, Str};
use crate::wire::quantity::Quantity;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What of the manifests would run. `replicas` replaces the number that a manifest states; `namespace` is that of objects
/// which name none. With the answer comes the state in which all that fits is placed.
pub fn planned(
    manifests: &Snapshot,
    snapshot: &Snapshot,
    replicas: Option<usize>,
    namespace: &str,
) -> (Vec<Item>, State) {
    let mut cluster = snapshot.clone();
    for c in manifests.persistent_volume_claims.iter() {
        let mut claim = (**c).clone();
        claim.meta.namespace.get_or_insert_with(|| namespace.into());
        cluster.persistent_volume_claims.put(Arc::new(claim));
    }
    // Pods first: what they take is not there for the workloads that follow.
    let mut all: Vec<(Subject, Wanted)> = Vec::new();
    for pod in manifests.pods.iter() {
        let pod = admitted(pod, namespace, &cluster);
        all.push((Subject::Pod(pod.clone()), Wanted { count: 1, pods: vec![pod] }));
    }
    for w in manifests.workloads.iter() {
        let mut workload = (**w).clone();
        workload.meta.namespace.get_or_insert_with(|| namespace.into());
        if let Some(wanted) = pods_wanted(&workload, replicas, &mut cluster) {
            all.push((Subject::Workload(Arc::new(workload)), wanted));
        }
    }
    let cx = Context::new(&cluster);
    let mut state = State::new(&cluster);
    let items = all.into_iter().map(|(subject, wanted)| place(subject, &wanted, &mut state, &cx)).collect();
    (items, state)
}

/// The pods that a manifest asks for.
pub struct Wanted {
    /// How many.
    pub count: usize,
    /// The first of them: all, or more than the cluster has room for.
    pub pods: Vec<Arc<Pod>>,
}

/// A kubelet runs some hundred pods; a node that says it has room for more is believed up to here.
const MOST_ON_A_NODE: i64 = 1000;

/// How many pods the nodes have room for, whatever the pods request.
fn pod_slots(cluster: &Snapshot) -> usize {
    let slots = |n: &Arc<Node>| n.allocatable.get("pods").map_or(0, Quantity::value).clamp(0, MOST_ON_A_NODE);
    usize::try_from(cluster.nodes.iter().map(slots).sum::<i64>()).unwrap_or(usize::MAX)
}

/// Puts pods one after the other, until one does not fit.
fn place(subject: Subject, wanted: &Wanted, state: &mut State, cx: &Context<'_>) -> Item {
    let pods = &wanted.pods;
    let mut nodes: BTreeMap<Str, usize> = BTreeMap::new();
    let mut item = Item {
        owner: None,
        stage: Stage::NotCreated,
        asks: pods.first().map(|p| amounts::asks(p)).unwrap_or_default(),
        missing: 0,
        placement: None,
        scheduling: None,
        turn: None,
        findings: Vec::new(),
        subject,
    };
    let mut placed = 0;
    for pod in pods {
        item.findings = admission::refusals(pod, state.snapshot());
        if !pod.spec.scheduling_gates.is_empty() {
            item.findings.push(gated(pod, cx));
        }
        if !item.findings.is_empty() {
            break;
        }
        match state.place(pod) {
            Placed::On(node) => {
                state.bind(pod, &node);
                *nodes.entry(node).or_default() += 1;
                placed += 1;
            }
            Placed::Preempting { .. } | Placed::Nowhere => {
                let (scheduling, findings) = explained(pod, None, state, &Outlook::new(state), cx, true);
                item.findings = findings;
                item.scheduling = Some(scheduling);
                break;
            }
        }
    }
    if placed == pods.len() {
        let on = super::facts::some(nodes.keys());
        let text = if placed == wanted.count {
            format!("all {placed} would fit, likely on {on}")
        } else {
            format!("at least {placed} of {} would fit, likely on {on}; no more were tried", wanted.count)
        };
        item.findings.push(Finding::new(Code::FitsNow, text));
    }
    item.missing = wanted.count - placed;
    item.placement = Some(Placement { wanted: wanted.count, placed, nodes: nodes.into_iter().collect() });
    item
}

/// The pods that a workload of a manifest would make. The claims of a StatefulSet's pods are added to the cluster.
pub fn pods_wanted(w: &Workload, replicas: Option<usize>, cluster: &mut Snapshot) -> Option<Wanted> {
    let template = w.template.as_ref()?;
    let mut one = pod_of(w, template);
    let hash: (Str, Str) = ("pod-template-hash".into(), "new".into());
    if matches!(w.detail, Detail::Deployment(_) | Detail::ReplicaSet(_)) {
        one.meta.labels = one.meta.labels.with(&hash.0, &hash.1);
    }
    let ns = w.meta.ns().to_owned();
    if let Detail::DaemonSet(_) = w.detail {
        let tolerant = daemon_set::with_daemon_tolerations(&one);
        let nodes = cluster.nodes.iter().filter(|n| daemon_set::should_run(&tolerant, n));
        let pods = nodes.map(|n| Arc::new(daemon_set::for_node(&one, &n.meta.name)));
        let pods: Vec<Arc<Pod>> = pods.map(|p| admitted(&p, &ns, cluster)).collect();
        return Some(Wanted { count: pods.len(), pods });
    }
    let stated = match &w.detail {
        Detail::Job(d) => d.0.parallelism.unwrap_or(1).min(d.0.completions.unwrap_or(i32::MAX)),
        _ => w.replicas().unwrap_or(1),
    };
    let count = replicas.unwrap_or(usize::try_from(stated).unwrap_or(0));
    let first = match &w.detail {
        Detail::StatefulSet(d) => i64::from(d.0.first_ordinal()),
        _ => 0,
    };
    let mut pods = Vec::new();
    // The first that has no room tells of all that follow.
    for at in 0..count.min(pod_slots(cluster).saturating_add(1)) {
        let mut pod = one.clone();
        let at = i64::try_from(at).unwrap_or(i64::MAX).saturating_add(first);
        pod.meta.name = format!("{}-{at}", w.meta.name).into();
        if let Detail::StatefulSet(d) = &w.detail {
            for claim in &d.0.volume_claim_templates {
                let Ok(mut object) = claim.clone().keep(&mut Reader::default()) else { continue };
                let volume = object.meta.name.clone();
                object.meta.namespace = Some(ns.as_str().into());
                object.meta.name = format!("{volume}-{}", pod.meta.name).into();
                let source = VolumeSource::Claim { name: object.meta.name.clone(), read_only: false };
                Arc::make_mut(&mut pod.volumes).push(crate::snapshot::pod::Volume { name: volume, source });
                if cluster.persistent_volume_claims.named(&ns, &object.meta.name).is_none() {
                    cluster.persistent_volume_claims.put(Arc::new(object));
                }
            }
        }
        pods.push(admitted(&Arc::new(pod), &ns, cluster));
    }
    Some(Wanted { count, pods })
}

/// The pod as the API server would keep it: with its namespace and its priority.
pub fn admitted(pod: &Arc<Pod>, namespace: &str, cluster: &Snapshot) -> Arc<Pod> {
    let mut pod = (**pod).clone();
    pod.meta.namespace.get_or_insert_with(|| namespace.into());
    pod.meta.controller = None;
    pod.status = crate::snapshot::pod::PodStatus::default();
    let spec = Arc::make_mut(&mut pod.spec);
    let class = match &spec.priority_class {
        Some(name) => cluster.priority_classes.named("", name).cloned(),
        None => cluster.priority_classes.iter().find(|c| c.global_default).cloned(),
    };
    if let Some(class) = class {
        spec.priority = class.value;
        spec.priority_class = Some(class.meta.name.clone());
        if spec.preemption_policy.is_none() {
            spec.preemption_policy = class.preemption_policy.as_deref().map(Str::from);
        }
    }
    // Kubernetes' own two classes are always there.
    match spec.priority_class.as_deref() {
        Some("system-node-critical") => spec.priority = Some(2_000_001_000),
        Some("system-cluster-critical") => spec.priority = Some(2_000_000_000),
        _ => {}
    }
    Arc::new(admission::with_defaults(&pod, cluster))
}
