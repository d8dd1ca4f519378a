//! Components of a cluster that something waits for (an agent, a provisioner, a queue's controller): their pods, found by
//! the names that installations give them, and whether these run.

use crate::finding::Ref;
use crate::lists::some;
use crate::snapshot::pod::Pod;
use crate::snapshot::pod_state::why_not_ready;
use crate::snapshot::{Snapshot, Str};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Labels by which installations say what a pod is of.
pub(super) const LABELS: [&str; 6] =
    ["app.kubernetes.io/name", "app.kubernetes.io/component", "k8s-app", "app", "name", "component"];

/// Finds components.
pub struct Components<'a> {
    snapshot: &'a Snapshot,
    /// Positions of pods by each name that they bear; made when it is first asked for.
    by_name: OnceCell<BTreeMap<Str, Vec<u32>>>,
}

/// The pods of a component.
#[derive(Debug, Clone, Default)]
pub struct Component<'a> {
    /// Its pods that have not ended.
    pub pods: Vec<&'a Arc<Pod>>,
}

impl<'a> Components<'a> {
    /// Those of a snapshot.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self { snapshot, by_name: OnceCell::new() }
    }

    /// The pods that bear one of these names: as the value of a usual label, or by their controller.
    pub fn named(&self, names: &[&str]) -> Component<'a> {
        self.such(|name| names.contains(&name))
    }

    /// The pods that bear a name in which one of these words occurs.
    pub fn containing(&self, words: &[&str]) -> Component<'a> {
        self.such(|name| words.iter().any(|w| name.contains(w)))
    }

    fn such(&self, wanted: impl Fn(&str) -> bool) -> Component<'a> {
        let index = self.by_name.get_or_init(|| index(self.snapshot));
        let found: BTreeSet<u32> = index.iter().filter(|(n, _)| wanted(n)).flat_map(|(_, at)| at).copied().collect();
        Component { pods: found.iter().filter_map(|at| self.snapshot.pods.get(*at as usize)).collect() }
    }
}

fn index(snapshot: &Snapshot) -> BTreeMap<Str, Vec<u32>> {
    let mut names: BTreeMap<Str, Vec<u32>> = BTreeMap::new();
    for (at, pod) in (0u32..).zip(snapshot.pods.iter()).filter(|(_, p)| !p.is_finished()) {
        let labels = LABELS.iter().filter_map(|l| pod.meta.labels.get(l)).cloned();
        for name in labels.chain(controller(pod)) {
            let known = names.entry(name).or_default();
            if known.last() != Some(&at) {
                known.push(at);
            }
        }
    }
    names
}

/// The controller's name, without the hash of a ReplicaSet.
pub(super) fn controller(pod: &Pod) -> Option<Str> {
    let owner = pod.meta.controller.as_ref()?;
    let hash = pod.meta.labels.get("pod-template-hash").map(|h| format!("-{h}"));
    let name = hash.and_then(|h| owner.name.strip_suffix(&*h));
    Some(name.map_or_else(|| owner.name.clone(), Str::from))
}

impl<'a> Component<'a> {
    /// Those of its pods that are for a node.
    pub fn on(&self, node: &str) -> Self {
        Self { pods: self.pods.iter().filter(|p| p.node.as_deref() == Some(node)).copied().collect() }
    }

    /// Whether some pod of it is Ready.
    pub fn runs(&self) -> bool {
        self.pods.iter().any(|p| p.is_ready() && !p.is_terminating())
    }

    /// Whether its pods run, in words that follow its name: `runs (kube-system/x)`, `has no pod`, `does not run: …`.
    pub fn words(&self, snapshot: &Snapshot) -> String {
        if self.pods.is_empty() {
            return "has no pod".to_owned();
        }
        let (ready, not): (Vec<&Arc<Pod>>, Vec<&Arc<Pod>>) =
            self.pods.iter().partition(|p| p.is_ready() && !p.is_terminating());
        if !ready.is_empty() {
            return format!("runs ({})", some(ready.iter().map(|p| p.meta.path()), 2));
        }
        let each = not.iter().map(|p| {
            let why = why_not_ready(snapshot, p).map(|w| format!(" is not Ready: {}", w.text));
            format!("{}{}", p.meta.path(), why.unwrap_or_default())
        });
        format!("does not run: {}", some(each, 2))
    }

    /// References to up to `most` of its pods.
    pub fn refs(&self, most: usize) -> impl Iterator<Item = Ref> + use<'_, 'a> {
        self.pods.iter().take(most).map(|p| Ref::pod(p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, deployment, pod};

    #[test]
    fn components_are_known_by_labels_and_controllers() {
        let snapshot = cluster()
            .add(pod("kube-system/cilium-x").label("k8s-app", "cilium").on("n1").crashing())
            .add(pod("kube-system/cilium-y").label("k8s-app", "cilium").on("n2").ready())
            .add(deployment("kueue/kueue-controller-manager").on(&["n1"]))
            .add(pod("shop/web"))
            .snapshot();
        let all = Components::new(&snapshot);
        for (component, pods, runs, words) in [
            (all.named(&["cilium"]), 2, true, "runs (kube-system/cilium-y)"),
            (
                all.named(&["cilium"]).on("n1"),
                1,
                false,
                "does not run: kube-system/cilium-x is not Ready: container c: CrashLoopBackOff, 9 restarts",
            ),
            (all.named(&["cilium"]).on("n3"), 0, false, "has no pod"),
            (all.containing(&["kueue"]), 1, true, "runs (kueue/kueue-controller-manager-1-0)"),
            (all.named(&["web"]), 0, false, "has no pod"),
        ] {
            assert_eq!((component.pods.len(), component.runs(), &*component.words(&snapshot)), (pods, runs, words));
        }
    }
}
