//! A rollout whose extra pod has no place while the old pods hold it.

use crate::cure::Remedy;
use crate::finding::{Code, Finding};
use crate::pending::facts::Facts;
use crate::pending::select::pods_of;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::{Detail, Workload};
use serde_json::json;
use std::sync::Arc;

/// Codes that an old pod of the same workload may be the cause of.
const HELD_BY_OLD: [Code; 5] =
    [Code::HostPort, Code::PodAntiAffinity, Code::ExistingAntiAffinity, Code::Insufficient, Code::TopologySpread];

/// Adds to the findings what would let the rollout go on: an old pod goes before the new one comes.
pub fn advise(f: &Facts<'_>, findings: &mut [Finding]) {
    let Some(owner) = f.owner.filter(|_| f.tries) else { return };
    let Some(old) = old_pods(f, owner) else { return };
    let frees = old.iter().find(|p| {
        let mut state = f.state.clone();
        state.remove(p);
        f.taken_by(&state, f.pod()).is_some()
    });
    let Some(old) = frees else { return };
    let patch =
        json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}});
    let text = format!(
        "set maxSurge 0 and maxUnavailable 1 on Deployment {} (or strategy Recreate), so that an old pod such as {} is deleted first",
        owner.meta.path(),
        old.meta.name
    );
    let args = ["patch", "deployment", &owner.meta.name, "--type=merge", "-p", &patch.to_string()];
    let remedy = Remedy::advice(text)
        .command(f.kubectl.line(owner.meta.ns(), &args))
        .risk("one pod fewer serves during the rollout")
        .tried(|| true);
    if let (Some(finding), Some(remedy)) = (findings.iter_mut().find(|x| HELD_BY_OLD.contains(&x.code)), remedy) {
        finding.remedies.insert(0, remedy);
    }
}

/// The pods of older revisions, where a Deployment is rolling out and this pod is of the new one.
fn old_pods(f: &Facts<'_>, owner: &Arc<Workload>) -> Option<Vec<Arc<Pod>>> {
    let Detail::Deployment(d) = &owner.detail else { return None };
    if d.0.strategy.as_ref().is_some_and(|s| s.type_ == "Recreate") {
        return None;
    }
    let mine = f.pod().meta.controller.as_ref()?;
    let other = |p: &Arc<Pod>| p.meta.controller.as_ref().is_some_and(|o| o.uid != mine.uid || o.name != mine.name);
    let running = |p: &Arc<Pod>| p.node.is_some() && p.is_active();
    let old: Vec<Arc<Pod>> = pods_of(owner, f.snapshot()).into_iter().filter(|p| other(p) && running(p)).collect();
    (!old.is_empty()).then_some(old)
}
