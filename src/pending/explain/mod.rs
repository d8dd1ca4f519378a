//! What the scheduler's refusals mean for one pod, in amounts and names, with what can be done.

mod absent;
pub mod claims;
pub mod devices;
pub mod neighbours;
pub mod nodes;
pub mod preemption;
pub mod resources;
pub mod rollout;
pub mod spread;
mod startup_taints;
pub mod storage_capacity;
mod template;
mod terminating;
pub mod volumes;

use super::facts::Facts;
use crate::autoscale;
use crate::finding::{Code, Finding};
use crate::sched::preemption::PreemptionOutcome;

/// The findings for a pod that has no node: what refuses it, most nodes first, then what preemption does about it.
pub fn findings(f: &Facts<'_>, why: &[Finding]) -> Vec<Finding> {
    if f.diagnosis.total == 0 {
        let none = Finding::new(Code::NoNodes, "the cluster has no nodes: there is nothing to schedule onto");
        return std::iter::once(none).chain(new_node(f)).collect();
    }
    if !f.diagnosis.fits.is_empty() {
        return Vec::new();
    }
    let mut all = claims::rejection(f);
    all.extend(resources::findings(f));
    all.extend(nodes::findings(f));
    all.extend(neighbours::findings(f));
    all.extend(spread::findings(f));
    all.extend(volumes::findings(f));
    all.extend(storage_capacity::findings(f));
    all.extend(devices::findings(f));
    rollout::advise(f, &mut all);
    if let (Some(first), Some(said)) = (all.first_mut(), terminating::room(f)) {
        first.message.push_str(&format!("; {said}"));
    }
    all.extend(template::behind(f));
    if let (Some(first), Some(said)) = (all.first_mut(), autoscale::said(f.pod(), f.snapshot())) {
        first.message.push_str(&format!("; {said}"));
    }
    all.extend(new_node(f));
    all.extend(why.iter().cloned());
    if f.preemption.outcome == PreemptionOutcome::Found {
        all.extend(preemption::consequences(f));
    }
    let advised = all.iter().any(|x| !x.remedies.is_empty() || x.no_remedy.is_some());
    if let (Some(first), false, true, None) = (all.first_mut(), advised, f.tries, &f.preemption.chosen) {
        first.no_remedy = Some("no single change that was tried lets the pod fit on a node".to_owned());
    }
    all
}

/// Whether an autoscaler would add a node. Nothing is said where preemption makes room.
fn new_node(f: &Facts<'_>) -> Option<Finding> {
    let preempts = f.preemption.chosen.is_some() || f.pod().status.nominated_node.is_some();
    if preempts { None } else { f.outlook.finding(f.pod(), f.state) }
}
