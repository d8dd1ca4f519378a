//! Pods that a workload wants and that do not exist: how many, and what keeps them from being made.

use super::admission;
use super::facts::some;
use super::select::pods_of;
use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::shell::Kubectl;
use crate::snapshot::Snapshot;
use crate::snapshot::age::{age, duration_words};
use crate::snapshot::pod::{Pod, PodStatus};
use crate::snapshot::read_pod::Template;
use crate::snapshot::workload::{Detail, Workload};
use serde_json::json;
use std::sync::Arc;

/// What a workload lacks.
#[derive(Debug, Clone)]
pub struct Lacking {
    /// How many pods are missing.
    pub missing: usize,
    /// What keeps them from being made.
    pub findings: Vec<Finding>,
}

/// What a workload lacks; `None` where it has what it wants.
pub fn lacking(workload: &Arc<Workload>, snapshot: &Snapshot, kubectl: &Kubectl) -> Option<Lacking> {
    match &workload.detail {
        Detail::Deployment(_) => deployment(workload, snapshot, kubectl),
        Detail::ReplicaSet(_) | Detail::ReplicationController(_) => replicas(workload, snapshot),
        Detail::StatefulSet(_) => stateful_set(workload, snapshot),
        Detail::Job(_) => job(workload, snapshot, kubectl),
        Detail::DaemonSet(_) => daemon_set(workload, snapshot),
        Detail::CronJob | Detail::Custom => None,
    }
}

fn is_live(p: &Arc<Pod>) -> bool {
    !p.is_finished() && !p.is_terminating()
}

fn live_pods(workload: &Arc<Workload>, snapshot: &Snapshot) -> Vec<Arc<Pod>> {
    pods_of(workload, snapshot).into_iter().filter(is_live).collect()
}

fn wanted(workload: &Workload) -> usize {
    workload.replicas().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

fn replicas(workload: &Arc<Workload>, snapshot: &Snapshot) -> Option<Lacking> {
    let missing = wanted(workload).checked_sub(live_pods(workload, snapshot).len()).filter(|n| *n > 0)?;
    Some(Lacking { missing, findings: refused(workload, snapshot) })
}

fn deployment(workload: &Arc<Workload>, snapshot: &Snapshot, kubectl: &Kubectl) -> Option<Lacking> {
    let sets: Vec<&Arc<Workload>> = snapshot
        .workloads
        .in_namespace(workload.meta.ns())
        .iter()
        .filter(|w| snapshot.controller_of(&w.meta).is_some_and(|o| Arc::ptr_eq(o, workload)))
        .collect();
    let each: Vec<Lacking> = sets.iter().filter_map(|set| replicas(set, snapshot)).collect();
    let mut missing: usize = each.iter().map(|l| l.missing).sum();
    let mut findings: Vec<Finding> = each.into_iter().flat_map(|l| l.findings).collect();
    if sets.is_empty() {
        missing = wanted(workload).saturating_sub(live_pods(workload, snapshot).len());
        findings = refused(workload, snapshot);
    }
    if missing == 0 {
        return None;
    }
    for f in findings.iter_mut().filter(|f| f.code == Code::Quota) {
        f.remedies.extend(surge(workload, snapshot, kubectl));
    }
    Some(Lacking { missing, findings })
}

/// Where the extra pod of a rollout does not fit a quota, an old one may go first.
fn surge(workload: &Arc<Workload>, snapshot: &Snapshot, kubectl: &Kubectl) -> Option<Remedy> {
    let Detail::Deployment(d) = &workload.detail else { return None };
    if live_pods(workload, snapshot).len() < wanted(workload) || wanted(workload) == 0 {
        return None;
    }
    let now = d.0.strategy.as_ref().and_then(|s| s.rolling_update.as_ref());
    let blocked = now.is_some_and(|r| r.max_unavailable.as_ref().is_some_and(|m| m.int == 0));
    let patch =
        json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}});
    let text = format!(
        "set maxSurge 0 and maxUnavailable 1 on Deployment {}, so that an old pod goes before the new one comes",
        workload.meta.path()
    );
    let args = ["patch", "deployment", &workload.meta.name, "--type=merge", "-p", &patch.to_string()];
    let untried = Remedy::advice(text)
        .command(kubectl.line(workload.meta.ns(), &args))
        .risk("one pod fewer serves while the rollout goes on");
    Some(untried.clone().tried(|| blocked).unwrap_or(untried))
}

/// What keeps a workload's pods from being made: what the API server is recorded to have said, else what it would say.
fn refused(workload: &Arc<Workload>, snapshot: &Snapshot) -> Vec<Finding> {
    let computed =
        workload.template.as_ref().map(|t| admission::refusals(&pod_of(workload, t), snapshot)).unwrap_or_default();
    let Some((said, when)) = recorded(workload, snapshot) else { return computed };
    let code = code_of(&said);
    // What is computed names amounts; what is recorded is added to it, or stands alone.
    let ago = when.map(|w| format!(" ({w} ago)")).unwrap_or_default();
    let mut findings: Vec<Finding> = Vec::new();
    let mut quoted = false;
    for mut f in computed {
        if Some(f.code) == code {
            f.message = format!("{}; the API server said{ago}: {said}", f.message);
            quoted = true;
        }
        findings.push(f);
    }
    if !quoted {
        let of = code.unwrap_or(Code::AdmissionWebhook);
        let mut f = Finding::new(of, format!("its pods are refused{ago}: {said}"));
        if let Some(r) = quota_named(&said, workload.meta.ns()) {
            f = f.about([r]);
        }
        findings.insert(0, f);
    }
    findings
}

fn quota_named(said: &str, ns: &str) -> Option<Ref> {
    let (_, after) = said.split_once("exceeded quota: ").or_else(|| said.split_once("failed quota: "))?;
    let name = after.split([',', ':']).next()?;
    Some(Ref::new("v1", "ResourceQuota", ns, name))
}

/// Which kind of refusal the API server's words are.
fn code_of(said: &str) -> Option<Code> {
    let has = |words: &str| said.contains(words);
    // What a webhook says is its own, whatever words it uses.
    Some(if has("webhook") || has("PodSecurity") || has("ValidatingAdmissionPolicy") {
        Code::AdmissionWebhook
    } else if has("quota") {
        Code::Quota
    } else if has("no PriorityClass with name") {
        Code::PriorityClass
    } else if has("service account") || has("serviceaccount") {
        Code::ServiceAccount
    } else if has(" per Container is ") || has(" per Pod is ") || has("limit to request ratio") {
        Code::LimitRange
    } else {
        return None;
    })
}

/// The last refusal that is recorded: on the workload's condition, else as an event. With how long ago.
fn recorded(workload: &Workload, snapshot: &Snapshot) -> Option<(String, Option<String>)> {
    let meta = &workload.meta;
    let event = snapshot
        .events_about(&workload.kind, meta.ns(), &meta.name)
        .filter(|e| &*e.reason == "FailedCreate")
        .max_by_key(|e| e.last_seen);
    let of_event = event.map(|e| {
        let words = e.message.split_once("Error creating: ").map_or(&*e.message, |(_, w)| w);
        (words.to_owned(), e.last_seen.map(|t| age(t, snapshot.now)))
    });
    of_event.or_else(|| failure(workload).map(|words| (words, None)))
}

fn failure(workload: &Workload) -> Option<String> {
    let found = |list: &[(&str, &str, &str)]| {
        list.iter()
            .find(|(kind, status, _)| *kind == "ReplicaFailure" && *status == "True")
            .map(|(.., m)| (*m).to_owned())
    };
    match &workload.detail {
        Detail::ReplicaSet(s) => {
            found(&s.conditions.iter().map(|c| (&*c.type_, &*c.status, &*c.message)).collect::<Vec<_>>())
        }
        Detail::Deployment(d) => {
            found(&d.1.conditions.iter().map(|c| (&*c.type_, &*c.status, &*c.message)).collect::<Vec<_>>())
        }
        Detail::ReplicationController(s) => {
            found(&s.conditions.iter().map(|c| (&*c.type_, &*c.status, &*c.message)).collect::<Vec<_>>())
        }
        _ => None,
    }
}

/// A pod as the workload would make it.
pub fn pod_of(workload: &Workload, template: &Template) -> Pod {
    let mut meta = template.meta.clone();
    meta.namespace.clone_from(&workload.meta.namespace);
    meta.name = format!("{}-new", workload.meta.name).into();
    Pod {
        meta,
        spec: template.spec.clone(),
        volumes: template.volumes.clone(),
        node: template.node.clone(),
        status: PodStatus::default(),
    }
}

fn stateful_set(workload: &Arc<Workload>, snapshot: &Snapshot) -> Option<Lacking> {
    let Detail::StatefulSet(d) = &workload.detail else { return None };
    let pods = pods_of(workload, snapshot);
    let start = d.0.ordinals.as_ref().and_then(|o| o.start).unwrap_or(0);
    let wanted = workload.replicas().unwrap_or(0);
    let name = |ordinal: i32| format!("{}-{ordinal}", workload.meta.name);
    let find = |ordinal: i32| pods.iter().find(|p| *p.meta.name == *name(ordinal));
    let ordinals = start..start.saturating_add(wanted);
    let missing: Vec<i32> = ordinals.clone().filter(|o| find(*o).is_none()).collect();
    if missing.is_empty() {
        return None;
    }
    let mut findings = Vec::new();
    let first = missing.first().copied()?;
    if d.0.pod_management_policy != "Parallel" {
        // Ordinals before the missing one must be Ready first.
        let before = ordinals.take_while(|o| *o < first).filter_map(find).find(|p| !p.is_ready());
        if let Some(p) = before {
            let why = crate::snapshot::pod_state::why_not_ready(snapshot, p).map(|w| format!(": {}", w.text));
            let message = format!(
                "it makes its pods in order (podManagementPolicy OrderedReady), and {} waits for {}, which is not Ready{}",
                name(first),
                p.meta.name,
                why.unwrap_or_default()
            );
            findings.push(Finding::new(Code::Ordered, message).about([Ref::pod(p)]));
        }
    }
    if findings.is_empty() {
        findings = refused(workload, snapshot);
    }
    Some(Lacking { missing: missing.len(), findings })
}

fn job(workload: &Arc<Workload>, snapshot: &Snapshot, kubectl: &Kubectl) -> Option<Lacking> {
    let Detail::Job(d) = &workload.detail else { return None };
    let (spec, status) = (&d.0, &d.1);
    let done = status.conditions.iter().any(|c| {
        matches!(&*c.type_, "Complete" | "Failed" | "SuccessCriteriaMet" | "FailureTarget") && c.status == "True"
    });
    if done {
        return None;
    }
    let pods = pods_of(workload, snapshot);
    let live = pods.iter().filter(|p| is_live(p)).count();
    let parallelism = usize::try_from(spec.parallelism.unwrap_or(1)).unwrap_or(0);
    let succeeded = usize::try_from(status.succeeded.unwrap_or(0)).unwrap_or(0);
    let wanted = match spec.completions {
        Some(n) => usize::try_from(n).unwrap_or(0).saturating_sub(succeeded).min(parallelism),
        // A work queue: once a pod has succeeded no more are made.
        None if succeeded > 0 => return None,
        None => parallelism,
    };
    if spec.suspend {
        let queue = workload.meta.labels.get("kueue.x-k8s.io/queue-name");
        let who = queue.map(|q| format!(", and Kueue holds it in queue {q}")).unwrap_or_default();
        let message = format!("the Job is suspended{who}: it makes no pods until it is resumed");
        return Some(Lacking { missing: wanted, findings: vec![Finding::new(Code::Gated, message)] });
    }
    let missing = wanted.checked_sub(live).filter(|n| *n > 0)?;
    let ending: Vec<&Arc<Pod>> = pods.iter().filter(|p| p.is_terminating() && !p.is_finished()).collect();
    // With a pod failure policy only this policy is allowed, and it is the default.
    let waits = spec.pod_replacement_policy.as_deref() == Some("Failed")
        || (spec.pod_replacement_policy.is_none() && spec.pod_failure_policy.is_some());
    let findings = if waits && !ending.is_empty() {
        vec![replacement(&ending, snapshot, kubectl)]
    } else {
        refused(workload, snapshot)
    };
    Some(Lacking { missing, findings })
}

/// A Job that makes a new pod only when the old one has ended.
fn replacement(ending: &[&Arc<Pod>], snapshot: &Snapshot, kubectl: &Kubectl) -> Finding {
    let mut remedies = Vec::new();
    let words = ending.iter().map(|p| {
        let node = p.node.as_ref().and_then(|n| snapshot.nodes.named("", n));
        match (node, p.meta.deletion_timestamp) {
            (Some(n), _) if !n.is_ready() => {
                let text = format!("delete pod {} by force, once it is sure that it no longer runs", p.meta.path());
                let args = ["delete", "pod", &p.meta.name, "--grace-period=0", "--force"];
                remedies.push(
                    Remedy::advice(text)
                        .command(kubectl.line(p.meta.ns(), &args))
                        .risk("if the node is alive, the old pod and the new one run at once"),
                );
                format!(
                    "{} on node {}, whose kubelet does not answer: it will not say that the pod ended",
                    p.meta.name, n.meta.name
                )
            }
            (_, Some(t)) if t > snapshot.now => {
                let left = duration_words(t.duration_since(snapshot.now).as_secs());
                format!("{}, which has up to {left} left to end", p.meta.name)
            }
            (_, Some(t)) => format!("{}, which should have ended {} ago", p.meta.name, age(t, snapshot.now)),
            (_, None) => p.meta.name.to_string(),
        }
    });
    let words: Vec<String> = words.collect();
    let message = format!(
        "the Job makes a new pod only when the old one has ended (podReplacementPolicy Failed): it waits for {}",
        some(words)
    );
    let mut finding = Finding::new(Code::ReplacementPolicy, message).about(ending.iter().map(|p| Ref::pod(p)));
    finding.remedies = remedies;
    finding
}

fn daemon_set(workload: &Arc<Workload>, snapshot: &Snapshot) -> Option<Lacking> {
    let Detail::DaemonSet(status) = &workload.detail else { return None };
    let number = |n: Option<i32>| usize::try_from(n.unwrap_or(0)).unwrap_or(0);
    let missing = number(status.desired_number_scheduled)
        .checked_sub(live_pods(workload, snapshot).len().max(number(status.current_number_scheduled)))
        .filter(|n| *n > 0)?;
    Some(Lacking { missing, findings: refused(workload, snapshot) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::testing::{cluster, merged, pod};
    use serde_json::{Value, json};

    fn lacking_of(kind: &str, objects: &[Value]) -> Option<Lacking> {
        let snapshot = cluster(objects);
        let workload = snapshot.workload(kind, "a", "w").unwrap();
        lacking(workload, &snapshot, &Kubectl::of(&snapshot))
    }

    fn workload(api_version: &str, kind: &str, more: Value) -> Value {
        let meta = json!({"name": "w", "namespace": "a", "uid": "w"});
        merged(json!({"apiVersion": api_version, "kind": kind, "metadata": meta}), more)
    }

    /// A pod of the workload, bound to node n.
    fn owned(api_version: &str, kind: &str, name: &str, more: Value) -> Value {
        let owner = json!({"apiVersion": api_version, "kind": kind, "name": "w", "uid": "w", "controller": true});
        let base = json!({"metadata": {"ownerReferences": [owner]}, "spec": {"nodeName": "n"}});
        pod(name, merged(base, more))
    }

    fn ending() -> Value {
        json!({"metadata": {"deletionTimestamp": "2026-01-01T12:00:30Z"}})
    }

    #[test]
    fn a_job_lacks_what_its_controller_would_make() {
        // After TestControllerSyncJob: parallelism, completions, active, succeeded and terminating pods, the policy; how many
        // pods are to be made (those that the policy makes wait included).
        let waits = Some(Code::ReplacementPolicy);
        for (title, parallelism, completions, active, succeeded, terminating, policy, missing, why) in [
            ("job start", 2, Some(5), 0, 0, 0, "TerminatingOrFailed", 2, None),
            ("WQ job start", 2, None, 0, 0, 0, "TerminatingOrFailed", 2, None),
            ("correct # of pods", 3, Some(5), 3, 0, 0, "TerminatingOrFailed", 0, None),
            ("WQ job: correct # of pods", 2, None, 2, 0, 0, "TerminatingOrFailed", 0, None),
            ("too few active pods", 2, Some(5), 1, 1, 0, "TerminatingOrFailed", 1, None),
            ("too few active pods with a dynamic job", 2, None, 1, 0, 0, "TerminatingOrFailed", 1, None),
            ("too many active pods", 2, Some(5), 3, 0, 0, "TerminatingOrFailed", 0, None),
            ("WQ job finishing", 2, None, 1, 1, 0, "TerminatingOrFailed", 0, None),
            ("the last completions", 2, Some(5), 1, 4, 0, "TerminatingOrFailed", 0, None),
            ("terminating pods are replaced", 1, Some(1), 0, 0, 1, "TerminatingOrFailed", 1, None),
            ("terminating pods are waited for", 1, Some(1), 0, 0, 1, "Failed", 1, waits),
        ] {
            let completions = completions.map_or(Value::Null, |n: i32| json!(n));
            let spec = json!({"parallelism": parallelism, "completions": completions, "podReplacementPolicy": policy});
            let job = workload("batch/v1", "Job", json!({"spec": spec, "status": {"succeeded": succeeded}}));
            let active = (0..active).map(|i| owned("batch/v1", "Job", &format!("live-{i}"), json!({})));
            let terminating = (0..terminating).map(|i| owned("batch/v1", "Job", &format!("ending-{i}"), ending()));
            let objects: Vec<Value> = [job].into_iter().chain(active).chain(terminating).collect();
            let got = lacking_of("Job", &objects);
            assert_eq!(got.as_ref().map_or(0, |l| l.missing), missing, "{title}");
            assert_eq!(got.and_then(|l| Some(l.findings.first()?.code)), why, "{title}");
        }
        let done =
            json!({"status": {"conditions": [{"type": "Complete", "status": "True"}]}, "spec": {"parallelism": 1}});
        assert!(lacking_of("Job", &[workload("batch/v1", "Job", done)]).is_none(), "a finished Job makes no pods");
        let suspended = json!({"spec": {"parallelism": 2, "completions": 3, "suspend": true}});
        let got = lacking_of("Job", &[workload("batch/v1", "Job", suspended)]).unwrap();
        assert_eq!((got.missing, got.findings[0].code), (2, Code::Gated));
    }

    #[test]
    fn a_stateful_set_waits_for_the_pods_before() {
        // As TestStatefulSetControl's invariants have it: with OrderedReady no pod is made before all of lower ordinals are
        // Ready; Parallel does not wait.
        let ready = || json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        let unready = || json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}});
        for (policy, zero, missing, waits) in [
            ("OrderedReady", Some(unready()), 2, true),
            ("OrderedReady", Some(ready()), 2, false),
            ("OrderedReady", None, 3, false),
            ("Parallel", Some(unready()), 2, false),
        ] {
            let title = format!("{policy} {zero:?}");
            let set =
                workload("apps/v1", "StatefulSet", json!({"spec": {"replicas": 3, "podManagementPolicy": policy}}));
            let zero = zero.map(|status| owned("apps/v1", "StatefulSet", "w-0", status));
            let got = lacking_of("StatefulSet", &[set].into_iter().chain(zero).collect::<Vec<_>>()).unwrap();
            assert_eq!(got.missing, missing, "{title}");
            assert_eq!(got.findings.iter().any(|f| f.code == Code::Ordered), waits, "{title}");
        }
    }

    #[test]
    fn replicas_are_counted_without_the_ended_and_the_ending() {
        let set = || workload("apps/v1", "ReplicaSet", json!({"spec": {"replicas": 3}}));
        let of = |name: &str, more: Value| owned("apps/v1", "ReplicaSet", name, more);
        let failed = json!({"status": {"phase": "Failed"}});
        for (pods, missing) in [
            (vec![], Some(3)),
            (vec![of("a", json!({})), of("b", json!({})), of("c", json!({}))], None),
            (vec![of("a", json!({})), of("b", ending()), of("c", failed)], Some(2)),
        ] {
            let objects: Vec<Value> = [set()].into_iter().chain(pods).collect();
            assert_eq!(lacking_of("ReplicaSet", &objects).map(|l| l.missing), missing, "{objects:?}");
        }
    }

    #[test]
    fn refusals_are_known_by_the_server_s_words() {
        // The words are those of the admission plugins (`resourcequota`, `priority`, `serviceaccount`, `limitranger`,
        // `webhook`, `pod-security-admission`, `validatingadmissionpolicy`).
        const FORBIDDEN: &str = "pods \"w-x\" is forbidden: ";
        for (words, want) in [
            ("exceeded quota: q, requested: pods=1, used: pods=5, limited: pods=5", Some(Code::Quota)),
            ("failed quota: q: must specify cpu for: c; memory for: c", Some(Code::Quota)),
            ("status unknown for quota: q, resources: pods", Some(Code::Quota)),
            ("no PriorityClass with name gold was found", Some(Code::PriorityClass)),
            (
                "error looking up service account a/robot: serviceaccount \"robot\" not found",
                Some(Code::ServiceAccount),
            ),
            ("maximum cpu usage per Container is 2, but limit is 2500m", Some(Code::LimitRange)),
            ("minimum memory usage per Pod is 100Mi.  No request is specified", Some(Code::LimitRange)),
            (
                "cpu max limit to request ratio per Container is 1, but provided ratio is 2.000000",
                Some(Code::LimitRange),
            ),
            ("violates PodSecurity \"restricted:latest\": runAsNonRoot != true", Some(Code::AdmissionWebhook)),
            ("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", Some(Code::AdmissionWebhook)),
            ("admission webhook \"quota.example.com\" denied the request: no quota", Some(Code::AdmissionWebhook)),
            ("something else", None),
        ] {
            assert_eq!(code_of(&format!("{FORBIDDEN}{words}")), want, "{words}");
        }
    }
}
