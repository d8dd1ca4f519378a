//! The pods that DaemonSets will put on a node, which a new node must have room for, too. Mirrors `getDaemonSetPods`
//! (`provisioning/provisioner.go`), `buildDaemonOverheadGroups` and `isDaemonPodCompatible` (`scheduling/scheduler.go`).

use super::labels::Provider;
use super::node_pool::NodePool;
use super::relax::{drop_required_term, tolerate_prefer_no_schedule};
use super::requirements::{Requirements, of_pod};
use super::taints::untolerated;
use crate::sched::resources::{Of, Sums, requests};
use crate::snapshot::node::Taint;
use crate::snapshot::pod::{Container, Pod, PodStatus};
use crate::snapshot::quantity::{Amounts, Quantity};
use crate::snapshot::workload::Workload;
use crate::snapshot::{Map, Snapshot, Str};
use std::sync::Arc;

/// A pod such as a DaemonSet makes.
#[derive(Debug, Clone)]
pub struct Daemon {
    /// The pod.
    pub pod: Pod,
    /// What it asks, itself counted as one pod.
    pub requests: Sums,
}

/// What pods of a kind ask together.
pub fn together<'a>(pods: impl Iterator<Item = &'a Sums>) -> Sums {
    let mut all = Sums::default();
    pods.for_each(|p| all.add_all(p));
    all
}

/// What a pod asks, itself counted as one pod. Mirrors `resources.RequestsForPods`.
pub fn asked(pod: &Pod, minor: u32) -> Sums {
    let mut all = requests(pod, Of::Running, minor);
    all.add(&"pods".into(), Quantity::units(1));
    all
}

impl Daemon {
    /// One for each DaemonSet.
    pub fn all(snapshot: &Snapshot) -> Vec<Self> {
        let sets = snapshot.workloads.iter().filter(|w| &*w.kind == "DaemonSet");
        sets.filter_map(|w| Self::of(w, snapshot)).collect()
    }

    /// Its newest pod, as admission may have changed it, or what its template says; its node affinity is always the
    /// template's.
    fn of(set: &Workload, snapshot: &Snapshot) -> Option<Self> {
        let template = set.template.as_ref();
        let uid = set.meta.uid.as_deref().unwrap_or_default();
        let newest = snapshot.pods_of(uid).max_by_key(|p| p.meta.creation_timestamp).map(|p| (**p).clone());
        let made = || {
            let template = template?;
            let mut spec = (*template.spec).clone();
            spec.containers.iter_mut().chain(&mut spec.init_containers).for_each(limits_are_requests);
            let mut meta = template.meta.clone();
            meta.name = set.meta.name.clone();
            meta.namespace.clone_from(&set.meta.namespace);
            Some(Pod {
                meta,
                spec: Arc::new(spec),
                volumes: template.volumes.clone(),
                node: None,
                status: PodStatus::default(),
            })
        };
        let mut pod = newest.or_else(made)?;
        let spec = Arc::make_mut(&mut pod.spec);
        if let Some(affinity) = template.and_then(|t| t.spec.node_affinity.as_ref()) {
            spec.node_affinity = Some(affinity.clone());
        }
        tolerate_prefer_no_schedule(spec);
        Some(Self { requests: asked(&pod, snapshot.minor()), pod })
    }

    /// Whether it comes to nodes of a pool that are made of a type with these requirements. An alternative of its
    /// affinity that does not fit is given up for good, as upstream gives it up.
    pub fn comes_to(&mut self, pool: &NodePool, of_type: &Requirements) -> bool {
        if untolerated(&pool.taints, &self.pod).is_some() {
            return false;
        }
        loop {
            let asked = of_pod(&self.pod.spec, false, pool.provider);
            let open = |key: &str| pool.provider.is_well_known(key);
            if pool.labels.compatible(&asked, open) && of_type.intersects(&asked) {
                return true;
            }
            if !drop_required_term(Arc::make_mut(&mut self.pod.spec)) {
                return false;
            }
        }
    }

    /// Whether it comes to a node that is there.
    pub fn comes_to_node(&self, labels: &Map, taints: &[Taint], provider: Provider) -> bool {
        untolerated(taints, &self.pod).is_none() && of_pod(&self.pod.spec, false, provider).met_by(labels, provider)
    }
}

/// In a template a limit is not yet a request, as it is in a pod.
fn limits_are_requests(c: &mut Container) {
    let requested = c.resources.requests.iter().map(|(n, q)| (n.clone(), q));
    let limited = c.resources.limits.iter().filter(|(n, _)| c.resources.requests.get(n).is_none());
    let all: Vec<(Str, Quantity)> = requested.chain(limited.map(|(n, q)| (n.clone(), q))).collect();
    c.resources.requests = all.into_iter().collect::<Amounts>();
}
