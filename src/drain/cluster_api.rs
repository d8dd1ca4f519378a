//! Machines of the nodes that are drained by Cluster API: what they say of the drain, and what is not known without them.

use super::actor::Actor;
use super::context::DrainContext;
use super::drainer::seconds;
use super::machines::{self, EXCLUDE_DRAIN};
use super::plan::NodePlan;
use crate::finding::{Code, Finding, Ref, Severity};

/// Adds to the findings of nodes what their Machines say.
pub fn tell(context: &DrainContext<'_>, nodes: &mut [NodePlan]) {
    if context.drainer.actor != Actor::ClusterApi {
        return;
    }
    for node in nodes {
        node.findings.push(of_node(context, &node.node.meta.name));
    }
}

fn of_node(context: &DrainContext<'_>, node: &str) -> Finding {
    let Some(machine) = context.view.machines().of(node) else {
        let text = format!(
            "no Machine of node {node} is in the input: its nodeDrainTimeout and MachineDrainRules, which stand in the management \
             cluster, are not known (give both clusters' files with --from)"
        );
        return Finding::new(Code::NotJudged, text).about([Ref::node(node)]).severity(Severity::Warning);
    };
    let path = machine.meta.path();
    let refs = [machines::reference(machine)];
    if machine.meta.annotations.has(EXCLUDE_DRAIN) {
        let text = format!(
            "Machine {path} has the annotation {EXCLUDE_DRAIN}: Cluster API deletes it without a drain, past every budget"
        );
        return Finding::new(Code::NodeTerminating, text).about(refs).severity(Severity::Warning);
    }
    let limit =
        |timeout: Option<i64>| timeout.map_or("without limit".to_owned(), |t| format!("at most {}", seconds(t)));
    let text = format!(
        "Machine {path}: its node is drained {} (nodeDrainTimeout), then attached volumes are waited for {} (nodeVolumeDetachTimeout)",
        limit(machines::drain_timeout(machine)),
        limit(machines::detach_timeout(machine)),
    );
    Finding::new(Code::NodeTerminating, text).about(refs).severity(Severity::Info)
}

#[cfg(test)]
mod tests {
    use crate::budget::Selection;
    use crate::drain::actor::Actor;
    use crate::drain::options::{After, DrainOptions};
    use crate::drain::outcome::Verdict;
    use crate::drain::{NodePlan, Request, plan};
    use crate::testing::{budget, cluster, deployment, node, object};
    use serde_json::{Value, json};

    /// Node n1 with a pod each of `web`, whose budget never allows an eviction, and of `db`, with this Machine and these rules.
    fn planned(machine: &Value, rules: &[(&str, Value)], ready: &str) -> NodePlan {
        let app = |name: &str| {
            let path = format!("shop/{name}");
            let label = name.to_owned();
            deployment(&path).on(&["n1"]).pods(move |_, p| p.label("app", &label))
        };
        let n1 = if ready == "True" { node("n1") } else { node("n1").not_ready(ready) };
        let machine = object("cluster.x-k8s.io/v1beta2", "Machine", "fleet/m1").with(machine.clone());
        let machine = machine.with(json!({"status": {"nodeRef": {"name": "n1"}}}));
        let world = cluster().add(n1).add(node("n2")).add(app("web")).add(app("db")).add(machine);
        let world = world.add(budget("shop/web").selects("app=web").max_unavailable(0));
        let world = rules.iter().fold(world, |world, (name, spec)| {
            world.add(
                object("cluster.x-k8s.io/v1beta2", "MachineDrainRule", &format!("fleet/{name}")).spec(spec.clone()),
            )
        });
        let snapshot = world.snapshot();
        let nodes = vec![snapshot.nodes.named("", "n1").unwrap().clone()];
        let options = DrainOptions { by: Some(Actor::ClusterApi), ..DrainOptions::default() };
        let request = Request { nodes, each_alone: false, options, after: After::Back };
        plan(&snapshot, &Selection::new(&snapshot), &request).nodes.remove(0)
    }

    #[test]
    fn a_machine_says_until_when_its_node_is_drained() {
        // The cluster speaks of noon.
        let began = json!({"metadata": {"deletionTimestamp": "2026-01-01T11:50:00Z"},
            "spec": {"deletion": {"nodeDrainTimeoutSeconds": 900}},
            "status": {"deletion": {"nodeDrainStartTime": "2026-01-01T11:52:00Z"}}});
        let excluded = json!({"metadata": {"annotations": {"machine.cluster.x-k8s.io/exclude-node-draining": ""}}});
        for (title, machine, verdict, forced_at) in [
            ("without end", json!({}), Verdict::Blocked, None),
            ("five minutes", json!({"spec": {"nodeDrainTimeout": "5m"}}), Verdict::Forced, Some(300)),
            ("it began eight minutes ago", began, Verdict::Forced, Some(420)),
            ("no drain at all", excluded, Verdict::Forced, Some(0)),
        ] {
            let node = planned(&machine, &[], "True");
            assert_eq!((node.verdict, node.forced_at), (verdict, forced_at), "{title}: {:?}", node.findings);
        }
    }

    #[test]
    fn rules_say_which_pods_are_evicted_and_when() {
        let app = |name: &str| json!([{"selector": {"matchLabels": {"app": name}}}]);
        let rule = |behavior: &str, order: i32, name: &str| json!({"drain": {"behavior": behavior, "order": order}, "pods": app(name)});
        for (title, rules, verdict, db) in [
            ("no rule", vec![], Verdict::Blocked, true),
            ("the guarded pod is skipped", vec![("a", rule("Skip", 0, "web"))], Verdict::Drains, true),
            ("it comes later", vec![("a", rule("Drain", 5, "web"))], Verdict::Blocked, true),
            ("it comes first", vec![("a", rule("Drain", 5, "db"))], Verdict::Blocked, false),
            (
                "it is waited for, and holds nothing up",
                vec![("a", rule("WaitCompleted", 0, "web"))],
                Verdict::Blocked,
                true,
            ),
        ] {
            let node = planned(&json!({}), &rules, "True");
            let evicted = node.pods.iter().any(|p| p.pod.meta.name.starts_with("db") && p.step.is_some());
            assert_eq!((node.verdict, evicted), (verdict, db), "{title}: {:?}", node.findings);
        }
    }
}
