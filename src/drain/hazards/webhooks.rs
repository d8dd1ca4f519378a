//! Admission webhooks that see an eviction, or the kubelet's final delete: they may deny it, or fail.
//! Mirrors `ShouldCallHook` of `apiserver/pkg/admission/plugin/webhook/generic/webhook.go` and `predicates/rules`.

use super::Look;
use crate::cure::Remedy;
use crate::drain::filters::{Decision, filter};
use crate::drain::note::{Effect, Note};
use crate::drain::options::DrainOptions;
use crate::finding::{Code, Ref, Severity};
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
    /// Whether it takes evictions. Those carry no labels: a selector that asks for one never matches them.
    evictions: bool,
    /// Whether it takes deletions of pods.
    deletions: bool,
    namespaces: LabelSelector,
    objects: LabelSelector,
    fails: bool,
    conditions: usize,
    backend: Backend<'a>,
}

/// The request that a webhook sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sees {
    /// kubectl's eviction.
    Eviction,
    /// kubectl's deletion, instead of an eviction.
    Deletion,
    /// The kubelet's final delete. What an eviction itself deletes, no webhook sees.
    FinalDelete,
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
    let mut interner = Interner::default();
    let everything = || LabelSelector::All(Box::default());
    let mut read = |s: Option<&crate::wire::meta::LabelSelector>| {
        s.map_or_else(everything, |s| LabelSelector::read(Some(s), &mut interner))
    };
    let (namespaces, objects) = (read(w.namespaces), read(w.objects));
    let evictions = sees("CREATE", "pods/eviction") && !options.disable_eviction && objects.matches(&Map::default());
    let deletions = sees("DELETE", "pods");
    (evictions || deletions).then(|| Hook {
        configuration,
        name: w.name.to_owned(),
        evictions,
        deletions,
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
    for hook in &look.facts.hooks {
        if hook.namespaces.matches(&namespace_labels(look.snapshot, pod.meta.ns()))
            && let Some(sees) = sees(hook, look)
        {
            notes.extend(note(hook, sees, look));
        }
    }
}

fn sees(hook: &Hook<'_>, look: &Look<'_>) -> Option<Sees> {
    if hook.evictions {
        return Some(Sees::Eviction);
    }
    if !hook.deletions || !hook.objects.matches(&look.pod.meta.labels) {
        return None;
    }
    match look.options.disable_eviction {
        true => Some(Sees::Deletion),
        false => (!look.goes_at_once()).then_some(Sees::FinalDelete),
    }
}

fn note(hook: &Hook<'_>, sees: Sees, look: &Look<'_>) -> Option<Note> {
    let pod = look.pod;
    let what = match sees {
        Sees::Eviction => "sees the eviction",
        Sees::Deletion => "sees the deletion",
        Sees::FinalDelete => "sees the kubelet's final delete",
    };
    let who = format!("webhook {} ({}) {what}", hook.name, hook.configuration.name);
    // A call that fails and may be left out is as if it had not been made.
    let dead = |why: String| {
        hook.fails.then(|| {
            let effect = match sees {
                Sees::Eviction => ("every eviction that it sees ends in an error", Effect::Refused),
                Sees::Deletion => ("drain ends in an error", Effect::Refused),
                Sees::FinalDelete => ("the pod stays Terminating", Effect::Held),
            };
            let text = format!("{who}, and {why}; its failurePolicy is Fail, so {}", effect.0);
            // Rules on the content may still leave this request out.
            let effect = if hook.conditions > 0 { Effect::Unknown } else { effect.1 };
            let remedy = Remedy::advice(format!(
                "bring the backend of {} up on another node first (run two replicas of it), or set its failurePolicy to \
                 Ignore for the drain",
                hook.configuration
            ));
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
        Backend::Pods(service, pods) if pods.iter().all(|p| p.node == pod.node && leaves(p, look)) => {
            let names: Vec<&str> = pods.iter().map(|p| &*p.meta.name).collect();
            dead(format!("all Ready pods of its service {service} ({}) are on the node itself", names.join(", ")))
                .or_else(|| may_deny(&format!("it calls service {service}")))
        }
        Backend::Pods(service, _) => may_deny(&format!("it calls service {service}")),
    }
}

/// Whether the drain lets a pod of its node go.
fn leaves(pod: &Pod, look: &Look<'_>) -> bool {
    filter(look.snapshot, look.options, pod).decision == Decision::Goes
}

/// The labels of a namespace; of one that is not in the input, the one that each has.
fn namespace_labels(snapshot: &Snapshot, name: &str) -> Map {
    let known = snapshot.namespaces.named("", name).map(|n| n.meta.labels.clone()).unwrap_or_default();
    if known.has("kubernetes.io/metadata.name") { known } else { known.with("kubernetes.io/metadata.name", name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::testing::{Cluster, assert_notes};

    /// What a webhook of this kind and these fields means for pod `a/p` on node `n`, in a cluster with these pods.
    fn met(
        kind: &str,
        webhook: &str,
        service: Option<&str>,
        pods: &[Backing<'_>],
        pod: &str,
        o: &DrainOptions,
    ) -> Vec<Note> {
        let mut c = Cluster::new();
        ["n", "m"].iter().for_each(|n| c.node(n, "{}"));
        c.object(r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "labels": {"env": "prod"}}}"#);
        c.object(&format!(
            r#"{{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "{kind}WebhookConfiguration", "metadata": {{"name": "w"}},
                "webhooks": [{{"name": "w.x.io", {webhook}}}]}}"#
        ));
        c.add("v1", "Service", "sys", "other", "{}");
        c.add("apps/v1", "DaemonSet", "sys", "hook", "{}");
        if let Some(spec) = service {
            c.add("v1", "Service", "sys", "hook", spec);
        }
        for (i, (node, meta, status)) in pods.iter().enumerate() {
            c.pod_of("sys", &format!("hook-{i}"), node, &format!(r#""labels": {{"app": "hook"}}{meta}"#), "", status);
        }
        c.pod_of("a", "p", "n", r#""labels": {"app": "web"}"#, "", pod);
        c.met(Code::Webhook, o)
    }

    /// A pod behind the webhook: its node, further metadata, its status.
    type Backing<'a> = (&'a str, &'a str, &'a str);

    const RULE: &str =
        r#"{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/eviction"]}"#;
    const DELETE: &str =
        r#"{"operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}"#;
    const SERVICE: &str = r#"{"selector": {"app": "hook"}}"#;
    const CLIENT: &str = r#""clientConfig": {"service": {"namespace": "sys", "name": "hook"}}"#;

    #[test]
    fn rules_and_selectors_say_what_is_seen() {
        // After predicates/rules/rules.go: an eviction is a CREATE of pods/eviction in the core group's v1. Without
        // eviction, kubectl's DELETE is asked about; with it, the kubelet's, if there is one: none where no grace is left.
        let rule = |operations: &str, groups: &str, versions: &str, resources: &str, more: &str| {
            format!(
                r#"{{"operations": [{operations}], "apiGroups": [{groups}], "apiVersions": [{versions}], "resources": [{resources}]{more}}}"#
            )
        };
        let (create, core, v1, eviction) = (r#""CREATE""#, r#""""#, r#""v1""#, r#""pods/eviction""#);
        let all = rule(r#""*""#, r#""*""#, r#""*""#, r#""*/*""#, "");
        let (named, other) = (
            r#""objectSelector": {"matchLabels": {"app": "web"}}"#,
            r#""objectSelector": {"matchLabels": {"app": "x"}}"#,
        );
        let absent = r#""objectSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}"#;
        let ns = |key: &str, value: &str| format!(r#""namespaceSelector": {{"matchLabels": {{"{key}": "{value}"}}}}"#);
        let (evicts, deletes) =
            (DrainOptions::default(), DrainOptions { disable_eviction: true, ..DrainOptions::default() });
        let at_once = DrainOptions { grace_period: 0, ..DrainOptions::default() };
        let delete_at_once = DrainOptions { grace_period: 0, ..deletes.clone() };
        let done = r#""phase": "Succeeded""#;
        let sees = |what| (Effect::Unknown, what);
        let eviction_seen =
            &[sees("webhook w.x.io (w) sees the eviction and may deny it (it calls service sys/hook)")][..];
        let final_delete = &[sees("sees the kubelet's final delete and may deny it")][..];
        let deletion = &[sees("sees the deletion and may deny it")][..];
        for (title, rules, selectors, pod, options, want) in [
            ("evictions", RULE, "", "", &evicts, eviction_seen),
            ("everything", &*all, "", "", &evicts, eviction_seen),
            ("all of pods", &rule(create, core, v1, r#""pods/*""#, ""), "", "", &evicts, eviction_seen),
            ("all evictions", &rule(create, core, v1, r#""*/eviction""#, ""), "", "", &evicts, eviction_seen),
            (
                "in namespaces",
                &rule(create, core, v1, eviction, r#", "scope": "Namespaced""#),
                "",
                "",
                &evicts,
                eviction_seen,
            ),
            ("outside of them", &rule(create, core, v1, eviction, r#", "scope": "Cluster""#), "", "", &evicts, &[][..]),
            ("new pods", &rule(create, core, v1, r#""pods""#, ""), "", "", &evicts, &[]),
            ("everything but subresources", &rule(create, core, v1, r#""*""#, ""), "", "", &evicts, &[]),
            ("changes", &rule(r#""UPDATE""#, core, v1, eviction, ""), "", "", &evicts, &[]),
            ("the group of the Eviction", &rule(create, r#""policy""#, v1, eviction, ""), "", "", &evicts, &[]),
            ("another version", &rule(create, core, r#""v1beta1""#, eviction, ""), "", "", &evicts, &[]),
            ("evictions, of objects with a label", RULE, named, "", &evicts, &[]),
            ("evictions, of objects without a label", RULE, absent, "", &evicts, eviction_seen),
            ("evictions in the namespace by label", RULE, &ns("env", "prod"), "", &evicts, eviction_seen),
            ("evictions in others by label", RULE, &ns("env", "dev"), "", &evicts, &[]),
            ("evictions in it by name", RULE, &ns("kubernetes.io/metadata.name", "a"), "", &evicts, eviction_seen),
            ("evictions in another by name", RULE, &ns("kubernetes.io/metadata.name", "b"), "", &evicts, &[]),
            ("evictions of a pod that has ended", RULE, "", done, &evicts, eviction_seen),
            ("evictions, and there are none", RULE, "", "", &deletes, &[]),
            ("deletions", DELETE, "", "", &evicts, final_delete),
            ("deletions of pods with its label", DELETE, named, "", &evicts, final_delete),
            ("deletions of other pods", DELETE, other, "", &evicts, &[]),
            ("everything, of pods with its label", &all, named, "", &evicts, final_delete),
            ("deletions of a pod that has ended", DELETE, "", done, &evicts, &[]),
            ("deletions without grace", DELETE, "", "", &at_once, &[]),
            ("kubectl's deletions", DELETE, "", "", &deletes, deletion),
            ("kubectl's, of a pod that has ended", DELETE, "", done, &deletes, deletion),
            ("kubectl's, without grace", DELETE, "", "", &delete_at_once, deletion),
        ] {
            for kind in ["Validating", "Mutating"] {
                let more = if selectors.is_empty() { String::new() } else { format!(", {selectors}") };
                let webhook = format!(r#""rules": [{rules}], {CLIENT}{more}"#);
                assert_notes(title, &met(kind, &webhook, Some(SERVICE), &[("m", "", "")], pod, options), want);
            }
        }
    }

    #[test]
    fn a_webhook_without_a_backend_fails_unless_it_is_ignored() {
        let (here, there) = (("n", "", ""), ("m", "", ""));
        let unready = ("m", "", r#""conditions": [{"type": "Ready", "status": "False"}]"#);
        let going = ("m", r#", "deletionTimestamp": "2026-01-01T00:00:10Z""#, "");
        let daemon = format!(", {}", crate::drain::testing::owned_by("apps/v1", "DaemonSet", "hook"));
        let daemon = ("n", &*daemon, "");
        let conditions = r#", "matchConditions": [{"name": "c", "expression": "true"}]"#;
        let (ignore, fail) = (r#", "failurePolicy": "Ignore""#, r#", "failurePolicy": "Fail""#);
        let url = r#""clientConfig": {"url": "https://hook.x.io"}"#;
        let evicts = DrainOptions::default();
        let deletes = DrainOptions { disable_eviction: true, ..DrainOptions::default() };
        let some = DrainOptions {
            pod_selector: LabelSelector::parse("app=web").ok().map(|s| (s, "app=web".to_owned())),
            ..DrainOptions::default()
        };
        let skips = DrainOptions { skip_wait_for_delete: 60, ..DrainOptions::default() };
        let none_ready = "its service sys/hook has no Ready pod; its failurePolicy is Fail, so every eviction";
        let on_node =
            "all Ready pods of its service sys/hook (hook-0) are on the node itself; its failurePolicy is Fail";
        let may = &[(Effect::Unknown, "and may deny it (it calls service sys/hook)")][..];
        let dead = &[(Effect::Refused, none_ready)][..];
        let lonely = &[(Effect::Refused, on_node)][..];
        for (title, rule, client, more, service, pods, options, want) in [
            ("it is elsewhere", RULE, CLIENT, "", Some(SERVICE), &[there][..], &evicts, may),
            ("elsewhere, too", RULE, CLIENT, "", Some(SERVICE), &[here, there], &evicts, may),
            ("on the node", RULE, CLIENT, "", Some(SERVICE), &[here], &evicts, lonely),
            ("on the node, and said to fail", RULE, CLIENT, fail, Some(SERVICE), &[here], &evicts, lonely),
            ("on the node, and ignored", RULE, CLIENT, ignore, Some(SERVICE), &[here], &evicts, may),
            ("elsewhere, and not Ready", RULE, CLIENT, "", Some(SERVICE), &[here, unready], &evicts, lonely),
            ("elsewhere, and going", RULE, CLIENT, "", Some(SERVICE), &[here, going], &evicts, lonely),
            ("of a DaemonSet, which stays", RULE, CLIENT, "", Some(SERVICE), &[daemon], &evicts, may),
            ("of no pods that are drained", RULE, CLIENT, "", Some(SERVICE), &[here], &some, may),
            ("not Ready", RULE, CLIENT, "", Some(SERVICE), &[unready], &evicts, dead),
            ("not Ready, and ignored", RULE, CLIENT, ignore, Some(SERVICE), &[unready], &evicts, &[]),
            ("no pod", RULE, CLIENT, "", Some(SERVICE), &[], &evicts, dead),
            (
                "no pod, and conditions",
                RULE,
                CLIENT,
                conditions,
                Some(SERVICE),
                &[],
                &evicts,
                &[(Effect::Unknown, none_ready)],
            ),
            (
                "no Service",
                RULE,
                CLIENT,
                "",
                None,
                &[there],
                &evicts,
                &[(Effect::Refused, "its service sys/hook does not exist; its failurePolicy is Fail")],
            ),
            ("no Service, and ignored", RULE, CLIENT, ignore, None, &[there], &evicts, &[]),
            ("a Service without a selector", RULE, CLIENT, "", Some("{}"), &[], &evicts, may),
            ("a URL", RULE, url, "", None, &[], &evicts, &[(Effect::Unknown, "it calls https://hook.x.io")]),
            (
                "the kubelet's final delete",
                DELETE,
                CLIENT,
                "",
                Some(SERVICE),
                &[here],
                &evicts,
                &[(Effect::Held, "its failurePolicy is Fail, so the pod stays Terminating")],
            ),
            (
                "which drain does not wait for",
                DELETE,
                CLIENT,
                "",
                Some(SERVICE),
                &[here],
                &skips,
                &[(Effect::None, "the pod stays Terminating; drain stops waiting for it after 60 s")],
            ),
            (
                "kubectl's deletion",
                DELETE,
                CLIENT,
                "",
                Some(SERVICE),
                &[here],
                &deletes,
                &[(Effect::Refused, "its failurePolicy is Fail, so drain ends in an error")],
            ),
        ] {
            let webhook = format!(r#""rules": [{rule}], {client}{more}"#);
            assert_notes(title, &met("Validating", &webhook, service, pods, "", options), want);
        }
    }
}
