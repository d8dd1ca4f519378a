//! Admission webhooks that see an eviction, or the kubelet's final delete: they may deny it, or fail.
//! Mirrors `ShouldCallHook` of `apiserver/pkg/admission/plugin/webhook/generic/webhook.go` and `predicates/rules`.

use super::Look;
use crate::drain::note::{Effect, Note};
use crate::drain::options::DrainOptions;
use crate::finding::{Code, Ref, Remedy, Severity};
use crate::snapshot::intern::Interner;
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Kind, Map, Snapshot};
use crate::wire::policy::{MatchCondition, RuleWithOperations, WebhookClientConfig};
use std::sync::Arc;

/// A webhook that sees evictions or deletions of pods.
pub(super) struct Hook<'a> {
    configuration: Ref,
    name: String,
    /// Whether the configuration lists it for evictions rather than for deletions of pods.
    sees: Sees,
    namespaces: LabelSelector,
    objects: LabelSelector,
    fails: bool,
    conditions: usize,
    backend: Backend<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sees {
    Evictions,
    Deletions,
}

/// Where a webhook's calls go.
enum Backend<'a> {
    /// To a place that the input does not show.
    Url(String),
    /// To a Service whose pods are not known.
    Unread(String),
    /// To a Service that does not exist.
    Missing(String),
    /// To a Service with these Ready pods.
    Pods(String, Vec<&'a Arc<Pod>>),
}

/// A webhook of either kind.
struct Parts<'w> {
    name: &'w str,
    client: Option<&'w WebhookClientConfig>,
    rules: &'w [RuleWithOperations],
    policy: Option<&'w str>,
    namespaces: Option<&'w crate::wire::meta::LabelSelector>,
    objects: Option<&'w crate::wire::meta::LabelSelector>,
    conditions: &'w [MatchCondition],
}

/// The webhooks that a drain's requests meet.
pub(super) fn hooks<'a>(snapshot: &'a Snapshot, options: &DrainOptions) -> Vec<Hook<'a>> {
    let mut all = Vec::new();
    macro_rules! each {
        ($table:ident, $kind:ident) => {
            for c in snapshot.$table.iter() {
                for w in &c.webhooks {
                    let parts = Parts {
                        name: &w.name,
                        client: w.client_config.as_ref(),
                        rules: &w.rules,
                        policy: w.failure_policy.as_deref(),
                        namespaces: w.namespace_selector.as_ref(),
                        objects: w.object_selector.as_ref(),
                        conditions: &w.match_conditions,
                    };
                    all.extend(hook(snapshot, Ref::of(Kind::$kind, &c.meta), &parts, options));
                }
            }
        };
    }
    each!(validating_webhooks, ValidatingWebhookConfiguration);
    each!(mutating_webhooks, MutatingWebhookConfiguration);
    all
}

fn hook<'a>(snapshot: &'a Snapshot, configuration: Ref, w: &Parts<'_>, options: &DrainOptions) -> Option<Hook<'a>> {
    let sees = |operation: &str, resource: &str| w.rules.iter().any(|r| rule_takes(r, operation, resource));
    let sees = if sees("CREATE", "pods/eviction") && !options.disable_eviction {
        Sees::Evictions
    } else if sees("DELETE", "pods") {
        Sees::Deletions
    } else {
        return None;
    };
    let mut interner = Interner::default();
    let everything = || LabelSelector::All(Box::default());
    let mut read = |s: Option<&crate::wire::meta::LabelSelector>| {
        s.map_or_else(everything, |s| LabelSelector::read(Some(s), &mut interner))
    };
    let (namespaces, objects) = (read(w.namespaces), read(w.objects));
    // An Eviction carries no labels: a selector that asks for one never matches it.
    if sees == Sees::Evictions && !objects.matches(&Map::default()) {
        return None;
    }
    Some(Hook {
        configuration,
        name: w.name.to_owned(),
        sees,
        namespaces,
        objects,
        fails: w.policy != Some("Ignore"),
        conditions: w.conditions.len(),
        backend: backend(snapshot, w.client),
    })
}

fn rule_takes(rule: &RuleWithOperations, operation: &str, resource: &str) -> bool {
    let Some(r) = &rule.rule else { return false };
    let any = |list: &[String], one: &str| list.iter().any(|x| x == "*" || x == one);
    let (parent, sub) = resource.split_once('/').map_or((resource, None), |(p, s)| (p, Some(s)));
    let takes_resource = |pattern: &String| {
        let (p, s) = pattern.split_once('/').map_or((&**pattern, None), |(p, s)| (p, Some(s)));
        (p == "*" || p == parent) && (s == sub || (s == Some("*")))
    };
    any(&rule.operations, operation)
        && any(&r.api_groups, "")
        && any(&r.api_versions, "v1")
        && r.resources.iter().any(takes_resource)
        && r.scope != "Cluster"
}

fn backend<'a>(snapshot: &'a Snapshot, client: Option<&WebhookClientConfig>) -> Backend<'a> {
    let Some(service) = client.and_then(|c| c.service.as_ref()) else {
        return Backend::Url(client.and_then(|c| c.url.clone()).unwrap_or_default());
    };
    let path = format!("{}/{}", service.namespace, service.name);
    let Some(found) = snapshot.services.named(&service.namespace, &service.name) else {
        let known = snapshot.coverage.has(Kind::Service) || !snapshot.services.is_empty();
        return if known { Backend::Missing(path) } else { Backend::Unread(path) };
    };
    let selector: Map = found.spec.iter().flat_map(|s| &s.selector).map(|(k, v)| (&**k, &**v)).collect();
    if selector.is_empty() {
        return Backend::Unread(path);
    }
    let selector = LabelSelector::from_map(&selector);
    let pods = snapshot.pods.in_namespace(&service.namespace).iter();
    Backend::Pods(
        path,
        pods.filter(|p| selector.matches(&p.meta.labels) && p.is_ready() && !p.is_terminating()).collect(),
    )
}

pub(super) fn look(look: &Look<'_>, notes: &mut Vec<Note>) {
    let pod = look.pod;
    if pod.is_mirror() {
        return;
    }
    for hook in &look.facts.hooks {
        if !hook.namespaces.matches(&namespace_labels(look.snapshot, pod.meta.ns())) {
            continue;
        }
        if hook.sees == Sees::Deletions && !hook.objects.matches(&pod.meta.labels) {
            continue;
        }
        notes.extend(note(hook, pod));
    }
}

fn note(hook: &Hook<'_>, pod: &Pod) -> Option<Note> {
    let what = match hook.sees {
        Sees::Evictions => "sees the eviction",
        Sees::Deletions => "sees the kubelet's final delete",
    };
    let who = format!("webhook {} ({}) {what}", hook.name, hook.configuration.name);
    // A call that fails and may be left out is as if it had not been made.
    let dead = |why: String| {
        hook.fails.then(|| {
            let effect = match hook.sees {
                Sees::Evictions => ("every eviction that it sees ends in an error", Effect::Refused),
                Sees::Deletions => ("the pod stays Terminating", Effect::Held),
            };
            let text = format!("{who}, and {why}; its failurePolicy is Fail, so {}", effect.0);
            // Rules on the content may still leave this request out.
            let effect = if hook.conditions > 0 { Effect::Unknown } else { effect.1 };
            let remedy = Remedy {
                text: format!(
                    "bring the backend of {} up on another node first (run two replicas of it), or set its failurePolicy \
                     to Ignore for the drain",
                    hook.configuration
                ),
                ..Remedy::default()
            };
            let severity = if hook.conditions > 0 { Severity::Warning } else { Severity::Error };
            Note::new(Code::Webhook, text)
                .effect(effect)
                .severity(severity)
                .about([hook.configuration.clone()])
                .remedy(remedy)
        })
    };
    let may_deny = |whom: &str| {
        let text = format!("{who} and may deny it ({whom}): whether the pod goes cannot be told from budgets");
        Some(Note::new(Code::Webhook, text).effect(Effect::Unknown).about([hook.configuration.clone()]))
    };
    match &hook.backend {
        Backend::Url(url) => may_deny(&format!("it calls {url}")),
        Backend::Unread(service) => may_deny(&format!("it calls service {service}")),
        Backend::Missing(service) => dead(format!("its service {service} does not exist")),
        Backend::Pods(service, pods) if pods.is_empty() => dead(format!("its service {service} has no Ready pod")),
        Backend::Pods(service, pods) if pods.iter().all(|p| p.node == pod.node) => {
            let names: Vec<&str> = pods.iter().map(|p| &*p.meta.name).collect();
            dead(format!("all Ready pods of its service {service} ({}) are on the node itself", names.join(", ")))
                .or_else(|| may_deny(&format!("it calls service {service}")))
        }
        Backend::Pods(service, _) => may_deny(&format!("it calls service {service}")),
    }
}

/// The labels of a namespace; of one that is not in the input, the one that each has.
fn namespace_labels(snapshot: &Snapshot, name: &str) -> Map {
    let known = snapshot.namespaces.named("", name).map(|n| n.meta.labels.clone()).unwrap_or_default();
    if known.has("kubernetes.io/metadata.name") { known } else { known.with("kubernetes.io/metadata.name", name) }
}
