//! The scheduler's turn.

use super::Simulation;
use super::pods::{PodId, SimPod, Stage};
use crate::admission::Verb;
use crate::sched::place::Placed;
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use std::cmp::Reverse;
use std::sync::Arc;

/// Seconds until a new node is Ready, as a guess: nothing in the API tells.
pub const NODE_STARTUP: i64 = 60;

/// So many pods that get new nodes are looked at together, as new nodes share their pool's limits.
const TOGETHER: usize = 30;

impl Simulation<'_> {
    /// Takes in a pod without a node.
    pub(super) fn wait_for_node(&mut self, id: PodId) {
        if !self.unscheduled.contains(&id) {
            self.unscheduled.push(id);
            self.changed = true;
        }
    }

    /// Places what can be placed: the most important pods first, then those that wait longest.
    pub(super) fn schedule(&mut self) {
        while std::mem::take(&mut self.changed) && !self.unscheduled.is_empty() {
            let mut queue = self.unscheduled.clone();
            queue.sort_by_key(|id| {
                let pod = self.pods.get(*id).map(|p| &p.pod);
                (Reverse(pod.map_or(0, |p| p.priority())), pod.and_then(|p| p.meta.creation_timestamp), *id)
            });
            for id in queue {
                let Some(sim) = self.pods.get(id).filter(|p| p.stage == Stage::Pending) else { continue };
                match self.place(sim) {
                    Placed::Nowhere if !self.new_node(id) => continue,
                    Placed::Nowhere => {}
                    Placed::On(_) | Placed::Preempting { .. } if self.is_not_bound(id) => continue,
                    Placed::On(node) => self.start(id, &node, 0),
                    Placed::Preempting { node, victims } => self.preempt(id, &node, victims),
                }
                self.unscheduled.retain(|waiting| *waiting != id);
            }
        }
    }

    fn place(&self, sim: &SimPod) -> Placed {
        let had = sim.replaces.and_then(|id| self.pods.get(id)).and_then(|old| old.pod.node.as_deref());
        self.context.scheduler.place(&self.state, &sim.pod, had)
    }

    /// Whether a webhook that would be asked about the binding does not answer; the reason is noted.
    fn is_not_bound(&mut self, id: PodId) -> bool {
        let pod = self.pods.get(id).map(|p| p.pod.clone());
        let why = pod.and_then(|pod| self.unanswered(Verb::Bind, &pod));
        if let Some(sim) = self.pods.get_mut(id) {
            sim.not_bound.clone_from(&why);
        }
        why.is_some()
    }

    /// No node that exists takes the pod: whether a new one could come for it, beside those that could come for others.
    fn new_node(&mut self, id: PodId) -> bool {
        let others = self.on_new_nodes.iter().rev().take(TOGETHER).rev();
        let pods: Vec<Arc<Pod>> = others.chain([&id]).filter_map(|id| Some(self.pods.get(*id)?.pod.clone())).collect();
        let Some(new) = self.context.new_nodes().for_last(&pods, &self.state) else { return false };
        let Some(sim) = self.pods.get_mut(id) else { return false };
        (sim.stage, sim.new_node, sim.not_bound) = (Stage::Bound, Some(new), None);
        self.on_new_nodes.push(id);
        self.ready_in(id, NODE_STARTUP);
        true
    }

    /// The scheduler's first sentence about a pod that fits nowhere.
    pub fn words(&self, pod: &Arc<Pod>) -> String {
        self.context.scheduler.words(&self.state, pod)
    }

    fn preempt(&mut self, id: PodId, node: &Str, victims: Vec<Arc<Pod>>) {
        let mut longest = 0;
        for victim in &victims {
            let grace = victim.spec.termination_grace.max(0);
            longest = longest.max(grace);
            let victim = self.enter(victim);
            let budgets = self.pods.get(victim).map(|p| p.budgets.clone()).unwrap_or_default();
            self.watch(&budgets);
            self.delete(victim, Some(grace));
        }
        if let Some(sim) = self.pods.get_mut(id) {
            sim.preempted = victims;
        }
        self.start(id, node, longest);
    }
}

#[cfg(test)]
mod tests {
    use crate::budget::Selection;
    use crate::drain::options::{After, DrainOptions};
    use crate::drain::outcome::{PodPlan, Replacement, Verdict};
    use crate::drain::{Request, plan};
    use crate::testing::{budget, cluster, deployment, node, object};
    use serde_json::{Value, json};

    /// A pool of nodes with 2 cpu, as Karpenter's kwok provider makes them.
    fn pool(spec: Value, ready: &str) -> crate::testing::Object {
        let template = json!({"spec": {
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
            "requirements": [{"key": "karpenter.kwok.sh/instance-cpu", "operator": "In", "values": ["2"]}],
        }});
        let pool = object("karpenter.sh/v1", "NodePool", "main").spec(json!({"template": template})).spec(spec);
        pool.condition("Ready", ready, "Ready")
    }

    #[test]
    fn a_replacement_that_only_a_new_node_takes_waits_for_it() {
        let taint = json!({"template": {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}});
        let down = || deployment("kube-system/karpenter").replicas(0);
        for (title, spec, ready, requests, karpenter, want) in [
            ("a pool that is Ready", json!({}), "True", "1", None, Some(2)),
            ("two new nodes", json!({}), "True", "1500m", None, Some(2)),
            (
                "one node more is allowed, and holds both",
                json!({"limits": {"nodes": "1"}}),
                "True",
                "500m",
                None,
                Some(2),
            ),
            (
                "one node more is allowed, and two are needed: the first of them lets the second pod be evicted",
                json!({"limits": {"nodes": "1"}}),
                "True",
                "1500m",
                None,
                Some(1),
            ),
            ("too large for its instance types", json!({}), "True", "3", None, None),
            ("its limits are used up", json!({"limits": {"cpu": "1"}}), "True", "1", None, None),
            ("a pool that is not Ready", json!({}), "False", "1", None, None),
            ("its taint is not tolerated", taint, "True", "1", None, None),
            ("Karpenter is scaled to 0", json!({}), "True", "1", Some(down()), None),
        ] {
            let container = json!({"name": "c", "resources": {"requests": {"cpu": requests}}});
            let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}});
            let web = deployment("shop/web").on(&["n1", "n1"]).spec(json!({"template": template}));
            let web = web.pods(|_, p| p.requests("cpu", requests));
            let mut world = cluster()
                .add(node("n1").allocatable("cpu", "8"))
                .add(pool(spec, ready))
                .add(web)
                .add(budget("shop/web").selects("app=web").max_unavailable(1).allows(1));
            world = karpenter.into_iter().fold(world, crate::testing::Cluster::add);
            let snapshot = world.snapshot();
            let request = Request {
                nodes: snapshot.nodes.iter().cloned().collect(),
                each_alone: false,
                options: DrainOptions::default(),
                after: After::Back,
            };
            let plan = plan(&snapshot, &Selection::new(&snapshot), &request);
            let (n1, pods) = (&plan.nodes[0], &plan.nodes[0].pods);
            let on_new =
                |p: &&PodPlan| matches!(&p.replacement, Some(Replacement::OnNewNode(new)) if &*new.pool == "main");
            let on_new = pods.iter().filter(on_new).count();
            let verdict = if want.is_some() { Verdict::Waits } else { Verdict::Blocked };
            assert_eq!((n1.verdict, on_new), (verdict, want.unwrap_or(0)), "{title}: {pods:#?}");
        }
    }
}
