//! Amounts of resources as a person writes them, and which container decides what a pod asks for.

use crate::sched::catalogue::Catalogue;
use crate::sched::filters::node_resources_fit::Shortage;
use crate::sched::node::PodInfo;
use crate::sched::resources::{Of, is_extended, requests};
use crate::snapshot::pod::{Container, Pod};
use crate::snapshot::quantity::Quantity;

/// The name of what is short.
pub fn name(what: Shortage, catalogue: &Catalogue) -> String {
    match what {
        Shortage::Pods => "pods".to_owned(),
        Shortage::Cpu => "cpu".to_owned(),
        Shortage::Memory => "memory".to_owned(),
        Shortage::Ephemeral => "ephemeral-storage".to_owned(),
        Shortage::Scalar(id) => catalogue.resource_name(id).to_string(),
    }
}

/// How the names of resources begin that are counted in bytes of huge pages.
pub const HUGE_PAGES: &str = "hugepages-";

/// An amount in the scheduler's unit, as a person writes it: `1400m`, `4Gi`, `2`. Bytes that are no round number of
/// larger units are rounded to mebibytes.
pub fn shown(what: Shortage, n: i64, catalogue: &Catalogue) -> String {
    match what {
        Shortage::Cpu => Quantity::milli(n).to_string(),
        Shortage::Memory | Shortage::Ephemeral => bytes(n),
        Shortage::Scalar(id) if catalogue.resource_name(id).starts_with(HUGE_PAGES) => bytes(n),
        Shortage::Pods | Shortage::Scalar(_) => n.to_string(),
    }
}

const MEBI: i64 = 1 << 20;

fn bytes(n: i64) -> String {
    if n.abs() < 1024 {
        return n.to_string();
    }
    let exact = Quantity::bytes(n).to_string();
    if n.abs() < MEBI || exact.len() <= 7 { exact } else { format!("{}Mi", n / MEBI) }
}

/// How much of it a pod takes, in the scheduler's unit.
pub fn taken(what: Shortage, pod: &PodInfo) -> i64 {
    match what {
        Shortage::Pods => 1,
        Shortage::Cpu => pod.request.cpu,
        Shortage::Memory => pod.request.memory,
        Shortage::Ephemeral => pod.request.ephemeral,
        Shortage::Scalar(id) => pod.request.scalars.iter().find(|(i, _)| *i == id).map_or(0, |(_, n)| *n),
    }
}

/// Whether it is a device or another extended resource.
pub fn is_device(what: Shortage, catalogue: &Catalogue) -> bool {
    matches!(what, Shortage::Scalar(id) if is_extended(&catalogue.resource_name(id)))
}

/// Says what decides how much the pod asks of a resource: an init container that alone asks more than the rest together,
/// or the largest of several; and what its RuntimeClass adds.
pub fn decided_by(pod: &Pod, resource: &str) -> Option<String> {
    let overhead = pod.spec.overhead.get(resource).filter(|q| *q > Quantity::ZERO);
    let overhead = overhead.map(|q| {
        let class = pod.spec.runtime_class.as_deref().map(|c| format!(" of RuntimeClass {c}")).unwrap_or_default();
        format!("{q} of it as the overhead{class}")
    });
    let parts: Vec<String> = by_container(pod, resource).into_iter().chain(overhead).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn by_container(pod: &Pod, resource: &str) -> Option<String> {
    let of = |c: &Container| c.resources.requests.get(resource).unwrap_or_default();
    let sidecars = || pod.spec.init_containers.iter().filter(|c| c.sidecar);
    let together: Quantity = pod.spec.containers.iter().chain(sidecars()).map(of).sum();
    let first = pod.spec.init_containers.iter().filter(|c| !c.sidecar).max_by_key(|c| of(c));
    if let Some(init) = first.filter(|c| of(c) > together) {
        return Some(format!("its init container {} requests {} alone", init.name, of(init)));
    }
    if pod.spec.resources.as_ref().is_some_and(|r| r.requests.get(resource).is_some()) {
        return Some("set for the pod as a whole".to_owned());
    }
    let several: Vec<&Container> =
        pod.spec.containers.iter().chain(sidecars()).filter(|c| of(c) > Quantity::ZERO).collect();
    if several.len() < 2 {
        return None;
    }
    let parts: Vec<String> = several.iter().take(4).map(|c| format!("{} {}", c.name, of(c))).collect();
    Some(format!("containers {}", parts.join(" + ")))
}

/// The resources that the pod asks for: `2 cpu`, `4Gi memory`.
pub fn resources(pod: &Pod) -> Vec<String> {
    let sums = requests(pod, Of::Incoming, 37);
    sums.iter().filter(|(_, q)| *q > Quantity::ZERO).map(|(n, q)| format!("{q} {n}")).collect()
}

/// What the pod demands, in short phrases.
pub fn asks(pod: &Pod) -> Vec<String> {
    let mut asks = resources(pod);
    let spec = &pod.spec;
    asks.extend(crate::sched::node::host_ports(pod).map(|p| format!("host port {}/{}", p.port, p.protocol)));
    if !spec.node_selector.is_empty() {
        let pairs: Vec<String> = spec.node_selector.iter().map(|(k, v)| format!("{k}={v}")).collect();
        asks.push(format!("nodes with {}", pairs.join(",")));
    }
    if let Some(affinity) = &spec.node_affinity {
        asks.push(format!("nodes where {}", super::explain::nodes::terms(affinity)));
    }
    asks.extend(spec.pod_affinity.iter().map(|t| format!("beside {} (same {})", t.selector, t.topology_key)));
    asks.extend(spec.pod_anti_affinity.iter().map(|t| format!("not beside {} (same {})", t.selector, t.topology_key)));
    let required = spec.topology_spread.iter().filter(|c| c.required);
    asks.extend(
        required.map(|c| format!("{} spread over {}, at most {} apart", c.selector, c.topology_key, c.max_skew)),
    );
    asks.extend(crate::sched::filters::claims::claims_of(pod).map(|c| format!("claim {}", c.name)));
    asks.extend(spec.resource_claims.iter().map(|c| format!("device claim {}", c.name)));
    let default = |key: &str| key == "node.kubernetes.io/not-ready" || key == "node.kubernetes.io/unreachable";
    let tolerated = spec.tolerations.iter().filter(|t| !default(&t.key));
    asks.extend(tolerated.map(|t| match (t.key.is_empty(), &*t.value) {
        (true, _) if t.effect.is_empty() => "tolerates every taint".to_owned(),
        (true, _) => format!("tolerates every {} taint", t.effect),
        (false, "") => format!("tolerates {}", t.key),
        (false, value) => format!("tolerates {}={value}", t.key),
    }));
    asks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        for (what, n, want) in [
            (Shortage::Cpu, 1400, "1400m"),
            (Shortage::Cpu, 2000, "2"),
            (Shortage::Memory, 4 << 30, "4Gi"),
            (Shortage::Memory, (4 << 30) - 1, "4095Mi"),
            (Shortage::Memory, 1000, "1000"),
            (Shortage::Pods, 8, "8"),
        ] {
            assert_eq!(shown(what, n, &Catalogue::default()), want);
        }
    }

    #[test]
    fn what_decides_a_request_is_named() {
        use crate::testing::{cluster, find, pod};
        use serde_json::json;
        let asks = |name: &str, cpu: &str| json!({"name": name, "resources": {"requests": {"cpu": cpu}}});
        for (title, spec, want) in [
            ("one container", json!({"containers": [asks("c", "1")]}), None),
            ("two", json!({"containers": [asks("c", "1"), asks("d", "2")]}), Some("containers c 1 + d 2")),
            (
                "an init container",
                json!({"containers": [asks("c", "1")], "initContainers": [asks("i", "2")]}),
                Some("its init container i requests 2 alone"),
            ),
            (
                "overhead",
                json!({"containers": [asks("c", "1")], "runtimeClassName": "kata", "overhead": {"cpu": "3500m"}}),
                Some("3500m of it as the overhead of RuntimeClass kata"),
            ),
            (
                "overhead of another resource",
                json!({"containers": [asks("c", "1")], "overhead": {"memory": "1Gi"}}),
                None,
            ),
        ] {
            let snapshot = cluster().add(pod("a/p").spec(spec)).snapshot();
            assert_eq!(decided_by(&find(&snapshot, "a/p"), "cpu").as_deref(), want, "{title}");
        }
    }
}
