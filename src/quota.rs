//! Whether a ResourceQuota would refuse a pod that is to be created. Mirrors `pkg/quota/v1/evaluator/core/pods.go`
//! (`Constraints`, `PodUsageFunc`, `podMatchesScopeFunc`) and `CheckRequest` of
//! `apiserver/pkg/admission/plugin/resourcequota/controller.go`.

use crate::sched::resources::{self, Of, Sums, requests};
use crate::snapshot::meta::Meta;
use crate::snapshot::object::Object;
use crate::snapshot::pod::{Container, Pod, Resources};
use crate::snapshot::quantity::Quantity;
use crate::snapshot::{Snapshot, Str};
use crate::wire::core::ResourceQuota;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// By how much a plan has changed what quotas count as used: quota (namespace, name) and resource.
#[derive(Debug, Clone, Default)]
pub struct Usage(HashMap<(Str, Str), HashMap<String, Quantity>>);

impl Usage {
    /// Why a quota refuses the pod, naming the quota; `None` where none does.
    pub fn refuses(&self, snapshot: &Snapshot, pod: &Pod) -> Option<String> {
        self.refusals(snapshot, pod).next().map(|r| r.to_string())
    }

    /// The quotas that refuse the pod, and why.
    pub fn refusals<'a>(&'a self, snapshot: &'a Snapshot, pod: &'a Pod) -> impl Iterator<Item = Refusal<'a>> {
        let quotas = snapshot.quotas.in_namespace(pod.meta.ns());
        quotas.iter().filter(|q| applies(q, pod)).filter_map(|q| self.refusal(snapshot, q, pod))
    }

    fn refusal<'a>(&self, snapshot: &Snapshot, quota: &'a Object<ResourceQuota>, pod: &Pod) -> Option<Refusal<'a>> {
        let hard = limits(quota);
        if let Some(missing) = unspecified(snapshot, pod, &hard) {
            return Some(Refusal { quota: &quota.meta, why: Why::Unstated(missing) });
        }
        let asked = usage(pod);
        let over = hard.into_iter().filter_map(|(resource, limit)| {
            let asked = asked.get(resource).copied().filter(|w| *w > Quantity::ZERO)?;
            let used = self.used(quota, resource);
            (used + asked > limit).then_some(Over { resource, asked, used, limit })
        });
        let over: Vec<Over<'a>> = over.collect();
        (!over.is_empty()).then_some(Refusal { quota: &quota.meta, why: Why::Exceeded(over) })
    }

    fn used(&self, quota: &Object<ResourceQuota>, resource: &str) -> Quantity {
        let reported = quota.status.as_ref().and_then(|s| s.used.get(resource)).map(|q| q.value);
        let key = (quota.meta.namespace.clone().unwrap_or_default(), quota.meta.name.clone());
        let change = self.0.get(&key).and_then(|u| u.get(resource)).copied().unwrap_or_default();
        reported.unwrap_or_default() + change
    }

    /// A pod has been created.
    pub fn take(&mut self, snapshot: &Snapshot, pod: &Pod) {
        self.count(snapshot, pod, |amount| amount);
    }

    /// A pod is gone. One that had ended was not counted any more.
    pub fn release(&mut self, snapshot: &Snapshot, pod: &Pod) {
        if !pod.is_finished() {
            self.count(snapshot, pod, |amount| -amount);
        }
    }

    fn count(&mut self, snapshot: &Snapshot, pod: &Pod, change: fn(Quantity) -> Quantity) {
        for quota in snapshot.quotas.in_namespace(pod.meta.ns()).iter().filter(|q| applies(q, pod)) {
            let key = (quota.meta.namespace.clone().unwrap_or_default(), quota.meta.name.clone());
            let used = self.0.entry(key).or_default();
            for (resource, amount) in usage(pod) {
                let used = used.entry(resource).or_default();
                *used = *used + change(amount);
            }
        }
    }
}

/// The refusal of one quota. Its text is the API server's.
#[derive(Debug)]
pub struct Refusal<'a> {
    /// The quota.
    pub quota: &'a Meta,
    /// What it refuses the pod for.
    pub why: Why<'a>,
}

/// What a quota refuses a pod for.
#[derive(Debug)]
pub enum Why<'a> {
    /// Containers do not state what it counts: `cpu for: a,b; memory for: a`.
    Unstated(String),
    /// Of these resources too little is left.
    Exceeded(Vec<Over<'a>>),
}

/// A resource of which a quota has too little left.
#[derive(Debug)]
pub struct Over<'a> {
    resource: &'a str,
    asked: Quantity,
    used: Quantity,
    limit: Quantity,
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.quota.name;
        match &self.why {
            Why::Unstated(missing) => write!(f, "failed quota: {name}: must specify {missing}"),
            Why::Exceeded(over) => {
                let list = |pick: fn(&Over<'_>) -> Quantity| {
                    over.iter().map(|o| format!("{}={}", o.resource, pick(o))).collect::<Vec<_>>().join(",")
                };
                let (asked, used, limit) = (list(|o| o.asked), list(|o| o.used), list(|o| o.limit));
                write!(f, "exceeded quota: {name}, requested: {asked}, used: {used}, limited: {limit}")
            }
        }
    }
}

/// In a person's words.
impl fmt::Display for Over<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, asked, used, limit } = self;
        write!(f, "{resource}: {used} of {limit} used, {asked} more requested")
    }
}

fn limits(quota: &Object<ResourceQuota>) -> Vec<(&str, Quantity)> {
    // Admission goes by what the quota controller has seen; a file may leave the status out.
    let seen = quota.status.as_ref().map(|s| &s.hard).filter(|h| !h.is_empty());
    let hard = seen.or_else(|| quota.spec.as_ref().map(|s| &s.hard));
    hard.into_iter().flatten().map(|(name, q)| (&**name, q.value)).collect()
}

/// Whether the quota's scopes take the pod in.
fn applies(quota: &Object<ResourceQuota>, pod: &Pod) -> bool {
    let Some(spec) = &quota.spec else { return false };
    let named = spec.scopes.iter().all(|s| in_scope(s, "Exists", &[], pod));
    let selected = spec.scope_selector.iter().flat_map(|s| &s.match_expressions);
    named && selected.into_iter().all(|e| in_scope(&e.scope_name, &e.operator, &e.values, pod))
}

fn in_scope(scope: &str, operator: &str, values: &[String], pod: &Pod) -> bool {
    match scope {
        "Terminating" => pod.spec.active_deadline.is_some(),
        "BestEffort" => is_best_effort(pod),
        "NotBestEffort" => !is_best_effort(pod),
        "CrossNamespacePodAffinity" => {
            let mut terms = pod.spec.pod_affinity.iter().chain(&pod.spec.pod_anti_affinity);
            terms.any(|t| !t.namespaces.is_empty() || t.namespace_selector.is_some())
        }
        "PriorityClass" => {
            let class = pod.spec.priority_class.as_deref().unwrap_or_default();
            let listed = values.iter().any(|v| v == class);
            match operator {
                "In" => listed,
                "NotIn" => !listed,
                "DoesNotExist" => class.is_empty(),
                _ => !class.is_empty(),
            }
        }
        "NotTerminating" => pod.spec.active_deadline.is_none(),
        // Scopes of other kinds of objects.
        _ => false,
    }
}

/// No container asks for or limits cpu or memory. Mirrors `ComputePodQOS`.
fn is_best_effort(pod: &Pod) -> bool {
    let says =
        |r: &Resources| ["cpu", "memory"].iter().any(|n| r.requests.get(n).is_some() || r.limits.get(n).is_some());
    let all = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    !all.map(|c| &c.resources).chain(&pod.spec.resources).any(says)
}

/// What the pod counts as.
fn usage(pod: &Pod) -> BTreeMap<String, Quantity> {
    let mut all: BTreeMap<_, _> = ["pods", "count/pods"].map(|name| (name.to_owned(), Quantity::units(1))).into();
    // What an in-place resize sets aside is not told apart here: a new pod has none.
    let asked: Sums = requests(pod, Of::Incoming, 0);
    for (name, amount) in asked.iter() {
        all.insert(format!("requests.{name}"), amount);
        if !name.contains('/') {
            all.insert(name.to_string(), amount);
        }
    }
    let limits = resources::limits(pod);
    all.extend(limits.iter().map(|(name, q)| (format!("limits.{name}"), q)));
    all
}

/// What a quota on compute resources asks every container to state, and which containers do not.
fn unspecified(snapshot: &Snapshot, pod: &Pod, hard: &[(&str, Quantity)]) -> Option<String> {
    if pod.spec.resources.is_some() {
        return None;
    }
    let states = |c: &Container, resource: &str| match resource {
        "cpu" | "memory" => c.resources.requests.get(resource).is_some(),
        _ => match resource.split_once('.') {
            Some(("requests", name)) => c.resources.requests.get(name).is_some(),
            Some(("limits", name)) => c.resources.limits.get(name).is_some(),
            _ => true,
        },
    };
    let asked = |resource: &str| {
        matches!(resource, "cpu" | "memory" | "requests.cpu" | "requests.memory" | "limits.cpu" | "limits.memory")
            && !has_default(snapshot, pod, resource)
    };
    let containers = || pod.spec.containers.iter().chain(&pod.spec.init_containers);
    let mut words = Vec::new();
    for (resource, _) in hard.iter().filter(|(r, _)| asked(r)) {
        let silent: Vec<&str> = containers().filter(|c| !states(c, resource)).map(|c| &*c.name).collect();
        if !silent.is_empty() {
            words.push(format!("{resource} for: {}", silent.join(",")));
        }
    }
    (!words.is_empty()).then(|| words.join("; "))
}

/// Whether a LimitRange of the namespace fills the amount in.
fn has_default(snapshot: &Snapshot, pod: &Pod, resource: &str) -> bool {
    let (limit, name) = match resource.split_once('.') {
        Some((kind, name)) => (kind == "limits", name),
        None => (false, resource),
    };
    let ranges = snapshot.limit_ranges.in_namespace(pod.meta.ns()).iter();
    ranges.filter_map(|r| r.spec.as_ref()).flat_map(|s| &s.limits).any(|item| {
        let defaults = item.default_.contains_key(name);
        item.type_ == "Container" && if limit { defaults } else { defaults || item.default_request.contains_key(name) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, find, merged, pod};
    use serde_json::{Value, json};

    /// Amounts of cpu and memory; empty for none.
    fn of(cpu: &str, memory: &str) -> Value {
        let pairs = [("cpu", cpu), ("memory", memory)].into_iter().filter(|(_, q)| !q.is_empty());
        pairs.map(|(name, q)| (name.to_owned(), json!(q))).collect::<serde_json::Map<_, _>>().into()
    }

    fn container(requests: &Value, limits: &Value) -> Value {
        json!({"name": "c", "resources": {"requests": requests, "limits": limits}})
    }

    #[test]
    fn quotas_refuse_as_upstream() {
        // After TestAdmitBelowQuotaLimit, TestAdmitExceedQuotaLimit, TestAdmitEnforceQuotaConstraints, TestPodConstraintsFunc
        // and TestPodEvaluatorMatchingScopes.
        let quota = |more: Value| {
            let status = json!({"hard": {"cpu": "3", "memory": "100Gi", "pods": "5"}, "used": {"cpu": "1", "memory": "50Gi", "pods": "3"}});
            let base = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "a"}, "spec": {}, "status": status});
            merged(base, more)
        };
        let one = |requests: Value, limits: Value| json!({"containers": [container(&requests, &limits)]});
        let full = json!({"status": {"used": {"pods": "5"}}});
        let scoped = |scope: &str| quota(merged(full.clone(), json!({"spec": {"scopes": [scope]}})));
        let classed = |operator: &str, values: &[&str]| {
            let e = json!({"scopeName": "PriorityClass", "operator": operator, "values": values});
            quota(merged(full.clone(), json!({"spec": {"scopeSelector": {"matchExpressions": [e]}}})))
        };
        let with_class = || merged(one(of("1", "1Gi"), none()), json!({"priorityClassName": "system-node-critical"}));
        let with_deadline = || merged(one(of("1", "1Gi"), none()), json!({"activeDeadlineSeconds": 60}));
        fn none() -> Value {
            json!({})
        }
        let across = json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
            [{"labelSelector": {}, "namespaces": ["ns1"], "topologyKey": "zone"}]}}});
        let limits_too =
            || quota(json!({"status": {"hard": {"limits.memory": "200Gi"}, "used": {"limits.memory": "100Gi"}}}));
        for (title, spec, quota, refused) in [
            ("below", one(of("100m", "2Gi"), none()), quota(json!({})), false),
            ("exceeds cpu", one(of("3", "2Gi"), none()), quota(json!({})), true),
            ("exceeds pods", one(of("1", "2Gi"), none()), quota(full.clone()), true),
            ("states no memory", one(of("1", ""), none()), quota(json!({})), true),
            ("states no memory limit", one(of("100m", "2Gi"), of("200m", "")), limits_too(), true),
            ("states a memory limit", one(of("100m", "2Gi"), of("200m", "4Gi")), limits_too(), false),
            (
                "an init container states none",
                merged(one(of("1", "2Gi"), none()), json!({"initContainers": [container(&none(), &none())]})),
                quota(json!({})),
                true,
            ),
            (
                "stated for the pod as a whole",
                merged(one(none(), none()), json!({"resources": {"requests": of("1", "2Gi")}})),
                quota(json!({})),
                false,
            ),
            ("of pods without requests, which it is", one(none(), none()), scoped("BestEffort"), true),
            ("of pods without requests, which it is not", one(of("1", "1Gi"), none()), scoped("BestEffort"), false),
            (
                "of pods with requests, which it is not",
                one(json!({"example.com/dongle": "1"}), none()),
                scoped("NotBestEffort"),
                false,
            ),
            ("of pods with a deadline, which it has not", one(of("1", "1Gi"), none()), scoped("Terminating"), false),
            ("of pods without a deadline", one(of("1", "1Gi"), none()), scoped("NotTerminating"), true),
            ("of pods with a deadline", with_deadline(), scoped("Terminating"), true),
            ("of pods without a deadline, which it has", with_deadline(), scoped("NotTerminating"), false),
            ("of pods with a class, none", one(of("1", "1Gi"), none()), scoped("PriorityClass"), false),
            ("of pods with a class", with_class(), scoped("PriorityClass"), true),
            ("of its class", with_class(), classed("In", &["system-node-critical"]), true),
            ("of another class", with_class(), classed("In", &["other"]), false),
            ("of all but its class", with_class(), classed("NotIn", &["system-node-critical"]), false),
            (
                "of affinity to other namespaces, none",
                one(of("1", "1Gi"), none()),
                scoped("CrossNamespacePodAffinity"),
                false,
            ),
            (
                "of affinity to other namespaces",
                merged(one(of("1", "1Gi"), none()), across),
                scoped("CrossNamespacePodAffinity"),
                true,
            ),
            ("of claims of a class", one(of("1", "1Gi"), none()), scoped("VolumeAttributesClass"), false),
        ] {
            // A pod without requests is asked to state them where the quota counts them; those of scopes count pods alone.
            let mut quota = quota;
            if !quota["spec"].as_object().unwrap().is_empty() {
                quota["status"] = json!({"hard": {"pods": "5"}, "used": {"pods": "5"}});
            }
            let snapshot = cluster().add(pod("a/p").spec(spec)).add(quota).snapshot();
            let why = Usage::default().refuses(&snapshot, &find(&snapshot, "a/p"));
            assert_eq!(why.is_some(), refused, "{title}: {why:?}");
        }
    }
}
