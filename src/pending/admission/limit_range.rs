//! LimitRanges: what they fill in, and what they refuse. Mirrors `plugin/pkg/admission/limitranger/admission.go`.

use crate::finding::{Code, Finding, Ref};
use crate::sched::resources::{Of, Sums, limits, requests};
use crate::snapshot::object::Object;
use crate::snapshot::pod::Pod;
use crate::snapshot::quantity::{Amounts, Quantity};
use crate::snapshot::{Kind, Snapshot, Str};
use crate::wire::core::{LimitRange, LimitRangeItem};
use crate::wire::scalar;
use std::collections::BTreeMap;
use std::sync::Arc;

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
            (None, _) => words.push(format!("requests no {name}, at least {least} is required")),
            (Some(q), _) if q < least => words.push(format!("requests {q} {name}, at least {least} is required")),
            (_, Some(q)) if q < least => words.push(format!("has a limit of {q} {name}, at least {least} is required")),
            _ => {}
        }
    }
    for name in item.max.keys() {
        let Some(most) = amount(&item.max, name) else { continue };
        match (limits.get(name), requests.get(name)) {
            (None, _) => words.push(format!("has no limit of {name}, at most {most} is allowed")),
            (Some(q), _) if q > most => words.push(format!("has a limit of {q} {name}, at most {most} is allowed")),
            (_, Some(q)) if q > most => words.push(format!("requests {q} {name}, at most {most} is allowed")),
            _ => {}
        }
    }
    for name in item.max_limit_request_ratio.keys() {
        let Some(most) = amount(&item.max_limit_request_ratio, name) else { continue };
        let nonzero = |amounts: &Amounts| amounts.get(name).filter(|q| *q != Quantity::ZERO);
        let rule = format!("the limit of {name} is allowed to be at most {most} times the request");
        match (nonzero(requests), nonzero(limits)) {
            (None, _) => words.push(format!("requests no {name}, and {rule}")),
            (_, None) => words.push(format!("has no limit of {name}, and {rule}")),
            (Some(asked), Some(limit)) if exceeds_ratio(asked, limit, most) => {
                words.push(format!("requests too little {name} for its limit: {rule}"));
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

/// What speaks against a pod that has its defaults.
pub fn refusals(pod: &Pod, snapshot: &Snapshot) -> Vec<Finding> {
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

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "rows of tables stay short")]
mod tests {
    use super::*;
    use crate::testing::{cluster, find, object, pod};
    use serde_json::{Value, json};

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
            let p = pod("a/p").spec(json!({"containers": containers, "initContainers": init}));
            let range = object("v1", "LimitRange", "a/r").spec(json!({"limits": [range]}));
            let snapshot = cluster().add(p).add(range).snapshot();
            let found = refusals(&with_defaults(&find(&snapshot, "a/p"), &snapshot), &snapshot);
            assert_eq!(!found.is_empty(), refused, "{title}: {found:?}");
        }
    }
}
