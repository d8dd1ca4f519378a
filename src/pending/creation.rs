//! Pods that a workload wants and that do not exist: how many, and what keeps them from being made.

use super::admission;
use super::facts::some;
use super::select::pods_of;
use crate::finding::{Code, Finding, Ref, Remedy};
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
    Some(Remedy {
        text: format!(
            "set maxSurge 0 and maxUnavailable 1 on Deployment {}, so that an old pod goes before the new one comes",
            workload.meta.path()
        ),
        command: Some(kubectl.line(
            workload.meta.ns(),
            &["patch", "deployment", &workload.meta.name, "--type=merge", "-p", &patch.to_string()],
        )),
        undo: None,
        risk: Some("one pod fewer serves while the rollout goes on".to_owned()),
        verified: blocked,
    })
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
    Some(if has("quota") {
        Code::Quota
    } else if has("no PriorityClass with name") {
        Code::PriorityClass
    } else if has("service account") || has("serviceaccount") {
        Code::ServiceAccount
    } else if has("webhook") || has("PodSecurity") || has("ValidatingAdmissionPolicy") {
        Code::AdmissionWebhook
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
    let left = spec.completions.map(|c| usize::try_from(c).unwrap_or(0).saturating_sub(succeeded));
    let wanted = left.map_or(parallelism, |l| l.min(parallelism));
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
        match (node, p.meta.deleted) {
            (Some(n), _) if !n.is_ready() => {
                remedies.push(Remedy {
                    text: format!("delete pod {} by force, once it is sure that it no longer runs", p.meta.path()),
                    command: Some(
                        kubectl.line(p.meta.ns(), &["delete", "pod", &p.meta.name, "--grace-period=0", "--force"]),
                    ),
                    undo: None,
                    risk: Some("if the node is alive, the old pod and the new one run at once".to_owned()),
                    verified: false,
                });
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
