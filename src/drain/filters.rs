//! Which pods `kubectl drain` lets go, leaves alone, or refuses without a flag. Mirrors `makeFilters` and
//! `GetPodsForDeletion` of `k8s.io/kubectl/pkg/drain/{filters,drain}.go`.

use super::options::{DrainOptions, Flag};
use super::view::View;
use crate::finding::Code;
use crate::snapshot::meta::OwnerRef;
use crate::snapshot::pod::{Pod, VolumeSource};
use crate::snapshot::{Kind, Snapshot};

/// What drain does with a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is removed: evicted, or deleted.
    Delete,
    /// It is ignored: a DaemonSet's pod, a mirror.
    Skip,
    /// The command does not look at it.
    Outside,
    /// It depends on an object that is not in the input.
    Unknown,
}

/// What the filters say of a pod. Mirrors `PodDeleteStatus`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodDeleteStatus {
    /// What drain does with it, once it has the flags that it needs.
    pub decision: Decision,
    /// The flags without which drain refuses the pod, given or not.
    pub needs: Vec<Flag>,
    /// Why.
    pub codes: Vec<Code>,
}

/// Runs kubectl's filters in their order, as if every flag that they ask for were given.
pub fn filter(view: &View<'_>, pod: &Pod) -> PodDeleteStatus {
    with_flags(view.snapshot, view.options, pod)
}

fn with_flags(snapshot: &Snapshot, options: &DrainOptions, pod: &Pod) -> PodDeleteStatus {
    let mut f = PodDeleteStatus { decision: Decision::Delete, needs: Vec::new(), codes: Vec::new() };
    let selected = options.pod_selector.as_ref().is_none_or(|(s, _)| s.matches(&pod.meta.labels));
    if !selected || is_skipped_as_deleted(snapshot, options, pod) {
        f.decision = Decision::Outside;
        return f;
    }
    if pod.is_terminating() {
        f.codes.push(Code::Terminating);
    }
    if pod.is_finished() {
        f.codes.push(Code::Completed);
    }
    if let Some(owner) = daemon_set_of(pod).filter(|_| !pod.is_finished()) {
        match daemon_set(snapshot, pod, owner) {
            Found::Yes => {
                f.decision = Decision::Skip;
                f.codes.push(Code::DaemonSet);
                f.needs.push(Flag::IgnoreDaemonSets);
                return f;
            }
            Found::No => {
                f.codes.push(Code::Orphaned);
                f.needs.push(Flag::Force);
            }
            Found::NotRead => {
                f.decision = Decision::Unknown;
                return f;
            }
        }
    }
    if pod.is_mirror() {
        f.decision = Decision::Skip;
        f.codes.push(Code::Mirror);
        f.needs.clear();
        return f;
    }
    if pod.is_finished() {
        return f;
    }
    if pod.volumes.iter().any(|v| matches!(v.source, VolumeSource::EmptyDir { .. })) {
        f.codes.push(Code::EmptyDir);
        f.needs.push(Flag::DeleteEmptyDirData);
    }
    if pod.meta.controller.is_none() {
        f.codes.push(Code::Unmanaged);
        f.needs.push(Flag::Force);
    }
    f
}

/// Whether its deletion is overdue by more than the flag allows. Mirrors `shouldSkipPod`.
fn is_skipped_as_deleted(snapshot: &Snapshot, options: &DrainOptions, pod: &Pod) -> bool {
    options.skip_wait_for_delete > 0
        && pod
            .meta
            .deletion_timestamp
            .is_some_and(|t| snapshot.now.duration_since(t).as_secs() > options.skip_wait_for_delete)
}

/// Its controller, where that is a DaemonSet by name and version.
fn daemon_set_of(pod: &Pod) -> Option<&OwnerRef> {
    pod.meta.controller.as_ref().filter(|o| &*o.kind == "DaemonSet" && &*o.group == "apps" && &*o.version == "v1")
}

enum Found {
    Yes,
    No,
    NotRead,
}

/// kubectl looks a DaemonSet up by name alone.
fn daemon_set(snapshot: &Snapshot, pod: &Pod, owner: &OwnerRef) -> Found {
    match snapshot.workload("DaemonSet", pod.meta.ns(), &owner.name) {
        Some(_) => Found::Yes,
        None if snapshot.coverage.has(Kind::DaemonSet) => Found::No,
        None => Found::NotRead,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::testing::Cluster;

    #[test]
    fn decides_as_kubectl_does() {
        let mut c = Cluster::new();
        c.node("n1", "{}");
        c.add("apps/v1", "DaemonSet", "a", "netd", "{}");
        let owner = |kind: &str, name: &str| {
            format!(
                r#""ownerReferences": [{{"apiVersion": "apps/v1", "kind": "{kind}", "name": "{name}", "uid": "u", "controller": true}}]"#
            )
        };
        let (netd, lost, web) = (owner("DaemonSet", "netd"), owner("DaemonSet", "lost"), owner("ReplicaSet", "web"));
        let mirror = r#""annotations": {"kubernetes.io/config.mirror": "x"}"#;
        let scratch = r#""volumes": [{"name": "t", "emptyDir": {}}]"#;
        let done = r#""phase": "Succeeded""#;
        for (name, meta, spec, status, decision, needs, codes) in [
            ("daemon", &*netd, "", "", Decision::Skip, vec![Flag::IgnoreDaemonSets], vec![Code::DaemonSet]),
            ("done-daemon", &netd, "", done, Decision::Delete, vec![], vec![Code::Completed]),
            ("lost-daemon", &lost, "", "", Decision::Delete, vec![Flag::Force], vec![Code::Orphaned]),
            (
                "lost-scratch",
                &lost,
                scratch,
                "",
                Decision::Delete,
                vec![Flag::Force, Flag::DeleteEmptyDirData],
                vec![Code::Orphaned, Code::EmptyDir],
            ),
            ("mirror", mirror, scratch, "", Decision::Skip, vec![], vec![Code::Mirror]),
            ("scratch", &web, scratch, "", Decision::Delete, vec![Flag::DeleteEmptyDirData], vec![Code::EmptyDir]),
            ("bare", "", "", "", Decision::Delete, vec![Flag::Force], vec![Code::Unmanaged]),
            ("done-bare", "", scratch, done, Decision::Delete, vec![], vec![Code::Completed]),
            ("plain", &web, "", "", Decision::Delete, vec![], vec![]),
        ] {
            let pod = c.pod_of("a", name, "n1", meta, spec, status);
            let f = with_flags(&c.snapshot(), &DrainOptions::default(), &pod);
            assert_eq!((f.decision, f.needs, f.codes), (decision, needs, codes), "{name}");
        }
    }

    #[test]
    fn flags_narrow_what_is_looked_at() {
        let mut c = Cluster::new();
        c.node("n1", "{}");
        let gone = r#""deletionTimestamp": "2026-01-01T00:00:00Z""#;
        let pod = c.pod_of("a", "p", "n1", &format!(r#"{gone}, "labels": {{"app": "x"}}"#), "", "");
        let s = c.snapshot_at("2026-01-01T00:02:00Z");
        for (skip, selector, want) in [
            (0, "app=x", Decision::Delete),
            (0, "app=y", Decision::Outside),
            (119, "app=x", Decision::Outside),
            (120, "app=x", Decision::Delete),
        ] {
            let options = DrainOptions {
                skip_wait_for_delete: skip,
                pod_selector: LabelSelector::parse(selector).ok().map(|s| (s, selector.to_owned())),
                ..DrainOptions::default()
            };
            assert_eq!(with_flags(&s, &options, &pod).decision, want, "{skip} {selector}");
        }
    }

    use crate::snapshot::selector::LabelSelector;
}
