//! ReplicaSets and ReplicationControllers. Mirrors `syncReplicaSet` and `manageReplicas` of
//! `pkg/controller/replicaset/replica_set.go`.

use super::controller::{Controller, WorkloadStatus};

pub(super) fn sync(c: &Controller<'_>, observed: Option<i64>) -> WorkloadStatus {
    let wanted = c.replicas();
    let mut found = WorkloadStatus::having(&c.pods(), wanted);
    found.missing = wanted.saturating_sub(found.current);
    if found.missing > 0 {
        found.findings = c.refused();
        if found.findings.is_empty() {
            found.findings.extend(c.behind(observed, ""));
        }
    }
    found
}
