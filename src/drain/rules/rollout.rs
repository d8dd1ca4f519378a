//! Rollouts in progress: they take pods from the same budget that the drain needs.

use super::RuleContext;
use crate::drain::note::Note;
use crate::finding::{Code, Ref};
use crate::snapshot::workload::{Detail, Workload};

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let Some(top) = rule.top().filter(|_| rule.is_running() && rule.has_budget()) else { return };
    let Some(state) = progress(top) else { return };
    let text = format!(
        "a rollout of {} {} is under way ({state}); it replaces pods of the same budget, and budgets do not limit it",
        top.kind,
        top.meta.path()
    );
    notes.push(Note::new(Code::RolloutInProgress, text).about([Ref::workload(top)]));
}

/// How far a rollout is; `None` where none is under way, or none that takes pods down by itself: a paused Deployment, a
/// StatefulSet whose partition is reached. Mirrors kubectl's `polymorphichelpers/rollout_status.go`.
fn progress(w: &Workload) -> Option<String> {
    let (updated, replicas, wanted) = match &w.detail {
        Detail::Deployment(d) => {
            let (spec, status) = &**d;
            let replicas = status.replicas.unwrap_or_default();
            (status.updated_replicas.unwrap_or_default(), replicas, if spec.paused { 0 } else { replicas })
        }
        Detail::StatefulSet(s) => {
            let (spec, status) = &**s;
            if status.update_revision == status.current_revision || status.update_revision.is_empty() {
                return None;
            }
            if spec.is_on_delete() {
                return None;
            }
            let replicas = status.replicas.unwrap_or_default();
            (status.updated_replicas.unwrap_or_default(), replicas, replicas.saturating_sub(spec.partition()))
        }
        _ => return None,
    };
    (updated < wanted).then(|| format!("{updated} of {replicas} pods are new"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes, owned_by};

    #[test]
    fn rollouts_in_progress_share_the_budget() {
        // After kubectl's `rollout status`: old pods are left while fewer than all are updated, those below a partition
        // aside.
        let (deployment, set) = ("Deployment", "StatefulSet");
        let revisions = |updated: u8| {
            format!(r#""replicas": 3, "updatedReplicas": {updated}, "currentRevision": "v1", "updateRevision": "v2""#)
        };
        let same = r#""replicas": 3, "updatedReplicas": 0, "currentRevision": "v1", "updateRevision": "v1""#;
        let partition = r#""updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}"#;
        let (by_hand, paused) = (r#""updateStrategy": {"type": "OnDelete"}"#, r#""paused": true"#);
        let under_way =
            |updated: u8| format!("is under way ({updated} of 3 pods are new); it replaces pods of the same budget");
        let (none, one) = (under_way(0), under_way(1));
        let (none, one) = (&[(Drainability::Drains, &*none)][..], &[(Drainability::Drains, &*one)][..]);
        let (d1, d3) = (r#""replicas": 3, "updatedReplicas": 1"#, r#""replicas": 3, "updatedReplicas": 3"#);
        let (alive, done) = ("", r#""phase": "Succeeded""#);
        for (title, kind, spec, status, guarded, pod, want) in [
            ("a Deployment", deployment, "", d1, true, alive, one),
            ("it is over", deployment, "", d3, true, alive, &[]),
            ("it is paused", deployment, paused, d1, true, alive, &[]),
            ("no budget", deployment, "", d1, false, alive, &[]),
            ("it has ended", deployment, "", d1, true, done, &[]),
            ("a set", set, "", &*revisions(1), true, alive, one),
            ("a set that is over", set, "", &revisions(3), true, alive, &[]),
            ("a set of one revision", set, "", same, true, alive, &[]),
            ("the partition is reached", set, partition, &revisions(1), true, alive, &[]),
            ("the partition is not reached", set, partition, &revisions(0), true, alive, none),
            ("only what is deleted is new", set, by_hand, &revisions(1), true, alive, &[]),
            ("no rollout", "ReplicaSet", "", r#""replicas": 3"#, true, alive, &[]),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            c.object(&format!(
                r#"{{"apiVersion": "apps/v1", "kind": "{kind}", "metadata": {{"name": "w", "namespace": "a", "uid": "a-{kind}-w"}},
                    "spec": {{{spec}}}, "status": {{{status}}}}}"#
            ));
            if guarded {
                c.synced_budget("a", "b", r#"{"maxUnavailable": 1, "selector": {}}"#);
            }
            c.pod_of("a", "p", "n", &owned_by("apps/v1", kind, "w"), "", pod);
            assert_notes(title, &c.met(Code::RolloutInProgress, &DrainOptions::default()), want);
        }
    }
}
