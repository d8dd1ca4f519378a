//! Worlds in which a drain does not end, each for a reason that somebody can do something about.

use serde_json::{Value, json};

use super::budgets::Rule;
use super::pods::{Template, habits};
use super::workloads::{Kind, Workload};
use super::{Builder, By, Drain, Node, Step, World};
use crate::health::Health;
use crate::kubelet::says;

/// Makes a world in which a drain is blocked, and gives a node that is drained.
type Make = fn(&mut Builder) -> Node;

/// The ways a drain is blocked.
const BLOCKERS: &[(&str, Make)] = &[
    ("a rule that never allows one", never),
    ("one replica", single),
    ("one replica of an autoscaler", autoscaled),
    ("an unready pod under a rule that would allow one", unready),
    ("an unready pod under a rule that never allows one", unready_and_never),
    ("a rollout to pods that do not become Ready", bad_rollout),
    ("two budgets over the same pods", overlap),
    ("a budget over everything beside a workload's own", overlap_of_all),
    ("an owner without a scale", no_scale),
    ("bare pods under a rule that needs a scale", bare),
    ("no room for the replacement", no_room),
    ("no other node for the replacement", no_node),
    ("a port of the host that is taken elsewhere", ports),
    ("a pod a node, and no node more", apart),
    ("a StatefulSet in order, whose first pod is not Ready", ordered),
    ("a StatefulSet that is changed by hand", on_delete),
    ("a quota that keeps the replacement out", quota),
    ("a budget that two workloads share", shared),
    ("a volume of the node", local_volume),
    ("no rule", no_rule),
    ("a webhook that nobody answers", webhook),
    ("several blockers at once", several),
];

/// Those in which the first node is drained, and with that the second is not.
const NEED_TWO: &[&str] = &["a port of the host that is taken elsewhere", "a pod a node, and no node more"];

/// The world of a seed: seeds one after the other go through all the ways.
pub fn world(name: &str, seed: u64) -> World {
    let mut b = Builder::new(name, seed);
    let at = usize::try_from(seed).unwrap_or_default() % BLOCKERS.len();
    b.namespace("one");
    let nodes = b.choice.number(2, 3);
    for i in 1..=nodes {
        b.node("4", &format!("z{}", i % 2));
    }
    let (what, make) = BLOCKERS.get(at).copied().unwrap_or(BLOCKERS[0]);
    b.made_of(what);
    if b.choice.chance(50) {
        healthy(&mut b);
    }
    let mut nodes = vec![make(&mut b)];
    if NEED_TWO.contains(&what) {
        nodes.push(Node::Of(b.named("one"), "web".to_owned(), 1));
    }
    b.drain(Drain { nodes, by: By::OneCommand, flags: Vec::new() });
    b.done()
}

/// A workload that holds nothing up.
fn healthy(b: &mut Builder) {
    let mut template = Template::new(b, "calm", "50m");
    habits(&mut b.choice, &mut template);
    let namespace = b.named("one");
    let kind = b.choice.weighted(&[(2, Kind::Deployment), (1, Kind::StatefulSet)]);
    b.workload(&Workload {
        kind,
        namespace: namespace.clone(),
        name: "calm".to_owned(),
        replicas: 2,
        template,
        spec: json!({}),
    });
    b.budget(&namespace, "calm", ("maxUnavailable", "1"));
}

/// A kind whose pods are made again.
fn remade(b: &mut Builder) -> Kind {
    b.choice.weighted(&[
        (6, Kind::Deployment),
        (4, Kind::StatefulSet),
        (2, Kind::ReplicaSet),
        (1, Kind::ReplicationController),
    ])
}

/// Adds a workload `web` in the first namespace; gives its path, and its first pod's node.
fn web(b: &mut Builder, kind: Kind, replicas: i64, template: Template, spec: Value) -> (String, Node) {
    let namespace = b.named("one");
    let workload = Workload { kind, namespace: namespace.clone(), name: "web".to_owned(), replicas, template, spec };
    (b.workload(&workload), Node::Of(namespace, "web".to_owned(), 0))
}

/// The workload `web` of ordinary pods, of a kind whose pods are made again.
fn ordinary(b: &mut Builder, replicas: i64) -> (Kind, Node) {
    let kind = remade(b);
    let mut template = Template::new(b, "web", "100m");
    habits(&mut b.choice, &mut template);
    let spec = match (kind, b.choice.number(0, 9)) {
        (Kind::Deployment, 0..3) => json!({"strategy": {"type": "Recreate"}}),
        (Kind::Deployment, 3..5) => json!({"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}),
        (Kind::StatefulSet, 0..5) => json!({"podManagementPolicy": "Parallel"}),
        _ => json!({}),
    };
    (kind, web(b, kind, replicas, template, spec).1)
}

fn budget(b: &mut Builder, rule: Rule) {
    let namespace = b.named("one");
    let policy = b.choice.weighted(&[(5, None), (1, Some("AlwaysAllow")), (1, Some("IfHealthyBudget"))]);
    b.budget_over(&namespace, "web", &json!({"matchLabels": {"app": "web"}}), rule, policy);
}

fn never(b: &mut Builder) -> Node {
    let (replicas, rule) = b.choice.weighted(&[
        (3, (2, ("maxUnavailable", "0"))),
        (2, (3, ("maxUnavailable", "0%"))),
        (3, (2, ("minAvailable", "2"))),
        (2, (3, ("minAvailable", "100%"))),
        (2, (2, ("minAvailable", "3"))),
        (2, (4, ("minAvailable", "80%"))),
        (1, (3, ("minAvailable", "5"))),
    ]);
    let (_, node) = ordinary(b, replicas);
    budget(b, rule);
    node
}

fn single(b: &mut Builder) -> Node {
    let (_, node) = ordinary(b, 1);
    let rule = b.choice.weighted(&[
        (4, ("minAvailable", "1")),
        (2, ("minAvailable", "50%")),
        (2, ("maxUnavailable", "0")),
        (1, ("minAvailable", "100%")),
    ]);
    budget(b, rule);
    node
}

fn autoscaled(b: &mut Builder) -> Node {
    let kind = b.choice.weighted(&[(3, Kind::Deployment), (1, Kind::StatefulSet)]);
    let replicas = b.choice.number(1, 2);
    let template = Template::new(b, "web", "100m");
    let (_, node) = web(b, kind, replicas, template, json!({}));
    let (namespace, max) = (b.named("one"), replicas + b.choice.number(0, 3));
    b.autoscaler(kind, &namespace, "web", replicas, max);
    budget(b, ("minAvailable", if replicas == 1 { "1" } else { "2" }));
    node
}

/// How a pod that is not Ready is.
fn broken(b: &mut Builder) -> Health {
    b.choice.weighted(&[(4, Health::Crashing), (1, Health::NoImage)])
}

fn unready(b: &mut Builder) -> Node {
    let replicas = b.choice.number(2, 4);
    let (_, node) = ordinary(b, replicas);
    let rule = match replicas {
        2 => ("minAvailable", "1"),
        3 => ("minAvailable", "2"),
        _ => ("maxUnavailable", "1"),
    };
    budget(b, rule);
    let (health, n) = (broken(b), b.choice.number(0, replicas - 1) as usize);
    let namespace = b.named("one");
    b.then(Step::Health(namespace, "web".to_owned(), n, health, None));
    node
}

fn unready_and_never(b: &mut Builder) -> Node {
    let replicas = b.choice.number(2, 4);
    let (_, node) = ordinary(b, replicas);
    budget(b, ("maxUnavailable", "0"));
    let (health, n) = (broken(b), b.choice.number(0, replicas - 1) as usize);
    let namespace = b.named("one");
    b.then(Step::Health(namespace, "web".to_owned(), n, health, None));
    node
}

fn bad_rollout(b: &mut Builder) -> Node {
    let kind = b.choice.weighted(&[(3, Kind::Deployment), (2, Kind::StatefulSet)]);
    let template = Template::new(b, "web", "100m");
    let (path, node) = web(b, kind, 3, template, json!({}));
    budget(b, ("maxUnavailable", "1"));
    let how = b.choice.weighted(&[(1, says::CRASHES), (1, says::NO_IMAGE)]);
    b.then(Step::Merge(path, json!({"spec": {"template": {"metadata": {"annotations": {how: "yes"}}}}})));
    node
}

fn overlap(b: &mut Builder) -> Node {
    let (_, node) = ordinary(b, 3);
    budget(b, ("maxUnavailable", "1"));
    let namespace = b.named("one");
    let selector = match b.choice.chance(50) {
        true => json!({"matchLabels": {"app": "web"}}),
        false => json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "other"]}]}),
    };
    let rule =
        b.choice.weighted(&[(1, ("minAvailable", "1")), (1, ("maxUnavailable", "0")), (1, ("minAvailable", "50%"))]);
    b.budget_over(&namespace, "web-too", &selector, rule, None);
    node
}

fn overlap_of_all(b: &mut Builder) -> Node {
    let (_, node) = ordinary(b, 2);
    budget(b, ("maxUnavailable", "1"));
    let namespace = b.named("one");
    b.budget_over(&namespace, "all", &json!({}), ("minAvailable", "1"), None);
    node
}

fn no_scale(b: &mut Builder) -> Node {
    let kind = b.choice.weighted(&[(2, Kind::Job), (2, Kind::Queue)]);
    let template = Template::new(b, "web", "100m");
    let (_, node) = web(b, kind, 2, template, json!({}));
    let rule =
        b.choice.weighted(&[(2, ("maxUnavailable", "1")), (1, ("minAvailable", "50%")), (1, ("maxUnavailable", "0"))]);
    budget(b, rule);
    node
}

fn bare(b: &mut Builder) -> Node {
    let template = Template::new(b, "web", "100m");
    let replicas = b.choice.number(1, 3);
    let (_, node) = web(b, Kind::Pod, replicas, template, json!({}));
    let rule =
        b.choice.weighted(&[(2, ("maxUnavailable", "1")), (1, ("minAvailable", "50%")), (1, ("minAvailable", "3"))]);
    budget(b, rule);
    node
}

/// Two pods on one node, and on the others no room for another.
fn no_room(b: &mut Builder) -> Node {
    let namespace = b.named("one");
    let (first, others) = at_first_only_one(b);
    for (i, node) in others.iter().enumerate() {
        let name = format!("full-{i}");
        let mut template = Template::new(b, &name, "2500m").on(node);
        template.spec()["tolerations"] = json!([{"operator": "Exists", "effect": "NoSchedule"}]);
        let workload = Workload {
            kind: Kind::Deployment,
            namespace: namespace.clone(),
            name,
            replicas: 1,
            template,
            spec: json!({}),
        };
        b.workload(&workload);
    }
    let cpu = b.choice.weighted(&[(2, "1800m"), (1, "1600m"), (1, "1950m")]);
    let kind = remade(b);
    let template = Template::new(b, "web", cpu);
    web(b, kind, 2, template, json!({}));
    budget(b, ("maxUnavailable", "1"));
    Node::Named(first)
}

/// Pods go to the first node alone until all has settled; then the others take some, too.
fn at_first_only_one(b: &mut Builder) -> (String, Vec<String>) {
    let nodes = b.nodes().to_vec();
    for node in nodes.iter().skip(1) {
        b.change_node(node, |node| {
            node["spec"]["unschedulable"] = json!(true);
        });
        b.then(Step::Merge(format!("/api/v1/nodes/{node}"), json!({"spec": {"unschedulable": null}})));
    }
    (nodes.first().cloned().unwrap_or_default(), nodes.into_iter().skip(1).collect())
}

/// All pods are on one node, and nothing else takes them: cordoned, tainted or not of the pods' kind.
fn no_node(b: &mut Builder) -> Node {
    let nodes = b.nodes().to_vec();
    let Some((first, others)) = nodes.split_first() else { return Node::Named(String::new()) };
    let how = b.choice.number(0, 2);
    for node in others {
        b.change_node(node, |node| match how {
            0 => {
                node["spec"]["unschedulable"] = json!(true);
            }
            1 => node["spec"]["taints"] = json!([{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]),
            _ => {}
        });
    }
    b.change_node(first, |node| node["metadata"]["labels"]["disk"] = json!("ssd"));
    let mut template = Template::new(b, "web", "100m");
    if how == 2 {
        template.spec()["nodeSelector"]["disk"] = json!("ssd");
    }
    let kind = remade(b);
    let (_, node) = web(b, kind, 2, template, json!({}));
    budget(b, ("minAvailable", "1"));
    node
}

fn ports(b: &mut Builder) -> Node {
    let namespace = b.named("one");
    let kind = remade(b);
    let template = Template::new(b, "web", "100m").host_port(8080);
    let replicas = b.nodes().len() as i64;
    let (_, node) = web(b, kind, replicas, template, json!({}));
    b.budget(&namespace, "web", ("maxUnavailable", "1"));
    node
}

fn apart(b: &mut Builder) -> Node {
    let kind = remade(b);
    let topology = b.choice.weighted(&[(3, "kubernetes.io/hostname"), (1, "topology.kubernetes.io/zone")]);
    let replicas = if topology.starts_with("topology") { 2 } else { b.nodes().len() as i64 };
    let template = Template::new(b, "web", "100m").apart(topology);
    let (_, node) = web(b, kind, replicas, template, json!({}));
    budget(b, ("maxUnavailable", "1"));
    node
}

fn ordered(b: &mut Builder) -> Node {
    let template = Template::new(b, "web", "100m");
    let (_, node) = web(b, Kind::StatefulSet, 3, template, json!({"podManagementPolicy": "OrderedReady"}));
    let (namespace, health) = (b.named("one"), broken(b));
    budget(b, ("maxUnavailable", "1"));
    b.then(Step::Health(namespace.clone(), "web".to_owned(), 0, health, None));
    match b.choice.chance(50) {
        true => Node::Of(namespace, "web".to_owned(), 1),
        false => node,
    }
}

fn on_delete(b: &mut Builder) -> Node {
    let template = Template::new(b, "web", "100m");
    let spec = json!({"updateStrategy": {"type": "OnDelete"}});
    let (path, node) = web(b, Kind::StatefulSet, 2, template, spec);
    budget(b, ("minAvailable", "2"));
    b.then(Step::Merge(path, json!({"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}})));
    node
}

fn quota(b: &mut Builder) -> Node {
    let kind = b.choice.weighted(&[(2, Kind::Deployment), (1, Kind::StatefulSet), (1, Kind::ReplicaSet)]);
    let template = Template::new(b, "web", "100m");
    at_first_only_one(b);
    let (_, node) = web(b, kind, 3, template, json!({}));
    budget(b, ("maxUnavailable", "1"));
    let namespace = b.named("one");
    b.then(Step::QuotaBelow(namespace, 1));
    node
}

fn shared(b: &mut Builder) -> Node {
    let namespace = b.named("one");
    for (name, health) in [("web", None), ("api", Some(Health::Crashing))] {
        let template = Template::new(b, name, "100m").label("team", "red");
        let workload = Workload {
            kind: Kind::Deployment,
            namespace: namespace.clone(),
            name: name.to_owned(),
            replicas: 2,
            template,
            spec: json!({}),
        };
        b.workload(&workload);
        if let Some(health) = health {
            b.then(Step::Health(namespace.clone(), name.to_owned(), 0, health, None));
        }
    }
    b.budget_over(&namespace, "team", &json!({"matchLabels": {"team": "red"}}), ("maxUnavailable", "1"), None);
    Node::Of(namespace, "web".to_owned(), 0)
}

/// One replica whose volume is on the node that is drained.
fn local_volume(b: &mut Builder) -> Node {
    let (namespace, node) = (b.named("one"), b.some_node());
    b.local_claim(&namespace, "web", &node);
    let mut template = Template::new(b, "web", "100m");
    template.spec()["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "web"}}]);
    let kind = b.choice.weighted(&[(1, Kind::Deployment), (2, Kind::StatefulSet)]);
    let replicas = b.choice.number(1, 2);
    let (_, node) = web(b, kind, replicas, template, json!({}));
    budget(b, ("minAvailable", "1"));
    node
}

fn no_rule(b: &mut Builder) -> Node {
    let (_, node) = ordinary(b, 2);
    let namespace = b.named("one");
    b.add(json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"namespace": namespace, "name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}}}));
    node
}

/// A webhook on evictions, the Service of which has no pods.
fn webhook(b: &mut Builder) -> Node {
    let (_, node) = ordinary(b, 2);
    let namespace = b.named("one");
    b.add(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": namespace, "name": "guard"},
        "spec": {"selector": {"app": "guard"}, "ports": [{"name": "https", "port": 443, "targetPort": 8443}]}}));
    b.then(Step::Create(json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": b.named("guard")},
        "webhooks": [{"name": "guard.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
            "clientConfig": {"service": {"namespace": namespace, "name": "guard", "path": "/allow", "port": 443}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}]})));
    node
}

/// Two workloads on the node, each blocked for a reason of its own.
fn several(b: &mut Builder) -> Node {
    let namespace = b.named("one");
    for (name, rule) in [("web", ("minAvailable", "1")), ("api", ("maxUnavailable", "0"))] {
        let template = Template::new(b, name, "100m");
        let kind = remade(b);
        let workload = Workload {
            kind,
            namespace: namespace.clone(),
            name: name.to_owned(),
            replicas: 1,
            template,
            spec: json!({}),
        };
        b.workload(&workload);
        b.budget(&namespace, name, rule);
    }
    Node::Named(at_first_only_one(b).0)
}
