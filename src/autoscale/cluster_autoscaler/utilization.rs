//! How much of a node its pods request. Mirrors `simulator/utilization/info.go`, and the labels of GPU nodes that clouds set
//! (`GPULabel` of each cloud provider).

use super::Keeps;
use super::drainability::{is_daemon, is_long_terminating, is_seen};
use super::settings::{self, Settings};
use crate::sched::resources::{Of, requests};
use crate::snapshot::node::Node;
use crate::snapshot::pod::Pod;
use crate::snapshot::quantity::Quantity;
use crate::snapshot::{Snapshot, Str};

/// Labels of nodes with GPUs, and the clouds that set them.
const GPU_LABELS: [(&str, &str); 7] = [
    ("cloud.google.com/gke-accelerator", ""),
    ("k8s.amazonaws.com/accelerator", ""),
    ("kubernetes.azure.com/accelerator", ""),
    ("accelerator", "azure:"),
    ("cluster-api/accelerator", ""),
    ("node.kubernetes.ovhcloud.com/gpu", ""),
    ("k8s.scw.cloud/gpu", ""),
];
const GPU: &str = "nvidia.com/gpu";

/// What keeps a node because it is in use.
pub fn of_node(node: &Node, snapshot: &Snapshot, settings: &Settings) -> Option<Keeps> {
    let is_labelled = |(label, cloud): &&(&str, &str)| {
        node.meta.labels.has(label) && node.provider_id.as_deref().unwrap_or_default().starts_with(cloud)
    };
    if GPU_LABELS.iter().any(|l| is_labelled(&l)) {
        // Without a GPU that is ready, the node counts as unused.
        let share = share(node, GPU, snapshot, settings)?;
        return (share > settings.share(settings::GPU_THRESHOLD)).then(|| Keeps::Utilization(GPU.into(), share));
    }
    let of = |name: &'static str| share(node, name, snapshot, settings).ok_or(name);
    match (of("cpu"), of("memory")) {
        (Err(name), _) | (_, Err(name)) => Some(Keeps::NoResource(name.into())),
        (Ok(cpu), Ok(memory)) => {
            let (most, name): (i64, Str) = if cpu > memory { (cpu, "cpu".into()) } else { (memory, "memory".into()) };
            (most > settings.share(settings::THRESHOLD)).then_some(Keeps::Utilization(name, most))
        }
    }
}

/// How much of a resource is requested, in thousandths of a percent, rounded up; `None` where the node has none.
fn share(node: &Node, name: &str, snapshot: &Snapshot, settings: &Settings) -> Option<i64> {
    let mut all = node.allocatable.get(name).map(as_milli).filter(|all| *all > 0)?;
    let is_ignored = |pod: &Pod| {
        settings.is_on(settings::IGNORE_DAEMONS) && is_daemon(pod)
            || settings.is_on(settings::IGNORE_MIRRORS) && pod.is_mirror()
    };
    let mut asked = 0;
    for pod in snapshot.pods_on(&node.meta.name).filter(|p| is_seen(p, settings)) {
        let requested = requests(pod, Of::Running, snapshot.minor()).get(name).map_or(0, as_milli);
        // What is ignored counts as if the node were smaller by it.
        if is_ignored(pod) {
            all -= requested;
        } else if !is_long_terminating(pod, snapshot.now) {
            asked += requested;
        }
    }
    if all <= 0 {
        return None;
    }
    let parts = asked * 100_000;
    i64::try_from(parts / all + i128::from(parts % all > 0)).ok()
}

fn as_milli(quantity: Quantity) -> i128 {
    i128::from(quantity.milli_value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cluster, node, pod};

    #[test]
    fn a_node_is_in_use_from_more_than_half_on() {
        // `TestCalculate` of upstream's info_test.go, and `TestFilterOutUnremovable` of eligibility_test.go.
        let with = |cpu: &str, memory: &str| pod("shop/a").on("n1").requests("cpu", cpu).requests("memory", memory);
        let used = |name: &str, share: i64| Some(Keeps::Utilization(name.into(), share));
        let n1 = || node("n1").allocatable("cpu", "4").allocatable("memory", "8Gi");
        let gpu = || n1().label("k8s.amazonaws.com/accelerator", "t4").allocatable(GPU, "4");
        for (title, node, pod, want) in [
            ("half", n1(), with("2", "1Gi"), None),
            ("more than half", n1(), with("2001m", "1Gi"), used("cpu", 50_025)),
            ("memory", n1(), with("100m", "6Gi"), used("memory", 75_000)),
            ("finished", n1(), with("4", "1Gi").ended("Succeeded"), None),
            ("gpus alone count", gpu(), with("4", "8Gi").requests(GPU, "2"), None),
            ("gpus", gpu(), with("1", "1Gi").requests(GPU, "3"), used(GPU, 75_000)),
        ] {
            let snapshot = cluster().add(node).add(pod).snapshot();
            let node = snapshot.nodes.iter().next().expect("the node");
            assert_eq!(of_node(node, &snapshot, &Settings::default()), want, "{title}");
        }
    }
}
