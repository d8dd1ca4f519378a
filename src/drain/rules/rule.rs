//! A pod, and what a rule may look at.

use crate::drain::context::DrainContext;
use crate::drain::drainer::Grace;
use crate::drain::filters::PodDeleteStatus;
use crate::drain::options::DrainOptions;
use crate::snapshot::node::Node;
use crate::snapshot::object::Object;
use crate::snapshot::pod::Container;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Snapshot, Str};
use crate::wire::core::Service;
use std::cell::OnceCell;
use std::sync::Arc;

/// The readiness gates that the AWS Load Balancer Controller adds to the targets of its load balancers begin so.
const TARGET_HEALTH: &str = "target-health.elbv2.k8s.aws";

/// What rules find out of the whole cluster, once one of them asks.
#[derive(Default)]
pub struct Facts {
    /// Nodes without the agent that EKS Pod Identity needs.
    pub without_agent: OnceCell<Vec<Str>>,
}

/// A pod, and what a rule may look at.
pub struct RuleContext<'a> {
    /// The drain.
    pub context: &'a DrainContext<'a>,
    /// The cluster.
    pub snapshot: &'a Snapshot,
    /// The flags of the drain.
    pub options: &'a DrainOptions,
    /// What was found out of the whole cluster.
    pub facts: &'a Facts,
    /// The pod.
    pub pod: &'a Arc<Pod>,
    /// What the filters say of it.
    pub status: &'a PodDeleteStatus,
}

impl<'a> RuleContext<'a> {
    /// The node that the pod is on.
    pub fn node(&self) -> Option<&'a Arc<Node>> {
        self.snapshot.nodes.named("", self.pod.node.as_deref()?)
    }

    /// The workload that makes the pod, as people know it: the Deployment rather than its ReplicaSet.
    pub fn top(&self) -> Option<&'a Arc<Workload>> {
        self.snapshot.top_controller_of(&self.pod.meta)
    }

    /// Whether the pod still runs, or will.
    pub fn is_running(&self) -> bool {
        self.pod.is_active()
    }

    /// Seconds of grace that it gets.
    pub fn grace(&self) -> i64 {
        self.context.drainer.grace_of(self.pod)
    }

    /// Whether the API server takes the pod away by itself: its kubelet has no word in that, and no webhook sees it.
    /// Mirrors `CheckGracefulDelete` of `pkg/registry/core/pod/strategy.go` and `rest.BeforeDelete`.
    pub fn is_gone_at_once(&self) -> bool {
        if self.pod.is_terminating() {
            return self.context.drainer.grace == Grace::Seconds(0);
        }
        self.pod.is_finished() || self.grace() == 0
    }

    /// The Services whose selector the pod's labels match.
    pub fn services(&self) -> impl Iterator<Item = &'a Arc<Object<Service>>> + use<'a> {
        let pod: &'a Arc<Pod> = self.pod;
        let services = self.snapshot.services.in_namespace(pod.meta.ns()).iter();
        services.filter(move |service| service.spec.as_ref().is_some_and(|s| s.selects(&pod.meta.labels)))
    }

    /// The readiness gate by which a load balancer waits for the pod.
    pub fn target_health_gate(&self) -> Option<&'a str> {
        self.pod.spec.readiness_gates.iter().map(|g| &**g).find(|g| g.starts_with(TARGET_HEALTH))
    }

    /// The containers that run until the pod ends: with the sidecars among the init containers.
    pub fn containers(&self) -> impl Iterator<Item = &'a Container> + use<'a> {
        self.pod.spec.running_containers()
    }

    /// Whether some budget covers it.
    pub fn has_budget(&self) -> bool {
        !self.context.budgets.of(self.pod).is_empty()
    }
}
