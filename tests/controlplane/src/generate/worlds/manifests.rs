//! Random sets of manifests as people apply them: workloads, autoscalers over them, and budgets of every kind, with room for
//! all pods.

use serde_json::json;

use super::pods::Template;
use super::workloads::{Kind, Workload};
use super::{Builder, World};
use crate::generate::worlds::budgets::{COMMON, Rule};

/// Rules that allow nothing or everything, beside the common ones.
const EDGES: &[(u32, Rule)] = &[
    (2, ("minAvailable", "3")),
    (2, ("minAvailable", "4")),
    (2, ("minAvailable", "100%")),
    (1, ("minAvailable", "0")),
    (1, ("minAvailable", "67%")),
    (1, ("maxUnavailable", "0%")),
    (1, ("maxUnavailable", "100%")),
    (1, ("maxUnavailable", "2")),
];

/// The world of a seed.
pub fn world(name: &str, seed: u64) -> World {
    let mut b = Builder::new(name, seed);
    let namespace = b.namespace("one");
    for i in 0..4 {
        b.node("16", &format!("z{}", i % 2));
    }
    for i in 0..b.choice.number(1, 4) {
        app(&mut b, &namespace, &format!("a{i}"));
    }
    if b.choice.chance(20) {
        b.made_of("a budget over a tier");
        let rule = b.choice.weighted(COMMON);
        b.budget_over(&namespace, "tier", &json!({"matchLabels": {"tier": "back"}}), rule, None);
    }
    if b.choice.chance(10) {
        b.made_of("a budget over the namespace");
        let rule = b.choice.weighted(COMMON);
        b.budget_over(&namespace, "all", &json!({}), rule, None);
    }
    b.done()
}

fn app(b: &mut Builder, namespace: &str, name: &str) {
    let kind = b.choice.weighted(&[
        (10, Kind::Deployment),
        (5, Kind::StatefulSet),
        (1, Kind::ReplicaSet),
        (1, Kind::ReplicationController),
        (2, Kind::Job),
        (1, Kind::Pod),
    ]);
    b.made_of(kind.api().1);
    let mut template = Template::new(b, name, "50m");
    if b.choice.chance(40) {
        template = template.label("tier", "back");
    }
    let scaled = matches!(kind, Kind::Deployment | Kind::StatefulSet) && b.choice.chance(25);
    let replicas = match kind {
        Kind::Pod => 1,
        Kind::Job => b.choice.number(1, 3),
        // What is written beside an autoscaler is below its floor: it brings the count up to that.
        _ if scaled => 1,
        _ => b.choice.weighted(&[(3, 1), (3, 2), (4, 3), (2, 4), (1, 5), (1, 0)]),
    };
    if scaled {
        b.made_of("an autoscaler");
        let least = b.choice.number(1, 4);
        b.autoscaler(kind, namespace, name, least, least + 3);
    }
    let spec = json!({});
    b.workload(&Workload { kind, namespace: namespace.to_owned(), name: name.to_owned(), replicas, template, spec });
    if b.choice.chance(15) {
        return;
    }
    let rule = if b.choice.chance(60) { b.choice.weighted(COMMON) } else { b.choice.weighted(EDGES) };
    let selector = match b.choice.number(0, 9) {
        0 => json!({"matchExpressions": [{"key": "app", "operator": "In", "values": [name]}]}),
        1 => json!({"matchLabels": {"app": format!("{name}x")}}),
        2 => json!({"matchLabels": {"app": name, "tier": "back"}}),
        _ => json!({"matchLabels": {"app": name}}),
    };
    b.budget_over(namespace, &format!("p-{name}"), &selector, rule, None);
}
