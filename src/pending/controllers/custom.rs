//! Owners of any other kind: what they have of pods and of workloads, and how many pods their scale wants.

use super::controller::{Controller, WorkloadStatus, is_are};
use crate::finding::Code;
use crate::lists::some;
use crate::snapshot::workload::{Detail, Workload};
use std::sync::Arc;

pub(super) fn sync(c: &Controller<'_>, sync_of: &dyn Fn(&Arc<Workload>) -> WorkloadStatus) -> WorkloadStatus {
    let made = c.snapshot.workloads_controlled_by(c.workload);
    let own = c.pods();
    let mut found = WorkloadStatus {
        current: own.iter().filter(|p| p.is_active()).count(),
        ready: own.iter().filter(|p| p.is_active() && p.is_ready()).count(),
        ..WorkloadStatus::default()
    };
    let mut wanted = 0;
    for workload in &made {
        let of_it = sync_of(workload);
        found.current += of_it.current;
        found.ready += of_it.ready;
        wanted += of_it.desired.unwrap_or(of_it.current);
    }
    // What its scale counts (pods, instances, groups of pods) is its own affair where others make the pods.
    found.desired = if made.is_empty() { c.workload.replicas().map(|_| c.replicas()) } else { Some(wanted) };
    if made.is_empty() {
        found.missing = found.desired.unwrap_or(0).saturating_sub(found.current);
        if found.missing > 0 {
            found.findings = c.refused();
        }
    } else {
        let names = some(made.iter().map(|w| format!("{} {}", w.kind, w.meta.name)), 3);
        let suspended = made.iter().filter(|w| matches!(&w.detail, Detail::Job(d) if d.0.suspend)).count();
        let suspended = match suspended {
            0 => String::new(),
            n if n == made.len() => "; all of its Jobs are suspended".to_owned(),
            n => format!("; {} suspended", is_are(n)),
        };
        let message = format!(
            "{} makes its pods through {names}: {} there, {} Ready{suspended}",
            c.name(),
            is_are(found.current),
            is_are(found.ready)
        );
        found.findings.push(c.finding(Code::Running, message));
    }
    found
}
