//! Worlds in which a pod does not get onto a node, or is not made, each for a reason that somebody can do something about.

use serde_json::{Value, json};

use super::pods::Template;
use super::workloads::{Kind, Workload};
use super::{Builder, Step, World};
use crate::kubelet::says;

/// Makes a world in which a pod does not run.
type Make = fn(&mut Builder);

/// The ways a pod stays Pending.
const HINDRANCES: &[(&str, Make)] = &[
    ("more CPU than any node has", larger_than_any),
    ("more CPU than is free", more_than_free),
    ("more memory than is free", memory),
    ("a taint", taint),
    ("cordoned nodes", cordoned),
    ("a label that no node has", label),
    ("a node affinity that no node has", affinity),
    ("a pod a node, and no node more", apart),
    ("beside a pod that is not there", beside),
    ("a zone that takes none", spread),
    ("a port of the host", ports),
    ("a rollout without room", rollout),
    ("a quota on pods", quota_pods),
    ("a quota on CPU", quota_cpu),
    ("a quota that a rollout does not fit in", quota_rollout),
    ("a limit range", limit_range),
    ("a claim that is not there", claim_missing),
    ("a volume on a full node", volume_full),
    ("a volume on a cordoned node", volume_cordoned),
    ("a gate", gate),
    ("another scheduler", scheduler),
    ("a service account that is not there", service_account),
    ("a StatefulSet whose first pod does not fit", ordered),
    ("a DaemonSet on a full node", daemon),
    ("too many pods", too_many),
    ("a priority class that is not there", priority_class),
    ("low priority among high", low_priority),
];

/// The world of a seed: seeds one after the other go through all the ways.
pub fn world(name: &str, seed: u64) -> World {
    let mut b = Builder::new(name, seed);
    b.namespace("one");
    for i in 1..=b.choice.number(2, 3) {
        b.node("2", &format!("z{}", i % 2));
    }
    let at = usize::try_from(seed).unwrap_or_default() % HINDRANCES.len();
    let (what, make) = HINDRANCES.get(at).copied().unwrap_or(HINDRANCES[0]);
    b.made_of(what);
    if b.choice.chance(40) {
        let template = Template::new(&b, "calm", "50m");
        add(&mut b, Kind::Deployment, "calm", 2, template, json!({}));
    }
    make(&mut b);
    b.done()
}

/// A kind that makes pods from a template that can be changed.
fn any(b: &mut Builder) -> Kind {
    b.choice.weighted(&[
        (8, Kind::Deployment),
        (5, Kind::StatefulSet),
        (2, Kind::ReplicaSet),
        (2, Kind::Job),
        (2, Kind::Pod),
        (1, Kind::ReplicationController),
    ])
}

/// A kind whose pods a controller makes: bare ones come before what refuses them.
fn declared(b: &mut Builder) -> Kind {
    match any(b) {
        Kind::Pod => Kind::Deployment,
        kind => kind,
    }
}

fn add(b: &mut Builder, kind: Kind, name: &str, replicas: i64, template: Template, spec: Value) -> String {
    let namespace = b.named("one");
    b.workload(&Workload { kind, namespace, name: name.to_owned(), replicas, template, spec })
}

/// A workload `web` of these pods.
fn web(b: &mut Builder, replicas: i64, template: Template) -> String {
    let kind = any(b);
    let spec = match (kind, b.choice.number(0, 9)) {
        (Kind::StatefulSet, 0..5) => json!({"podManagementPolicy": "Parallel"}),
        (Kind::StatefulSet, 5..7) => json!({"updateStrategy": {"type": "OnDelete"}}),
        (Kind::Deployment, 0..3) => json!({"strategy": {"type": "Recreate"}}),
        _ => json!({}),
    };
    add(b, kind, "web", replicas, template, spec)
}

/// Fills each node but for so much CPU with a pod that stays there.
fn fill(b: &mut Builder, cpu: &str) {
    for (i, node) in b.nodes().to_vec().into_iter().enumerate() {
        let name = format!("full-{i}");
        let mut template = Template::new(b, &name, cpu).on(&node);
        template.spec()["tolerations"] = json!([{"operator": "Exists", "effect": "NoSchedule"}]);
        add(b, Kind::Deployment, &name, 1, template, json!({}));
    }
}

/// Creates what was added since `from` only once all else has settled.
fn afterwards(b: &mut Builder, from: usize) {
    let later = b.world.items.split_off(from);
    for object in later {
        b.then(Step::Create(object));
    }
}

fn larger_than_any(b: &mut Builder) {
    let cpu = b.choice.weighted(&[(2, "3"), (1, "2100m"), (1, "64")]);
    let template = Template::new(b, "web", cpu);
    let replicas = b.choice.number(1, 2);
    web(b, replicas, template);
}

fn more_than_free(b: &mut Builder) {
    fill(b, "1200m");
    let from = b.world.items.len();
    let cpu = b.choice.weighted(&[(1, "900m"), (1, "1"), (1, "1500m")]);
    let template = Template::new(b, "web", cpu);
    let replicas = b.choice.number(1, 3);
    web(b, replicas, template);
    afterwards(b, from);
}

fn memory(b: &mut Builder) {
    let mut template = Template::new(b, "web", "50m");
    let amount = b.choice.weighted(&[(1, "17Gi"), (1, "32Gi"), (1, "9Gi")]);
    template.container()["resources"]["requests"]["memory"] = json!(amount);
    web(b, 2, template);
}

fn all_nodes(b: &mut Builder, change: impl Fn(&mut Value)) {
    for node in b.nodes().to_vec() {
        b.change_node(&node, &change);
    }
}

fn taint(b: &mut Builder) {
    let effect = b.choice.weighted(&[(3, "NoSchedule"), (1, "NoExecute")]);
    let value = b.choice.weighted(&[(1, "db"), (1, "")]);
    all_nodes(b, |node| node["spec"]["taints"] = json!([{"key": "dedicated", "value": value, "effect": effect}]));
    let template = Template::new(b, "web", "100m");
    web(b, 2, template);
}

fn cordon(node: &mut Value) {
    node["spec"]["unschedulable"] = json!(true);
}

fn cordoned(b: &mut Builder) {
    all_nodes(b, cordon);
    let template = Template::new(b, "web", "100m");
    web(b, 2, template);
}

fn label(b: &mut Builder) {
    let mut template = Template::new(b, "web", "100m");
    if b.choice.chance(50) {
        let first = b.nodes().first().cloned().unwrap_or_default();
        b.change_node(&first, |node| node["metadata"]["labels"]["disk"] = json!("hdd"));
    }
    let (key, value) = b.choice.weighted(&[
        (2, ("disk", "ssd")),
        (1, ("example.com/rack", "r7")),
        (1, ("topology.kubernetes.io/zone", "zz")),
    ]);
    template.spec()["nodeSelector"][key] = json!(value);
    web(b, 1, template);
}

fn affinity(b: &mut Builder) {
    let mut template = Template::new(b, "web", "100m");
    let term = b.choice.number(0, 1);
    template.spec()["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
    [{"matchExpressions": [match term {
        0 => json!({"key": "disk", "operator": "In", "values": ["ssd"]}),
        _ => json!({"key": "gpu", "operator": "Exists"}),
    }]}]}}});
    web(b, 1, template);
}

fn apart(b: &mut Builder) {
    let topology = b.choice.weighted(&[(2, "kubernetes.io/hostname"), (1, "topology.kubernetes.io/zone")]);
    let template = Template::new(b, "web", "100m").apart(topology);
    let replicas = b.nodes().len() as i64 + 1;
    web(b, replicas, template);
}

fn beside(b: &mut Builder) {
    let mut template = Template::new(b, "web", "100m");
    template.spec()["affinity"]["podAffinity"] = json!({"requiredDuringSchedulingIgnoredDuringExecution":
        [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "cache"}}}]});
    web(b, 1, template);
}

fn spread(b: &mut Builder) {
    // The nodes of one zone take nothing, and the zone counts all the same.
    let zone = b.named("z0");
    let how = b.choice.number(0, 1);
    all_nodes(b, |node| {
        if node["metadata"]["labels"]["topology.kubernetes.io/zone"] == zone {
            match how {
                0 => cordon(node),
                _ => node["spec"]["taints"] = json!([{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]),
            }
        }
    });
    let template = Template::new(b, "web", "100m").spread("topology.kubernetes.io/zone");
    web(b, 3, template);
}

fn ports(b: &mut Builder) {
    let template = Template::new(b, "web", "100m").host_port(8080);
    let replicas = b.nodes().len() as i64 + 1;
    web(b, replicas, template);
}

fn rollout(b: &mut Builder) {
    let cpu = b.choice.weighted(&[(1, "1500m"), (1, "1200m")]);
    let template = Template::new(b, "web", cpu);
    let replicas = b.nodes().len() as i64;
    let path = add(
        b,
        Kind::Deployment,
        "web",
        replicas,
        template,
        json!({"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}),
    );
    b.then(Step::Merge(path, json!({"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}})));
}

fn quota(b: &mut Builder, hard: &Value) {
    let namespace = b.named("one");
    b.add(json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"namespace": namespace, "name": "quota"},
        "spec": {"hard": hard}}));
}

fn quota_pods(b: &mut Builder) {
    quota(b, &json!({"pods": "3"}));
    let template = Template::new(b, "web", "100m");
    let kind = declared(b);
    add(b, kind, "web", 4, template, json!({}));
}

fn quota_cpu(b: &mut Builder) {
    quota(b, &json!({"requests.cpu": "500m"}));
    let template = Template::new(b, "web", "300m");
    let kind = declared(b);
    add(b, kind, "web", 2, template, json!({}));
}

fn quota_rollout(b: &mut Builder) {
    let template = Template::new(b, "web", "100m");
    let strategy = json!({"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}});
    let path = add(b, Kind::Deployment, "web", 2, template, strategy);
    let namespace = b.named("one");
    b.then(Step::QuotaBelow(namespace, 0));
    b.then(Step::Merge(path, json!({"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}})));
}

fn limit_range(b: &mut Builder) {
    let namespace = b.named("one");
    b.add(json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"namespace": namespace, "name": "limits"},
        "spec": {"limits": [{"type": "Container", "max": {"cpu": "500m"}}]}}));
    let mut template = Template::new(b, "web", "700m");
    template.container()["resources"]["limits"] = json!({"cpu": "700m"});
    let kind = b.choice.weighted(&[(2, Kind::Deployment), (1, Kind::StatefulSet)]);
    add(b, kind, "web", 1, template, json!({}));
}

fn claimed(b: &mut Builder, cpu: &str) -> Template {
    let mut template = Template::new(b, "web", cpu);
    template.spec()["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "web"}}]);
    template
}

fn claim_missing(b: &mut Builder) {
    let template = claimed(b, "100m");
    web(b, 1, template);
}

fn volume_full(b: &mut Builder) {
    let node = b.some_node();
    let template = Template::new(b, "full", "1500m").on(&node);
    add(b, Kind::Deployment, "full", 1, template, json!({}));
    let namespace = b.named("one");
    b.local_claim(&namespace, "web", &node);
    let from = b.world.items.len();
    let template = claimed(b, "900m");
    web(b, 1, template);
    afterwards(b, from);
}

fn volume_cordoned(b: &mut Builder) {
    let (node, namespace) = (b.some_node(), b.named("one"));
    b.change_node(&node, cordon);
    b.local_claim(&namespace, "web", &node);
    let template = claimed(b, "100m");
    web(b, 1, template);
}

fn gate(b: &mut Builder) {
    let mut template = Template::new(b, "web", "100m");
    template.spec()["schedulingGates"] = json!([{"name": "example.com/quota"}]);
    web(b, 1, template);
}

fn scheduler(b: &mut Builder) {
    let mut template = Template::new(b, "web", "100m");
    template.spec()["schedulerName"] = json!("batch-scheduler");
    web(b, 1, template);
}

fn service_account(b: &mut Builder) {
    let mut template = Template::new(b, "web", "100m");
    template.spec()["serviceAccountName"] = json!("robot");
    let kind = b.choice.weighted(&[(2, Kind::Deployment), (1, Kind::StatefulSet), (1, Kind::Job)]);
    add(b, kind, "web", 1, template, json!({}));
}

fn ordered(b: &mut Builder) {
    let cpu = b.choice.weighted(&[(1, "3"), (1, "2500m")]);
    let template = Template::new(b, "web", cpu);
    add(b, Kind::StatefulSet, "web", 3, template, json!({"podManagementPolicy": "OrderedReady"}));
}

fn daemon(b: &mut Builder) {
    fill(b, "1800m");
    let from = b.world.items.len();
    let template = Template::new(b, "agent", "500m");
    add(b, Kind::DaemonSet, "agent", 0, template, json!({}));
    afterwards(b, from);
}

fn too_many(b: &mut Builder) {
    all_nodes(b, |node| node["status"]["allocatable"]["pods"] = json!("2"));
    let template = Template::new(b, "web", "50m").says(says::EXITS_AFTER, "0");
    let replicas = b.nodes().len() as i64 * 2 + 1;
    web(b, replicas, template);
}

fn priority_class(b: &mut Builder) {
    let mut template = Template::new(b, "web", "100m");
    template.spec()["priorityClassName"] = json!("gold");
    let kind = b.choice.weighted(&[(2, Kind::Deployment), (1, Kind::StatefulSet)]);
    add(b, kind, "web", 1, template, json!({}));
}

fn low_priority(b: &mut Builder) {
    for (i, node) in b.nodes().to_vec().into_iter().enumerate() {
        let name = format!("full-{i}");
        let mut template = Template::new(b, &name, "1500m").on(&node);
        template.spec()["priorityClassName"] = json!("high");
        add(b, Kind::Deployment, &name, 1, template, json!({}));
    }
    let from = b.world.items.len();
    let mut template = Template::new(b, "web", "1");
    template.spec()["priorityClassName"] = json!("low");
    web(b, 1, template);
    afterwards(b, from);
}
