//! Admission webhooks. Mirrors `ShouldCallHook` of `apiserver/pkg/admission/plugin/webhook/generic/webhook.go` and its
//! `predicates/{rules,namespace,object}`.

use super::{Request, Verb};
use crate::cure::WebhookKind;
use crate::finding::Ref;
use crate::snapshot::intern::Interner;
use crate::snapshot::pod::Pod;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Kind, Map, Snapshot};
use crate::wire::core::ServiceSpec;
use crate::wire::meta::LabelSelector as WireSelector;
use crate::wire::policy::{MatchCondition, RuleWithOperations, WebhookClientConfig};
use std::sync::Arc;

/// A webhook that sees some request about pods.
#[derive(Debug)]
pub struct Webhook<'a> {
    /// Where it is configured.
    pub configuration: Ref,
    /// Whether it changes requests, or only looks at them.
    pub kind: WebhookKind,
    /// Its name, which looks like a domain.
    pub name: &'a str,
    /// What it sees, where its selectors let it.
    pub verbs: Vec<Verb>,
    /// `failurePolicy: Fail`: what it does not answer is refused.
    pub fails: bool,
    /// Expressions that may leave a request out.
    pub conditions: &'a [MatchCondition],
    /// Who answers.
    pub backend: Backend<'a>,
    namespaces: LabelSelector,
    objects: LabelSelector,
}

/// Where a webhook's calls go.
#[derive(Debug)]
pub enum Backend<'a> {
    /// To a place that the input does not show.
    Url(&'a str),
    /// To a Service whose pods are not known.
    Unread(String),
    /// To a Service that does not exist.
    Missing(String),
    /// To a Service with pods: of them, those that are Ready answer.
    Service(Service<'a>),
}

/// A Service behind a webhook.
#[derive(Debug)]
pub struct Service<'a> {
    /// `namespace/name`.
    pub path: String,
    /// Its pods in the snapshot that have not ended.
    pub pods: Vec<&'a Arc<Pod>>,
    namespace: &'a str,
    spec: &'a ServiceSpec,
}

/// All webhooks that see some request about pods.
pub fn all(snapshot: &Snapshot) -> Vec<Webhook<'_>> {
    let mut all = Vec::new();
    macro_rules! each {
        ($table:ident, $kind:ident, $webhook:expr) => {
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
                    all.extend(parts.read(snapshot, $webhook, Ref::of(Kind::$kind, &c.meta)));
                }
            }
        };
    }
    each!(mutating_webhooks, MutatingWebhookConfiguration, WebhookKind::Mutating);
    each!(validating_webhooks, ValidatingWebhookConfiguration, WebhookKind::Validating);
    all
}

/// A webhook of either kind.
struct Parts<'a> {
    name: &'a str,
    client: Option<&'a WebhookClientConfig>,
    rules: &'a [RuleWithOperations],
    policy: Option<&'a str>,
    namespaces: Option<&'a WireSelector>,
    objects: Option<&'a WireSelector>,
    conditions: &'a [MatchCondition],
}

impl<'a> Parts<'a> {
    fn read(&self, snapshot: &'a Snapshot, kind: WebhookKind, configuration: Ref) -> Option<Webhook<'a>> {
        let all = [Verb::Create, Verb::Bind, Verb::Evict, Verb::Delete];
        let verbs: Vec<Verb> = all.into_iter().filter(|v| self.rules.iter().any(|r| rule_takes(r, *v))).collect();
        if verbs.is_empty() {
            return None;
        }
        let mut interner = Interner::default();
        let mut read = |s: Option<&WireSelector>| match s {
            Some(s) => LabelSelector::read(Some(s), &mut interner),
            None => LabelSelector::All(Box::default()),
        };
        Some(Webhook {
            configuration,
            kind,
            name: self.name,
            verbs,
            fails: self.policy != Some("Ignore"),
            conditions: self.conditions,
            backend: backend(snapshot, self.client),
            namespaces: read(self.namespaces),
            objects: read(self.objects),
        })
    }
}

/// Whether a rule takes requests of a verb about pods. Mirrors `rules.Matcher`.
pub(super) fn rule_takes(rule: &RuleWithOperations, verb: Verb) -> bool {
    let Some(r) = &rule.rule else { return false };
    let any = |list: &[String], one: &str| list.iter().any(|x| x == "*" || x == one);
    let takes_resource = |pattern: &String| {
        let (resource, sub) = pattern.split_once('/').map_or((&**pattern, None), |(p, s)| (p, Some(s)));
        (resource == "*" || resource == "pods") && (sub == verb.subresource() || sub == Some("*"))
    };
    any(&rule.operations, verb.operation())
        && any(&r.api_groups, "")
        && any(&r.api_versions, "v1")
        && r.resources.iter().any(takes_resource)
        && r.scope != "Cluster"
}

fn backend<'a>(snapshot: &'a Snapshot, client: Option<&'a WebhookClientConfig>) -> Backend<'a> {
    let Some(service) = client.and_then(|c| c.service.as_ref()) else {
        return Backend::Url(client.and_then(|c| c.url.as_deref()).unwrap_or_default());
    };
    let path = format!("{}/{}", service.namespace, service.name);
    let Some(found) = snapshot.services.named(&service.namespace, &service.name) else {
        let known = snapshot.coverage.has(Kind::Service) || !snapshot.services.is_empty();
        return if known { Backend::Missing(path) } else { Backend::Unread(path) };
    };
    let Some(spec) = found.spec.as_ref().filter(|s| !s.selector.is_empty()) else { return Backend::Unread(path) };
    let pods = snapshot.pods.in_namespace(&service.namespace).iter();
    let pods = pods.filter(|p| spec.selects(&p.meta.labels) && !p.is_finished()).collect();
    Backend::Service(Service { path, pods, namespace: &service.namespace, spec })
}

impl Webhook<'_> {
    /// Whether it is asked about a request, as far as its rules and selectors say.
    pub fn sees(&self, snapshot: &Snapshot, request: Request<'_>) -> bool {
        self.verbs.contains(&request.verb)
            && request.labels.map_or_else(|| self.objects.matches(&Map::default()), |l| self.objects.matches(l))
            && self.namespaces.matches(&snapshot.namespace_labels(request.namespace))
    }

    /// `webhook NAME (CONFIGURATION)`.
    pub fn who(&self) -> String {
        format!("webhook {} ({})", self.name, self.configuration.name)
    }
}

impl<'a> Service<'a> {
    /// Its pods that answer now.
    pub fn ready(&self) -> impl Iterator<Item = &'a Arc<Pod>> + use<'a, '_> {
        self.pods.iter().copied().filter(|p| p.is_ready() && !p.is_terminating())
    }

    /// Whether a pod would be one of its pods.
    pub fn selects(&self, pod: &Pod) -> bool {
        pod.meta.ns() == self.namespace && self.spec.selects(&pod.meta.labels)
    }
}
