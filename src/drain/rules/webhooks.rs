//! Admission webhooks and policies that see the removal of a pod, and deny it or fail; and pods that serve a webhook which
//! is asked before new pods are made or bound.

use super::RuleContext;
use crate::admission::{Backend, BoundPolicy, Request, Verb, Webhook};
use crate::cure::Remedy;
use crate::drain::drainer::Removes;
use crate::drain::filters::Decision;
use crate::drain::note::{Drainability, Note};
use crate::drain::refusal::Refusal;
use crate::finding::{Code, Ref, Severity};
use crate::lists::some;
use crate::snapshot::Kind;
use crate::snapshot::pod::Pod;
use jiff::Timestamp;

/// The request by which a webhook sees a pod's removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sees {
    /// The drainer's eviction.
    Eviction,
    /// The drainer's deletion, instead of an eviction.
    Deletion,
    /// The kubelet's final delete. What an eviction itself deletes, no webhook sees.
    FinalDelete,
}

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    for hook in &rule.context.admission.webhooks {
        if let Some(sees) = sees(rule, |verb| is_asked(hook, verb, rule)) {
            notes.extend(removal(hook, sees, rule));
        }
        notes.extend(serves_alone(hook, rule));
    }
    for policy in &rule.context.admission.policies {
        let asked = |verb| policy.sees(rule.snapshot, Request::of(verb, rule.pod), &rule.pod.meta.name);
        let about = sees(rule, asked).map(|sees| removed_under(policy, sees));
        notes.extend(about.or_else(|| replaced_under(policy, rule, asked)));
    }
}

/// By which request somebody who is asked about requests of some verbs sees the removal.
fn sees(rule: &RuleContext<'_>, asked: impl Fn(Verb) -> bool) -> Option<Sees> {
    let deletes = rule.context.drainer.removes == Removes::ByDeletion;
    if !deletes && asked(Verb::Evict) {
        return Some(Sees::Eviction);
    }
    if !asked(Verb::Delete) {
        return None;
    }
    if deletes { Some(Sees::Deletion) } else { (!rule.is_gone_at_once()).then_some(Sees::FinalDelete) }
}

impl Sees {
    fn words(self) -> &'static str {
        match self {
            Self::Eviction => "the eviction",
            Self::Deletion => "the deletion",
            Self::FinalDelete => "the kubelet's final delete",
        }
    }
}

/// What a policy means for the removal of the pod: its expressions are not evaluated.
fn removed_under(policy: &BoundPolicy<'_>, sees: Sees) -> Note {
    under(policy, sees.words(), "whether the pod is removed is not known").means(Drainability::Unknown)
}

/// What a policy means for the pod that replaces this one. That this one was let through tells what is decided of the next,
/// where the policy is older.
fn replaced_under(policy: &BoundPolicy<'_>, rule: &RuleContext<'_>, asked: impl Fn(Verb) -> bool) -> Option<Note> {
    let pod = rule.pod;
    let passed = |at: Option<Timestamp>| policy.since.is_none() || at.is_some_and(|at| policy.since < Some(at));
    let bound = pod.condition("PodScheduled").and_then(|c| c.since).or(pod.meta.creation_timestamp);
    let what = match () {
        () if pod.meta.controller.is_none() => return None,
        () if asked(Verb::Create) && !passed(pod.meta.creation_timestamp) => "the creation of pods like it",
        () if asked(Verb::Bind) && !passed(bound) => "the binding of pods like it to nodes (pods/binding)",
        () => return None,
    };
    let note = under(policy, what, "the pod is older than the policy, and whether a new one replaces it is not known");
    Some(note.means(Drainability::Unreplaced).severity(Severity::Warning))
}

fn under(policy: &BoundPolicy<'_>, asked_about: &str, means: &str) -> Note {
    let text = format!(
        "ValidatingAdmissionPolicy {} (binding {}, action Deny) is asked about {asked_about}, and its expressions are not \
         evaluated here: {means}",
        policy.name, policy.binding
    );
    let object = |kind: Kind, name: &str| {
        let kind = kind.info().name;
        Ref::new("admissionregistration.k8s.io/v1", kind, "", name)
    };
    Note::new(Code::AdmissionPolicy, text).about([
        object(Kind::ValidatingAdmissionPolicy, policy.name),
        object(Kind::ValidatingAdmissionPolicyBinding, policy.binding),
    ])
}

/// What a webhook means for the removal of the pod.
fn removal(hook: &Webhook<'_>, sees: Sees, rule: &RuleContext<'_>) -> Option<Note> {
    let who = format!("{} sees {}", hook.who(), sees.words());
    // A call that fails and may be left out is as if it had not been made.
    let unanswered = |why: String| {
        hook.fails.then(|| {
            let (effect, drainability) = match sees {
                Sees::Eviction => {
                    ("every eviction that it sees ends in an error", Drainability::Refused(Refusal::Webhook))
                }
                Sees::Deletion => ("the drain ends in an error", Drainability::Refused(Refusal::Webhook)),
                Sees::FinalDelete => ("the pod stays Terminating", Drainability::Stuck),
            };
            let text = format!("{who}, and {why}; its failurePolicy is Fail, so {effect}");
            // Expressions may still leave this request out.
            let certain = hook.conditions.is_empty();
            Note::new(Code::Webhook, text)
                .means(if certain { drainability } else { Drainability::Unknown })
                .severity(if certain { Severity::Error } else { Severity::Warning })
                .about([hook.configuration.clone()])
                .remedy(run_elsewhere(hook))
        })
    };
    let may_deny = |whom: &str| {
        let text = format!("{who} and can deny it ({whom}): whether the pod is removed is not known");
        Some(Note::new(Code::Webhook, text).means(Drainability::Unknown).about([hook.configuration.clone()]))
    };
    match &hook.backend {
        Backend::Url(url) => may_deny(&format!("it calls {url}")),
        Backend::Unread(service) => may_deny(&format!("it calls Service {service}")),
        Backend::Missing(service) => unanswered(format!("its Service {service} does not exist")),
        Backend::Service(service) => {
            let path = &service.path;
            let ready: Vec<&Pod> = service.ready().map(|p| &**p).collect();
            if ready.is_empty() {
                return unanswered(format!("its Service {path} has no Ready pod"));
            }
            let may_deny = || may_deny(&format!("it calls Service {path}"));
            if ready.iter().all(|p| leaves_too(p, rule)) {
                let names = some(ready.iter().map(|p| &*p.meta.name), 3);
                return unanswered(format!("all Ready pods of its Service {path} ({names}) are on this node"))
                    .or_else(may_deny);
            }
            may_deny()
        }
    }
}

/// What the removal of the last pods behind a webhook means for new pods, its own among them.
fn serves_alone(hook: &Webhook<'_>, rule: &RuleContext<'_>) -> Option<Note> {
    let Backend::Service(service) = &hook.backend else { return None };
    let mut ready = service.ready().peekable();
    ready.peek()?;
    if !hook.fails || !service.selects(rule.pod) || !ready.all(|p| leaves_too(p, rule)) {
        return None;
    }
    let (verb, what) = if hook.verbs.contains(&Verb::Create) {
        (Verb::Create, "the creation of pods")
    } else if hook.verbs.contains(&Verb::Bind) {
        (Verb::Bind, "bindings of pods (pods/binding)")
    } else {
        return None;
    };
    let own =
        if is_asked(hook, verb, rule) { ", its own new pod neither: it does not come back by itself" } else { "" };
    let text = format!(
        "it serves {}, which is asked about {what} with failurePolicy Fail: while no pod of Service {} is Ready, none is let \
         through{own}",
        hook.who(),
        service.path
    );
    let severity = if own.is_empty() { Severity::Warning } else { Severity::Error };
    let note = Note::new(Code::Webhook, text).about([hook.configuration.clone()]).severity(severity);
    Some(note.remedy(run_elsewhere(hook)))
}

fn run_elsewhere(hook: &Webhook<'_>) -> Remedy {
    Remedy::advice(format!(
        "run the backend of {} on another node first (two replicas of it), or set its failurePolicy to Ignore for the drain",
        hook.configuration
    ))
}

/// Whether a webhook is asked about a request about the rule's own pod, or about one just like it.
fn is_asked(hook: &Webhook<'_>, verb: Verb, rule: &RuleContext<'_>) -> bool {
    hook.sees(rule.snapshot, Request::of(verb, rule.pod))
}

/// Whether a pod is on the node of the rule's own, and the drain removes it there.
fn leaves_too(pod: &Pod, rule: &RuleContext<'_>) -> bool {
    let removed = || (rule.context.drainer.filter)(&rule.context.view, pod).decision == Decision::Delete;
    pod.node == rule.pod.node && removed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::explain::outcome;
    use crate::drain::options::DrainOptions;
    use crate::drain::outcome::Outcome;
    use crate::drain::testing::{Cluster, assert_notes, drained};
    use crate::snapshot::selector::LabelSelector;
    use crate::testing::{budget, cluster, node, object, pod};
    use serde_json::json;

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
        let sees = |what| (Drainability::Unknown, what);
        let eviction_seen =
            &[sees("webhook w.x.io (w) sees the eviction and can deny it (it calls Service sys/hook)")][..];
        let final_delete = &[sees("sees the kubelet's final delete and can deny it")][..];
        let deletion = &[sees("sees the deletion and can deny it")][..];
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
    fn a_policy_newer_than_a_pod_leaves_open_whether_a_new_one_comes() {
        // A pod that is there was let through by what was there before it; of a younger policy it tells nothing.
        let made = |api: &str, at: &str| {
            let policy = object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "hours")
                .created(at)
                .spec(json!({
                "matchConstraints": {"resourceRules": [
                    {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": [api]}]},
                "validations": [{"expression": "false"}]}));
            let binding = object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "hours");
            let binding = binding.created(at).spec(json!({"policyName": "hours", "validationActions": ["Deny"]}));
            let old = |name: &str| {
                let ready = pod(name).label("app", "web").on("n0").ready().created("2025-12-01T00:00:00Z");
                ready.owned_by("apps/v1", "ReplicaSet/web")
            };
            let rule = budget("a/b").selects("app=web").min_available(1).allows(1);
            let set = object("apps/v1", "ReplicaSet", "a/web").spec(json!({"replicas": 2}));
            let all = cluster().add(node("n0")).add(node("n1")).add(policy).add(binding).add(rule).add(set);
            all.add(old("a/web-0")).add(old("a/web-1")).snapshot()
        };
        let (younger, older) = ("2025-12-02T00:00:00Z", "2025-11-02T00:00:00Z");
        let open = [Outcome::Gone, Outcome::Unknown];
        for (title, snapshot, want) in [
            ("a younger one about new pods", made("pods", younger), open),
            ("a younger one about bindings", made("pods/binding", younger), open),
            ("one that let these through", made("pods", older), [Outcome::Gone, Outcome::Waits]),
            ("one about something else", made("pods/exec", younger), [Outcome::Gone, Outcome::Waits]),
        ] {
            let got: Vec<Outcome> = drained(&snapshot, &DrainOptions::default(), "n0", |context, pods, run, _| {
                run.attempts.iter().map(|a| outcome(context, &pods[a.at], a)).collect()
            });
            assert_eq!(got, want, "{title}");
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
        let none_ready = "its Service sys/hook has no Ready pod; its failurePolicy is Fail, so every eviction";
        let on_node = "all Ready pods of its Service sys/hook (hook-0) are on this node; its failurePolicy is Fail";
        let may = &[(Drainability::Unknown, "and can deny it (it calls Service sys/hook)")][..];
        let dead = &[(Drainability::Refused(Refusal::Webhook), none_ready)][..];
        let lonely = &[(Drainability::Refused(Refusal::Webhook), on_node)][..];
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
                &[(Drainability::Unknown, none_ready)],
            ),
            (
                "no Service",
                RULE,
                CLIENT,
                "",
                None,
                &[there],
                &evicts,
                &[(
                    Drainability::Refused(Refusal::Webhook),
                    "its Service sys/hook does not exist; its failurePolicy is Fail",
                )],
            ),
            ("no Service, and ignored", RULE, CLIENT, ignore, None, &[there], &evicts, &[]),
            ("a Service without a selector", RULE, CLIENT, "", Some("{}"), &[], &evicts, may),
            ("a URL", RULE, url, "", None, &[], &evicts, &[(Drainability::Unknown, "it calls https://hook.x.io")]),
            (
                "the kubelet's final delete",
                DELETE,
                CLIENT,
                "",
                Some(SERVICE),
                &[here],
                &evicts,
                &[(Drainability::Stuck, "its failurePolicy is Fail, so the pod stays Terminating")],
            ),
            (
                "which drain does not wait for",
                DELETE,
                CLIENT,
                "",
                Some(SERVICE),
                &[here],
                &skips,
                &[(Drainability::Stuck, "its failurePolicy is Fail, so the pod stays Terminating")],
            ),
            (
                "kubectl's deletion",
                DELETE,
                CLIENT,
                "",
                Some(SERVICE),
                &[here],
                &deletes,
                &[(
                    Drainability::Refused(Refusal::Webhook),
                    "its failurePolicy is Fail, so the drain ends in an error",
                )],
            ),
        ] {
            let webhook = format!(r#""rules": [{rule}], {client}{more}"#);
            assert_notes(title, &met("Validating", &webhook, service, pods, "", options), want);
        }
    }
}
