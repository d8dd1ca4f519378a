//! What drain asks a flag for, and what that flag destroys.

use super::RuleContext;
use crate::cure::Remedy;
use crate::drain::filters::Decision;
use crate::drain::note::{Drainability, Note};
use crate::finding::{Code, Ref, Severity};
use crate::snapshot::Kind;
use crate::snapshot::kinds::{Recognised, recognise};
use crate::snapshot::pod::VolumeSource;

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let pod = rule.pod;
    if rule.status.decision == Decision::Unknown {
        let owner = pod.meta.controller.as_ref().map(|o| o.name.to_string()).unwrap_or_default();
        let text = format!(
            "DaemonSet {owner}, which it names as its controller, could not be read: whether drain ignores the pod \
             or evicts it is not known"
        );
        notes.push(Note::new(Code::NotJudged, text).means(Drainability::Unknown));
        return;
    }
    for code in &rule.status.codes {
        notes.extend(match code {
            Code::EmptyDir | Code::Unmanaged | Code::Completed if rule.status.decision == Decision::Skip => {
                let why = match code {
                    Code::EmptyDir => "it has storage of the node (emptyDir or hostPath)",
                    Code::Unmanaged => "it has no owner",
                    _ => "it has ended",
                };
                let text = format!("{why}: {} ignores it", rule.context.drainer.name);
                Some(Note::new(*code, text).severity(Severity::Info))
            }
            Code::DaemonSet => Some(Note::new(Code::DaemonSet, "drain ignores it: it is a DaemonSet's pod")),
            Code::Mirror => Some(Note::new(
                Code::Mirror,
                "drain ignores it: it is the mirror of a static pod, which the kubelet runs",
            )),
            Code::Completed => {
                Some(Note::new(Code::Completed, "it has ended: it is evicted whatever its budgets allow"))
            }
            Code::EmptyDir => {
                let names = pod.volumes.iter().filter(|v| matches!(v.source, VolumeSource::EmptyDir { .. }));
                let all: Vec<&str> = names.map(|v| &*v.name).collect();
                let text = format!("the scratch data of its emptyDir ({}) is lost with it", all.join(", "));
                let flag = rule.options.delete_emptydir_data;
                Some(Note::new(Code::EmptyDir, text).severity(if flag { Severity::Info } else { Severity::Warning }))
            }
            Code::Unmanaged => {
                let text = "it has no controller: nothing makes a new pod once it is deleted";
                let keep = format!("kubectl get pod {} -n {} -o yaml", pod.meta.name, pod.meta.ns());
                let advice = "keep its manifest, so that it can be made again (--force deletes it for good)";
                Some(Note::new(Code::Unmanaged, text).remedy(Remedy::advice(advice).command(keep)))
            }
            Code::Orphaned => Some(orphaned(rule)),
            _ => None,
        });
    }
    let lost = rule.status.decision == Decision::Delete
        && !rule.status.codes.contains(&Code::Orphaned)
        && !pod.is_finished()
        && owner_is_gone(rule);
    if lost {
        notes.push(orphaned(rule));
    }
}

/// Whether the controller should be in the input and is not.
fn owner_is_gone(rule: &RuleContext<'_>) -> bool {
    let Some(owner) = &rule.pod.meta.controller else { return false };
    if rule.snapshot.workload_of(rule.pod.meta.ns(), owner).is_some() {
        return false;
    }
    match recognise(&owner.api_version(), &owner.kind) {
        Recognised::Known(Kind::Node) => false,
        // A driver that makes its executors itself.
        Recognised::Known(Kind::Pod) => rule.snapshot.pods.named(rule.pod.meta.ns(), &owner.name).is_none(),
        Recognised::Known(kind) => rule.snapshot.coverage.has(kind),
        _ => false,
    }
}

fn orphaned(rule: &RuleContext<'_>) -> Note {
    let owner = rule.pod.meta.controller.as_ref();
    let name = owner.map(|o| format!("{} {}", o.kind, o.name)).unwrap_or_default();
    let is_daemon = owner.is_some_and(|o| &*o.kind == "DaemonSet");
    let effect = if is_daemon {
        "drain refuses it without --force, and nothing makes a new one"
    } else {
        "nothing makes a new one, and a budget that counts by owners fails to sync"
    };
    let note = Note::new(Code::Orphaned, format!("its controller {name} no longer exists: {effect}"));
    note.about(owner.map(|o| Ref::owner(rule.pod.meta.ns(), o)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes, owned_by};

    #[test]
    fn what_flags_destroy_is_told() {
        let scratch = r#""volumes": [{"name": "t", "emptyDir": {}}, {"name": "k", "persistentVolumeClaim": {"claimName": "s"}}, {"name": "u", "emptyDir": {}}]"#;
        let claim = r#""volumes": [{"name": "k", "persistentVolumeClaim": {"claimName": "s"}}]"#;
        let (set, lost) = (owned_by("apps/v1", "ReplicaSet", "web"), owned_by("apps/v1", "ReplicaSet", "lost"));
        let daemon = owned_by("apps/v1", "DaemonSet", "netd");
        let lost_daemon = owned_by("apps/v1", "DaemonSet", "lost");
        let custom = owned_by("x.io/v1", "Engine", "lost");
        let mirror = r#""annotations": {"kubernetes.io/config.mirror": "x"}"#;
        let (runs, done) = ("", r#""phase": "Succeeded""#);
        let (all, no_sets) = (&["ReplicaSet", "DaemonSet"][..], &[][..]);
        let note = |effect, words| (effect, words);
        let plain = |words| note(Drainability::Drains, words);
        for (title, read, meta, spec, status, code, want) in [
            (
                "scratch data",
                all,
                &*set,
                scratch,
                runs,
                Code::EmptyDir,
                &[plain("its emptyDir (t, u) is lost with it")][..],
            ),
            ("other volumes", all, &set, claim, runs, Code::EmptyDir, &[]),
            ("scratch data of a pod that has ended", all, &set, scratch, done, Code::EmptyDir, &[]),
            (
                "no controller",
                all,
                "",
                "",
                runs,
                Code::Unmanaged,
                &[plain("nothing makes a new pod once it is deleted")],
            ),
            ("no controller, and it has ended", all, "", "", done, Code::Unmanaged, &[]),
            ("a controller", all, &set, "", runs, Code::Unmanaged, &[]),
            ("its controller is there", all, &set, "", runs, Code::Orphaned, &[]),
            (
                "its controller is gone",
                all,
                &lost,
                "",
                runs,
                Code::Orphaned,
                &[plain("ReplicaSet lost no longer exists: nothing makes")],
            ),
            ("its controller is gone, it has ended", all, &lost, "", done, Code::Orphaned, &[]),
            ("controllers were not read", no_sets, &lost, "", runs, Code::Orphaned, &[]),
            ("a pod's own pods", all, &owned_by("v1", "Pod", "q"), "", runs, Code::Orphaned, &[]),
            ("of a kind that is not known", all, &custom, "", runs, Code::Orphaned, &[]),
            (
                "its DaemonSet is gone",
                all,
                &lost_daemon,
                "",
                runs,
                Code::Orphaned,
                &[plain("DaemonSet lost no longer exists: drain refuses it without --force")],
            ),
            ("its DaemonSet is there", all, &daemon, "", runs, Code::DaemonSet, &[plain("drain ignores it")]),
            (
                "DaemonSets were not read",
                no_sets,
                &lost_daemon,
                "",
                runs,
                Code::NotJudged,
                &[note(Drainability::Unknown, "DaemonSet lost, which it names as its controller, could not be read")],
            ),
            ("a static pod", all, mirror, "", runs, Code::Mirror, &[plain("which the kubelet runs")]),
            ("it has ended", all, &set, "", done, Code::Completed, &[plain("whatever its budgets allow")]),
            ("it runs", all, &set, "", runs, Code::Completed, &[]),
        ] {
            let mut c = Cluster::new();
            c.node("n", "{}");
            if let [kind, daemons] = read {
                c.add("apps/v1", kind, "a", "web", "{}");
                c.add("apps/v1", daemons, "a", "netd", "{}");
            }
            c.pod_of("a", "q", "n", "", "", "");
            c.pod_of("a", "p", "n", meta, spec, status);
            assert_notes(title, &c.met(code, &DrainOptions::default()), want);
        }
    }

    #[test]
    fn scratch_data_that_is_given_up_is_no_warning() {
        let mut c = Cluster::new();
        c.node("n", "{}");
        c.pod_of("a", "p", "n", "", r#""volumes": [{"name": "t", "emptyDir": {}}]"#, "");
        for (delete_emptydir_data, want) in [(false, Severity::Warning), (true, Severity::Info)] {
            let notes = c.met(Code::EmptyDir, &DrainOptions { delete_emptydir_data, ..DrainOptions::default() });
            assert_eq!(notes.iter().map(|n| n.severity).collect::<Vec<_>>(), [Some(want)]);
        }
    }
}
