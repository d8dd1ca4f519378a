//! One change that a person could make: from this one value come its words, its commands, its undoing, what it costs, who
//! would revert it, and the cluster in which it is made.

use super::managed::manager;
use super::manifest;
use crate::shell::{Kubectl, quote};
use crate::snapshot::budget::{Budget, Rule};
use crate::snapshot::meta::Meta;
use crate::snapshot::node::{Node, Taint};
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::workload::{Scale, Workload};
use crate::snapshot::{HorizontalPodAutoscaler, Snapshot};
use serde_json::{Value, json};
use std::sync::Arc;

/// The taint that follows a cordon.
const CORDON_TAINT: &str = "node.kubernetes.io/unschedulable";

/// A change to a cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Sets a budget's rule.
    SetRule(Arc<Budget>, Rule),
    /// Sets a budget's unhealthyPodEvictionPolicy to AlwaysAllow.
    AlwaysAllow(Arc<Budget>),
    /// Sets which pods a budget covers.
    SetSelector(Arc<Budget>, LabelSelector),
    /// Deletes a budget.
    DeleteBudget(Arc<Budget>),
    /// Sets how many pods a workload wants.
    Scale(Arc<Workload>, i32),
    /// Sets how few pods an autoscaler may keep, and so how many its idle target has.
    MinReplicas(Arc<HorizontalPodAutoscaler>, i32),
    /// Sets how many pods an autoscaler may make.
    MaxReplicas(Arc<HorizontalPodAutoscaler>, i32),
    /// Makes every pod of a workload anew, in the way of its strategy. What comes of it takes time: an engine that needs
    /// it lets that time pass.
    Restart(Arc<Workload>),
    /// Deletes a pod. Its controller makes another one, which is as its template says.
    DeletePod(Arc<Pod>),
    /// Deletes a pod without waiting for its kubelet.
    ForceDeletePod(Arc<Pod>),
    /// Keeps new pods from a node.
    Cordon(Arc<Node>),
    /// Lets new pods onto a node.
    Uncordon(Arc<Node>),
    /// Takes a taint off a node.
    RemoveTaint(Arc<Node>, Taint),
    /// Puts a taint on a node.
    AddTaint(Arc<Node>, Taint),
    /// Lets in what a webhook does not answer: the kind and the name of its configuration, and its own name.
    IgnoreFailures(WebhookKind, String, String),
}

/// The kind of configuration that a webhook stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookKind {
    /// A `MutatingWebhookConfiguration`.
    Mutating,
    /// A `ValidatingWebhookConfiguration`.
    Validating,
}

impl WebhookKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Mutating => "MutatingWebhookConfiguration",
            Self::Validating => "ValidatingWebhookConfiguration",
        }
    }
}

impl Change {
    /// Whether it changes or deletes a budget.
    pub fn is_of_budget(&self) -> bool {
        matches!(self, Self::SetRule(..) | Self::AlwaysAllow(_) | Self::SetSelector(..) | Self::DeleteBudget(_))
    }

    /// Sets how many pods a workload has: on the autoscaler that holds their number, where there is one.
    pub fn replicas(snapshot: &Snapshot, workload: &Arc<Workload>, count: i32) -> Self {
        let autoscalers = snapshot.horizontal_pod_autoscalers.in_namespace(workload.meta.ns()).iter();
        let mut holding = autoscalers.filter(|a| scale_target(snapshot, a).is_some_and(|t| Arc::ptr_eq(t, workload)));
        match holding.next() {
            Some(autoscaler) => Self::MinReplicas(autoscaler.clone(), count),
            None => Self::Scale(workload.clone(), count),
        }
    }

    /// The cluster with the change made. Only what is written is changed, and pods that are deleted: what controllers
    /// make of it is left to the engines.
    #[must_use]
    pub fn apply(&self, snapshot: &Snapshot) -> Snapshot {
        let mut changed = snapshot.clone();
        match self {
            Self::SetRule(budget, rule) => {
                changed.budgets.put(Arc::new(Budget { rule: rule.clone(), fault: None, ..(**budget).clone() }));
            }
            Self::SetSelector(budget, selector) => {
                changed.budgets.put(Arc::new(Budget { selector: selector.clone(), ..(**budget).clone() }));
            }
            Self::AlwaysAllow(budget) => {
                changed.budgets.put(Arc::new(Budget { always_allow_unhealthy: true, ..(**budget).clone() }));
            }
            // A finalizer keeps it, and it counts as before.
            Self::DeleteBudget(budget) if budget.meta.foreign_finalizers().next().is_some() => {}
            Self::DeleteBudget(budget) => changed.budgets.remove(budget.meta.ns(), &budget.meta.name),
            Self::Scale(workload, replicas) => set_scale(&mut changed, workload, *replicas),
            Self::MaxReplicas(autoscaler, ceiling) => set_bounds(&mut changed, autoscaler, None, Some(*ceiling)),
            Self::MinReplicas(autoscaler, floor) => {
                set_bounds(&mut changed, autoscaler, Some(*floor), None);
                if let Some(target) = scale_target(snapshot, autoscaler)
                    && target.replicas().is_some_and(|now| now < *floor)
                {
                    set_scale(&mut changed, target, *floor);
                }
            }
            Self::Restart(_) => {}
            Self::DeletePod(pod) | Self::ForceDeletePod(pod) => {
                changed.pods.remove(pod.meta.ns(), &pod.meta.name);
                changed.reindex();
            }
            Self::Cordon(node) => set_node(&mut changed, node, |n| {
                n.unschedulable = true;
                let taint =
                    Taint { key: CORDON_TAINT.into(), value: "".into(), effect: "NoSchedule".into(), since: None };
                let others = n.taints.iter().filter(|t| &*t.key != CORDON_TAINT).cloned();
                n.taints = others.chain([taint]).collect();
            }),
            Self::Uncordon(node) => set_node(&mut changed, node, |n| {
                n.unschedulable = false;
                n.taints = n.taints.iter().filter(|t| &*t.key != CORDON_TAINT).cloned().collect();
            }),
            Self::RemoveTaint(node, taint) => set_node(&mut changed, node, |n| {
                let same = |t: &&Taint| t.key == taint.key && t.effect == taint.effect;
                n.taints = n.taints.iter().filter(|t| !same(t)).cloned().collect();
            }),
            Self::AddTaint(node, taint) => set_node(&mut changed, node, |n| {
                n.taints = n.taints.iter().cloned().chain([taint.clone()]).collect();
            }),
            Self::IgnoreFailures(kind, configuration, name) => {
                macro_rules! ignore {
                    ($table:ident) => {
                        changed.$table.update(|c| {
                            (*c.meta.name == **configuration).then(|| {
                                let mut new = (**c).clone();
                                let of_name = new.body.webhooks.iter_mut().filter(|w| w.name == *name);
                                of_name.for_each(|w| w.failure_policy = Some("Ignore".to_owned()));
                                Arc::new(new)
                            })
                        })
                    };
                }
                match kind {
                    WebhookKind::Mutating => ignore!(mutating_webhooks),
                    WebhookKind::Validating => ignore!(validating_webhooks),
                }
            }
        }
        changed
    }

    /// The change in words.
    pub fn text(&self) -> String {
        match self {
            Self::SetRule(b, rule) => format!("set {rule} on budget {}", b.meta.path()),
            Self::AlwaysAllow(b) => format!("set unhealthyPodEvictionPolicy AlwaysAllow on budget {}", b.meta.path()),
            Self::SetSelector(b, selector) => format!("set the selector of budget {} to {selector}", b.meta.path()),
            Self::DeleteBudget(b) => format!("delete budget {}", b.meta.path()),
            Self::Scale(w, n) => format!("run {n} replicas of {} {}", w.kind, w.meta.path()),
            Self::MinReplicas(a, n) => bound_in_words(a, "min", *n),
            Self::MaxReplicas(a, n) => bound_in_words(a, "max", *n),
            Self::Restart(w) => format!("restart {} {}", w.kind, w.meta.path()),
            Self::DeletePod(p) => format!("delete pod {}", p.meta.path()),
            Self::ForceDeletePod(p) => format!("delete pod {} without waiting for its kubelet", p.meta.path()),
            Self::Cordon(n) => format!("cordon node {}", n.meta.name),
            Self::Uncordon(n) => format!("uncordon node {}", n.meta.name),
            Self::RemoveTaint(n, taint) => format!("remove the taint {taint} from node {}", n.meta.name),
            Self::AddTaint(n, taint) => format!("put the taint {taint} on node {}", n.meta.name),
            Self::IgnoreFailures(kind, configuration, name) => {
                format!("set failurePolicy Ignore on webhook {name} of {} {configuration}", kind.as_str())
            }
        }
    }

    /// The lines that make it, to be run one after the other.
    pub fn commands(&self, kubectl: &Kubectl) -> Vec<String> {
        let one = |ns: &str, args: &[&str]| vec![kubectl.line(ns, args)];
        match self {
            Self::SetRule(b, rule) => vec![patch(kubectl, "pdb", &b.meta, &rule_patch(rule))],
            Self::AlwaysAllow(b) => {
                vec![patch(kubectl, "pdb", &b.meta, &json!({"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}))]
            }
            Self::SetSelector(b, selector) => selector_patch(kubectl, b, selector).into_iter().collect(),
            Self::DeleteBudget(b) => one(b.meta.ns(), &["delete", "pdb", &b.meta.name]),
            Self::Scale(w, n) => one(w.meta.ns(), &["scale", &resource_name(w), &format!("--replicas={n}")]),
            Self::MinReplicas(a, n) => vec![bound(kubectl, a, "min", Some(*n))],
            Self::MaxReplicas(a, n) => vec![bound(kubectl, a, "max", Some(*n))],
            Self::Restart(w) => {
                let name = resource_name(w);
                let line = |verb: &str| kubectl.line(w.meta.ns(), &["rollout", verb, &name]);
                vec![line("restart"), line("status")]
            }
            Self::DeletePod(p) => one(p.meta.ns(), &["delete", "pod", &p.meta.name]),
            Self::ForceDeletePod(p) => {
                one(p.meta.ns(), &["delete", "pod", &p.meta.name, "--force", "--grace-period=0"])
            }
            Self::Cordon(n) => one("", &["cordon", &n.meta.name]),
            Self::Uncordon(n) => one("", &["uncordon", &n.meta.name]),
            Self::RemoveTaint(n, taint) => {
                one("", &["taint", "nodes", &n.meta.name, &format!("{}:{}-", taint.key, taint.effect)])
            }
            Self::AddTaint(n, taint) => one("", &["taint", "nodes", &n.meta.name, &taint.to_string()]),
            Self::IgnoreFailures(kind, configuration, name) => {
                vec![failure_policy(kubectl, *kind, configuration, name, "Ignore")]
            }
        }
    }

    /// The line that takes it back.
    pub fn undo(&self, kubectl: &Kubectl) -> Option<String> {
        Some(match self {
            Self::SetRule(b, _) => patch(kubectl, "pdb", &b.meta, &rule_patch(&b.rule)),
            Self::AlwaysAllow(b) => {
                let before = b.unhealthy_policy.as_deref();
                patch(kubectl, "pdb", &b.meta, &json!({"spec": {"unhealthyPodEvictionPolicy": before}}))
            }
            Self::SetSelector(b, _) => return selector_patch(kubectl, b, &b.selector),
            Self::DeleteBudget(b) => {
                let manifest = manifest::of_budget(b).to_string();
                format!("echo {} | {}", quote(&manifest), kubectl.line("", &["create", "-f", "-"]))
            }
            Self::Scale(w, _) => {
                kubectl.line(w.meta.ns(), &["scale", &resource_name(w), &format!("--replicas={}", w.replicas()?)])
            }
            Self::MinReplicas(a, _) => bound(kubectl, a, "min", a.spec.as_ref().and_then(|s| s.min_replicas)),
            Self::MaxReplicas(a, _) => bound(kubectl, a, "max", a.spec.as_ref().and_then(|s| s.max_replicas)),
            Self::Restart(_) | Self::DeletePod(_) | Self::ForceDeletePod(_) => return None,
            Self::Cordon(n) => kubectl.line("", &["uncordon", &n.meta.name]),
            Self::Uncordon(n) => kubectl.line("", &["cordon", &n.meta.name]),
            Self::RemoveTaint(n, taint) => kubectl.line("", &["taint", "nodes", &n.meta.name, &taint.to_string()]),
            Self::AddTaint(n, taint) => {
                kubectl.line("", &["taint", "nodes", &n.meta.name, &format!("{}:{}-", taint.key, taint.effect)])
            }
            Self::IgnoreFailures(kind, configuration, name) => {
                failure_policy(kubectl, *kind, configuration, name, "Fail")
            }
        })
    }

    /// What it costs.
    pub fn risk(&self) -> Option<String> {
        Some(match self {
            Self::SetRule(..) => "fewer pods are protected at a time".to_owned(),
            Self::AlwaysAllow(_) => "pods that are not Ready are evicted although too few are healthy".to_owned(),
            Self::SetSelector(..) => {
                "other pods come under the budget, and those of its present selector no longer do".to_owned()
            }
            Self::DeleteBudget(_) => "nothing limits evictions of its pods until the budget is back".to_owned(),
            Self::Scale(..) | Self::MinReplicas(..) => "more pods use more resources".to_owned(),
            Self::MaxReplicas(..) => "more pods use more resources under load".to_owned(),
            Self::Restart(w) => format!("every pod of {} {} is replaced", w.kind, w.meta.path()),
            Self::DeletePod(p) => format!("{} is down until its new pod is Ready", p.meta.name),
            Self::ForceDeletePod(_) => {
                "two copies of the pod run at once if its node still lives: data of a StatefulSet can be damaged"
                    .to_owned()
            }
            Self::Uncordon(_) => {
                "somebody cordoned it for a reason: pods can be placed where maintenance is under way".to_owned()
            }
            Self::RemoveTaint(..) => "other pods can be placed there too".to_owned(),
            Self::AddTaint(n, _) => format!("pods that do not tolerate it are deleted from node {}", n.meta.name),
            Self::IgnoreFailures(..) => "what the webhook would have denied or changed is let in as it is".to_owned(),
            Self::Cordon(_) => return None,
        })
    }

    /// Who puts back what the change changes, and where to change it instead; `None` where nobody is seen to.
    pub fn reverted_by(&self) -> Option<String> {
        match self {
            Self::SetRule(b, _) | Self::AlwaysAllow(b) | Self::SetSelector(b, _) | Self::DeleteBudget(b) => {
                manager(&b.meta)
            }
            Self::Scale(w, _) => manager(&w.meta),
            // What KEDA writes is changed where KEDA reads it.
            Self::MinReplicas(a, _) | Self::MaxReplicas(a, _) if scaled_object(a).is_some() => None,
            Self::MinReplicas(a, _) | Self::MaxReplicas(a, _) => manager(&a.meta),
            // A restart changes an annotation that only an owner would put back.
            Self::Restart(w) => w.meta.controller.as_ref().and_then(|_| manager(&w.meta)),
            Self::IgnoreFailures(..)
            | Self::AddTaint(..)
            | Self::DeletePod(_)
            | Self::ForceDeletePod(_)
            | Self::Cordon(_)
            | Self::Uncordon(_)
            | Self::RemoveTaint(..) => None,
        }
    }
}

/// The workload that an autoscaler scales, where it is in the input.
pub fn scale_target<'a>(snapshot: &'a Snapshot, autoscaler: &HorizontalPodAutoscaler) -> Option<&'a Arc<Workload>> {
    let target = autoscaler.spec.as_ref()?.scale_target_ref.as_ref()?;
    snapshot.workload(&target.kind, autoscaler.meta.ns(), &target.name)
}

/// The ScaledObject for which KEDA makes and keeps an autoscaler: a patch of the autoscaler itself is reverted.
fn scaled_object(autoscaler: &HorizontalPodAutoscaler) -> Option<&str> {
    let owner = autoscaler.meta.controller.as_ref()?;
    (&*owner.kind == "ScaledObject" && &*owner.group == "keda.sh").then_some(&*owner.name)
}

/// `min` or `max` and a number, set where they are kept.
fn bound_in_words(a: &HorizontalPodAutoscaler, which: &str, n: i32) -> String {
    match scaled_object(a) {
        Some(name) => format!("set {which}ReplicaCount {n} on ScaledObject {}/{name}", a.meta.ns()),
        None => format!("set {which}Replicas {n} on HorizontalPodAutoscaler {}", a.meta.path()),
    }
}

fn bound(kubectl: &Kubectl, a: &HorizontalPodAutoscaler, which: &str, n: Option<i32>) -> String {
    let (resource, name, field) = match scaled_object(a) {
        Some(name) => ("scaledobject", name, format!("{which}ReplicaCount")),
        None => ("hpa", &*a.meta.name, format!("{which}Replicas")),
    };
    let patch = json!({"spec": {field: n}}).to_string();
    kubectl.line(a.meta.ns(), &["patch", resource, name, "--type=merge", "-p", &patch])
}

fn set_bounds(snapshot: &mut Snapshot, a: &HorizontalPodAutoscaler, min: Option<i32>, max: Option<i32>) {
    let Some(known) = snapshot.horizontal_pod_autoscalers.named(a.meta.ns(), &a.meta.name) else { return };
    let mut new = (**known).clone();
    if let Some(spec) = &mut new.body.spec {
        spec.min_replicas = min.or(spec.min_replicas);
        spec.max_replicas = max.or(spec.max_replicas);
    }
    snapshot.horizontal_pod_autoscalers.put(Arc::new(new));
}

/// Sets the scale of a workload; a Deployment hands a change on to the ReplicaSet that has most of its pods.
fn set_scale(snapshot: &mut Snapshot, workload: &Arc<Workload>, replicas: i32) {
    let below = snapshot.workloads.in_namespace(workload.meta.ns()).iter();
    let sets = below.filter(|w| {
        &*w.kind == "ReplicaSet" && snapshot.controller_of(&w.meta).is_some_and(|above| is_same(above, workload))
    });
    let set = sets.max_by_key(|set| set.replicas()).cloned();
    let more = replicas.saturating_sub(workload.replicas().unwrap_or_default());
    let scaled = |w: &Arc<Workload>, n: i32| Arc::new(Workload { scale: Scale::Replicas(n), ..(**w).clone() });
    snapshot.workloads.update(|w| {
        if is_same(w, workload) {
            return Some(scaled(w, replicas));
        }
        let set = set.as_ref().filter(|set| is_same(w, set))?;
        Some(scaled(w, set.replicas()?.saturating_add(more).max(0)))
    });
}

fn is_same(a: &Workload, b: &Workload) -> bool {
    a.kind == b.kind && a.group == b.group && a.meta.name == b.meta.name && a.meta.namespace == b.meta.namespace
}

fn set_node(snapshot: &mut Snapshot, node: &Arc<Node>, set: impl FnOnce(&mut Node)) {
    // As it stands by now: another change of the same sequence may have been made to it.
    let Some(known) = snapshot.nodes.named("", &node.meta.name) else { return };
    let mut new = (**known).clone();
    set(&mut new);
    snapshot.nodes.put(Arc::new(new));
}

fn patch(kubectl: &Kubectl, resource: &str, meta: &Meta, patch: &Value) -> String {
    kubectl.line(meta.ns(), &["patch", resource, &meta.name, "--type=merge", "-p", &patch.to_string()])
}

/// A JSON patch, as a merge would keep the old labels beside the new ones.
fn selector_patch(kubectl: &Kubectl, b: &Budget, selector: &LabelSelector) -> Option<String> {
    let value = manifest::selector(selector)?;
    let patch = json!([{"op": "replace", "path": "/spec/selector", "value": value}]).to_string();
    Some(kubectl.line(b.meta.ns(), &["patch", "pdb", &b.meta.name, "--type=json", "-p", &patch]))
}

/// A patch by strategy, which finds the webhook by its name.
fn failure_policy(kubectl: &Kubectl, kind: WebhookKind, configuration: &str, name: &str, policy: &str) -> String {
    let patch = json!({"webhooks": [{"name": name, "failurePolicy": policy}]}).to_string();
    kubectl.line("", &["patch", &kind.as_str().to_lowercase(), configuration, "--type=strategic", "-p", &patch])
}

fn rule_patch(rule: &Rule) -> Value {
    let (min, max) = manifest::values(rule);
    json!({"spec": {"minAvailable": min, "maxUnavailable": max}})
}

/// `deployment/web`, or `kind.group/name` for a custom kind, as `kubectl scale` takes it.
fn resource_name(w: &Workload) -> String {
    let kind = w.kind.to_lowercase();
    match &*w.group {
        "" | "apps" | "batch" => format!("{kind}/{}", w.meta.name),
        group => format!("{kind}.{group}/{}", w.meta.name),
    }
}
