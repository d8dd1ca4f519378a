//! What each workload's controller would do: how many pods it wants, how many of them are there, and what keeps the rest
//! from being made. One file a controller, after its `sync`.

pub mod controller;
mod cron_job;
mod custom;
pub mod daemon_set;
mod deployment;
mod indexes;
mod job;
mod replicas;
mod stateful_set;

use super::context::Context;
use crate::cure::{Remedy, manager, scale_target};
use crate::finding::{Code, Finding, Ref};
use crate::snapshot::HorizontalPodAutoscaler;
use crate::snapshot::workload::{Detail, Workload};
use controller::{Controller, WorkloadStatus, is_are, pods_in_words};
use std::sync::Arc;

/// What a workload's controller finds: pods wanted against pods there.
pub fn sync(workload: &Arc<Workload>, cx: &Context<'_>) -> WorkloadStatus {
    at_depth(workload, cx, 0)
}

/// Owners that own each other in a ring end after so many steps.
const DEEPEST: usize = 8;

fn at_depth(workload: &Arc<Workload>, cx: &Context<'_>, depth: usize) -> WorkloadStatus {
    if depth > DEEPEST {
        return WorkloadStatus::default();
    }
    let c = Controller::new(workload, cx);
    let mut found = match &workload.detail {
        Detail::Deployment(d) => deployment::sync(&c, &d.0, &d.1),
        Detail::ReplicaSet(s) => replicas::sync(&c, s.observed_generation),
        Detail::ReplicationController(s) => replicas::sync(&c, s.observed_generation),
        Detail::StatefulSet(d) => stateful_set::sync(&c, &d.0, &d.1),
        Detail::DaemonSet(d) => daemon_set::sync(&c, &d.1),
        Detail::Job(d) => job::sync(&c, &d.0, &d.1),
        Detail::CronJob(d) => cron_job::sync(&c, &d.0, &d.1),
        Detail::Custom => custom::sync(&c, &|owned| at_depth(owned, cx, depth + 1)),
    };
    if found.missing > 0 && found.findings.is_empty() {
        found.findings.push(c.unexplained(&found));
    }
    found
}

/// A workload that lacks nothing, in a sentence: asked for by name, each is told of.
pub fn summary(workload: &Arc<Workload>, found: &WorkloadStatus, cx: &Context<'_>) -> Finding {
    let name = format!("{} {}", workload.kind, workload.meta.path());
    let of = |code, message: String| Finding::new(code, message).about([Ref::workload(workload)]);
    let there = format!("{} there, {} Ready", is_are(found.current), found.ready);
    match found.desired {
        Some(0) if found.current == 0 => {
            let asleep = asleep(workload, cx);
            let said = asleep.as_ref().map(|a| format!("; {}", a.0)).unwrap_or_default();
            let finding = of(Code::ScaledDown, format!("{name} wants no pods: spec.replicas is 0{said}"));
            match asleep {
                Some((said, None)) => finding.without_remedy(said),
                wakes if workload.replicas().is_some() => {
                    finding.remedy(scale_up(workload, wakes.and_then(|w| w.1).unwrap_or(1), cx))
                }
                _ => finding,
            }
        }
        Some(wanted) if wanted < found.current => {
            of(Code::ScaledDown, format!("{name} wants {}: {there}; the surplus is removed", pods_in_words(wanted)))
        }
        Some(wanted) => of(Code::Running, format!("{name} wants {}: {there}", pods_in_words(wanted))),
        None => of(Code::Running, format!("{name}: {there}; how many pods it wants is not known (it has no scale)")),
    }
}

/// What an autoscaler does with a workload of 0 replicas: KEDA scales it up from there, a HorizontalPodAutoscaler alone does
/// not. Mirrors `reconcileAutoscaler` of `pkg/controller/podautoscaler`: autoscaling is disabled at 0 unless `minReplicas`
/// is 0.
///
/// The count is that to which somebody has to scale it first; `None` where that happens by itself.
fn asleep(workload: &Arc<Workload>, cx: &Context<'_>) -> Option<(String, Option<i32>)> {
    let scales = |a: &&Arc<HorizontalPodAutoscaler>| {
        scale_target(cx.snapshot, a).is_some_and(|t| t.kind == workload.kind && t.meta.path() == workload.meta.path())
    };
    let autoscaler = cx.snapshot.horizontal_pod_autoscalers.iter().find(scales)?;
    let name = &autoscaler.meta.name;
    let keda = autoscaler.meta.controller.as_ref().filter(|o| &*o.kind == "ScaledObject");
    let min = autoscaler.spec.as_ref().and_then(|s| s.min_replicas);
    Some(match (keda, min) {
        (Some(o), _) => (format!("KEDA scales it up when a trigger of ScaledObject {} becomes active", o.name), None),
        (None, Some(0)) => {
            (format!("HorizontalPodAutoscaler {name} (minReplicas 0) scales it up by its metrics"), None)
        }
        (None, min) => (
            format!(
                "HorizontalPodAutoscaler {name} does not scale it up from 0 (ScalingDisabled): somebody has to set the replicas \
                 to 1 or more first"
            ),
            Some(min.unwrap_or(1)),
        ),
    })
}

/// Replicas for a workload that wants none.
fn scale_up(workload: &Arc<Workload>, to: i32, cx: &Context<'_>) -> Remedy {
    let scale = |n: i32| {
        let replicas = format!("--replicas={n}");
        cx.kubectl.line(workload.meta.ns(), &["scale", &workload.resource_name(), &replicas])
    };
    let kept = manager(&workload.meta).map(|m| format!(" ({m})")).unwrap_or_default();
    Remedy::advice(format!("scale {} {} up, if its pods are wanted{kept}", workload.kind, workload.meta.path()))
        .command(scale(to))
        .undo(scale(0))
        .risk("somebody scaled it to 0 for a reason")
}

#[cfg(test)]
mod tests;
