//! What becomes of each node. Mirrors `FilterOutUnremovable` (`core/scaledown/eligibility`), `GetScaleDownCandidates`
//! (`processors/nodes/pre_filtering_processor.go`), `SimulateNodeRemoval` (`simulator/cluster.go`), `NodesToDelete`
//! (`core/scaledown/planner`) and the cooldown in `core/static_autoscaler.go`.

use super::drainability::{self, Drainable};
use super::groups::{self, Groups};
use super::place::{self, TO_BE_DELETED};
use super::settings::{self, Settings};
use super::{Blocks, Fate, Keeps, utilization};
use crate::budget::selection::Selection;
use crate::sched::State;
use crate::snapshot::Str;
use crate::snapshot::node::Node;
use crate::snapshot::pod::Pod;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

const DISABLED: &str = "cluster-autoscaler.kubernetes.io/scale-down-disabled";

/// What the Cluster Autoscaler does with the nodes of a cluster as it is.
#[derive(Debug)]
pub struct ScaleDown<'a> {
    state: &'a State,
    selection: Selection,
    groups: Groups,
    settings: Settings,
    /// What keeps every node, once it is asked for.
    scale_up: OnceLock<Option<Keeps>>,
}

impl<'a> ScaleDown<'a> {
    /// That of a state, with the sizes of groups as the autoscaler reports them; where it does not, those that its flags
    /// name are counted.
    pub fn new(state: &'a State, groups: Groups) -> Self {
        let settings = Settings::new(state.snapshot());
        let groups = if groups.is_empty() { Groups::counted(&settings.groups, state.snapshot()) } else { groups };
        Self { state, selection: Selection::new(state.snapshot()), groups, settings, scale_up: OnceLock::new() }
    }

    /// Whether the sizes of groups are known.
    pub fn knows_sizes(&self) -> bool {
        !self.groups.is_empty()
    }

    /// How the autoscaler is set.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What becomes of a node; `None` where there is no such node.
    pub fn of(&self, node: &str) -> Option<Fate> {
        let snapshot = self.state.snapshot();
        let node = snapshot.nodes.named("", node)?;
        if node.taints.iter().any(|t| &*t.key == TO_BE_DELETED) {
            return Some(Fate::Going);
        }
        let mut keeps = Vec::new();
        if !self.settings.is_on(settings::SCALE_DOWN_ENABLED) {
            keeps.push(Keeps::Disabled);
        }
        if !groups::has_group(node) {
            keeps.push(Keeps::NoGroup);
        }
        // A group that must not shrink is not looked at any further by the autoscaler; here all is said.
        if let Some((group, size)) = self.groups.of(node).filter(|(_, size)| size.now <= size.least) {
            keeps.push(Keeps::MinSize(group.clone(), size.now, size.least));
        }
        if node.meta.annotations.get(DISABLED).is_some_and(|v| &**v == "true") {
            keeps.push(Keeps::Annotation);
        }
        if !self.settings.is_on(settings::UNREADY_ENABLED) && !node.is_ready() {
            keeps.push(Keeps::Unready);
        }
        keeps.extend(utilization::of_node(node, snapshot, &self.settings));
        let (pods, of_pods) = self.pods(&node.meta.name);
        let is_blocked = of_pods.iter().any(|k| matches!(k, Keeps::Pod(..)));
        let (blocks, waits): (Vec<Keeps>, Vec<Keeps>) = of_pods.into_iter().partition(|k| matches!(k, Keeps::Pod(..)));
        keeps.extend(blocks);
        if !is_blocked {
            keeps.extend(place::nowhere(&node.meta.name, &pods, self.state));
        }
        keeps.extend(waits);
        if !keeps.contains(&Keeps::NoGroup) {
            keeps.extend(self.scale_up().cloned());
        }
        Some(if keeps.is_empty() { Fate::Removed(self.stuck(&pods)) } else { Fate::Kept(keeps) })
    }

    /// The pods of a node that move, and what its pods have against that.
    fn pods(&self, node: &str) -> (Vec<Arc<Pod>>, Vec<Keeps>) {
        let snapshot = self.state.snapshot();
        let (mut moving, mut keeps) = (Vec::new(), Vec::new());
        for pod in snapshot.pods_on(node).filter(|p| drainability::is_seen(p, &self.settings)) {
            let path = || Str::from(pod.meta.path());
            match drainability::of_pod(pod, &self.selection, snapshot, &self.settings) {
                Drainable::Moves if !drainability::is_daemon(pod) => moving.push(pod.clone()),
                Drainable::Moves | Drainable::Skipped => {}
                Drainable::Waits => keeps.push(Keeps::OnCompletion(path())),
                Drainable::Blocks(why) => keeps.push(Keeps::Pod(path(), why)),
            }
        }
        (moving, keeps)
    }

    /// The pods that move whose budget refuses every eviction: they were not asked about.
    fn stuck(&self, pods: &[Arc<Pod>]) -> Vec<Str> {
        let snapshot = self.state.snapshot();
        let is_stuck = |p: &&Arc<Pod>| self.selection.budgets_of(snapshot, p).any(|b| b.status.disruptions_allowed < 1);
        pods.iter().filter(is_stuck).map(|p| p.meta.path().into()).collect()
    }

    /// That nodes were added a short time ago, or are about to be.
    fn scale_up(&self) -> Option<&Keeps> {
        self.scale_up.get_or_init(|| self.scaled_up().or_else(|| self.scales_up())).as_ref()
    }

    /// Nodes were added, by the autoscaler's own event.
    fn scaled_up(&self) -> Option<Keeps> {
        let snapshot = self.state.snapshot();
        let ours = snapshot.events.iter().filter(|e| &*e.reason == "TriggeredScaleUp" && &*e.kind == "Pod");
        let delay = self.settings.span(settings::DELAY_AFTER_ADD);
        let until = |at: Timestamp| at.checked_add(delay).ok().filter(|until| *until > snapshot.now);
        let recent = ours.filter_map(|e| Some((until(e.last_seen?)?, e)));
        let (until, event) = recent.max_by_key(|(until, _)| *until)?;
        let pod = format!("{}/{}", event.namespace.as_deref().unwrap_or_default(), event.name);
        Some(Keeps::ScaleUp(pod.into(), Some(until)))
    }

    /// A Pending pod would fit on a new node of a group.
    fn scales_up(&self) -> Option<Keeps> {
        let snapshot = self.state.snapshot();
        let mut likes: BTreeMap<Option<&Str>, &Arc<Node>> = BTreeMap::new();
        for node in snapshot.nodes.iter().filter(|n| groups::has_group(n)) {
            likes.entry(groups::name(node)).or_insert(node);
        }
        let waits = |p: &&Arc<Pod>| {
            let failed = p.condition("PodScheduled").is_some_and(|c| &*c.reason == "Unschedulable");
            p.node.is_none() && failed && p.status.nominated_node.is_none() && drainability::is_seen(p, &self.settings)
        };
        let pod = snapshot
            .pods
            .iter()
            .filter(waits)
            .find(|pod| likes.values().any(|like| place::takes_new(like, pod, self.state)))?;
        Some(Keeps::ScaleUp(pod.meta.path().into(), None))
    }
}

impl Blocks {
    /// As upstream's words call it, for a comparison with its log.
    pub fn class(self) -> &'static str {
        match self {
            Self::NoController | Self::FewReplicas | Self::NotReplicated => "not replicated",
            Self::KubeSystem => "kube-system pod",
            Self::NotSafeToEvict => "not safe to evict",
            Self::LocalStorage => "local storage",
            Self::Budget => "budget",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Object, cluster, deployment, node, object, pod};
    use serde_json::json;

    #[test]
    fn every_reason_is_given_in_the_order_of_upstream() {
        let member = |name: &str| {
            let node = node(name).allocatable("cpu", "4").allocatable("memory", "8Gi").allocatable("pods", "10");
            node.label("kwok-nodegroup", "workers")
        };
        let event = |at: &str| {
            object("v1", "Event", "shop/e").with(json!({
                "reason": "TriggeredScaleUp", "lastTimestamp": at,
                "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "new"},
            }))
        };
        let web = |cpu: &'static str| deployment("shop/web").on(&["n1"]).pods(move |_, p| p.requests("cpu", cpu));
        let pending =
            |cpu: &str| pod("shop/new").requests("cpu", cpu).condition("PodScheduled", "False", "Unschedulable");
        let n1_and_2 = || cluster().add(member("n1")).add(member("n2"));
        let at_minimum = || Groups::new([("workers".into(), 2, 2)]);
        // The cluster speaks of noon.
        let flags = json!({"template": {"spec": {"containers": [
            {"name": "ca", "image": "x", "command": ["./cluster-autoscaler", "--nodes=2:9:workers"]},
        ]}}});
        let autoscaler = || deployment("kube-system/cluster-autoscaler").spec(flags.clone());
        for (title, cluster, groups, want) in [
            ("at the minimum of its flags", n1_and_2().add(autoscaler()), Groups::default(), "min size"),
            ("removed", n1_and_2().add(web("1")), Groups::default(), ""),
            ("at its minimum, and in use", n1_and_2().add(web("3")), at_minimum(), "min size, utilization"),
            (
                "in no group",
                cluster().add(node("n1").allocatable("cpu", "4").allocatable("memory", "8Gi")),
                Groups::default(),
                "no node group",
            ),
            ("alone", cluster().add(member("n1")).add(web("1")), Groups::default(), "nowhere to move"),
            ("scaled up", n1_and_2().add(event("2026-01-01T11:55:00Z")), Groups::default(), "cooldown after scale-up"),
            ("scaled up long ago", n1_and_2().add(event("2026-01-01T11:45:00Z")), Groups::default(), ""),
            ("will scale up", n1_and_2().add(pending("4")), Groups::default(), "cooldown after scale-up"),
            ("will not: no node of the group is so large", n1_and_2().add(pending("5")), Groups::default(), ""),
            (
                "disabled, and two pods",
                cluster()
                    .add(member("n1").annotation(DISABLED, "true"))
                    .add(member("n2"))
                    .add(pod("shop/a").on("n1"))
                    .add(
                        web("1").pods(|_, p: Object| {
                            p.annotation("cluster-autoscaler.kubernetes.io/safe-to-evict", "false")
                        }),
                    ),
                Groups::default(),
                "scale-down-disabled, not replicated, not safe to evict",
            ),
        ] {
            let state = State::new(&cluster.snapshot());
            let found = match ScaleDown::new(&state, groups).of("n1").expect("the node") {
                Fate::Removed(_) => String::new(),
                Fate::Going => "going".to_owned(),
                Fate::Kept(keeps) => keeps.iter().map(Keeps::class).collect::<Vec<_>>().join(", "),
            };
            assert_eq!(found, want, "{title}");
        }
    }
}
