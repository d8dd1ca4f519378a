//! Workloads of every kind, health and age with random budgets over them.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::health::Health;
use crate::objects::{self, LONG_AGO, controller, definition, labels, pod_spec, workload};
use crate::random::Choice;

/// How many namespaces a cluster has; each is a small world of its own.
const NAMESPACES: i64 = 28;
const NODES: i64 = 4;

/// The cluster of a seed. `now` dates what must be young or old (`disruptedPods`).
pub fn cluster(seed: u64, now: Timestamp) -> Vec<Value> {
    let mut maker = Maker { choice: Choice::new(seed), now, items: Vec::new(), namespace: String::new(), pods: 0 };
    for i in 0..NODES {
        maker.items.push(objects::node(&format!("n{i}"), &format!("z{}", i % 2), "64", "256Gi", 500));
    }
    maker.items.push(definition("Rollout", "rollouts", true));
    maker.items.push(definition("Queue", "queues", false));
    for i in 0..NAMESPACES {
        maker.namespace = format!("ns{i}");
        maker.items.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": maker.namespace}}));
        maker.world();
    }
    maker.items
}

/// What owns a workload's pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Deployment,
    /// A Deployment in the middle of a rollout: two ReplicaSets.
    Rollout,
    ReplicaSet,
    /// A ReplicaSet whose Deployment is gone.
    OrphanedReplicaSet,
    /// A ReplicaSet that a custom object with scale controls.
    CustomReplicaSet,
    StatefulSet,
    DaemonSet,
    Job,
    CronJob,
    ReplicationController,
    /// A custom object with a scale subresource.
    Scaled,
    /// The same, whose count is not set.
    ScaledUnset,
    /// A custom object without a scale subresource.
    Unscaled,
    /// A kind that the API does not know.
    Undefined,
    /// An owner that is gone.
    Gone,
    /// An owner of the same name and another uid.
    Replaced,
    /// `extensions/v1beta1`, which ReplicaSets had before `apps/v1`.
    OldGroup,
    /// An owner that is no controller.
    Reference,
    /// The node itself, as of static pods.
    Node,
    None,
}

const OWNERS: &[(u32, Owner)] = &[
    (24, Owner::Deployment),
    (8, Owner::Rollout),
    (8, Owner::ReplicaSet),
    (3, Owner::OrphanedReplicaSet),
    (3, Owner::CustomReplicaSet),
    (14, Owner::StatefulSet),
    (5, Owner::DaemonSet),
    (5, Owner::Job),
    (3, Owner::CronJob),
    (5, Owner::ReplicationController),
    (5, Owner::Scaled),
    (2, Owner::ScaledUnset),
    (3, Owner::Unscaled),
    (2, Owner::Undefined),
    (2, Owner::Gone),
    (2, Owner::Replaced),
    (2, Owner::OldGroup),
    (2, Owner::Reference),
    (2, Owner::Node),
    (8, Owner::None),
];

const HEALTH: &[(u32, Health)] = &[
    (66, Health::Ready),
    (6, Health::Crashing),
    (5, Health::Unready),
    (3, Health::Gated),
    (2, Health::Unknown),
    (1, Health::Bare),
    (4, Health::Creating),
    (1, Health::PendingReady),
    (5, Health::Unscheduled),
    (3, Health::Succeeded),
    (3, Health::Failed),
];

struct Maker {
    choice: Choice,
    now: Timestamp,
    items: Vec<Value>,
    namespace: String,
    pods: usize,
}

impl Maker {
    /// One namespace: one to three workloads, up to four budgets.
    fn world(&mut self) {
        let workloads = self.choice.weighted(&[(40, 1), (40, 2), (20, 3)]);
        let first_pod = self.items.len();
        // Some worlds are wholly healthy: there the numbers, not the health, decide.
        let healthy = self.choice.chance(35);
        for i in 0..workloads {
            let owner = self.choice.weighted(OWNERS);
            self.workload(&format!("a{i}"), owner, healthy);
        }
        let pods: Vec<String> = self.items[first_pod..]
            .iter()
            .filter(|item| item["kind"] == "Pod")
            .filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned))
            .collect();
        let budgets = self.choice.weighted(&[(8, 0), (52, 1), (28, 2), (12, 3)]);
        for i in 0..budgets {
            let budget = self.budget(&format!("p{i}"), workloads, &pods);
            self.items.push(budget);
        }
    }

    fn workload(&mut self, name: &str, owner: Owner, healthy: bool) {
        let replicas = self.choice.weighted(&[(6, 0), (20, 1), (20, 2), (20, 3), (12, 4), (12, 5), (5, 7), (5, 10)]);
        // More or fewer pods than the count: a scale that has not been followed yet.
        let pods = match self.choice.chance(75) {
            true => replicas,
            false => self.choice.number(0, replicas + 3),
        };
        let track = self.choice.one(&["stable", "canary"]).to_owned();
        let own = labels(&[("app", name), ("track", &track)]);
        let uid = self.choice.uid();
        let namespace = self.namespace.clone();
        let make = |api: &str, kind: &str, count| {
            let mut object = workload((api, kind), &namespace, name, count, &own);
            object["metadata"]["uid"] = json!(uid);
            object
        };
        match owner {
            Owner::Deployment | Owner::Rollout => {
                self.items.push(make("apps/v1", "Deployment", Some(replicas)));
                let deployment = controller("apps/v1", "Deployment", name, &uid);
                let old = if owner == Owner::Rollout { self.choice.number(0, pods) } else { 0 };
                for (hash, part) in [("5d9c", pods - old), ("7f6b", old)] {
                    if part > 0 || hash == "5d9c" {
                        let set = self.replica_set(&format!("{name}-{hash}"), &own, part, Some(&deployment));
                        self.pods(&format!("{name}-{hash}"), part, &own, Some(&set), healthy);
                    }
                }
            }
            Owner::ReplicaSet => {
                let set = self.replica_set(name, &own, replicas, None);
                self.pods(name, pods, &own, Some(&set), healthy);
            }
            Owner::OrphanedReplicaSet => {
                let gone = controller("apps/v1", "Deployment", "gone", &uid);
                let set = self.replica_set(name, &own, replicas, Some(&gone));
                self.pods(name, pods, &own, Some(&set), healthy);
            }
            Owner::CustomReplicaSet => {
                self.custom("Rollout", name, &uid, Some(self.pods as i64 % 5));
                let rollout = controller("apps.example.com/v1", "Rollout", name, &uid);
                let set = self.replica_set(&format!("{name}-set"), &own, replicas, Some(&rollout));
                self.pods(name, pods, &own, Some(&set), healthy);
            }
            Owner::StatefulSet => {
                let mut set = make("apps/v1", "StatefulSet", Some(replicas));
                set["spec"]["serviceName"] = json!(name);
                self.items.push(set);
                self.pods(name, pods, &own, Some(&controller("apps/v1", "StatefulSet", name, &uid)), healthy);
            }
            Owner::ReplicationController => {
                self.items.push(make("v1", "ReplicationController", Some(replicas)));
                self.pods(name, pods, &own, Some(&controller("v1", "ReplicationController", name, &uid)), healthy);
            }
            Owner::DaemonSet => {
                self.items.push(make("apps/v1", "DaemonSet", None));
                self.pods(name, NODES, &own, Some(&controller("apps/v1", "DaemonSet", name, &uid)), healthy);
            }
            Owner::Job | Owner::CronJob => self.job(name, &uid, replicas, pods, &own, owner == Owner::CronJob, healthy),
            Owner::Scaled | Owner::ScaledUnset => {
                self.custom("Rollout", name, &uid, (owner == Owner::Scaled).then_some(replicas));
                self.pods(name, pods, &own, Some(&controller("apps.example.com/v1", "Rollout", name, &uid)), healthy);
            }
            Owner::Unscaled => {
                self.custom("Queue", name, &uid, Some(replicas));
                self.pods(name, pods, &own, Some(&controller("apps.example.com/v1", "Queue", name, &uid)), healthy);
            }
            Owner::Undefined => {
                self.pods(name, pods, &own, Some(&controller("apps.example.com/v1beta1", "Ring", name, &uid)), healthy);
            }
            Owner::Gone => {
                let kind = self.choice.one(&["ReplicaSet", "StatefulSet", "DaemonSet"]);
                self.pods(name, pods, &own, Some(&controller("apps/v1", kind, name, &uid)), healthy);
            }
            Owner::Replaced => {
                self.items.push(make("apps/v1", "StatefulSet", Some(replicas)));
                let other = self.choice.uid();
                self.pods(name, pods, &own, Some(&controller("apps/v1", "StatefulSet", name, &other)), healthy);
            }
            Owner::OldGroup => {
                self.replica_set(name, &own, replicas, None);
                let uid = self.last_uid();
                let old = controller("extensions/v1beta1", "ReplicaSet", name, &uid);
                self.pods(name, pods, &own, Some(&old), healthy);
            }
            Owner::Reference => {
                self.items.push(make("apps/v1", "StatefulSet", Some(replicas)));
                let mut reference = controller("apps/v1", "StatefulSet", name, &uid);
                reference["controller"] = json!(false);
                self.pods(name, pods, &own, Some(&reference), healthy);
            }
            Owner::Node => {
                self.pods(name, pods.min(3), &own, Some(&controller("v1", "Node", "n0", &uid)), healthy);
            }
            Owner::None => self.pods(name, pods, &own, None, healthy),
        }
    }

    fn last_uid(&self) -> String {
        self.items.last().and_then(|item| item["metadata"]["uid"].as_str()).unwrap_or_default().to_owned()
    }

    /// Adds a ReplicaSet and gives the owner reference to it.
    fn replica_set(&mut self, name: &str, own: &Value, replicas: i64, owner: Option<&Value>) -> Value {
        let uid = self.choice.uid();
        let mut set = workload(("apps/v1", "ReplicaSet"), &self.namespace, name, Some(replicas), own);
        set["metadata"]["uid"] = json!(uid);
        if let Some(owner) = owner {
            set["metadata"]["ownerReferences"] = json!([owner]);
        }
        self.items.push(set);
        controller("apps/v1", "ReplicaSet", name, &uid)
    }

    fn custom(&mut self, kind: &str, name: &str, uid: &str, replicas: Option<i64>) {
        let spec = replicas.map_or_else(|| json!({}), |count| json!({"replicas": count}));
        self.items.push(json!({"apiVersion": "apps.example.com/v1", "kind": kind,
            "metadata": {"namespace": self.namespace, "name": name, "uid": uid}, "spec": spec}));
    }

    #[expect(clippy::too_many_arguments, reason = "a Job's whole shape")]
    fn job(&mut self, name: &str, uid: &str, parallelism: i64, pods: i64, own: &Value, scheduled: bool, healthy: bool) {
        let mut spec = pod_spec("10m");
        spec["restartPolicy"] = json!("Never");
        let mut job = json!({"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"namespace": self.namespace, "name": name, "uid": uid, "labels": own},
            "spec": {"parallelism": parallelism, "completions": parallelism.max(1) + 2,
                "template": {"metadata": {"labels": own}, "spec": spec}}});
        if scheduled {
            let cron = self.choice.uid();
            self.items.push(json!({"apiVersion": "batch/v1", "kind": "CronJob",
                "metadata": {"namespace": self.namespace, "name": format!("{name}-cron"), "uid": cron},
                "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": job["spec"]}}}));
            job["metadata"]["ownerReferences"] =
                json!([controller("batch/v1", "CronJob", &format!("{name}-cron"), &cron)]);
        }
        self.items.push(job);
        self.pods(name, pods, own, Some(&controller("batch/v1", "Job", name, uid)), healthy);
    }

    /// Adds `count` pods with these labels and this owner.
    fn pods(&mut self, prefix: &str, count: i64, own: &Value, owner: Option<&Value>, healthy: bool) {
        for i in 0..count {
            self.pods += 1;
            let health = if healthy { Health::Ready } else { self.choice.weighted(HEALTH) };
            let mut spec = pod_spec("10m");
            if health != Health::Unscheduled {
                spec["nodeName"] = json!(format!("n{}", self.choice.number(0, NODES - 1)));
            }
            if health == Health::Gated {
                spec["readinessGates"] = json!([{"conditionType": "target-health.example.com/web"}]);
            }
            let mut own = own.clone();
            if self.choice.chance(4) {
                own["track"] = json!("other");
            } else if self.choice.chance(2) {
                own = json!({});
            }
            let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"namespace": self.namespace, "name": format!("{prefix}-{i}"), "uid": self.choice.uid(), "labels": own},
                "spec": spec, "status": health.status()});
            if let Some(owner) = owner {
                pod["metadata"]["ownerReferences"] = json!([owner]);
            }
            if !healthy && self.choice.chance(7) {
                pod["metadata"]["deletionTimestamp"] = json!(LONG_AGO);
                pod["metadata"]["deletionGracePeriodSeconds"] = json!(self.choice.weighted(&[(3, 30), (1, 600)]));
            }
            self.items.push(pod);
        }
    }

    /// A budget over the namespace, with a status that is older than its pods.
    fn budget(&mut self, name: &str, workloads: i64, pods: &[String]) -> Value {
        let spec = budget_spec(&mut self.choice, workloads);
        let mut budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"namespace": self.namespace, "name": name, "uid": self.choice.uid()}, "spec": spec});
        if self.choice.chance(25) {
            budget["status"] = self.old_status(pods);
        }
        budget
    }

    /// A status written before; its generation is that of the new object, or one behind.
    fn old_status(&mut self, pods: &[String]) -> Value {
        let numbers =
            [self.choice.number(0, 6), self.choice.number(0, 6), self.choice.number(0, 4), self.choice.number(0, 3)];
        let mut status = json!({"observedGeneration": self.choice.number(0, 1), "expectedPods": numbers[0],
            "currentHealthy": numbers[1], "desiredHealthy": numbers[2], "disruptionsAllowed": numbers[3]});
        if self.choice.chance(70) {
            status["disruptedPods"] = disrupted(&mut self.choice, self.now, pods);
        }
        status
    }
}

/// A rule, a selector and a policy.
pub fn budget_spec(choice: &mut Choice, workloads: i64) -> Value {
    let rule = choice.weighted(&[
        (30, ("minAvailable", false)),
        (20, ("minAvailable", true)),
        (28, ("maxUnavailable", false)),
        (20, ("maxUnavailable", true)),
        (2, ("", false)),
    ]);
    let app = format!("a{}", choice.number(0, workloads - 1));
    let selector = match choice.number(0, 99) {
        0..60 => json!({"matchLabels": {"app": app}}),
        60..68 => json!({"matchLabels": {"app": app, "track": choice.one(&["stable", "canary"])}}),
        68..76 => json!({}),
        76..79 => Value::Null,
        79..83 => json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a0", "a1"]}]}),
        83..87 => json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [app]}]}),
        87..91 => json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]}),
        91..95 => json!({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}),
        95..98 => {
            json!({"matchLabels": {"app": app}, "matchExpressions": [{"key": "track", "operator": "NotIn", "values": ["canary"]}]})
        }
        _ => json!({"matchLabels": {"app": "nobody"}}),
    };
    let mut spec = json!({});
    if !selector.is_null() {
        spec["selector"] = selector;
    }
    if !rule.0.is_empty() {
        spec[rule.0] = match rule.1 {
            true => json!(format!(
                "{}%",
                choice.weighted(&[
                    (1, 0),
                    (2, 1),
                    (2, 10),
                    (3, 25),
                    (2, 33),
                    (4, 50),
                    (2, 67),
                    (2, 80),
                    (1, 99),
                    (3, 100)
                ])
            )),
            false => json!(choice.weighted(&[(3, 0), (10, 1), (5, 2), (3, 3), (2, 5), (1, 12)])),
        };
    }
    if let Some(policy) = choice.weighted(&[(60, None), (15, Some("IfHealthyBudget")), (25, Some("AlwaysAllow"))]) {
        spec["unhealthyPodEvictionPolicy"] = json!(policy);
    }
    spec
}

/// Entries of `disruptedPods`, young and old (the controller forgets them after two minutes).
pub fn disrupted(choice: &mut Choice, now: Timestamp, pods: &[String]) -> Value {
    let mut entries = json!({});
    for pod in pods.iter().chain([&"not-there".to_owned()]) {
        if choice.chance(30) {
            let age = choice.weighted(&[(2, 5), (1, 600), (1, 86_400)]);
            let at = now.checked_sub(SignedDuration::from_secs(age)).unwrap_or(now);
            // Time in the API has no fraction.
            entries[pod.as_str()] = json!(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        }
    }
    entries
}
