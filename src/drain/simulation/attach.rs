//! Volumes of new pods: one that another node has attached is waited for.

use super::Simulation;
use super::pods::{PodId, SimPod, Stage};
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::sync::Arc;

impl Simulation<'_> {
    /// Why a pod cannot start on its node for now, in words: another pod uses its volume on another node.
    pub(super) fn attached_elsewhere(&self, id: PodId) -> Option<String> {
        let sim = self.pods.get(id)?;
        let holds = |p: &SimPod| matches!(p.stage, Stage::Bound | Stage::Terminating) && !p.pod.is_finished();
        let node_of = |pod: &Arc<Pod>| match self.known(pod) {
            Some(known) => known.node().filter(|_| holds(known)).cloned(),
            None => pod.node.clone(),
        };
        for (key, users) in self.context.single_attach(&sim.pod) {
            let here = users.iter().filter(|p| !Arc::ptr_eq(p, &sim.pod)).map(|p| (p, node_of(p)));
            let new = self.claim_users.get(key).into_iter().flatten().filter(|other| **other != id);
            let new =
                new.filter_map(|other| self.pods.get(*other)).filter(|p| holds(p)).map(|p| (&p.pod, p.node().cloned()));
            let elsewhere = |on: &Option<Str>| on.is_some() && *on != sim.node;
            if let Some((user, Some(on))) = here.chain(new).find(|(_, on)| elsewhere(on)) {
                return Some(format!(
                    "the volume of claim {} can be attached to one node alone, and {} uses it on {on}",
                    key.1, user.meta.name
                ));
            }
        }
        None
    }

    /// The pod uses its volumes now.
    pub(super) fn uses_volumes(&mut self, id: PodId) {
        let Some(pod) = self.pods.get(id).map(|p| p.pod.clone()) else { return };
        for (key, _) in self.context.single_attach(&pod) {
            self.claim_users.entry(key.clone()).or_default().push(id);
        }
    }

    /// What waited for a volume may have it now.
    pub(super) fn attach_again(&mut self) {
        let waiting: Vec<PodId> = self.attaching.iter().copied().collect();
        for id in waiting {
            let still = self.pods.get(id).is_some_and(|p| p.stage == Stage::Bound);
            let why = self.attached_elsewhere(id).filter(|_| still);
            let attached = why.is_none();
            if let Some(sim) = self.pods.get_mut(id) {
                sim.not_attached = why;
            }
            if attached {
                self.attaching.remove(&id);
                if still {
                    self.ready_in(id, 0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::budget::Selection;
    use crate::drain::options::{After, DrainOptions};
    use crate::drain::outcome::{Outcome, Verdict};
    use crate::drain::{NodePlan, Request, plan};
    use crate::finding::Code;
    use crate::testing::{Cluster, Object, budget, cluster, deployment, node, object, stateful_set};
    use serde_json::{Value, json};

    /// A claim `data` of a volume with this source.
    fn disk(mode: &str, source: &Value) -> [Object; 2] {
        let claim =
            object("v1", "PersistentVolumeClaim", "a/data").spec(json!({"accessModes": [mode], "volumeName": "pv"}));
        let volume = object("v1", "PersistentVolume", "pv").spec(json!({"accessModes": [mode]})).spec(source.clone());
        [claim.with(json!({"status": {"phase": "Bound"}})), volume]
    }

    fn csi() -> Value {
        json!({"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "v"}})
    }

    fn uses(p: Object) -> Object {
        p.spec(json!({"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]}))
    }

    /// What the drain of node n1 comes to; n2 is free.
    fn drain(world: &Cluster) -> NodePlan {
        let snapshot = world.snapshot();
        let nodes = vec![snapshot.nodes.named("", "n1").expect("node n1").clone()];
        let request = Request { nodes, each_alone: false, options: DrainOptions::default(), after: After::Back };
        let planned = plan(&snapshot, &Selection::new(&snapshot), &request);
        planned.nodes.into_iter().next().expect("one node")
    }

    fn two_nodes() -> Cluster {
        cluster().all([node("n1"), node("n2")])
    }

    #[test]
    fn two_pods_of_one_disk_hold_each_other() {
        // The new pod of the first one is in ContainerCreating on n2 for as long as the second one uses the disk on n1.
        let unattached =
            object("storage.k8s.io/v1", "CSIDriver", "ebs.csi.aws.com").spec(json!({"attachRequired": false}));
        for (title, mode, source, driver, on, want) in [
            ("a disk", "ReadWriteOnce", csi(), None, ["n1", "n1"], Verdict::Blocked),
            (
                "a disk of the cloud",
                "ReadWriteOnce",
                json!({"awsElasticBlockStore": {"volumeID": "v"}}),
                None,
                ["n1", "n1"],
                Verdict::Blocked,
            ),
            ("shared", "ReadWriteMany", csi(), None, ["n1", "n1"], Verdict::Waits),
            ("a driver without attachments", "ReadWriteOnce", csi(), Some(unattached), ["n1", "n1"], Verdict::Waits),
            (
                "a share",
                "ReadWriteOnce",
                json!({"nfs": {"server": "s", "path": "/"}}),
                None,
                ["n1", "n1"],
                Verdict::Waits,
            ),
        ] {
            let web = deployment("a/web").on(&on).pods(|_, p| uses(p));
            let world = two_nodes().all(disk(mode, &source)).all(driver).add(web);
            let plan = drain(&world.add(budget("a/web").selects("app=web").max_unavailable(1).allows(1)));
            assert_eq!(plan.verdict, want, "{title}: {:#?}", plan.findings);
            if want == Verdict::Blocked {
                let held =
                    "whose replacement cannot start: the volume of claim data can be attached to one node alone, and";
                assert!(plan.findings[0].message.contains(held), "{title}: {}", plan.findings[0].message);
            }
        }
    }

    #[test]
    fn what_starts_a_second_pod_beside_the_only_one_is_no_way_out() {
        // A rollout's new pod and a second replica both need the disk on another node.
        for (mode, makes_more) in [("ReadWriteOnce", false), ("ReadWriteMany", true)] {
            let web = deployment("a/web").on(&["n1"]).pods(|_, p| uses(p));
            let world = two_nodes().all(disk(mode, &csi())).add(web);
            let plan = drain(&world.add(budget("a/web").selects("app=web").min_available(1)));
            let remedies: Vec<&str> = plan.findings.iter().flat_map(|f| &f.remedies).map(|r| &*r.text).collect();
            let more = remedies.iter().any(|t| t.contains("restart Deployment") || t.contains("run 2 replicas"));
            assert_eq!(more, makes_more, "{mode}: {remedies:#?}");
            assert!(remedies.iter().any(|t| t.contains("set maxUnavailable 1")), "{mode}: {remedies:#?}");
        }
    }

    #[test]
    fn the_new_pod_has_the_disk_once_the_old_one_is_gone() {
        let set = stateful_set("a/web").on(&["n1"]).pods(|_, p| uses(p));
        for (title, world) in [
            ("a Deployment", two_nodes().add(deployment("a/web").on(&["n1"]).pods(|_, p| uses(p)))),
            ("a StatefulSet", two_nodes().add(set)),
        ] {
            let plan = drain(&world.all(disk("ReadWriteOnce", &csi())).add(budget("a/x").selects("app=x")));
            assert_eq!((plan.verdict, plan.pods[0].outcome), (Verdict::Drains, Outcome::Gone), "{title}");
            assert!(plan.findings.iter().all(|f| f.code != Code::VolumeAttach), "{title}: {:#?}", plan.findings);
        }
    }
}
