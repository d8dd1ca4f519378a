//! Refusals by admission webhooks: which, who serves it, whether that runs, and what it is known to wait for.

use crate::cure::Remedy;
use crate::finding::{Code, Finding, Ref};
use crate::lists::some;
use crate::pending::components::Component;
use crate::pending::context::Context;
use crate::pending::facts::quoted;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use crate::snapshot::{Kind, Snapshot};
use crate::wire::policy::WebhookClientConfig;
use std::sync::Arc;

pub(super) fn finding(words: &str, ago: &str, workload: &Arc<Workload>, cx: &Context<'_>) -> Finding {
    let mut objects = vec![Ref::workload(workload)];
    let name = name_in(words);
    let served = name.map(|n| served(n, cx)).unwrap_or_default();
    let mut message = format!("its pods were refused by an admission webhook{ago}: {words}{}", served.text);
    objects.extend(served.objects);
    if let Some((text, leader)) = follower(words, workload, cx.snapshot) {
        message.push_str(&text);
        objects.extend(leader);
    }
    Finding { remedies: served.remedies, ..Finding::new(Code::AdmissionWebhook, message).about(objects) }
}

/// The webhook that a message names.
pub(crate) fn name_in(words: &str) -> Option<&str> {
    quoted(words, "webhook \"")
}

/// Who serves a webhook.
#[derive(Debug, Default)]
pub(crate) struct Served {
    /// What follows the webhook's words; empty where nothing is known of it.
    pub text: String,
    /// Its configuration, its Service.
    pub objects: Vec<Ref>,
    /// What can be done where nobody serves it.
    pub remedies: Vec<Remedy>,
}

/// Who serves the webhook of a name, and whether that runs.
pub(crate) fn served(name: &str, cx: &Context<'_>) -> Served {
    let Some((configuration, client)) = configured(name, cx.snapshot) else { return Served::default() };
    let mut served = Served { objects: vec![configuration.clone()], ..Served::default() };
    let Some(service) = client.and_then(|c| c.service.as_ref()) else {
        let url = client.and_then(|c| c.url.clone()).unwrap_or_default();
        served.text = format!("; {configuration} has it served at {url}");
        return served;
    };
    let path = format!("{}/{}", service.namespace, service.name);
    served.objects.push(Ref::new("v1", "Service", &service.namespace, &service.name));
    let (state, runs) = match backing(&service.namespace, &service.name, cx.snapshot) {
        None if cx.snapshot.coverage.has(Kind::Service) => ("does not exist".to_owned(), false),
        None => return Served { text: format!("; Service {path} serves it"), ..served },
        Some(pods) => {
            served.objects.extend(pods.refs(2));
            (pods.words(cx.snapshot), pods.runs())
        }
    };
    served.text = format!("; it is served by Service {path}, which {state}");
    if !runs {
        served.remedies.push(
            Remedy::advice(format!(
                "bring up what serves the webhook (Service {path}); its failurePolicy Fail refuses requests until then"
            ))
            .command(cx.kubectl.line(&service.namespace, &["get", "pods,endpointslices", "-o", "wide"])),
        );
    }
    served
}

/// The configuration of a webhook, and where its calls go.
fn configured<'a>(name: &str, snapshot: &'a Snapshot) -> Option<(Ref, Option<&'a WebhookClientConfig>)> {
    let mutating = snapshot.mutating_webhooks.iter().find_map(|c| {
        let hook = c.webhooks.iter().find(|w| w.name == name)?;
        Some((Ref::of(Kind::MutatingWebhookConfiguration, &c.meta), hook.client_config.as_ref()))
    });
    mutating.or_else(|| {
        snapshot.validating_webhooks.iter().find_map(|c| {
            let hook = c.webhooks.iter().find(|w| w.name == name)?;
            Some((Ref::of(Kind::ValidatingWebhookConfiguration, &c.meta), hook.client_config.as_ref()))
        })
    })
}

/// The pods behind a Service; `None` where there is no such Service, or it selects none.
fn backing<'a>(ns: &str, name: &str, snapshot: &'a Snapshot) -> Option<Component<'a>> {
    let spec = snapshot.services.named(ns, name)?.spec.as_ref().filter(|s| !s.selector.is_empty())?;
    let pods = snapshot.pods.in_namespace(ns).iter();
    Some(Component { pods: pods.filter(|p| spec.selects(&p.meta.labels) && !p.is_finished()).collect() })
}

/// JobSet places the followers of a Job beside its leader, and refuses them until the leader has a node. After
/// `pkg/webhooks/pod_admission_webhook.go` and `pod_mutating_webhook.go` of jobset.
fn follower(words: &str, workload: &Workload, snapshot: &Snapshot) -> Option<(String, Option<Ref>)> {
    let waits = words.contains("follower pod") || words.contains("leader pod not yet scheduled");
    if !waits || &*workload.kind != "Job" {
        return None;
    }
    let uid = workload.meta.uid.as_ref()?;
    let is_leader = |p: &&Arc<Pod>| {
        p.meta.labels.get("batch.kubernetes.io/job-completion-index").is_some_and(|i| &**i == "0") && !p.is_finished()
    };
    let leaders: Vec<&Arc<Pod>> = snapshot.pods_of(uid).filter(is_leader).collect();
    let Some(leader) = leaders.first() else {
        return Some((
            format!(
                "; the leader of {} (its pod of index 0), beside which followers are placed, does not exist",
                workload.meta.name
            ),
            None,
        ));
    };
    let state = match &leader.node {
        Some(node) => format!("which is on node {node}"),
        None => "which has no node itself: the followers are made once the leader is scheduled".to_owned(),
    };
    let names = some(leaders.iter().map(|p| p.meta.name.clone()), 2);
    Some((format!("; followers of JobSet are placed beside their leader {names}, {state}"), Some(Ref::pod(leader))))
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]
mod tests {
    use super::*;
    use crate::testing::{Object, cluster, object, pod};
    use serde_json::json;

    fn configuration(kind: &str, client: serde_json::Value) -> Object {
        object("admissionregistration.k8s.io/v1", kind, "c")
            .with(json!({"webhooks": [{"name": "w.x.io", "clientConfig": client}]}))
    }

    #[test]
    fn who_serves_a_webhook_is_told() {
        let to = json!({"service": {"namespace": "sys", "name": "hook"}});
        let service = || object("v1", "Service", "sys/hook").spec(json!({"selector": {"app": "hook"}}));
        let served_by = |p: Object| p.label("app", "hook");
        let mutating = |client| configuration("MutatingWebhookConfiguration", client);
        for (title, objects, words, remedies) in [
            ("not configured any more", vec![service()], "", 0),
            ("a URL", vec![mutating(json!({"url": "https://x"}))], "has it served at https://x", 0),
            ("no Service", vec![mutating(to.clone()), object("v1", "Service", "sys/other")], "which does not exist", 1),
            ("Services were not read", vec![mutating(to.clone())], "; Service sys/hook serves it", 0),
            ("no pod", vec![mutating(to.clone()), service()], "which has no pod", 1),
            (
                "a pod that crashes",
                vec![mutating(to.clone()), service(), served_by(pod("sys/h").on("n1").crashing())],
                "which does not run: sys/h is not Ready: container c: CrashLoopBackOff",
                1,
            ),
            (
                "a pod that is Ready",
                vec![
                    configuration("ValidatingWebhookConfiguration", to),
                    service(),
                    served_by(pod("sys/h").on("n1").ready()),
                ],
                "ValidatingWebhookConfiguration",
                0,
            ),
        ] {
            let snapshot = cluster().all(objects).snapshot();
            let served = served("w.x.io", &Context::new(&snapshot));
            let said = format!("{} {:?}", served.text, served.objects);
            assert!(said.contains(words), "{title}: {said}");
            assert_eq!(served.remedies.len(), remedies, "{title}");
        }
    }

    #[test]
    fn followers_wait_for_their_leader() {
        let job = object("batch/v1", "Job", "a/w");
        let leader =
            pod("a/w-0-x").owned_by("batch/v1", "Job/w").label("batch.kubernetes.io/job-completion-index", "0");
        for (title, words, leader, want) in [
            (
                "the leader has no node",
                "follower pod node selector not set",
                vec![leader.clone()],
                Some("w-0-x, which has no node itself"),
            ),
            (
                "the leader has a node",
                "follower pod node selector for topology domain not found",
                vec![leader.on("n1")],
                Some("which is on node n1"),
            ),
            (
                "there is no leader",
                "leader pod not yet scheduled, not creating follower pod",
                vec![],
                Some("does not exist"),
            ),
            ("another refusal", "no", vec![], None),
        ] {
            let snapshot = cluster().add(job.clone()).all(leader).snapshot();
            let said = follower(words, snapshot.workload("Job", "a", "w").unwrap(), &snapshot).map(|(text, _)| text);
            assert_eq!(said.is_some(), want.is_some(), "{title}");
            assert!(want.is_none_or(|w| said.unwrap().contains(w)), "{title}");
        }
    }
}
