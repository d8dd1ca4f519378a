//! What manifests change in a cluster: they are applied to a snapshot of it, controllers and the scheduler are let run, and
//! the engines are asked before and after.
//!
//! ```text
//! manifests, snapshot ─► apply (objects as the API server keeps them) ─► run (pods as controllers make them, placed)
//!                                                                          │
//!                          what differs: nodes, budgets, pods ◄─ compare ◄─┘
//! ```

mod apply;
mod compare;
mod immutable;
mod rank;
mod run;
mod template;

pub use compare::{Change, Changes, Subject};

use super::expand::objects;
use super::manifest::Manifest;
use crate::snapshot::Snapshot;

/// What manifests change in a cluster. Nothing that the manifests leave out is deleted; what names no namespace is of
/// `namespace`.
pub fn against(manifests: &[Manifest], namespace: &str, snapshot: &Snapshot) -> Changes {
    let (objects, _) = objects(manifests, namespace);
    let applied = apply::apply(objects.iter().map(|(_, object)| object), snapshot);
    let outcome = run::run(applied, snapshot);
    compare::compare(snapshot, outcome)
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "a test writes its JSON where it is taken")]
mod tests {
    use super::*;
    use crate::check::manifest::Content;
    use crate::testing::{Cluster, Objects, budget, cluster, deployment, merged, node, stateful_set};
    use serde_json::{Value, json};
    use std::sync::Arc;

    /// What differs: `node n1: drains → blocked`, in order of names.
    fn of(cluster: Cluster, manifests: &[Value]) -> Vec<String> {
        let manifest = |object: &Value| Manifest {
            file: Arc::from("f.yaml"),
            line: 1,
            template: None,
            content: Content::Object(object.clone()),
        };
        let manifests: Vec<Manifest> = manifests.iter().map(manifest).collect();
        let row = |c: &Change| {
            let subject = match &c.subject {
                Subject::Node(name) => format!("node {name}"),
                Subject::Budget(path) => format!("budget {path}"),
                Subject::Pod(path) => format!("pod {path}"),
            };
            format!("{subject}: {} → {}", c.before, c.after)
        };
        let mut rows: Vec<String> = against(&manifests, "shop", &cluster.snapshot()).changes.iter().map(row).collect();
        rows.sort();
        rows
    }

    fn template(cpu: &str) -> Value {
        let container = json!({"name": "c", "resources": {"requests": {"cpu": cpu}}});
        json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}})
    }

    /// Two nodes of 4 cpu, and a Deployment with a pod of 1 cpu on each.
    fn world() -> Cluster {
        let web = deployment("shop/web").on(&["n1", "n2"]).spec(json!({"template": template("1")}));
        // The pod on n2 is the first to go when fewer are wanted: of equal pods that would be chance.
        let pods = |at: usize, p: crate::testing::Object| {
            let cost = if at == 1 { "-1" } else { "0" };
            p.requests("cpu", "1").annotation("controller.kubernetes.io/pod-deletion-cost", cost)
        };
        cluster().add(node("n1")).add(node("n2")).add(web.pods(pods))
    }

    fn pdb(rule: Value) -> Value {
        let spec = merged(json!({"selector": {"matchLabels": {"app": "web"}}}), rule);
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": spec})
    }

    fn web(spec: Value) -> Value {
        let spec = merged(json!({"selector": {"matchLabels": {"app": "web"}}, "template": template("1")}), spec);
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})
    }

    fn stored(min: i64) -> Objects {
        budget("shop/web").selects("app=web").min_available(min).allows(i32::try_from(2 - min).unwrap()).into()
    }

    const BOTH_BLOCKED: [&str; 2] = ["node n1: drains → blocked", "node n2: drains → blocked"];

    /// After the rules of `status` and `drain-plan`: minAvailable of as many as there are refuses every eviction, and one
    /// less lets the pods move to the other node.
    #[test]
    fn a_budget_decides_which_nodes_drain() {
        let rows = |budget: &'static str| [&[budget][..], &BOTH_BLOCKED].concat();
        let freed = ["budget shop/web: never → allows", "node n1: blocked → drains", "node n2: blocked → drains"];
        let one_more = ["budget shop/web: never → allows", "node n1: blocked → waits", "node n2: blocked → drains"];
        for (title, cluster, manifests, want) in [
            (
                "a new budget blocks",
                world(),
                vec![pdb(json!({"minAvailable": 2}))],
                rows("budget shop/web: absent → never"),
            ),
            (
                "a stricter one",
                world().add(stored(1)),
                vec![pdb(json!({"minAvailable": 2}))],
                rows("budget shop/web: allows → never"),
            ),
            ("a new budget that allows one", world(), vec![pdb(json!({"maxUnavailable": 1}))], vec![]),
            ("a relaxed one", world().add(stored(2)), vec![pdb(json!({"maxUnavailable": 1}))], freed.to_vec()),
            ("the same", world().add(stored(2)), vec![pdb(json!({"minAvailable": 2}))], vec![]),
            ("what no manifest has stays", world().add(stored(2)), vec![web(json!({"replicas": 2}))], vec![]),
            ("one more pod", world().add(stored(2)), vec![web(json!({"replicas": 3}))], one_more.to_vec()),
            (
                "one pod fewer",
                world().add(stored(1)),
                vec![web(json!({"replicas": 1}))],
                vec!["budget shop/web: allows → never", "node n1: drains → blocked"],
            ),
            (
                "a budget that the API refuses is not there",
                world(),
                vec![pdb(json!({"minAvailable": 1, "maxUnavailable": 0}))],
                vec![],
            ),
            (
                "a second budget over the same pods",
                world().add(stored(1)),
                vec![merged(pdb(json!({"maxUnavailable": 1})), json!({"metadata": {"name": "two"}}))],
                [&["budget shop/two: absent → broken", "budget shop/web: allows → broken"][..], &BOTH_BLOCKED].concat(),
            ),
        ] {
            assert_eq!(of(cluster, &manifests), want, "{title}");
        }
    }

    /// After the scheduler: two nodes of 4 cpu hold eight pods of 1 cpu.
    #[test]
    fn new_pods_need_room() {
        let surge =
            |spec: Value| merged(spec, json!({"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}));
        for (title, manifests, want) in [
            ("as many as fit", vec![web(json!({"replicas": 8}))], vec![]),
            ("one more", vec![web(json!({"replicas": 9}))], vec!["pod shop/web+6: absent → unscheduled"]),
            (
                "larger than any node",
                vec![web(surge(json!({"replicas": 2, "template": template("5")})))],
                vec!["pod shop/web+0: absent → unscheduled"],
            ),
            ("larger, and it fits", vec![web(surge(json!({"replicas": 2, "template": template("3")})))], vec![]),
            (
                "another workload",
                vec![merged(web(json!({"replicas": 7})), json!({"metadata": {"name": "api"}}))],
                vec!["pod shop/api+6: absent → unscheduled"],
            ),
            (
                "a pod for each node",
                vec![json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"},
                "spec": {"template": template("4")}})],
                vec!["pod shop/agent-new-n1: absent → unscheduled"],
            ),
            ("none", vec![], vec![]),
        ] {
            assert_eq!(of(world(), &manifests), want, "{title}");
        }
    }

    /// After the autoscaler's controller: as many as before, within its bounds.
    #[test]
    fn an_autoscaler_holds_the_number_of_pods() {
        let hpa = |min: i64, max: i64| {
            json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web"}, "spec": {"minReplicas": min, "maxReplicas": max,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}})
        };
        let freed = ["budget shop/web: never → allows", "node n1: blocked → waits", "node n2: blocked → drains"];
        let blocked = ["budget shop/web: allows → never", "node n1: drains → blocked"];
        for (title, min, manifests, want) in [
            ("a floor above", 2, vec![hpa(3, 9)], freed.to_vec()),
            ("a ceiling below", 1, vec![hpa(1, 1)], blocked.to_vec()),
            (
                "what is written beside an autoscaler does not hold",
                1,
                vec![hpa(1, 9), web(json!({"replicas": 1}))],
                vec![],
            ),
        ] {
            assert_eq!(of(world().add(stored(min)), &manifests), want, "{title}");
        }
    }

    /// After the StatefulSet controller: from the highest ordinal down to the partition, each once the one before is Ready.
    #[test]
    fn a_stateful_set_is_rolled_out_down_to_its_partition() {
        let set = |spec: Value| {
            let spec = merged(json!({"replicas": 2, "template": template("5")}), spec);
            json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"}, "spec": spec})
        };
        let partition = |n: i64| json!({"updateStrategy": {"rollingUpdate": {"partition": n}}});
        for (title, spec, want) in [
            ("all of it", json!({}), vec!["pod shop/web-1: absent → unscheduled"]),
            ("from the second pod on", partition(1), vec!["pod shop/web-1: absent → unscheduled"]),
            ("none of it", partition(2), vec![]),
            ("only by hand", json!({"updateStrategy": {"type": "OnDelete"}}), vec![]),
        ] {
            let before = stateful_set("shop/web").on(&["n1", "n2"]).spec(json!({"template": template("1")}));
            let cluster = cluster().add(node("n1")).add(node("n2")).add(before);
            assert_eq!(of(cluster, &[set(spec)]), want, "{title}");
        }
    }

    /// After the DaemonSet controller: present pods are replaced, or only once somebody deletes them.
    #[test]
    fn a_daemon_set_is_rolled_out_by_its_strategy() {
        let agent = |spec: Value| {
            let spec = merged(json!({"selector": {"matchLabels": {"app": "web"}}, "template": template("5")}), spec);
            json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": spec})
        };
        for (title, spec, want) in [
            ("all at once", json!({}), vec!["pod shop/agent-new-n1: absent → unscheduled"]),
            ("by hand", json!({"updateStrategy": {"type": "OnDelete"}}), vec![]),
        ] {
            let before = crate::testing::workload("apps/v1", "DaemonSet", "shop/agent").on(&["n1"]);
            let before = before.spec(json!({"selector": {"matchLabels": {"app": "web"}}, "template": template("1")}));
            assert_eq!(of(cluster().add(node("n1")).add(before), &[agent(spec)]), want, "{title}");
        }
    }

    /// After the validation of updates of the API server.
    #[test]
    fn a_field_that_nobody_can_change_is_told() {
        let selector = |app: &str| json!({"selector": {"matchLabels": {"app": app}}});
        let claim = |size: &str| {
            let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}});
            json!({"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": spec}]})
        };
        let kept = |size: &str| {
            let mut kept = claim(size);
            kept["volumeClaimTemplates"][0]["spec"]["volumeMode"] = json!("Filesystem");
            kept
        };
        let job = |cpu: &str| json!({"completions": 2, "template": template(cpu)});
        let ran = json!({"completionMode": "NonIndexed", "completions": 2, "template": merged(template("1"), json!({
            "metadata": {"labels": {"batch.kubernetes.io/job-name": "web", "job-name": "web", "controller-uid": "1"}}}))});
        for (kind, version, before, after, want) in [
            ("Deployment", "apps/v1", selector("web"), selector("web"), None),
            ("Deployment", "apps/v1", selector("web"), json!({}), None),
            ("Deployment", "apps/v1", selector("web"), selector("api"), Some("spec.selector")),
            ("DaemonSet", "apps/v1", selector("web"), selector("api"), Some("spec.selector")),
            ("ReplicaSet", "apps/v1", selector("web"), selector("api"), Some("spec.selector")),
            ("StatefulSet", "apps/v1", selector("web"), selector("api"), Some("spec.selector")),
            ("StatefulSet", "apps/v1", json!({}), json!({"serviceName": "db"}), Some("spec.serviceName")),
            ("StatefulSet", "apps/v1", json!({}), json!({"podManagementPolicy": "OrderedReady"}), None),
            (
                "StatefulSet",
                "apps/v1",
                json!({}),
                json!({"podManagementPolicy": "Parallel"}),
                Some("spec.podManagementPolicy"),
            ),
            ("StatefulSet", "apps/v1", kept("1Gi"), claim("1Gi"), None),
            ("StatefulSet", "apps/v1", kept("1Gi"), claim("2Gi"), Some("spec.volumeClaimTemplates")),
            ("StatefulSet", "apps/v1", json!({}), claim("2Gi"), Some("spec.volumeClaimTemplates")),
            ("StatefulSet", "apps/v1", json!({}), json!({"updateStrategy": {"type": "OnDelete"}}), None),
            ("Job", "batch/v1", ran.clone(), job("1"), None),
            ("Job", "batch/v1", ran.clone(), job("2"), Some("spec.template")),
            ("Job", "batch/v1", ran, merged(job("1"), json!({"completions": 3})), Some("spec.completions")),
            ("Job", "batch/v1", json!({}), json!({"completionMode": "Indexed"}), Some("spec.completionMode")),
        ] {
            let spec = |more: &Value| merged(json!({"template": template("1")}), more.clone());
            let object = crate::testing::workload(version, kind, "shop/web").spec(spec(&before));
            let written =
                json!({"apiVersion": version, "kind": kind, "metadata": {"name": "web"}, "spec": spec(&after)});
            let told = refused(cluster().add(node("n1")).add(object), &written);
            assert_eq!(told.is_some(), want.is_some(), "{kind} {before} {after}: {told:?}");
            assert!(told.unwrap_or_default().contains(want.unwrap_or_default()), "{kind} {before} {after}");
        }
        let class = |value: i32| json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": value});
        let high = || crate::testing::object("scheduling.k8s.io/v1", "PriorityClass", "high").with(json!({"value": 7}));
        assert_eq!(refused(cluster().add(node("n1")).add(high()), &class(7)), None);
        assert!(refused(cluster().add(node("n1")).add(high()), &class(8)).is_some_and(|m| m.contains(": value of")));
    }

    /// What is said of a change that the API server refuses.
    fn refused(cluster: Cluster, object: &Value) -> Option<String> {
        let manifest =
            Manifest { file: Arc::from("f.yaml"), line: 1, template: None, content: Content::Object(object.clone()) };
        let changes = against(&[manifest], "shop", &cluster.snapshot());
        changes.refused.into_iter().next().map(|(_, finding)| finding.message)
    }

    #[test]
    fn a_pod_that_waited_gets_the_room_that_becomes_free() {
        let waits = crate::testing::pod("shop/big").requests("cpu", "4");
        assert_eq!(
            of(world().add(waits.clone()), &[web(json!({"replicas": 1}))]),
            ["pod shop/big: unscheduled → scheduled"]
        );
        assert!(of(world().add(waits), &[web(json!({"replicas": 2}))]).is_empty());
    }
}
