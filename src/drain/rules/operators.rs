//! Budgets of operators that move them themselves, and what the operator does once the node is cordoned.

use super::RuleContext;
use crate::drain::note::Note;
use crate::drain::operators::{self, Present};

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let budgets = &rule.context.budgets;
    let present = Present { state: rule.context.state, is_ready: &|p| p.is_ready() };
    for id in budgets.of(rule.pod) {
        let Some(budget) = budgets.get(*id).filter(|_| !rule.pod.is_finished()) else { continue };
        notes.extend(operators::note(budget, &operators::answer(rule.context, &present, rule.pod, *id)));
    }
}

#[cfg(test)]
mod tests {
    use crate::drain::explain;
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::outcome::Outcome;
    use crate::drain::rules::Rules;
    use crate::drain::simulation::Simulation;
    use crate::drain::testing::{Cluster, assert_notes, owned_by, with_context};
    use crate::finding::Code;
    use crate::snapshot::Str;

    #[test]
    fn operators_move_their_budgets() {
        // CloudNativePG moves the primary where another instance of several can take its place.
        let moves = &[(Drainability::Drains, "CloudNativePG makes budget a/db: once the node is cordoned")][..];
        let way = &[(
            Drainability::Drains,
            "CloudNativePG makes budget a/db: it makes another instance the primary once the primary",
        )][..];
        let role = |role: &str| format!(r#""labels": {{"cnpg.io/cluster": "db", "cnpg.io/instanceRole": "{role}"}}"#);
        let (primary, replica) = (role("primary"), role("replica"));
        let old = r#""labels": {"cnpg.io/cluster": "db", "role": "primary"}"#;
        let other = r#""labels": {"cnpg.io/cluster": "other", "cnpg.io/instanceRole": "replica"}"#;
        let unready = r#""conditions": [{"type": "Ready", "status": "False"}]"#;
        let gone = format!(r#"{replica}, "deletionTimestamp": "2026-01-01T00:00:10Z""#);
        let (ours, plain) = (r#""cnpg.io/cluster": "db""#, r#""app": "db""#);
        let (alive, done) = ("", r#""phase": "Failed""#);
        for (title, meta, status, budget, instances, second, want) in [
            ("a primary with another", &*primary, alive, ours, 2, Some((&*replica, "m", "")), moves),
            ("known by the older label", old, alive, ours, 2, Some((&*replica, "m", "")), moves),
            ("no primary", &replica, alive, ours, 2, Some((&*primary, "m", "")), way),
            ("a single instance", &primary, alive, ours, 1, Some((&*replica, "m", "")), way),
            ("alone", &primary, alive, ours, 2, None, way),
            ("the other is on the same node", &primary, alive, ours, 2, Some((&*replica, "n", "")), way),
            ("the other is not Ready", &primary, alive, ours, 2, Some((&*replica, "m", unready)), way),
            ("the other is being deleted", &primary, alive, ours, 2, Some((&*gone, "m", "")), way),
            ("the other is of another cluster", &primary, alive, ours, 2, Some((other, "m", "")), way),
            ("it has ended", &primary, done, ours, 2, Some((&*replica, "m", "")), &[]),
            (
                "a budget by hand",
                &primary.replace('}', r#", "app": "db"}"#),
                alive,
                plain,
                2,
                Some((&*replica, "m", "")),
                &[],
            ),
            ("the budget is of another", &primary, alive, r#""cnpg.io/cluster": "other""#, 2, None, &[]),
        ] {
            let mut c = Cluster::new();
            ["n", "m"].iter().for_each(|n| c.node(n, "{}"));
            c.add("postgresql.cnpg.io/v1", "Cluster", "a", "db", &format!(r#"{{"instances": {instances}}}"#));
            c.synced_budget(
                "a",
                "db",
                &format!(r#"{{"minAvailable": 1, "selector": {{"matchLabels": {{{budget}}}}}}}"#),
            );
            c.pod_of("a", "p", "n", meta, "", status);
            if let Some((meta, node, status)) = second {
                c.pod_of("a", "q", node, meta, "", status);
            }
            assert_notes(title, &c.met(Code::OperatorOwned, &DrainOptions::default()), want);
        }
    }

    #[test]
    fn a_virtual_machine_moves_where_it_can_migrate() {
        let condition = |status: &str| {
            format!(
                r#"{{"conditions": [{{"type": "LiveMigratable", "status": "{status}", "reason": "DisksNotLiveMigratable",
                    "message": "disk root is not shared"}}]}}"#
            )
        };
        for (title, machine, want) in [
            ("it can", Some(condition("True")), "it denies the eviction and migrates the virtual machine"),
            (
                "it cannot",
                Some(condition("False")),
                "not LiveMigratable (DisksNotLiveMigratable: disk root is not shared)",
            ),
            (
                "it does not say",
                Some("{}".to_owned()),
                "VirtualMachineInstance vm does not say that it is LiveMigratable",
            ),
            ("it was not read", None, "is VirtualMachineInstance vm LiveMigratable? The input does not have it"),
        ] {
            let mut c = Cluster::new();
            ["n", "m"].iter().for_each(|n| c.node(n, "{}"));
            if let Some(status) = machine {
                c.object(&format!(
                    r#"{{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "metadata": {{"name": "vm",
                        "namespace": "a", "uid": "a-VirtualMachineInstance-vm"}}, "status": {status}}}"#
                ));
            }
            c.object(
                r#"{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "vm", "namespace": "a",
                "generation": 1, "ownerReferences": [{"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance",
                "name": "vm", "uid": "a-VirtualMachineInstance-vm", "controller": true}]}, "spec": {"minAvailable": 1,
                "selector": {"matchLabels": {"vm": "vm"}}}, "status": {"observedGeneration": 1}}"#,
            );
            let owner = owned_by("kubevirt.io/v1", "VirtualMachineInstance", "vm");
            c.pod_of("a", "p", "n", &format!(r#"{owner}, "labels": {{"vm": "vm"}}"#), "", "");
            let met = c.met(Code::OperatorOwned, &DrainOptions::default());
            assert_notes(title, &met, &[(Drainability::Drains, want)]);
        }
    }

    /// The outcome of each pod of node n, drained after the cordon of nodes n and m, and what is said first of it.
    fn outcomes(c: &Cluster, nodes: &[&str]) -> Vec<(Outcome, String)> {
        let snapshot = c.snapshot();
        with_context(&snapshot, &DrainOptions::default(), |context| {
            let rules = Rules::new(context);
            let lists: Vec<_> = nodes.iter().map(|n| (Str::from(*n), rules.node_pods(n))).collect();
            let slices: Vec<_> = lists.iter().map(|(n, pods)| (n.clone(), &pods[..])).collect();
            let mut sim = Simulation::new(context);
            let runs = sim.drain(&slices);
            let drained: Vec<Str> = lists.iter().map(|(n, _)| n.clone()).collect();
            let plans = explain::pods(context, &sim, &lists[0].1, &runs[0], &drained);
            plans
                .into_iter()
                .map(|p| (p.outcome, p.notes.first().map(|n| n.text.clone()).unwrap_or_default()))
                .collect()
        })
    }

    #[track_caller]
    fn assert_outcomes(title: &str, got: &[(Outcome, String)], want: &[(Outcome, &str)]) {
        let same =
            |((o, text), (want, words)): (&(Outcome, String), &(Outcome, &str))| o == want && text.contains(words);
        assert!(got.len() == want.len() && got.iter().zip(want).all(same), "{title}: {got:#?} rather than {want:?}");
    }

    #[test]
    fn releases_of_cloud_native_pg_differ_where_another_instance_is_on_a_cordoned_node() {
        let lifts = "CloudNativePG decides whether it comes to allow the eviction: which release";
        for (title, spec, nodes, want) in [
            ("the primary's node alone", r#", "enablePDB": true"#, &["n"][..], (Outcome::Waits, "")),
            ("with a replica's", r#", "enablePDB": true"#, &["n", "m"], (Outcome::Unknown, lifts)),
            ("of an operator without that field", "", &["n", "m"], (Outcome::Waits, "")),
        ] {
            let mut c = Cluster::new();
            ["n", "m", "o"].iter().for_each(|n| c.node(n, "{}"));
            c.add("postgresql.cnpg.io/v1", "Cluster", "a", "db", &format!(r#"{{"instances": 3{spec}}}"#));
            let selector = r#"{"matchLabels": {"cnpg.io/cluster": "db", "cnpg.io/instanceRole": "primary"}}"#;
            c.synced_budget("a", "db-primary", &format!(r#"{{"minAvailable": 1, "selector": {selector}}}"#));
            for (name, node, role) in [("p", "n", "primary"), ("q", "m", "replica"), ("r", "o", "replica")] {
                let labels = format!(r#""labels": {{"cnpg.io/cluster": "db", "cnpg.io/instanceRole": "{role}"}}"#);
                c.pod_of("a", name, node, &labels, "", "");
            }
            assert_outcomes(title, &outcomes(&c, nodes), &[want]);
        }
    }

    #[test]
    fn rook_lets_the_osds_of_one_failure_domain_be_evicted() {
        let down = r#""conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]"#;
        let (gone, open) =
            ((Outcome::Gone, ""), (Outcome::Unknown, "Rook-Ceph decides whether it comes to allow the eviction"));
        let all = r#"{"matchLabels": {"app": "rook-ceph-osd"}}"#;
        let domain = r#"{"matchLabels": {"topology-location-host": "n"}}"#;
        for (title, selector, rule, elsewhere, want) in [
            ("two on the node", all, 1, "", [gone, (Outcome::Waits, "")]),
            ("another node's is down", all, 1, down, [open, open]),
            ("another failure domain is drained", domain, 0, "", [open, open]),
        ] {
            let mut c = Cluster::new();
            ["n", "m"].iter().for_each(|n| c.node(n, "{}"));
            c.object(&format!(
                r#"{{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {{"name": "osd", "namespace": "a",
                    "generation": 1, "ownerReferences": [{{"apiVersion": "ceph.rook.io/v1", "kind": "CephCluster", "name": "ceph",
                    "uid": "u", "controller": true}}]}}, "spec": {{"maxUnavailable": {rule}, "selector": {selector}}},
                    "status": {{"observedGeneration": 1, "disruptionsAllowed": 100}}}}"#
            ));
            for (name, node, status) in [("0", "n", ""), ("1", "n", ""), ("2", "m", elsewhere)] {
                c.add("apps/v1", "ReplicaSet", "a", &format!("osd-{name}"), r#"{"replicas": 1}"#);
                let owner = owned_by("apps/v1", "ReplicaSet", &format!("osd-{name}"));
                let labels = format!(r#""labels": {{"app": "rook-ceph-osd", "topology-location-host": "{node}"}}"#);
                let pinned = format!(r#""nodeSelector": {{"kubernetes.io/hostname": "{node}"}}"#);
                c.pod_of("a", &format!("osd-{name}-x"), node, &format!("{owner}, {labels}"), &pinned, status);
            }
            assert_outcomes(title, &outcomes(&c, &["n"]), &want);
        }
    }

    #[test]
    fn elastic_allows_none_where_a_role_has_one_node() {
        let blocked = |words: &'static str| (Outcome::Stays, words);
        for (title, roles, want) in [
            ("one node", &["master,data"][..], blocked("never allows an eviction")),
            ("one master", &["master", "data", "data"], blocked("never allows an eviction")),
            ("several of each", &["master,data", "master,data"], (Outcome::Unknown, "is Elasticsearch es green")),
        ] {
            let mut c = Cluster::new();
            ["n", "m"].iter().for_each(|n| c.node(n, "{}"));
            let selector = r#"{"matchLabels": {"elasticsearch.k8s.elastic.co/cluster-name": "es"}}"#;
            c.synced_budget("a", "es", &format!(r#"{{"minAvailable": {}, "selector": {selector}}}"#, roles.len()));
            for (at, roles) in roles.iter().enumerate() {
                let roles: String =
                    roles.split(',').map(|r| format!(r#", "elasticsearch.k8s.elastic.co/node-{r}": "true""#)).collect();
                let labels = format!(r#""labels": {{"elasticsearch.k8s.elastic.co/cluster-name": "es"{roles}}}"#);
                c.pod_of("a", &format!("es-{at}"), if at == 0 { "n" } else { "m" }, &labels, "", "");
            }
            assert_outcomes(title, &outcomes(&c, &["n"]), &[want]);
        }
    }

    #[test]
    fn longhorn_lifts_the_budget_of_a_node_without_its_volumes() {
        let volume = r#"{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"},
            "spec": {"csi": {"driver": "driver.longhorn.io", "volumeHandle": "v"}}}"#;
        let policy = |value: &str| {
            format!(
                r#"{{"apiVersion": "longhorn.io/v1beta2", "kind": "Setting", "metadata": {{"name": "node-drain-policy",
                    "namespace": "a"}}, "value": "{value}"}}"#
            )
        };
        let last = "has every volume with a replica on the node a healthy one on another node (node-drain-policy \
                    block-if-contains-last-replica)?";
        for (title, objects, want) in [
            ("no volume", vec![], (Outcome::Waits, "")),
            ("the default", vec![volume.to_owned()], (Outcome::Unknown, last)),
            (
                "always-allow",
                vec![volume.to_owned(), policy("always-allow")],
                (Outcome::Unknown, "once its other pods are evicted (node-drain-policy always-allow)?"),
            ),
        ] {
            let mut c = Cluster::new();
            ["n", "m"].iter().for_each(|n| c.node(n, "{}"));
            objects.iter().for_each(|o| c.object(o));
            let labels = r#""longhorn.io/component": "instance-manager", "longhorn.io/node": "n""#;
            c.synced_budget(
                "a",
                "im",
                &format!(r#"{{"minAvailable": 1, "selector": {{"matchLabels": {{{labels}}}}}}}"#),
            );
            c.pod_of("a", "im", "n", &format!(r#""labels": {{{labels}}}"#), "", "");
            assert_outcomes(title, &outcomes(&c, &["n"]), &[want]);
        }
    }
}
