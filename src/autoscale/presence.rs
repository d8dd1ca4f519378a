//! Whether an autoscaler runs: its Deployment and its pods are looked at. One that runs outside the cluster (in the
//! control plane of a cloud) has neither, and is not seen.

use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Kind, Snapshot};
use std::sync::Arc;

/// Whether an autoscaler runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// A pod of it is Ready.
    Running,
    /// It is there and does not run; why, in words that follow its name.
    Down(String),
    /// Nothing of it is seen.
    Unseen,
}

/// An autoscaler, known by what its Deployment is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Autoscaler {
    /// Karpenter.
    Karpenter,
    /// The Cluster Autoscaler.
    ClusterAutoscaler,
}

impl Autoscaler {
    /// Its name in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Karpenter => "Karpenter",
            Self::ClusterAutoscaler => "the Cluster Autoscaler",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Karpenter => "karpenter",
            Self::ClusterAutoscaler => "cluster-autoscaler",
        }
    }

    /// Whether it runs.
    pub fn presence(self, snapshot: &Snapshot) -> Presence {
        let deployments = snapshot.workloads.iter().filter(|w| &*w.kind == "Deployment" && self.is_of(w));
        let judged: Vec<Presence> = deployments.map(|w| of_deployment(w, snapshot)).collect();
        let down = judged.iter().find(|p| matches!(p, Presence::Down(_)));
        match judged.iter().find(|p| **p == Presence::Running).or(down) {
            Some(found) => found.clone(),
            // The Deployment may be missing from a file that has its pods.
            None if snapshot.pods.iter().any(|p| self.has_label(&p.meta.labels) && p.is_ready()) => Presence::Running,
            None => Presence::Unseen,
        }
    }

    /// Its Deployment, where that is seen.
    pub fn deployment(self, snapshot: &Snapshot) -> Option<&Arc<Workload>> {
        snapshot.workloads.iter().find(|w| &*w.kind == "Deployment" && self.is_of(w))
    }

    fn is_of(self, w: &Workload) -> bool {
        let word = self.word();
        let named = match self {
            Self::Karpenter => &*w.meta.name == word,
            // Charts put the cloud before it and the release behind it.
            Self::ClusterAutoscaler => w.meta.name.contains(word),
        };
        let image = || {
            let containers = w.template.iter().flat_map(|t| &t.spec.containers);
            containers.into_iter().any(|c| c.image.contains(&format!("/{word}")))
        };
        named || self.has_label(&w.meta.labels) || image()
    }

    fn has_label(self, labels: &crate::snapshot::Map) -> bool {
        let keys = ["app.kubernetes.io/name", "app", "k8s-app"];
        let says = |value: &str| match self {
            Self::Karpenter => value == self.word(),
            Self::ClusterAutoscaler => value.ends_with(self.word()),
        };
        keys.iter().any(|k| labels.get(k).is_some_and(|v| says(v)))
    }
}

fn of_deployment(w: &Workload, snapshot: &Snapshot) -> Presence {
    let name = format!("Deployment {}", w.meta.path());
    if w.replicas() == Some(0) {
        return Presence::Down(format!("{name} is scaled to 0"));
    }
    if !snapshot.coverage.has(Kind::Pod) {
        return Presence::Unseen;
    }
    let in_namespace = snapshot.pods.in_namespace(w.meta.ns()).iter();
    let mut pods: Vec<&Arc<Pod>> = in_namespace.filter(|p| w.selector.matches(&p.meta.labels)).collect();
    if pods.iter().any(|p| p.is_ready() && !p.is_terminating()) {
        return Presence::Running;
    }
    pods.retain(|p| !p.is_finished());
    Presence::Down(match pods.first() {
        Some(pod) => format!("{name} has no Ready pod ({} is {})", pod.meta.name, pod.status.phase.as_str()),
        None => format!("{name} has no pod"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, deployment};

    #[test]
    fn an_autoscaler_runs_where_a_pod_of_it_is_ready() {
        let named = |name: &str| deployment(&format!("kube-system/{name}"));
        let selecting = |w: crate::testing::Workload, name: &str| {
            w.spec(serde_json::json!({"selector": {"matchLabels": {"app": name}}}))
        };
        let ready = selecting(named("karpenter").on(&["n1"]), "karpenter");
        let crashing = ready.clone().pods(|_, p| p.crashing());
        for (title, w, want) in [
            ("ready", ready, Presence::Running),
            (
                "crashing",
                crashing,
                Presence::Down(
                    "Deployment kube-system/karpenter has no Ready pod (karpenter-1-0 is Running)".to_owned(),
                ),
            ),
            (
                "scaled to 0",
                named("karpenter").replicas(0),
                Presence::Down("Deployment kube-system/karpenter is scaled to 0".to_owned()),
            ),
            ("another", named("karpenter-exporter"), Presence::Unseen),
        ] {
            let snapshot = cluster().add(w).snapshot();
            assert_eq!(Autoscaler::Karpenter.presence(&snapshot), want, "{title}");
        }
        let of_cloud = selecting(named("x-aws-cluster-autoscaler").on(&["n1"]), "x-aws-cluster-autoscaler");
        let snapshot = cluster().add(of_cloud).snapshot();
        assert_eq!(Autoscaler::ClusterAutoscaler.presence(&snapshot), Presence::Running);
    }
}
