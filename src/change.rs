//! One change that a person could make: from this one value come the remedy's command, its undoing, what it costs, and
//! the proof that it cures.

use crate::finding::{Ref, Remedy};
use crate::shell::Kubectl;
use crate::snapshot::budget::{Budget, Rule};
use crate::snapshot::workload::{Scale, Workload};
use crate::snapshot::{HorizontalPodAutoscaler, Snapshot};
use crate::wire::scalar::IntOrString;
use serde_json::{Value, json};
use std::sync::Arc;

/// A change to a cluster.
#[derive(Debug, Clone)]
pub enum Change {
    /// Sets a budget's rule.
    SetRule(Arc<Budget>, Rule),
    /// Sets a budget's unhealthyPodEvictionPolicy to AlwaysAllow.
    AlwaysAllow(Arc<Budget>),
    /// Deletes a budget.
    DeleteBudget(Arc<Budget>),
    /// Sets how many pods a workload wants.
    Scale(Arc<Workload>, i32),
    /// Sets how few pods an autoscaler may keep, and so how many its idle target has.
    MinReplicas(Arc<HorizontalPodAutoscaler>, i32),
}

impl Change {
    /// The cluster with the change made. Only what was written is changed: pods that the change would make are not.
    #[must_use]
    pub fn apply(&self, snapshot: &Snapshot) -> Snapshot {
        let mut changed = snapshot.clone();
        match self {
            Self::SetRule(budget, rule) => {
                changed.budgets.put(Arc::new(Budget { rule: rule.clone(), ..(**budget).clone() }));
            }
            Self::AlwaysAllow(budget) => {
                changed.budgets.put(Arc::new(Budget { always_allow_unhealthy: true, ..(**budget).clone() }));
            }
            Self::DeleteBudget(budget) => changed.budgets.remove(budget.meta.ns(), &budget.meta.name),
            Self::Scale(workload, replicas) => set_scale(&mut changed, workload, *replicas),
            Self::MinReplicas(autoscaler, floor) => {
                let mut new = (**autoscaler).clone();
                if let Some(spec) = &mut new.body.spec {
                    spec.min_replicas = Some(*floor);
                }
                changed.horizontal_pod_autoscalers.put(Arc::new(new));
                if let Some(target) = scale_target(snapshot, autoscaler)
                    && target.replicas().is_some_and(|now| now < *floor)
                {
                    set_scale(&mut changed, target, *floor);
                }
            }
        }
        changed
    }

    /// The remedy that this change is.
    pub fn remedy(&self, kubectl: &Kubectl, verified: bool) -> Remedy {
        Remedy {
            text: self.text(),
            command: Some(self.command(kubectl)),
            undo: self.undo(kubectl),
            risk: self.risk(),
            verified,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::SetRule(b, rule) => format!("set {rule} on budget {}", b.meta.path()),
            Self::AlwaysAllow(b) => format!("set unhealthyPodEvictionPolicy AlwaysAllow on budget {}", b.meta.path()),
            Self::DeleteBudget(b) => format!("delete budget {}", b.meta.path()),
            Self::Scale(w, n) => format!("run {n} replicas of {} {}", w.kind, w.meta.path()),
            Self::MinReplicas(a, n) => format!("set minReplicas {n} on HorizontalPodAutoscaler {}", a.meta.path()),
        }
    }

    fn command(&self, kubectl: &Kubectl) -> String {
        match self {
            Self::SetRule(b, rule) => patch(kubectl, "pdb", &b.meta, &rule_patch(rule)),
            Self::AlwaysAllow(b) => {
                patch(kubectl, "pdb", &b.meta, &json!({"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}))
            }
            Self::DeleteBudget(b) => kubectl.line(b.meta.ns(), &["delete", "pdb", &b.meta.name]),
            Self::Scale(w, n) => kubectl.line(w.meta.ns(), &["scale", &resource_name(w), &format!("--replicas={n}")]),
            Self::MinReplicas(a, n) => patch(kubectl, "hpa", &a.meta, &json!({"spec": {"minReplicas": n}})),
        }
    }

    fn undo(&self, kubectl: &Kubectl) -> Option<String> {
        Some(match self {
            Self::SetRule(b, _) => patch(kubectl, "pdb", &b.meta, &rule_patch(&b.rule)),
            Self::AlwaysAllow(b) => {
                let before = b.unhealthy_policy.as_deref();
                patch(kubectl, "pdb", &b.meta, &json!({"spec": {"unhealthyPodEvictionPolicy": before}}))
            }
            Self::DeleteBudget(_) => return None,
            Self::Scale(w, _) => {
                kubectl.line(w.meta.ns(), &["scale", &resource_name(w), &format!("--replicas={}", w.replicas()?)])
            }
            Self::MinReplicas(a, _) => {
                let before = a.spec.as_ref().and_then(|s| s.min_replicas);
                patch(kubectl, "hpa", &a.meta, &json!({"spec": {"minReplicas": before}}))
            }
        })
    }

    fn risk(&self) -> Option<String> {
        Some(match self {
            Self::SetRule(..) => "fewer pods are protected at a time".to_owned(),
            Self::AlwaysAllow(_) => "pods that are not Ready may be evicted although too few are healthy".to_owned(),
            Self::DeleteBudget(b) => {
                format!(
                    "nothing limits evictions of its pods any more; keep it with: kubectl get pdb {} -n {} -o yaml",
                    b.meta.name,
                    b.meta.ns()
                )
            }
            Self::Scale(..) | Self::MinReplicas(..) => "more pods use more resources".to_owned(),
        })
    }

    /// What it changes.
    pub fn target(&self) -> Ref {
        match self {
            Self::SetRule(b, _) | Self::AlwaysAllow(b) | Self::DeleteBudget(b) => Ref::budget(b),
            Self::Scale(w, _) => Ref::workload(w),
            Self::MinReplicas(a, _) => Ref::of(crate::snapshot::Kind::HorizontalPodAutoscaler, &a.meta),
        }
    }
}

/// The workload that an autoscaler scales, where it is in the input.
pub fn scale_target<'a>(snapshot: &'a Snapshot, autoscaler: &HorizontalPodAutoscaler) -> Option<&'a Arc<Workload>> {
    let target = autoscaler.spec.as_ref()?.scale_target_ref.as_ref()?;
    snapshot.workload(&target.kind, autoscaler.meta.ns(), &target.name)
}

fn set_scale(snapshot: &mut Snapshot, workload: &Arc<Workload>, replicas: i32) {
    snapshot.workloads.update(|w| {
        Arc::ptr_eq(w, workload).then(|| Arc::new(Workload { scale: Scale::Replicas(replicas), ..(**w).clone() }))
    });
}

fn patch(kubectl: &Kubectl, resource: &str, meta: &crate::snapshot::meta::Meta, patch: &Value) -> String {
    kubectl.line(meta.ns(), &["patch", resource, &meta.name, "--type=merge", "-p", &patch.to_string()])
}

fn rule_patch(rule: &Rule) -> Value {
    let value = |v: &IntOrString| if v.kind == 0 { json!(v.int) } else { json!(v.str) };
    let (min, max) = match rule {
        Rule::MinAvailable(v) => (value(v), Value::Null),
        Rule::MaxUnavailable(v) => (Value::Null, value(v)),
        Rule::None => (Value::Null, Value::Null),
    };
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
