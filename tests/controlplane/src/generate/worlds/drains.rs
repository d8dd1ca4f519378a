//! Random workloads on nodes with little room, budgets over them, things that happen to them, and which nodes to drain how.

use serde_json::json;

use super::pods::{Template, habits};
use super::workloads::{Kind, Workload};
use super::{Builder, By, Drain, Node, Step, World};
use crate::health::Health;
use crate::kubelet::says;

/// The world of a seed.
pub fn world(name: &str, seed: u64) -> World {
    let mut maker = Maker { builder: Builder::new(name, seed), namespaces: Vec::new(), apps: Vec::new() };
    maker.ground();
    for i in 0..maker.builder.choice.number(3, 7) {
        maker.app(&format!("a{i}"));
    }
    maker.beside();
    maker.happens();
    let drain = maker.question();
    maker.builder.drain(drain);
    maker.builder.done()
}

struct Maker {
    builder: Builder,
    namespaces: Vec<String>,
    apps: Vec<App>,
}

/// A workload that is there.
#[derive(Clone)]
struct App {
    kind: Kind,
    namespace: String,
    name: String,
    path: String,
    pods: i64,
}

impl Maker {
    fn ground(&mut self) {
        let b = &mut self.builder;
        self.namespaces = vec![b.namespace("one"), b.namespace("two")];
        let (nodes, zones) = (b.choice.number(2, 5), b.choice.number(1, 3));
        for i in 1..=nodes {
            let cpu = b.choice.one(&["2", "3", "4"]).to_owned();
            let node = b.node(&cpu, &format!("z{}", i % zones));
            let odd = b.choice.number(0, 99);
            b.change_node(&node, |node| match odd {
                0..7 if i > 1 => {
                    node["spec"]["taints"] = json!([{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]);
                }
                7..12 if i > 2 => {
                    node["spec"]["unschedulable"] = json!(true);
                    node["spec"]["taints"] =
                        json!([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]);
                }
                12..16 => node["status"]["allocatable"]["pods"] = json!("6"),
                _ => {}
            });
        }
    }

    /// Adds a workload and, mostly, a budget over it.
    fn app(&mut self, name: &str) {
        let b = &mut self.builder;
        let namespace = b.choice.weighted(&[(3, 0), (2, 1)]);
        let namespace = self.namespaces.get(namespace).cloned().unwrap_or_default();
        let kind = b.choice.weighted(&[
            (20, Kind::Deployment),
            (11, Kind::StatefulSet),
            (5, Kind::ReplicaSet),
            (3, Kind::ReplicationController),
            (4, Kind::DaemonSet),
            (6, Kind::Job),
            (4, Kind::Pod),
            (2, Kind::Rollout),
            (2, Kind::Queue),
        ]);
        b.made_of(kind.api().1);
        let replicas = b.choice.weighted(&[(4, 1), (5, 2), (4, 3), (2, 4), (1, 5)]);
        let mut template = template(b, name, &namespace, kind);
        let mut spec = self.spec(kind, replicas);
        let b = &mut self.builder;
        if kind == Kind::StatefulSet && template.spec()["volumes"].is_null() && b.choice.chance(15) {
            b.made_of("a volume each");
            spec["volumeClaimTemplates"] = b.volume_each(&namespace, name, replicas);
            template.container()["volumeMounts"] = json!([{"name": "data", "mountPath": "/data"}]);
        }
        let workload = Workload { kind, namespace: namespace.clone(), name: name.to_owned(), replicas, template, spec };
        let path = b.workload(&workload);
        if matches!(kind, Kind::Deployment | Kind::StatefulSet) && b.choice.chance(8) {
            b.made_of("autoscaler");
            let max = replicas + b.choice.number(0, 2);
            b.autoscaler(kind, &namespace, name, replicas, max);
        }
        if b.choice.chance(70) {
            b.common_budget(&namespace, name);
            if kind == Kind::Job {
                b.hidden("when a Job's pods end");
            }
        }
        if b.choice.chance(4) {
            b.made_of("overlap");
            b.budget_over(
                &namespace,
                &format!("p-{name}-too"),
                &json!({"matchLabels": {"app": name}}),
                ("minAvailable", "1"),
                None,
            );
        }
        self.apps.push(App { kind, namespace, name: name.to_owned(), path, pods: replicas });
    }

    fn spec(&mut self, kind: Kind, replicas: i64) -> serde_json::Value {
        let choice = &mut self.builder.choice;
        match kind {
            Kind::Deployment => match choice.number(0, 99) {
                0..10 => json!({"strategy": {"type": "Recreate"}}),
                10..20 => json!({"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}),
                20..28 => json!({"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}),
                28..36 => json!({"minReadySeconds": 3}),
                _ => json!({}),
            },
            Kind::StatefulSet => {
                let mut spec = json!({"podManagementPolicy": choice.one(&["OrderedReady", "Parallel"])});
                match choice.number(0, 99) {
                    0..12 => spec["updateStrategy"] = json!({"type": "OnDelete"}),
                    12..24 => spec["updateStrategy"] = json!({"rollingUpdate": {"partition": 1}}),
                    24..34 => spec["minReadySeconds"] = json!(2),
                    34..42 => spec["updateStrategy"] = json!({"rollingUpdate": {"maxUnavailable": 2}}),
                    _ => {}
                }
                spec
            }
            Kind::Job => {
                let mut spec = json!({"completions": replicas + 1});
                match choice.number(0, 99) {
                    0..30 => spec["podReplacementPolicy"] = json!("Failed"),
                    30..45 => {
                        spec["completionMode"] = json!("Indexed");
                        spec["completions"] = json!(replicas);
                    }
                    _ => {}
                }
                // A Job whose pods have ended is deleted with them.
                if choice.chance(50) {
                    spec["completions"] = json!(replicas);
                    spec["ttlSecondsAfterFinished"] = json!(choice.number(1, 4));
                }
                spec
            }
            _ => json!({}),
        }
    }

    /// What stands beside the workloads: wider budgets, admission, quotas.
    fn beside(&mut self) {
        let b = &mut self.builder;
        let one = self.namespaces.first().cloned().unwrap_or_default();
        if b.choice.chance(12) {
            b.made_of("budget of a team");
            b.budget_over(&one, "team", &json!({"matchLabels": {"team": "red"}}), ("maxUnavailable", "1"), None);
        }
        if b.choice.chance(4) {
            b.made_of("budget of a namespace");
            b.budget_over(&one, "all", &json!({}), ("minAvailable", "1"), None);
        }
        if b.choice.chance(16) {
            let guards = b.namespace("guards");
            let guarded = if b.choice.chance(50) { vec![one.clone()] } else { self.namespaces.clone() };
            b.webhook(&guarded, &guards);
        }
        if b.choice.chance(10) {
            let guarded = if b.choice.chance(50) { vec![one.clone()] } else { self.namespaces.clone() };
            b.admission_policy(&guarded);
        }
        if b.choice.chance(10) {
            b.made_of("quota");
            let fewer = b.choice.number(-1, 2);
            b.then(Step::QuotaBelow(one.clone(), fewer));
        }
        if b.choice.chance(10) {
            b.made_of("static pod");
            let node = b.some_node();
            b.static_pod(&one, &node);
        }
        if b.choice.chance(12) {
            b.made_of("finished pod");
            let mut template = Template::new(b, "done", "100m").says(says::ENDS_AFTER, "1");
            template.spec()["restartPolicy"] = json!("Never");
            let (namespace, name) = (one.clone(), "done".to_owned());
            b.workload(&Workload { kind: Kind::Pod, namespace, name, replicas: 1, template, spec: json!({}) });
            if b.choice.chance(30) {
                b.common_budget(&one, "done");
            }
        }
        if b.choice.chance(6) {
            b.made_of("limit range");
            b.add(json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"namespace": one, "name": "limits"},
                "spec": {"limits": [{"type": "Container", "default": {"memory": "128Mi"}, "defaultRequest": {"memory": "64Mi"}}]}}));
        }
        if b.choice.chance(4) {
            b.made_of("lost DaemonSet");
            let template = Template::new(b, "lost", "50m");
            b.lost_daemon(&one, "lost", template);
        }
    }

    /// What happens to what has settled.
    fn happens(&mut self) {
        let events = self.builder.choice.weighted(&[(4, 0), (4, 1), (2, 2), (1, 3)]);
        for _ in 0..events {
            let at = self.builder.choice.number(0, self.apps.len() as i64 - 1) as usize;
            let Some(app) = self.apps.get(at).cloned() else { return };
            self.event(&app);
        }
    }

    fn event(&mut self, app: &App) {
        let b = &mut self.builder;
        let n = b.choice.number(0, app.pods - 1) as usize;
        let (namespace, name) = (app.namespace.clone(), app.name.clone());
        let health = |b: &mut Builder, health, ready| {
            let step = Step::Health(namespace.clone(), name.clone(), n, health, ready);
            if ready.is_some() { b.last(step) } else { b.then(step) }
        };
        let rolls = matches!(app.kind, Kind::Deployment | Kind::StatefulSet);
        let counted = rolls || matches!(app.kind, Kind::ReplicaSet | Kind::ReplicationController);
        match b.choice.number(0, 99) {
            0..22 => {
                b.made_of("crash");
                health(b, Health::Crashing, None);
            }
            22..36 => {
                b.made_of("restart");
                let ready = b.choice.number(3, 9) as u64;
                health(b, Health::Creating, Some(ready));
            }
            36..50 if rolls => {
                b.made_of("rollout");
                let annotations = b.choice.weighted(&[(3, "none"), (1, says::CRASHES), (1, says::NO_IMAGE)]);
                b.roll(&app.path, &json!({annotations: "yes"}));
            }
            50..56 if app.kind == Kind::Deployment => {
                b.made_of("paused rollout");
                b.then(Step::Merge(
                    app.path.clone(),
                    json!({"spec": {"paused": true, "template": {"metadata": {"annotations": {"v": "2"}}}}}),
                ));
            }
            56..70 if counted => {
                b.made_of("scaled");
                let replicas = b.choice.number(0, 4);
                b.last(Step::Merge(app.path.clone(), json!({"spec": {"replicas": replicas}})));
            }
            70..78 if !matches!(app.kind, Kind::Pod | Kind::DaemonSet) => {
                b.made_of("deleted workload");
                b.last(Step::Delete(app.path.clone()));
            }
            78..86 => {
                b.made_of("deleted pod");
                b.last(Step::DeletePod(namespace.clone(), name.clone(), n));
            }
            86..91 => {
                b.made_of("finalizer");
                b.hidden("what a finalizer waits for");
                b.then(Step::MergePod(
                    namespace.clone(),
                    name.clone(),
                    n,
                    json!({"metadata": {"finalizers": ["example.com/backup"]}}),
                ));
            }
            91..96 => {
                b.made_of("silent kubelet");
                let node = b.some_node();
                b.then(Step::Silence(Node::Named(node)));
            }
            96..98 => {
                // Whoever looks into a pod takes it from its workload by a label.
                b.made_of("quarantined pod");
                b.then(Step::MergePod(
                    namespace.clone(),
                    name.clone(),
                    n,
                    json!({"metadata": {"labels": {"app": "aside"}}}),
                ));
            }
            98..99 if counted => {
                b.made_of("gate on new pods");
                let gates =
                    json!({"spec": {"template": {"spec": {"schedulingGates": [{"name": "example.com/wait"}]}}}});
                b.then(Step::Merge(app.path.clone(), gates));
            }
            _ => {
                b.made_of("deleted pods");
                b.last(Step::DeletePod(namespace.clone(), name.clone(), 0));
                b.last(Step::DeletePod(namespace.clone(), name.clone(), 1));
            }
        }
    }

    fn question(&mut self) -> Drain {
        let b = &mut self.builder;
        let mut nodes = vec![b.some_node()];
        let more = b.choice.weighted(&[(6, 0), (3, 1), (1, 2)]);
        for _ in 0..more {
            let next = b.some_node();
            if !nodes.contains(&next) {
                nodes.push(next);
            }
        }
        let by = match (nodes.len(), b.choice.number(0, 99)) {
            (_, 0..8) => By::Rounds,
            (2.., 8..55) => By::ManyCommands,
            _ => By::OneCommand,
        };
        let mut flags = Vec::new();
        if by != By::Rounds && b.choice.chance(35) {
            let flag = b.choice.weighted(&[
                (3, "--disable-eviction"),
                (3, "--pod-selector=app in (a0,a1,a2)"),
                (2, "--grace-period=0"),
                (2, "--grace-period=3"),
                (3, "--skip-wait-for-delete-timeout=1"),
                (3, "--timeout=7s"),
                (2, "--timeout=60s"),
            ]);
            b.made_of(flag);
            flags.push(flag.to_owned());
        }
        b.made_of(match by {
            By::OneCommand => "one command",
            By::ManyCommands => "many commands",
            By::Rounds => "rounds",
        });
        Drain { nodes: nodes.into_iter().map(Node::Named).collect(), by, flags }
    }
}

/// The pods of a random workload.
fn template(b: &mut Builder, name: &str, namespace: &str, kind: Kind) -> Template {
    let cpu = b.choice.weighted(&[(6, "200m"), (3, "700m"), (3, "1300m"), (1, "1900m")]);
    let mut template = Template::new(b, name, if kind == Kind::DaemonSet { "100m" } else { cpu });
    if b.choice.chance(20) {
        template = template.label("team", "red");
    }
    if kind == Kind::DaemonSet {
        if b.choice.chance(50) {
            template.spec()["tolerations"] = json!([{"operator": "Exists"}]);
        }
        return template;
    }
    template = match b.choice.number(0, 99) {
        0..12 => template.apart("kubernetes.io/hostname"),
        12..16 => template.apart("topology.kubernetes.io/zone"),
        16..24 => template.spread("topology.kubernetes.io/zone"),
        24..30 => {
            let node = b.some_node();
            template.on(&node)
        }
        30..35 => template.host_port(8080),
        35..41 => {
            let node = b.some_node();
            b.local_claim(namespace, name, &node);
            template.spec()["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": name}}]);
            template
        }
        _ => template,
    };
    template = match b.choice.number(0, 99) {
        0..14 => template.ready_after(b.choice.number(3, 8)),
        14..17 => template.says(says::CRASHES, "yes"),
        17..19 => template.says(says::NO_IMAGE, "yes"),
        19..21 => template.never_ready(),
        _ => template,
    };
    if b.choice.chance(8) {
        template.spec()["readinessGates"] = json!([{"conditionType": "target-health.example.com/web"}]);
        if b.choice.chance(80) {
            template = template.says(says::GATE_AFTER, "2");
        }
    }
    if b.choice.chance(10) {
        let class = b.choice.one(&["low", "high"]).to_owned();
        template.spec()["priorityClassName"] = json!(class);
    }
    if b.choice.chance(6) {
        // Longer than some of the drains' timeouts, as its hook sleeps so long.
        template.spec()["terminationGracePeriodSeconds"] = json!(25);
        template.container()["lifecycle"] = json!({"preStop": {"sleep": {"seconds": 18}}});
        return template.says(says::EXITS_AFTER, "1");
    }
    if kind == Kind::Job {
        template = template.says(says::ENDS_LATER, &b.choice.number(2, 9).to_string());
    }
    let choice = &mut b.choice;
    habits(choice, &mut template);
    template
}
