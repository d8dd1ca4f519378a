//! What the API server would say to a new pod: quotas, limit ranges, priority classes, service accounts. Mirrors the
//! admission plugins `resourcequota`, `limitranger`, `priority` and `serviceaccount` as far as a snapshot tells; what a
//! webhook would say is not known.

use crate::finding::{Code, Finding, Ref};
use crate::sched::resources::{Of, requests};
use crate::snapshot::object::Object;
use crate::snapshot::pod::{Container, Pod};
use crate::snapshot::quantity::{Amounts, Quantity};
use crate::snapshot::{Kind, Snapshot, Str};
use crate::wire::core::{LimitRange, LimitRangeItem, ResourceQuota};
use crate::wire::scalar;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why the API server would refuse a new pod like this one; empty where nothing is seen that would.
pub fn refusals(pod: &Pod, snapshot: &Snapshot) -> Vec<Finding> {
    let mut all = Vec::new();
    all.extend(priority_class(pod, snapshot));
    all.extend(service_account(pod, snapshot));
    let defaulted = with_defaults(pod, snapshot);
    all.extend(limit_ranges(&defaulted, snapshot));
    all.extend(snapshot.quotas.in_namespace(pod.meta.ns()).iter().filter_map(|q| quota(&defaulted, q)));
    all
}

fn priority_class(pod: &Pod, snapshot: &Snapshot) -> Option<Finding> {
    let class = pod.spec.priority_class.as_ref()?;
    // Kubernetes makes these two itself.
    let built_in = class.starts_with("system-");
    let known = built_in || snapshot.priority_classes.named("", class).is_some();
    (!known && snapshot.coverage.has(Kind::PriorityClass)).then(|| {
        let message = format!("its PriorityClass {class} does not exist, so the API server refuses every pod of it");
        Finding::new(Code::PriorityClass, message).about([Ref::new("scheduling.k8s.io/v1", "PriorityClass", "", class)])
    })
}

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

fn amount(map: &BTreeMap<String, scalar::Quantity>, name: &str) -> Option<Quantity> {
    map.get(name).and_then(|q| Quantity::parse(&q.string))
}

fn items<'a>(range: &'a Object<LimitRange>, kind: &'a str) -> impl Iterator<Item = &'a LimitRangeItem> {
    let limits = range.spec.as_ref().map(|s| &*s.limits).unwrap_or_default();
    limits.iter().filter(move |l| l.type_ == kind)
}

/// The pod with what limit ranges, and the API itself, fill in where nothing is set.
pub fn with_defaults(pod: &Pod, snapshot: &Snapshot) -> Pod {
    let mut pod = pod.clone();
    let ranges = snapshot.limit_ranges.in_namespace(pod.meta.ns());
    let spec = Arc::make_mut(&mut pod.spec);
    for c in spec.containers.iter_mut().chain(&mut spec.init_containers) {
        let mut limits: BTreeMap<Str, Quantity> = pairs(&c.resources.limits);
        let mut asked: BTreeMap<Str, Quantity> = pairs(&c.resources.requests);
        // A limit without a request is the request.
        for (name, q) in &limits {
            asked.entry(name.clone()).or_insert(*q);
        }
        for item in ranges.iter().flat_map(|r| items(r, "Container")) {
            for (name, q) in &item.default_request {
                if let Some(q) = Quantity::parse(&q.string) {
                    asked.entry(name.as_str().into()).or_insert(q);
                }
            }
            for (name, q) in &item.default_ {
                if let Some(q) = Quantity::parse(&q.string) {
                    limits.entry(name.as_str().into()).or_insert(q);
                }
            }
        }
        c.resources.limits = limits.into_iter().collect();
        c.resources.requests = asked.into_iter().collect();
    }
    pod
}

fn pairs(amounts: &Amounts) -> BTreeMap<Str, Quantity> {
    amounts.iter().map(|(n, q)| (n.clone(), q)).collect()
}

/// A container's or the pod's amounts against one item of a limit range.
fn out_of_range(item: &LimitRangeItem, requests: &Amounts, limits: &Amounts) -> Vec<String> {
    let mut words = Vec::new();
    for name in item.min.keys() {
        let Some(least) = amount(&item.min, name) else { continue };
        match requests.get(name) {
            Some(q) if q >= least => {}
            Some(q) => words.push(format!("asks {q} {name}, at least {least} is wanted")),
            None => words.push(format!("asks no {name}, at least {least} is wanted")),
        }
    }
    for name in item.max.keys() {
        let Some(most) = amount(&item.max, name) else { continue };
        match limits.get(name).into_iter().chain(requests.get(name)).max() {
            Some(q) if q <= most => {}
            Some(q) => words.push(format!("may use {q} {name}, at most {most} is allowed")),
            None => words.push(format!("has no limit of {name}, at most {most} is allowed")),
        }
    }
    words
}

fn limit_ranges(pod: &Pod, snapshot: &Snapshot) -> Vec<Finding> {
    let mut all = Vec::new();
    for range in snapshot.limit_ranges.in_namespace(pod.meta.ns()) {
        let mut words = Vec::new();
        let containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
        for c in containers {
            for item in items(range, "Container") {
                let found = out_of_range(item, &c.resources.requests, &c.resources.limits);
                words.extend(found.into_iter().map(|w| format!("container {} {w}", c.name)));
            }
        }
        for item in items(range, "Pod") {
            let asked: Amounts = requests(pod, Of::Incoming, u32::MAX).iter().map(|(n, q)| (n.clone(), q)).collect();
            words.extend(out_of_range(item, &asked, &sum_of_limits(pod)).into_iter().map(|w| format!("the pod {w}")));
        }
        if !words.is_empty() {
            let message = format!("LimitRange {} refuses the pod: {}", range.meta.name, words.join("; "));
            all.push(Finding::new(Code::LimitRange, message).about([Ref::of(Kind::LimitRange, &range.meta)]));
        }
    }
    all
}

fn sum_of_limits(pod: &Pod) -> Amounts {
    let mut sums: BTreeMap<Str, Quantity> = BTreeMap::new();
    for c in &pod.spec.containers {
        for (name, q) in c.resources.limits.iter() {
            let sum = sums.entry(name.clone()).or_default();
            *sum = *sum + q;
        }
    }
    sums.into_iter().collect()
}

/// What a pod would use of a resource that a quota counts; `None` where the quota counts it and the pod does not say.
fn usage(pod: &Pod, counted: &str) -> Option<Option<Quantity>> {
    if matches!(counted, "pods" | "count/pods") {
        return Some(Some(Quantity::units(1)));
    }
    let (name, limit) = match counted {
        "cpu" | "memory" | "ephemeral-storage" => (counted, false),
        _ => match (counted.strip_prefix("requests."), counted.strip_prefix("limits.")) {
            (Some(name), _) => (name, false),
            (_, Some(name)) => (name, true),
            _ => return None,
        },
    };
    if name == "storage" {
        return None;
    }
    let of = |c: &Container| if limit { c.resources.limits.get(name) } else { c.resources.requests.get(name) };
    let must_be_set = matches!(name, "cpu" | "memory");
    if must_be_set && pod.spec.containers.iter().any(|c| of(c).is_none()) {
        return Some(None);
    }
    let sum = if limit { sum_of_limits(pod).get(name) } else { requests(pod, Of::Incoming, u32::MAX).get(name) };
    Some(Some(sum.unwrap_or_default()))
}

/// Whether a quota counts this pod at all. Mirrors `podMatchesScopeFunc` for the scopes that a new pod decides.
fn counts(quota: &ResourceQuota, pod: &Pod) -> bool {
    let Some(spec) = &quota.spec else { return false };
    let class = pod.spec.priority_class.as_deref();
    let best_effort =
        pod.spec.containers.iter().all(|c| c.resources.requests.is_empty() && c.resources.limits.is_empty());
    let in_scope = |scope: &str| match scope {
        "BestEffort" => best_effort,
        "NotBestEffort" => !best_effort,
        "PriorityClass" => class.is_some(),
        // A new pod of a controller has no deadline of its own as far as is kept here.
        "Terminating" => false,
        _ => true,
    };
    let expressions = spec.scope_selector.as_ref().map(|s| &*s.match_expressions).unwrap_or_default();
    let selected = expressions.iter().all(|e| {
        let listed = class.is_some_and(|c| e.values.iter().any(|v| v == c));
        match (&*e.scope_name, &*e.operator) {
            ("PriorityClass", "In") => listed,
            ("PriorityClass", "NotIn") => !listed,
            ("PriorityClass", "DoesNotExist") => class.is_none(),
            (scope, _) => in_scope(scope),
        }
    });
    selected && spec.scopes.iter().all(|s| in_scope(s))
}

/// Why a quota would refuse the pod.
fn quota(pod: &Pod, quota: &Arc<Object<ResourceQuota>>) -> Option<Finding> {
    let status = quota.status.as_ref()?;
    if !counts(quota, pod) {
        return None;
    }
    let name = &quota.meta.name;
    let mut unset = Vec::new();
    let mut exceeded = Vec::new();
    for counted in status.hard.keys() {
        match usage(pod, counted) {
            None => {}
            Some(None) => unset.push(counted.as_str()),
            Some(Some(more)) => {
                let (hard, used) = (amount(&status.hard, counted)?, amount(&status.used, counted).unwrap_or_default());
                if more > Quantity::ZERO && used + more > hard {
                    exceeded.push(format!("{counted}: {used} of {hard} used, {more} more asked"));
                }
            }
        }
    }
    let message = if !unset.is_empty() {
        format!(
            "quota {name} counts {}, so every container must state it, and the template does not",
            unset.join(" and ")
        )
    } else if !exceeded.is_empty() {
        format!("quota {name} is used up ({})", exceeded.join("; "))
    } else {
        return None;
    };
    Some(Finding::new(Code::Quota, message).about([Ref::of(Kind::ResourceQuota, &quota.meta)]))
}
