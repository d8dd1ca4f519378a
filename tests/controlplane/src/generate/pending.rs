//! Random nodes, running pods and Pending pods: everything that the scheduler's filters judge.

use serde_json::{Value, json};

use super::constraints::Constraints;
use super::devices::Devices;
use super::oddities;
use super::storage::Storage;
use crate::health::Health;
use crate::objects::{LONG_AGO, labels, node};
use crate::random::Choice;

/// What a cluster is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Many Pending pods that preempt nobody: for the messages.
    Messages,
    /// One Pending pod of high priority among pods of all priorities and budgets: for preemption.
    Preemption,
}

/// Namespaces and their labels, which namespace selectors look at.
const NAMESPACES: &[(&str, &str)] = &[("shop", "a"), ("other", "b")];
pub(super) const APPS: &[&str] = &["web", "db", "cache", "batch"];

/// The cluster of a seed.
pub fn cluster(seed: u64, purpose: Purpose) -> Vec<Value> {
    let mut choice = Choice::new(seed);
    let mut items: Vec<Value> = NAMESPACES
        .iter()
        .map(|&(name, team)| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": team}}}))
        .collect();
    let nodes = match purpose {
        Purpose::Messages => choice.number(4, 12),
        Purpose::Preemption => choice.number(2, 7),
    };
    items.extend((0..nodes).map(|i| random_node(&mut choice, i, purpose)));
    let storage = Storage::make(&mut choice, nodes, &mut items);
    let devices = Devices::make(&mut choice, nodes, &mut items);
    let mut maker = Maker { choice, nodes, storage, devices, purpose };
    maker.running(&mut items);
    if purpose == Purpose::Messages {
        items.extend(oddities::promised_room(&mut maker.choice, nodes, &mut bare_pod));
    }
    let pending = match purpose {
        Purpose::Messages => 70,
        Purpose::Preemption => 1,
    };
    for i in 0..pending {
        items.push(maker.pending(&format!("pend-{i}")));
    }
    if purpose == Purpose::Preemption || maker.choice.chance(50) {
        for i in 0..maker.choice.number(0, 4) {
            items.push(maker.budget(i));
        }
    }
    items
}

fn random_node(choice: &mut Choice, i: i64, purpose: Purpose) -> Value {
    let zone = choice.one(&["za", "zb", "zc"]).to_owned();
    let cpu = choice.one(&["1", "2", "2", "4", "3900m"]).to_owned();
    let memory = choice.one(&["2Gi", "4Gi", "7900Mi"]).to_owned();
    let mut node = node(&format!("n{i}"), &zone, &cpu, &memory, choice.weighted(&[(1, 2), (2, 3), (3, 5), (3, 10)]));
    let metadata = &mut node["metadata"]["labels"];
    if choice.chance(50) {
        metadata["disk"] = json!(choice.one(&["ssd", "hdd"]));
    }
    if choice.chance(60) {
        metadata["gen"] = json!(choice.number(4, 8).to_string());
    }
    if choice.chance(7) {
        // A node without a zone is a domain of no zone.
        if let Some(labels) = metadata.as_object_mut() {
            labels.remove("topology.kubernetes.io/zone");
        }
    }
    if choice.chance(35) {
        for part in ["capacity", "allocatable"] {
            node["status"][part]["example.com/gpu"] = json!("2");
        }
    }
    let odd = if purpose == Purpose::Messages { 30 } else { 15 };
    if choice.chance(odd) {
        let taint = choice.weighted(&[
            (4, ("dedicated", "a", "NoSchedule")),
            (2, ("dedicated", "b", "NoExecute")),
            (2, ("dedicated", "a", "PreferNoSchedule")),
            (1, ("node.kubernetes.io/not-ready", "", "NoSchedule")),
            (1, ("node.kubernetes.io/unreachable", "", "NoExecute")),
            (1, ("node.kubernetes.io/memory-pressure", "", "NoSchedule")),
        ]);
        node["spec"]["taints"] = json!([{"key": taint.0, "value": taint.1, "effect": taint.2}]);
    }
    if choice.chance(odd / 4) {
        node["spec"]["unschedulable"] = json!(true);
        if choice.chance(70) {
            let cordon = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
            match node["spec"]["taints"].as_array_mut() {
                Some(taints) => taints.push(cordon),
                None => node["spec"]["taints"] = json!([cordon]),
            }
        }
    }
    oddities::of_node(choice, &mut node, purpose);
    node
}

/// A pod with nothing but its name, its namespace and labels.
fn bare_pod(choice: &mut Choice, name: &str) -> Value {
    let namespace = choice.weighted(&[(3, "shop"), (1, "other")]);
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "uid": choice.uid(), "labels": {"app": choice.one(APPS)}},
        "spec": {"terminationGracePeriodSeconds": 30}})
}

/// What is left of a node.
struct Room {
    /// Thousandths of a core.
    cpu: i64,
    pods: i64,
}

fn room_of(items: &[Value], n: i64) -> Room {
    let name = format!("n{n}");
    let node = items.iter().find(|item| item["kind"] == "Node" && item["metadata"]["name"] == name.as_str());
    let allocatable = node.map_or(&Value::Null, |node| &node["status"]["allocatable"]);
    let pods = allocatable["pods"].as_str().and_then(|pods| pods.parse().ok()).unwrap_or(0);
    Room { cpu: thousandths(&allocatable["cpu"]), pods }
}

/// The sum over the pod's containers, in thousandths of a core.
fn asked_cpu(pod: &Value) -> i64 {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    containers.map(|container| thousandths(&container["resources"]["requests"]["cpu"])).sum()
}

fn thousandths(quantity: &Value) -> i64 {
    let text = quantity.as_str().unwrap_or("0");
    match text.strip_suffix('m') {
        Some(milli) => milli.parse().unwrap_or(0),
        None => text.parse::<i64>().unwrap_or(0) * 1000,
    }
}

/// How much a pod asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    /// Next to nothing.
    Small,
    /// What an empty node has room for.
    Room,
    /// A good part of an empty node.
    Large,
    /// Also more than any node has.
    Any,
}

struct Maker {
    choice: Choice,
    nodes: i64,
    storage: Storage,
    devices: Devices,
    purpose: Purpose,
}

impl Maker {
    /// Pods on the nodes, so that little room is left.
    fn running(&mut self, items: &mut Vec<Value>) {
        let mut count = 0;
        for n in 0..self.nodes {
            let mut room = room_of(items, n);
            let pods = match self.purpose {
                Purpose::Messages => self.choice.number(0, 4),
                // As many as fit, so that a newcomer seldom does.
                Purpose::Preemption => self.choice.weighted(&[(1, 2), (6, 20)]),
            };
            for _ in 0..pods {
                let mut pod = self.pod(&format!("run-{count}"), Size::Room);
                let asked = asked_cpu(&pod);
                if self.purpose == Purpose::Preemption && (room.cpu < asked || room.pods == 0) {
                    continue;
                }
                room.cpu -= asked;
                room.pods -= 1;
                count += 1;
                pod["spec"]["nodeName"] = json!(format!("n{n}"));
                let health = self.choice.weighted(&[
                    (20, Health::Ready),
                    (2, Health::Unready),
                    (1, Health::Creating),
                    (1, Health::Succeeded),
                    (1, Health::Failed),
                ]);
                pod["status"] = health.status();
                if health != Health::Unscheduled {
                    let day = self.choice.number(1, 28);
                    // Among pods of equal priority and age chance decides: no two are of one age.
                    pod["status"]["startTime"] =
                        json!(format!("2026-02-{day:02}T08:{:02}:{:02}Z", count / 60, count % 60));
                }
                let priority = match self.purpose {
                    Purpose::Messages => self.choice.weighted(&[(3, 0), (1, 1000)]),
                    Purpose::Preemption => self.choice.weighted(&[(4, 0), (2, 100), (2, 1000), (1, 5000)]),
                };
                pod["spec"]["priority"] = json!(priority);
                pod["spec"]["preemptionPolicy"] = json!("PreemptLowerPriority");
                if self.choice.chance(5) {
                    pod["metadata"]["deletionTimestamp"] = json!(LONG_AGO);
                    pod["metadata"]["deletionGracePeriodSeconds"] = json!(600);
                }
                let mut constraints = Constraints::new(&mut self.choice);
                constraints.of_running(&mut pod);
                self.storage.attach_running(&mut self.choice, &mut pod, n);
                oddities::of_running(&mut self.choice, &mut pod);
                items.push(pod);
            }
        }
    }

    fn pending(&mut self, name: &str) -> Value {
        // A pod that asks for little is judged by its constraints; one that asks for much by the nodes' room.
        let size = match self.purpose {
            Purpose::Messages => self.choice.weighted(&[(65, Size::Small), (35, Size::Any)]),
            Purpose::Preemption => self.choice.weighted(&[(20, Size::Small), (40, Size::Room), (40, Size::Large)]),
        };
        let mut pod = self.pod(name, size);
        pod["status"] = json!({"phase": "Pending"});
        match self.purpose {
            // Either it never preempts, or nothing is below it.
            Purpose::Messages => {
                let never = self.choice.chance(60);
                pod["spec"]["priority"] = json!(if never { self.choice.weighted(&[(1, 0), (1, 2000)]) } else { -5 });
                pod["spec"]["preemptionPolicy"] = json!(if never { "Never" } else { "PreemptLowerPriority" });
            }
            Purpose::Preemption => {
                pod["spec"]["priority"] = json!(self.choice.weighted(&[(1, 100), (2, 1000), (4, 2000), (2, 10_000)]));
                pod["spec"]["preemptionPolicy"] = json!("PreemptLowerPriority");
            }
        }
        let mut constraints = Constraints::new(&mut self.choice);
        constraints.of_pending(&mut pod, self.nodes, self.purpose);
        self.storage.attach_pending(&mut self.choice, &mut pod);
        self.devices.attach(&mut self.choice, &mut pod);
        oddities::of_pending(&mut self.choice, &mut pod);
        pod
    }

    /// A pod with containers, requests and labels.
    fn pod(&mut self, name: &str, size: Size) -> Value {
        let namespace = self.choice.weighted(&[(3, "shop"), (1, "other")]);
        let mut own = labels(&[("app", self.choice.one(APPS))]);
        if self.choice.chance(40) {
            own["tier"] = json!(self.choice.one(&["gold", "silver"]));
        }
        if self.choice.chance(30) {
            own["pod-template-hash"] = json!(self.choice.one(&["h1", "h2"]));
        }
        if self.choice.chance(5) {
            own = json!({});
        }
        let containers: Vec<Value> =
            (0..self.choice.weighted(&[(5, 1), (2, 2)])).map(|i| self.container(&format!("c{i}"), size)).collect();
        let mut spec = json!({"containers": containers, "terminationGracePeriodSeconds": 30});
        if self.choice.chance(12) {
            let mut init = vec![self.container("init", size)];
            if self.choice.chance(50) {
                let mut sidecar = self.container("sidecar", size);
                sidecar["restartPolicy"] = json!("Always");
                init.insert(self.choice.number(0, 1) as usize, sidecar);
            }
            spec["initContainers"] = json!(init);
        }
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"namespace": namespace, "name": name, "uid": self.choice.uid(), "labels": own}, "spec": spec})
    }

    fn container(&mut self, name: &str, size: Size) -> Value {
        let mut requests = json!({});
        let (cpu, memory): (&[_], &[_]) = match size {
            Size::Small => (&[(1, "0"), (1, "50m")], &[(1, "32Mi")]),
            Size::Room => {
                (&[(3, "100m"), (4, "500m"), (4, "1"), (2, "1500m")], &[(3, "64Mi"), (3, "512Mi"), (3, "1Gi")])
            }
            Size::Large => (&[(4, "1"), (4, "1500m"), (1, "2")], &[(1, "512Mi"), (2, "1Gi")]),
            Size::Any => (
                &[(3, "100m"), (4, "500m"), (4, "1"), (3, "1500m"), (1, "3"), (1, "6")],
                &[(3, "64Mi"), (3, "512Mi"), (3, "1Gi"), (2, "3Gi"), (1, "20Gi")],
            ),
        };
        if self.choice.chance(85) {
            requests["cpu"] = json!(self.choice.weighted(cpu));
        }
        if self.choice.chance(60) {
            requests["memory"] = json!(self.choice.weighted(memory));
        }
        if size == Size::Any && self.choice.chance(6) {
            requests["ephemeral-storage"] = json!(self.choice.one(&["1Gi", "90Gi", "200Gi"]));
        }
        let mut resources = json!({"requests": requests});
        let extended = if size == Size::Small { 3 } else { 8 };
        if self.choice.chance(extended) {
            let name = self.choice.weighted(&[(8, "example.com/gpu"), (1, "example.com/fpga"), (1, "hugepages-2Mi")]);
            let amount = if name.starts_with("huge") { "64Mi" } else { self.choice.one(&["1", "1", "2", "3"]) };
            if name.starts_with("huge") {
                resources["requests"]["cpu"] = json!("100m");
            }
            resources["requests"][name] = json!(amount);
            resources["limits"] = json!({name: amount});
        }
        json!({"name": name, "image": "registry.example/app:1", "resources": resources})
    }

    fn budget(&mut self, i: i64) -> Value {
        let namespace = self.choice.one(&["shop", "other"]);
        let selector = match self.choice.number(0, 9) {
            0..6 => json!({"matchLabels": {"app": self.choice.one(APPS)}}),
            6 => json!({"matchLabels": {"tier": "gold"}}),
            7 => json!({}),
            8 => json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["db", "batch"]}]}),
            _ => json!({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}),
        };
        let allowed = self.choice.weighted(&[(5, 0), (3, 1), (2, 2), (1, 5)]);
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"namespace": namespace, "name": format!("pdb-{i}"), "uid": self.choice.uid()},
            "spec": {"minAvailable": 1, "selector": selector},
            "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": allowed + 1,
                "desiredHealthy": 1, "expectedPods": allowed + 1,
                "conditions": [{"type": "DisruptionAllowed", "status": if allowed > 0 { "True" } else { "False" },
                    "reason": if allowed > 0 { "SufficientPods" } else { "InsufficientPods" }, "message": "",
                    "observedGeneration": 1, "lastTransitionTime": LONG_AGO}]}})
    }
}
