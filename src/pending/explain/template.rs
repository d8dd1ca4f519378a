//! How a change of a template reaches the pod that waits: by its controller's own behaviour, which is not that of a
//! Deployment everywhere.

use crate::cure::{Change, Cure, Remedy, manager};
use crate::finding::{Code, Finding, Ref, Severity};
use crate::pending::facts::Facts;
use crate::sched::resources::{Of, requests};
use crate::snapshot::Str;
use crate::snapshot::pod::Pod;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::workload::{Detail, Workload};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a changed template reaches the pod.
enum Way<'a> {
    /// Nothing made it.
    Alone,
    /// The controller of this workload makes the pod anew.
    Rolls(&'a Arc<Workload>),
    /// The template of this workload is changed, and the pod has to be deleted: its controller does not do so, as is said.
    Delete(&'a Arc<Workload>, &'static str),
    /// A Job's template cannot be changed: the Job is made anew, by its CronJob where there is one.
    Immutable(&'a Arc<Workload>, Option<&'a Arc<Workload>>),
    /// Something else keeps the template.
    Elsewhere(String),
}

/// What it costs to delete a pod without a node.
const NOTHING_LOST: &str = "the pod runs nowhere, so nothing is lost";
const OF_REPLICA_SET: &str = "nothing replaces pods when the template of a bare ReplicaSet changes";
const OF_ORDERED: &str = "podManagementPolicy OrderedReady: its controller does not replace a pod that is not Ready";
const OF_ON_DELETE: &str = "updateStrategy OnDelete: its controller does not replace pods";

/// The pod's place, and what its controller does. Mirrors `processReplica` and `updateStatefulSet` of
/// `pkg/controller/statefulset/stateful_set_control.go`, `manageReplicas` of the ReplicaSet's controller, and the
/// validation of Jobs, whose template is immutable.
fn way<'a>(f: &Facts<'a>) -> Way<'a> {
    let snapshot = f.snapshot();
    let Some(maker) = snapshot.controller_of(&f.pod().meta) else {
        return match &f.pod().meta.controller {
            Some(owner) => Way::Elsewhere(format!("{} {}", owner.kind, owner.name)),
            None => Way::Alone,
        };
    };
    let above = snapshot.controller_of(&maker.meta);
    match (&maker.detail, above) {
        // A pod that is still to be made, as in a drain, is made from the template as it is then.
        (Detail::ReplicaSet(_) | Detail::ReplicationController(_) | Detail::StatefulSet(_), None) if !exists(f) => {
            Way::Rolls(maker)
        }
        (Detail::ReplicaSet(_), Some(d)) if matches!(d.detail, Detail::Deployment(_)) => Way::Rolls(d),
        (Detail::ReplicaSet(_) | Detail::ReplicationController(_), None) => Way::Delete(maker, OF_REPLICA_SET),
        (Detail::StatefulSet(d), None) => of_stateful_set(f, maker, &d.0),
        (Detail::DaemonSet(d), None) if d.0.is_on_delete() => Way::Delete(maker, OF_ON_DELETE),
        (Detail::DaemonSet(_), None) => Way::Rolls(maker),
        (Detail::Job(_), None) => Way::Immutable(maker, None),
        (Detail::Job(_), Some(c)) if matches!(c.detail, Detail::CronJob(_)) => Way::Immutable(maker, Some(c)),
        (_, above) => {
            let keeper = above.unwrap_or(maker);
            Way::Elsewhere(format!("{} {}", keeper.kind, keeper.meta.path()))
        }
    }
}

/// Whether the pod is one of the cluster's.
fn exists(f: &Facts<'_>) -> bool {
    let meta = &f.pod().meta;
    f.snapshot().pods.named(meta.ns(), &meta.name).is_some_and(|p| p.meta.uid == meta.uid)
}

fn of_stateful_set<'a>(f: &Facts<'a>, set: &'a Arc<Workload>, spec: &crate::wire::apps::StatefulSetSpec) -> Way<'a> {
    if spec.is_on_delete() {
        return Way::Delete(set, OF_ON_DELETE);
    }
    let partition = spec.partition();
    if f.pod().ordinal().is_some_and(|n| n < partition) {
        return Way::Elsewhere(format!(
            "StatefulSet {}, after its updateStrategy.rollingUpdate.partition ({partition}), which keeps this pod at the \
             former revision",
            set.meta.path()
        ));
    }
    if spec.is_ordered() { Way::Delete(set, OF_ORDERED) } else { Way::Rolls(set) }
}

/// A change of the pod's template as a remedy. `then` says what comes of it; `set` is what `kubectl set` is told, between
/// its subcommand and the workload: `("resources", ["-c", "app", …])`.
pub fn change(f: &Facts<'_>, text: &str, then: &str, set: (&str, &[&str])) -> Remedy {
    let ns = f.pod().meta.ns();
    let line = |w: &Workload| {
        let target = format!("{}/{}", w.kind.to_lowercase(), w.meta.name);
        let args: Vec<&str> = ["set", set.0, &target].into_iter().chain(set.1.iter().copied()).collect();
        f.kubectl.line(w.meta.ns(), &args)
    };
    let kept = |w: &Workload| manager(&w.meta).map(|m| format!(" ({m})")).unwrap_or_default();
    match way(f) {
        Way::Alone => Remedy::advice(format!(
            "{text}: a pod's spec cannot be changed, so make pod {} anew; {then}",
            f.pod().meta.path()
        )),
        Way::Rolls(w) => Remedy::advice(format!("{text}: {then}{}", kept(w))).command(line(w)),
        Way::Delete(w, why) => {
            let delete = f.kubectl.line(ns, &["delete", "pod", &f.pod().meta.name]);
            let text = format!(
                "{text} in the template of {} {}, then delete the pod ({why}): {then}{}",
                w.kind,
                w.meta.path(),
                kept(w)
            );
            Remedy::advice(text).command(line(w)).command(delete)
        }
        Way::Immutable(job, None) => Remedy::advice(format!(
            "{text}: the template of a Job cannot be changed, so delete Job {} and create it again; {then}{}",
            job.meta.path(),
            kept(job)
        )),
        Way::Immutable(job, Some(cron)) => {
            let delete = f.kubectl.line(ns, &["delete", "job", &job.meta.name]);
            let text = format!(
                "{text} in CronJob {}, and delete Job {}, whose template cannot be changed: the pod of the next run fits; {then}{}",
                cron.meta.path(),
                job.meta.name,
                kept(cron)
            );
            Remedy::advice(text).command(line(cron)).command(delete)
        }
        Way::Elsewhere(keeper) => Remedy::advice(format!("{text}, in {keeper}: {then}")),
    }
}

/// What else it needs, whatever is changed in the template; `None` where the controller makes the pod anew.
pub fn then_delete(f: &Facts<'_>) -> Option<Remedy> {
    let Way::Delete(w, why) = way(f) else { return None };
    let text = format!(
        "once the template of {} {} is changed, delete pod {}, so that the change reaches it ({why})",
        w.kind,
        w.meta.path(),
        f.pod().meta.path()
    );
    Some(Cure::from(Change::DeletePod(f.pod().clone())).text(text).risk(NOTHING_LOST).untried(f.snapshot()))
}

/// Where the template is changed, and what else it needs, for advice that has no command.
pub fn place(f: &Facts<'_>) -> String {
    match way(f) {
        Way::Alone => "of the pod, which has to be made anew".to_owned(),
        Way::Rolls(w) => format!("of {} {}", w.kind, w.meta.path()),
        Way::Delete(w, why) => format!("of {} {}; then delete the pod, as {why}", w.kind, w.meta.path()),
        Way::Immutable(job, None) => {
            format!("of Job {}, which has to be made anew, as its template cannot be changed", job.meta.path())
        }
        Way::Immutable(_, Some(cron)) => format!("of CronJob {}, for its next run", cron.meta.path()),
        Way::Elsewhere(keeper) => format!("in {keeper}"),
    }
}

/// The pod as the present template of its StatefulSet makes it, where that is not how the pod is and its controller does
/// not make it anew.
fn as_of_now<'a>(f: &Facts<'a>) -> Option<(&'a Arc<Workload>, &'static str, Arc<Pod>)> {
    let Way::Delete(set, why) = way(f) else { return None };
    let template = set.template.as_ref()?;
    let spec = f.pod_with(|spec| {
        let own = (spec.priority, spec.priority_class.clone(), spec.preemption_policy.clone(), spec.overhead.clone());
        let service_account = spec.service_account.clone();
        *spec = (*template.spec).clone();
        (spec.priority, spec.priority_class, spec.preemption_policy, spec.overhead) = own;
        spec.service_account = service_account;
    });
    let differs = match &set.detail {
        Detail::StatefulSet(d) => {
            let mine = f.pod().meta.labels.get("controller-revision-hash").map(|h| &**h);
            let newest = &*d.1.update_revision;
            !newest.is_empty() && mine.is_some_and(|m| m != newest)
        }
        // What is told apart is what decides where a pod fits.
        _ => {
            asks(&spec, f.state.minor()) != asks(f.pod(), f.state.minor())
                || spec.spec.node_selector != f.pod().spec.node_selector
                || spec.spec.node_affinity != f.pod().spec.node_affinity
        }
    };
    differs.then_some((set, why, spec))
}

/// How much the pod requests, in an order of its own.
fn asks(pod: &Pod, minor: u32) -> BTreeMap<Str, Quantity> {
    requests(pod, Of::Incoming, minor).iter().map(|(name, q)| (name.clone(), q)).collect()
}

/// Whether the template was changed since the pod was made, and that never reaches it.
pub fn is_behind(f: &Facts<'_>) -> bool {
    as_of_now(f).is_some()
}

/// A pod of a former template that nothing replaces.
pub fn behind(f: &Facts<'_>) -> Option<Finding> {
    let (set, why, new) = as_of_now(f)?;
    let message = format!(
        "the template of {} {} has changed since pod {} was made, and the change does not reach it: {why}",
        set.kind,
        set.meta.path(),
        f.pod().meta.name
    );
    let finding = Finding::new(Code::Ordered, message).severity(Severity::Error).about([Ref::workload(set)]);
    let cure = || {
        Cure::from(Change::DeletePod(f.pod().clone()))
            .text(format!("delete pod {}: its controller makes it anew from the present template", f.pod().meta.path()))
            .risk(NOTHING_LOST)
    };
    let fits = f.taken_by(f.state, &new);
    let untried = cure().untried(f.snapshot());
    Some(finding.remedy(untried.clone().tried(|| fits.is_some()).unwrap_or(untried)))
}

#[cfg(test)]
mod tests {
    use crate::finding::{Code, Finding};
    use crate::pending::{Request, pending};
    use crate::sched::State;
    use crate::testing::{Object, cluster, node, object, pod};
    use serde_json::{Value, json};

    /// The node has 4 cpu, the pod asks for 5.
    fn findings(objects: Vec<Object>) -> Vec<Finding> {
        let snapshot = cluster().add(node("n1")).all(objects).snapshot();
        let answer = pending(&Request::default(), &snapshot, &State::new(&snapshot)).unwrap();
        answer.items.into_iter().filter(|i| i.subject.kind() == "Pod").flat_map(|i| i.findings).collect()
    }

    fn maker(api: &str, kind: &str, cpu: &str, more: Value) -> Object {
        let containers = json!([{"name": "c", "resources": {"requests": {"cpu": cpu}}}]);
        object(api, kind, "a/web")
            .spec(json!({"replicas": 1, "template": {"spec": {"containers": containers}}}))
            .with(more)
    }

    fn p(name: &str, api: &str, owner: &str) -> Object {
        pod(&format!("a/{name}")).requests("cpu", "5").owned_by(api, owner)
    }

    #[test]
    fn a_changed_template_reaches_the_pod_as_its_controller_does_it() {
        let set = |more| maker("apps/v1", "StatefulSet", "5", more);
        let ordered = p("web-0", "apps/v1", "StatefulSet/web");
        let cron = object("batch/v1", "CronJob", "a/nightly")
            .spec(json!({"jobTemplate": {"spec": {"template": {"spec": {}}}}}));
        let job = || maker("batch/v1", "Job", "5", json!({}));
        let of_job = || p("web-x", "batch/v1", "Job/web");
        let deployment = object("apps/v1", "Deployment", "a/shop");
        let rs = || maker("apps/v1", "ReplicaSet", "5", json!({}));
        let of_rs = || p("web-x", "apps/v1", "ReplicaSet/web");
        let rows: [(&str, Vec<Object>, &[&str], &str); 9] = [
            ("alone", vec![pod("a/web").requests("cpu", "5")], &[], "a pod's spec cannot be changed"),
            (
                "a Deployment",
                vec![deployment, rs().owned_by("apps/v1", "Deployment/shop"), of_rs()],
                &["kubectl set resources deployment/shop -c c --requests=cpu=4 -n a"],
                "the pod then fits on n1",
            ),
            (
                "a bare ReplicaSet",
                vec![rs(), of_rs()],
                &["kubectl set resources replicaset/web -c c --requests=cpu=4 -n a", "kubectl delete pod web-x -n a"],
                "bare ReplicaSet",
            ),
            (
                "OrderedReady",
                vec![set(json!({})), ordered.clone()],
                &["kubectl set resources statefulset/web -c c --requests=cpu=4 -n a", "kubectl delete pod web-0 -n a"],
                "OrderedReady",
            ),
            (
                "Parallel",
                vec![set(json!({"spec": {"podManagementPolicy": "Parallel"}})), ordered.clone()],
                &["kubectl set resources statefulset/web -c c --requests=cpu=4 -n a"],
                "the pod then fits on n1",
            ),
            (
                "OnDelete",
                vec![
                    set(json!({"spec": {"podManagementPolicy": "Parallel", "updateStrategy": {"type": "OnDelete"}}})),
                    ordered.clone(),
                ],
                &["kubectl set resources statefulset/web -c c --requests=cpu=4 -n a", "kubectl delete pod web-0 -n a"],
                "OnDelete",
            ),
            (
                "a partition above the pod",
                vec![
                    set(
                        json!({"spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}}),
                    ),
                    ordered,
                ],
                &[],
                "partition (1)",
            ),
            ("a Job", vec![job(), of_job()], &[], "the template of a Job cannot be changed"),
            (
                "a CronJob's Job",
                vec![cron, job().owned_by("batch/v1", "CronJob/nightly"), of_job()],
                &["kubectl set resources cronjob/nightly -c c --requests=cpu=4 -n a", "kubectl delete job web -n a"],
                "in CronJob a/nightly",
            ),
        ];
        for (title, objects, commands, words) in rows {
            let found = findings(objects);
            let lowers = |r: &&crate::cure::Remedy| r.text.starts_with("lower the cpu request");
            let remedy =
                found.iter().flat_map(|f| &f.remedies).find(lowers).unwrap_or_else(|| panic!("{title}: {found:?}"));
            assert_eq!(remedy.commands(), commands, "{title}");
            assert!(remedy.text.contains(words), "{title}: {}", remedy.text);
            assert!(remedy.is_verified(), "{title}");
        }
    }

    #[test]
    fn a_lower_request_is_one_with_which_all_pods_of_the_controller_fit() {
        // What is lowered in a template is lowered for all pods made from it; those that are not made yet want room as well.
        let set = |replicas: i64| {
            maker(
                "apps/v1",
                "StatefulSet",
                "5",
                json!({"spec": {"podManagementPolicy": "Parallel", "replicas": replicas}}),
            )
        };
        for (title, replicas, nodes, want) in [
            ("one", 1, &["4"][..], ("--requests=cpu=4", "the pod then fits on n0")),
            (
                "a node each",
                2,
                &["4", "3"],
                ("--requests=cpu=3", "the 2 pods of its controller that have no node then fit"),
            ),
            (
                "two on a node",
                2,
                &["4"],
                ("--requests=cpu=2", "the 2 pods of its controller that have no node then fit"),
            ),
            ("three on two nodes", 3, &["4", "3"], ("--requests=cpu=2", "the 3 pods of its controller")),
        ] {
            let nodes = nodes.iter().enumerate().map(|(at, cpu)| node(&format!("n{at}")).allocatable("cpu", cpu));
            let all = nodes.chain([set(replicas), p("web-0", "apps/v1", "StatefulSet/web")]).collect::<Vec<_>>();
            let snapshot = cluster().all(all).snapshot();
            let answer = pending(&Request::default(), &snapshot, &State::new(&snapshot)).unwrap();
            let found: Vec<Finding> = answer.items.into_iter().flat_map(|i| i.findings).collect();
            let lowers = |r: &&crate::cure::Remedy| r.text.starts_with("lower the cpu request");
            let remedy = found.iter().flat_map(|f| &f.remedies).find(lowers);
            let remedy = remedy.unwrap_or_else(|| panic!("{title}: {found:?}"));
            assert!(remedy.commands()[0].contains(want.0) && remedy.text.contains(want.1), "{title}: {remedy:?}");
        }
    }

    #[test]
    fn a_template_that_was_corrected_needs_the_old_pod_deleted() {
        let status = json!({"status": {"currentRevision": "web-1", "updateRevision": "web-2"}});
        let parallel = json!({"spec": {"podManagementPolicy": "Parallel"}, "status": status["status"]});
        let set = |cpu: &str, more: &Value| maker("apps/v1", "StatefulSet", cpu, more.clone());
        let web = |revision: &str| p("web-0", "apps/v1", "StatefulSet/web").label("controller-revision-hash", revision);
        let rs = |cpu: &str| maker("apps/v1", "ReplicaSet", cpu, json!({}));
        // Whether the pod is behind, and whether deleting it is known to help.
        for (title, objects, want) in [
            ("of the former revision", vec![set("1", &status), web("web-1")], Some(true)),
            ("the new template is too large as well", vec![set("6", &status), web("web-1")], Some(false)),
            ("of the newest revision", vec![set("5", &status), web("web-2")], None),
            ("its controller replaces it", vec![set("1", &parallel), web("web-1")], None),
            ("a ReplicaSet", vec![rs("1"), p("web-x", "apps/v1", "ReplicaSet/web")], Some(true)),
            ("a ReplicaSet as it was", vec![rs("5"), p("web-x", "apps/v1", "ReplicaSet/web")], None),
        ] {
            let found = findings(objects);
            let behind = found.iter().find(|f| f.code == Code::Ordered);
            assert_eq!(behind.map(|f| f.remedies.iter().all(crate::cure::Remedy::is_verified)), want, "{title}");
            if let Some(f) = behind {
                assert!(
                    f.remedies.iter().all(|r| r.commands()
                        == [format!(
                            "kubectl delete pod {} -n a",
                            f.message.split_once(" pod ").unwrap().1.split(' ').next().unwrap()
                        )]),
                    "{title}"
                );
            }
        }
    }
}
