//! What the API server would say to a new pod: quotas, limit ranges, priority classes, service accounts. Mirrors the
//! admission plugins `resourcequota`, `limitranger`, `priority` and `serviceaccount` as far as a snapshot tells; what a
//! webhook would say is not known.

use crate::finding::{Code, Finding, Ref};
use crate::quota::{Refusal, Usage, Why};
use crate::sched::resources::{Of, Sums, limits, requests};
use crate::snapshot::object::Object;
use crate::snapshot::pod::Pod;
use crate::snapshot::quantity::{Amounts, Quantity};
use crate::snapshot::{Kind, Snapshot, Str};
use crate::wire::core::{LimitRange, LimitRangeItem};
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
    all.extend(Usage::default().refusals(snapshot, &defaulted).map(|r| quota(&r)));
    all
}

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
    map.get(name).map(|q| q.value)
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
                asked.entry(name.as_str().into()).or_insert(q.value);
            }
            for (name, q) in &item.default_ {
                limits.entry(name.as_str().into()).or_insert(q.value);
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

/// A container's or the pod's amounts against one item of a limit range. Mirrors `minConstraint`, `maxConstraint` and
/// `limitRequestRatioConstraint`.
fn out_of_range(item: &LimitRangeItem, requests: &Amounts, limits: &Amounts) -> Vec<String> {
    let mut words = Vec::new();
    for name in item.min.keys() {
        let Some(least) = amount(&item.min, name) else { continue };
        match (requests.get(name), limits.get(name)) {
            (None, _) => words.push(format!("asks no {name}, at least {least} is wanted")),
            (Some(q), _) if q < least => words.push(format!("asks {q} {name}, at least {least} is wanted")),
            (_, Some(q)) if q < least => words.push(format!("may use {q} {name}, at least {least} is wanted")),
            _ => {}
        }
    }
    for name in item.max.keys() {
        let Some(most) = amount(&item.max, name) else { continue };
        match (limits.get(name), requests.get(name)) {
            (None, _) => words.push(format!("has no limit of {name}, at most {most} is allowed")),
            (Some(q), _) if q > most => words.push(format!("may use {q} {name}, at most {most} is allowed")),
            (_, Some(q)) if q > most => words.push(format!("asks {q} {name}, at most {most} is allowed")),
            _ => {}
        }
    }
    for name in item.max_limit_request_ratio.keys() {
        let Some(most) = amount(&item.max_limit_request_ratio, name) else { continue };
        let rule = format!("its limit of {name} may be {most} times what it asks at most");
        let nonzero = |amounts: &Amounts| amounts.get(name).filter(|q| *q != Quantity::ZERO);
        match (nonzero(requests), nonzero(limits)) {
            (None, _) => words.push(format!("asks no {name}, and {rule}")),
            (_, None) => words.push(format!("has no limit of {name}, and {rule}")),
            (Some(asked), Some(limit)) if exceeds_ratio(asked, limit, most) => {
                words.push(format!("asks less {name} than that: {rule}"));
            }
            _ => {}
        }
    }
    words
}

/// Whether a limit is more than so many times the request. Mirrors `limitRequestRatioConstraint`, in integers: in
/// thousandths, unless one of the amounts is too large for that.
fn exceeds_ratio(asked: Quantity, limit: Quantity, most: Quantity) -> bool {
    let is_small = |q: &Quantity| q.value() <= i64::MAX / 1000;
    let of = if [asked, limit, most].iter().all(is_small) { Quantity::milli_value } else { Quantity::value };
    let [asked, limit] = [asked, limit].map(|q| i128::from(of(q)));
    if is_small(&most) {
        limit * 1000 > asked * i128::from(most.milli_value())
    } else {
        limit > asked * i128::from(most.value())
    }
}

fn limit_ranges(pod: &Pod, snapshot: &Snapshot) -> Vec<Finding> {
    // Limit ranges leave overhead out.
    let mut bare = pod.clone();
    Arc::make_mut(&mut bare.spec).overhead = Amounts::default();
    let sums = |s: Sums| -> Amounts { s.iter().map(|(n, q)| (n.clone(), q)).collect() };
    let (asked, most) = (sums(requests(&bare, Of::Incoming, u32::MAX)), sums(limits(&bare)));
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
            words.extend(out_of_range(item, &asked, &most).into_iter().map(|w| format!("the pod {w}")));
        }
        if !words.is_empty() {
            let message = format!("LimitRange {} refuses the pod: {}", range.meta.name, words.join("; "));
            all.push(Finding::new(Code::LimitRange, message).about([Ref::of(Kind::LimitRange, &range.meta)]));
        }
    }
    all
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
#[expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]
mod tests {
    use super::*;
    use crate::sched::testing::{cluster, find, merged, pod};
    use serde_json::{Value, json};

    fn codes(spec: Value, objects: &[Value]) -> Vec<Code> {
        // What quotas and ranges say is asked for without the container of the tests' usual pod.
        let account =
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "a"}});
        let p = pod("p", json!({"spec": spec}));
        let snapshot = cluster(&[&[p, account], objects].concat());
        refusals(&find(&snapshot, "p"), &snapshot).into_iter().map(|f| f.code).collect()
    }

    /// Amounts of cpu and memory; empty for none.
    fn of(cpu: &str, memory: &str) -> Value {
        let pairs = [("cpu", cpu), ("memory", memory)].into_iter().filter(|(_, q)| !q.is_empty());
        pairs.map(|(name, q)| (name.to_owned(), json!(q))).collect::<serde_json::Map<_, _>>().into()
    }

    fn container(requests: Value, limits: Value) -> Value {
        json!({"name": "c", "resources": {"requests": requests, "limits": limits}})
    }

    #[test]
    fn limit_ranges_refuse_as_upstream() {
        // After TestPodLimitFunc: n containers with these requests and limits, init containers, and a range.
        let none = || of("", "");
        let range = |kind: &str, min: Value, max: Value, ratio: Value| json!({"type": kind, "min": min, "max": max, "maxLimitRequestRatio": ratio});
        let c_min = |min: Value| range("Container", min, none(), none());
        let c_max = |max: Value| range("Container", none(), max, none());
        let p_min = |min: Value| range("Pod", min, none(), none());
        let p_max = |max: Value| range("Pod", none(), max, none());
        for (title, n, requests, limits, init, range, refused) in [
            ("ctr-min-cpu-request", 1, of("100m", ""), none(), vec![], c_min(of("50m", "")), false),
            ("ctr-min-cpu-request-limit", 1, of("100m", ""), of("200m", ""), vec![], c_min(of("50m", "")), false),
            ("ctr-min-memory-request", 1, of("", "60Mi"), none(), vec![], c_min(of("", "50Mi")), false),
            ("ctr-max-cpu-request-limit", 1, of("500m", ""), of("1", ""), vec![], c_max(of("2", "")), false),
            ("ctr-max-cpu-limit", 1, none(), of("1", ""), vec![], c_max(of("2", "")), false),
            (
                "ctr-max-cpu-ratio",
                1,
                of("500m", ""),
                of("750m", ""),
                vec![],
                range("Container", none(), none(), of("1.5", "")),
                false,
            ),
            ("pod-min-cpu-request", 2, of("75m", ""), none(), vec![], p_min(of("100m", "")), false),
            (
                "pod-init-min-memory-request",
                2,
                of("", "60Mi"),
                none(),
                vec![(of("", "100Mi"), none())],
                p_min(of("", "100Mi")),
                false,
            ),
            (
                "pod-init-max-cpu-request-limit",
                2,
                of("500m", ""),
                of("1", ""),
                vec![(of("1", ""), of("2", "")), (of("1", ""), of("1", ""))],
                p_max(of("2", "")),
                false,
            ),
            ("pod-max-mem-limit", 2, none(), of("", "500Mi"), vec![], p_max(of("", "1Gi")), false),
            (
                "pod-max-mem-ratio",
                3,
                of("", "300Mi"),
                of("", "450Mi"),
                vec![],
                range("Pod", none(), of("", "2Gi"), of("", "1.5")),
                false,
            ),
            ("ctr-min-cpu-request", 1, of("40m", ""), none(), vec![], c_min(of("50m", "")), true),
            ("ctr-min-cpu-request-limit", 1, of("40m", ""), of("200m", ""), vec![], c_min(of("50m", "")), true),
            ("ctr-min-cpu-no-request-limit", 1, none(), none(), vec![], c_min(of("50m", "")), true),
            ("ctr-max-cpu-request-limit", 1, of("500m", ""), of("2500m", ""), vec![], c_max(of("2", "")), true),
            ("ctr-max-cpu-limit", 1, none(), of("2500m", ""), vec![], c_max(of("2", "")), true),
            ("ctr-max-cpu-no-request-limit", 1, none(), none(), vec![], c_max(of("2", "")), true),
            ("ctr-max-cpu-request-no-limit", 1, of("1", ""), none(), vec![], c_max(of("2", "")), true),
            (
                "ctr-max-cpu-ratio",
                1,
                of("1250m", ""),
                of("2500m", ""),
                vec![],
                range("Container", none(), none(), of("1", "")),
                true,
            ),
            ("pod-min-cpu-request", 1, of("75m", ""), none(), vec![], p_min(of("100m", "")), true),
            ("pod-max-cpu-request-limit", 3, of("500m", ""), of("1", ""), vec![], p_max(of("2", "")), true),
            (
                "pod-init-max-mem-limit",
                1,
                none(),
                of("", "500Mi"),
                vec![(none(), of("", "1.5Gi"))],
                p_max(of("", "1Gi")),
                true,
            ),
            (
                "pod-max-mem-ratio",
                3,
                of("", "250Mi"),
                of("", "500Mi"),
                vec![],
                range("Pod", none(), of("", "2Gi"), of("", "1.5")),
                true,
            ),
        ] {
            let containers: Vec<Value> = (0..n).map(|_| container(requests.clone(), limits.clone())).collect();
            let init: Vec<Value> = init.into_iter().map(|(r, l)| container(r, l)).collect();
            let range = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "r", "namespace": "a"},
                "spec": {"limits": [range]}});
            let want = if refused { vec![Code::LimitRange] } else { vec![] };
            assert_eq!(codes(json!({"containers": containers, "initContainers": init}), &[range]), want, "{title}");
        }
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
        let one = |requests: Value, limits: Value| json!({"containers": [container(requests, limits)]});
        let full = json!({"status": {"used": {"pods": "5"}}});
        let scoped = |scope: &str| quota(merged(full.clone(), json!({"spec": {"scopes": [scope]}})));
        let classed = |operator: &str, values: &[&str]| {
            let e = json!({"scopeName": "PriorityClass", "operator": operator, "values": values});
            quota(merged(full.clone(), json!({"spec": {"scopeSelector": {"matchExpressions": [e]}}})))
        };
        let with_class = || merged(one(of("1", "1Gi"), none()), json!({"priorityClassName": "system-node-critical"}));
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
                merged(one(of("1", "2Gi"), none()), json!({"initContainers": [container(none(), none())]})),
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
            ("of pods with a deadline", one(of("1", "1Gi"), none()), scoped("Terminating"), false),
            ("of pods without a deadline", one(of("1", "1Gi"), none()), scoped("NotTerminating"), true),
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
            let want = if refused { vec![Code::Quota] } else { vec![] };
            assert_eq!(codes(spec, &[quota]), want, "{title}");
        }
    }

    #[test]
    fn classes_and_accounts_must_be_there() {
        let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "gold"}, "value": 1});
        for (spec, want) in [
            (json!({}), vec![]),
            (json!({"priorityClassName": "gold"}), vec![]),
            (json!({"priorityClassName": "silver"}), vec![Code::PriorityClass]),
            (json!({"priorityClassName": "system-cluster-critical"}), vec![]),
            (json!({"priorityClassName": "system-other"}), vec![Code::PriorityClass]),
            (json!({"serviceAccountName": "default"}), vec![]),
            (json!({"serviceAccountName": "robot"}), vec![Code::ServiceAccount]),
        ] {
            assert_eq!(codes(spec.clone(), std::slice::from_ref(&class)), want, "{spec}");
        }
    }
}
