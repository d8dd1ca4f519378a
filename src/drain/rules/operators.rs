//! Budgets of operators that move them themselves, and what the operator does once the node is cordoned.

use super::RuleContext;
use crate::budget::operators::operator;
use crate::drain::note::Note;
use crate::drain::operators::{self, Answer, Present};
use crate::finding::{Code, Ref};

pub(super) fn check(rule: &RuleContext<'_>, notes: &mut Vec<Note>) {
    let budgets = &rule.context.budgets;
    let present = Present { state: rule.context.state, is_ready: &|p| p.is_ready() };
    for id in budgets.of(rule.pod) {
        let Some(budget) = budgets.get(*id).filter(|_| !rule.pod.is_finished()) else { continue };
        let Some(operator) = operator(budget) else { continue };
        let does = match operators::answer(rule.context, &present, rule.pod, *id) {
            Answer::Moves { what, .. } => what.to_owned(),
            Answer::Cannot(why) => format!("{}: {why}", operator.way),
            Answer::Nothing => operator.way.to_owned(),
        };
        let text = format!("{} makes budget {}: {does}", operator.name, budget.meta.path());
        notes.push(Note::new(Code::OperatorOwned, text).about([Ref::budget(budget)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::note::Drainability;
    use crate::drain::options::DrainOptions;
    use crate::drain::testing::{Cluster, assert_notes};

    #[test]
    fn operators_move_their_budgets() {
        // CloudNativePG moves the primary where another instance of several can take its place.
        let moves = &[(Drainability::Drains, "CloudNativePG makes budget a/db: once the node is cordoned")][..];
        let way = &[(Drainability::Drains, "CloudNativePG makes budget a/db: it moves the primary away")][..];
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
            ("it was not read", None, "where the virtual machine is LiveMigratable"),
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
            let owner = crate::drain::testing::owned_by("kubevirt.io/v1", "VirtualMachineInstance", "vm");
            c.pod_of("a", "p", "n", &format!(r#"{owner}, "labels": {{"vm": "vm"}}"#), "", "");
            let met = c.met(Code::OperatorOwned, &DrainOptions::default());
            assert_notes(title, &met, &[(Drainability::Drains, want)]);
        }
    }
}
