//! Why a new pod is refused: what the API server's admission plugins would say of it, as far as a snapshot tells, and what
//! they are recorded to have said.

pub mod limit_range;
mod pod_security;
mod remedies;
mod said;
pub(super) mod webhook;

use super::context::Context;
use super::facts::quoted;
use crate::finding::{Code, Finding, Ref};
use crate::quota::{Refusal, Usage, Why};
use crate::snapshot::age::age;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Kind, Snapshot};
pub use limit_range::with_defaults;
use std::sync::Arc;

/// Why the API server would refuse a new pod like this one; empty where nothing is seen that would.
pub fn refusals(pod: &Pod, snapshot: &Snapshot) -> Vec<Finding> {
    let mut all = Vec::new();
    all.extend(namespace(pod.meta.ns(), snapshot));
    all.extend(priority_class(pod, snapshot));
    all.extend(service_account(pod, snapshot));
    let defaulted = with_defaults(pod, snapshot);
    all.extend(limit_range::refusals(&defaulted, snapshot));
    all.extend(Usage::default().refusals(snapshot, &defaulted).map(|r| quota(&r)));
    all
}

/// Why a workload's pods are refused: what the API server is recorded to have said, and what it would say now of a pod.
pub fn refused(workload: &Arc<Workload>, pod: Option<&Pod>, cx: &Context<'_>) -> Vec<Finding> {
    let mut computed = match pod {
        Some(pod) => refusals(pod, cx.snapshot),
        None => namespace(workload.meta.ns(), cx.snapshot).into_iter().collect(),
    };
    let advise = |mut all: Vec<Finding>| {
        for f in all.iter_mut().filter(|f| f.remedies.is_empty()) {
            f.remedies = remedies::of(f, workload, pod, cx);
        }
        all
    };
    let Some(said) = said::recorded(workload, cx.snapshot) else { return advise(computed) };
    let ago = said.when.map(|t| format!(" {} ago", age(t, cx.snapshot.now))).unwrap_or_default();
    // What is computed names amounts; what is recorded is added to it, or stands alone.
    match computed.iter_mut().find(|f| f.code == said.code) {
        Some(same) => same.message = format!("{}; the API server said{ago}: {}", same.message, said.words),
        None => computed.insert(0, finding(&said, &ago, workload, cx)),
    }
    advise(computed)
}

/// What a recorded refusal is of: `jobs.batch "x" is forbidden: …` is of a Job, not of a pod.
fn refused_things(words: &str) -> &'static str {
    if words.starts_with("jobs.batch ") {
        "its Jobs"
    } else if words.starts_with("persistentvolumeclaims ") {
        "the claims of its pods"
    } else if words.starts_with("replicasets.apps ") {
        "its ReplicaSets"
    } else {
        "its pods"
    }
}

/// What a recorded refusal means, with the objects and the cure that its words name.
fn finding(said: &said::Said, ago: &str, workload: &Arc<Workload>, cx: &Context<'_>) -> Finding {
    let words = &said.words;
    let new = |message: String| Finding::new(said.code, message).about([Ref::workload(workload)]);
    match said.code {
        Code::PodSecurity => pod_security::finding(words, ago, workload, cx),
        Code::AdmissionWebhook => webhook::finding(words, ago, workload, cx),
        Code::ControllerForbidden => {
            let user = quoted(words, "User \"").map(|u| u.rsplit(':').next().unwrap_or(u));
            let who = user.map_or_else(|| "the controller".to_owned(), |u| format!("the controller {u}"));
            new(format!("{who} is not allowed to create the pods (RBAC){ago}: {words}"))
        }
        Code::Quota => {
            let named = said::quota_named(words, workload.meta.ns());
            new(format!("{} are refused by quota{ago}: {words}", refused_things(words))).about(named)
        }
        Code::NamespaceTerminating => {
            new(format!("no pods can be made in namespace {}{ago}: {words}", workload.meta.ns()))
        }
        Code::InvalidPod => {
            let when = if ago.is_empty() { String::new() } else { format!("; the API server said{ago}") };
            new(format!("the pod that its template makes is not valid{when}: {words}"))
        }
        Code::CreateFailed => new(format!("its pods could not be created{ago}: {words}")),
        _ => new(format!("{} are refused by admission plugin {}{ago}: {words}", refused_things(words), said.plugin)),
    }
}

/// A namespace that is being deleted, or is not there. Mirrors the plugin `NamespaceLifecycle`.
fn namespace(name: &str, snapshot: &Snapshot) -> Option<Finding> {
    let about = |message: String| {
        Finding::new(Code::NamespaceTerminating, message).about([Ref::new("v1", "Namespace", "", name)])
    };
    let Some(found) = snapshot.namespaces.named("", name) else {
        let known = snapshot.coverage.has(Kind::Namespace) && !name.is_empty();
        return known.then(|| about(format!("namespace {name} does not exist: no pod can be made in that namespace")));
    };
    let leaving = found.meta.is_terminating() || found.status.as_ref().is_some_and(|s| s.phase == "Terminating");
    leaving.then(|| {
        let since = found.meta.deletion_timestamp.map(|t| format!(" for {}", age(t, snapshot.now))).unwrap_or_default();
        about(format!("namespace {name} has been terminating{since}: no new pod can be made in that namespace"))
    })
}

/// Mirrors the plugin `Priority`.
fn priority_class(pod: &Pod, snapshot: &Snapshot) -> Option<Finding> {
    let class = pod.spec.priority_class.as_ref()?;
    // Kubernetes makes these two itself.
    let built_in = matches!(&**class, "system-node-critical" | "system-cluster-critical");
    let known = built_in || snapshot.priority_classes.named("", class).is_some();
    (!known && snapshot.coverage.has(Kind::PriorityClass)).then(|| {
        let message = format!("its PriorityClass {class} does not exist, so the API server refuses every pod of it");
        Finding::new(Code::PriorityClass, message).about([Ref::new("scheduling.k8s.io/v1", "PriorityClass", "", class)])
    })
}

/// Mirrors the plugin `ServiceAccount`.
fn service_account(pod: &Pod, snapshot: &Snapshot) -> Option<Finding> {
    let account = pod.spec.service_account.as_deref().unwrap_or("default");
    let known = snapshot.service_accounts.named(pod.meta.ns(), account).is_some();
    (!known && snapshot.coverage.has(Kind::ServiceAccount)).then(|| {
        let message = format!(
            "its service account {account} does not exist in namespace {}, so no pod of it is made",
            pod.meta.ns()
        );
        let object = Ref::new("v1", "ServiceAccount", pod.meta.ns(), account);
        Finding::new(Code::ServiceAccount, message).about([object])
    })
}

fn quota(refusal: &Refusal<'_>) -> Finding {
    let name = &refusal.quota.name;
    let message = match &refusal.why {
        Why::Unstated(what) => {
            format!("quota {name} wants every container to state what it counts, and these do not: {what}")
        }
        Why::Exceeded(over) => {
            let over: Vec<String> = over.iter().map(ToString::to_string).collect();
            format!("quota {name} is used up ({})", over.join("; "))
        }
    };
    Finding::new(Code::Quota, message).about([Ref::of(Kind::ResourceQuota, refusal.quota)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, find, object, pod};
    use serde_json::json;

    #[test]
    fn what_a_pod_refers_to_has_to_be_there() {
        let class = |name: &str| object("scheduling.k8s.io/v1", "PriorityClass", name).with(json!({"value": 7}));
        let account = |path: &str| object("v1", "ServiceAccount", path);
        let namespace = |phase: &str| object("v1", "Namespace", "a").status(json!({"phase": phase}));
        let named = |class: &str, account: &str| {
            pod("a/p").spec(json!({"priorityClassName": class, "serviceAccountName": account}))
        };
        for (title, pod, objects, want) in [
            ("all there", named("gold", "robot"), vec![class("gold"), account("a/robot")], vec![]),
            ("no class", named("gold", "robot"), vec![class("x"), account("a/robot")], vec![Code::PriorityClass]),
            ("Kubernetes' own", named("system-node-critical", ""), vec![class("x"), account("a/default")], vec![]),
            ("no account", named("gold", "robot"), vec![class("gold"), account("b/robot")], vec![Code::ServiceAccount]),
            ("the default account", pod("a/p"), vec![account("b/default")], vec![Code::ServiceAccount]),
            ("lists that were not read", named("gold", "robot"), vec![], vec![]),
            ("a namespace that goes", pod("a/p"), vec![namespace("Terminating")], vec![Code::NamespaceTerminating]),
            ("a namespace that stays", pod("a/p"), vec![namespace("Active")], vec![]),
            ("no namespace", pod("a/p"), vec![object("v1", "Namespace", "b")], vec![Code::NamespaceTerminating]),
        ] {
            let snapshot = cluster().add(pod).all(objects).snapshot();
            let got: Vec<Code> = refusals(&find(&snapshot, "a/p"), &snapshot).iter().map(|f| f.code).collect();
            assert_eq!(got, want, "{title}");
        }
    }
}
