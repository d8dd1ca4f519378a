//! Attempts that ended in an error after a node was chosen, or before: binding was refused, preparing it timed out, a plugin
//! failed. The condition's reason is then SchedulerError (`handleSchedulingFailure` of `pkg/scheduler/schedule_one.go`), its
//! words those of `pkg/scheduler/framework/runtime/framework.go` and of the plugin.

use super::admission::webhook;
use super::context::Context;
use super::provisioners::provisioner;
use crate::finding::{Code, Finding, Ref, Severity};
use crate::sched::filters::claims::{self, Claims};
use crate::snapshot::Kind;
use crate::snapshot::age::age;
use crate::snapshot::pod::{Condition, Pod, Truth};

/// The recorded error of the last attempt, where it ended in one.
pub fn condition(pod: &Pod) -> Option<&Condition> {
    pod.condition("PodScheduled").filter(|c| c.status != Truth::True && &*c.reason == "SchedulerError")
}

/// Words by which conflicts are known: another attempt, which follows by itself, meets another state.
const CONFLICTS: [&str; 4] =
    ["the object has been modified", "is already assigned to node", "is being deleted", "already exists"];

/// What the last attempt's error means; `None` where the last attempt ended in none.
pub fn finding(pod: &Pod, cx: &Context<'_>) -> Option<Finding> {
    let condition = condition(pod)?;
    let words = &*condition.message;
    let conflict = CONFLICTS.iter().any(|c| words.contains(c));
    let stage = stage(words);
    let events = cx.snapshot.events_about("Pod", pod.meta.ns(), &pod.meta.name);
    let newest = events.filter(|e| &*e.reason == "FailedScheduling").max_by_key(|e| e.last_seen);
    let times = newest.filter(|e| e.count > 1).map(|e| format!(", {} times", e.count)).unwrap_or_default();
    let last = newest.and_then(|e| e.last_seen).or(condition.since);
    let ago = last.map(|t| format!(" {} ago", age(t, cx.snapshot.now))).unwrap_or_default();
    let mut message = format!("{stage} in an error{ago}{times}: {words}");
    let mut finding = Finding::new(Code::SchedulerError, "");
    if conflict {
        message.push_str("; the scheduler tries again by itself, and such a conflict passes");
        finding = finding.severity(Severity::Warning);
    } else {
        message.push_str("; the scheduler tries again and meets the same error until its cause is removed");
    }
    if let Some(name) = webhook::name_in(words) {
        let served = webhook::served(name, cx);
        message.push_str(&served.text);
        finding = finding.about(served.objects);
        finding.remedies = served.remedies;
    }
    if words.contains("VolumeBinding") || words.contains("binding volumes") {
        for claim in Claims::of(pod, cx.snapshot).delayed {
            let class = claims::class(&claim, cx.snapshot);
            let by = class.map(|c| format!(", which {} makes{}", c.provisioner, provisioner(&c.provisioner, cx)));
            message.push_str(&format!("; claim {} has no volume yet{}", claim.meta.name, by.unwrap_or_default()));
            finding = finding.about([Ref::of(Kind::PersistentVolumeClaim, &claim.meta)]);
        }
    }
    Some(Finding { message, ..finding })
}

/// How far the attempt came, by the plugin that its words name.
fn stage(words: &str) -> &'static str {
    let runs = |point: &str| words.contains(&format!("running {point} plugin"));
    if runs("Bind") {
        "a node was chosen, and binding the pod to it ended"
    } else if runs("PreBind") {
        "a node was chosen, and preparing the pod for it (PreBind) ended"
    } else if runs("Permit") || words.contains("waiting on permit") {
        "a node was chosen, and waiting for permission (Permit) ended"
    } else if runs("Reserve") {
        "a node was chosen, and reserving what the pod needs there ended"
    } else {
        "the scheduler's last attempt ended"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, deployment, find, object, pod};
    use serde_json::json;

    #[test]
    fn errors_are_told_with_their_cause() {
        let hook = "running Bind plugin \"DefaultBinder\": Internal error occurred: failed calling webhook \"w.x.io\": failed to \
            call webhook: Post \"https://hook.sys.svc\": no endpoints available for service \"hook\"";
        let objects = || {
            vec![
                object("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "c").with(
                    json!({"webhooks": [{"name": "w.x.io", "clientConfig": {"service": {"namespace": "sys", "name": "hook"}}}]}),
                ),
                object("v1", "Service", "sys/hook").spec(json!({"selector": {"app": "hook"}})),
                object("storage.k8s.io/v1", "StorageClass", "fast")
                    .with(json!({"provisioner": "fast.csi.example.com", "volumeBindingMode": "WaitForFirstConsumer"})),
                object("v1", "PersistentVolumeClaim", "a/data").spec(json!({"storageClassName": "fast"})),
                object("v1", "Event", "a/e").with(json!({"involvedObject": {"kind": "Pod", "namespace": "a", "name": "p"},
                    "reason": "FailedScheduling", "count": 40, "lastTimestamp": "2026-01-01T11:58:00Z"})),
            ]
        };
        for (title, words, severity, said) in [
            ("a webhook without pods", hook, Severity::Error, "it is served by Service sys/hook, which has no pod"),
            (
                "volumes",
                "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded",
                Severity::Error,
                "claim data has no volume yet, which fast.csi.example.com makes; its provisioner runs (kube-system/fast-csi-1-0)",
            ),
            (
                "a conflict",
                "running Bind plugin \"DefaultBinder\": Operation cannot be fulfilled on pods/binding \"p\": pod p is already \
                 assigned to node \"n1\"",
                Severity::Warning,
                "such a conflict passes",
            ),
            (
                "times",
                "running \"X\" filter plugin: boom",
                Severity::Error,
                "2 min ago, 40 times: running \"X\" filter plugin: boom",
            ),
        ] {
            let p = pod("a/p")
                .spec(json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}))
                .status(json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulerError",
                    "message": words}]}));
            let snapshot =
                cluster().add(p).all(objects()).add(deployment("kube-system/fast-csi").on(&["n1"])).snapshot();
            let found = finding(&find(&snapshot, "a/p"), &Context::new(&snapshot)).unwrap();
            assert_eq!(found.severity, severity, "{title}");
            assert!(found.message.contains(said), "{title}: {}", found.message);
        }
    }
}
