//! What can be done about what was found: advice, and changes that are tried before they are offered. A change is tried
//! by assessing the budget again, in the cluster as it is, with the change made and the controller's sync done.

mod autoscaler;
mod overlap;
mod pods;
mod promise;
mod rule;
mod selector;
mod sync;

use super::context::BudgetContext;
use super::operators::operator;
use super::rules::Cause;
use crate::cure::Remedy;
use crate::finding::Code;
use crate::snapshot::budget::Fault;

/// Puts to every cause what can be done about it.
pub fn add(b: &BudgetContext<'_>, causes: &mut [Cause]) {
    // What an operator makes it makes again: its own way comes before every change of the budget.
    let way = operator(&b.budget).map(|o| Remedy::advice(o.way));
    for cause in causes {
        cause.finding.remedies = of(b, cause.finding.code);
        let refuses = cause.finding.code == Code::OperatorOwned || changes_budget(&cause.finding.remedies);
        cause.finding.remedies.splice(0..0, way.clone().filter(|_| refuses));
    }
}

fn changes_budget(remedies: &[Remedy]) -> bool {
    remedies.iter().any(Remedy::changes_budget)
}

fn of(b: &BudgetContext<'_>, code: Code) -> Vec<Remedy> {
    let path = b.budget.meta.path();
    match code {
        Code::InvalidBudget => b.budget.fault.iter().map(|f| correction(&path, f)).collect(),
        Code::DisruptionInProgress => pods::end_deletion(b),
        Code::ZeroByRule => rule::zero_by_rule(b),
        Code::NoRule => rule::less_strict(b).into_iter().collect(),
        Code::UnmanagedPods => sync::integer_rule(b).into_iter().collect(),
        Code::SyncFailed => sync::failed(b),
        Code::Overlap => overlap::delete_one(b),
        Code::UnhealthyPods | Code::MissingPods => pods::mend(b, code),
        Code::UnhealthyNotEvictable => pods::always_allow(b).into_iter().collect(),
        Code::Quorum => rule::quorum(b).into_iter().collect(),
        Code::SharedByWorkloads => {
            vec![Remedy::advice(format!("give each workload a budget of its own in the place of {path}"))]
        }
        Code::HpaFloor => autoscaler::floor(b).into_iter().collect(),
        Code::PartialSelector => selector::every_revision(b).into_iter().collect(),
        Code::NoPods if b.scope.workloads.is_empty() => selector::covers_nothing(b),
        Code::SelectsNothing => {
            vec![Remedy::advice(format!("set spec.selector of budget {path}; {{}} selects every pod of its namespace"))]
        }
        Code::Stale => vec![Remedy::advice(
            "wait for the disruption controller; if nothing changes, see whether kube-controller-manager runs",
        )],
        _ => Vec::new(),
    }
}

/// The API server has no such budget: what is wrong stands in a manifest.
fn correction(path: &str, fault: &Fault) -> Remedy {
    Remedy::advice(format!("in the manifest of budget {path}: {}", fault.correction))
}

#[cfg(test)]
mod tests {
    use crate::budget::{Selection, judge};
    use crate::finding::Code;
    use crate::testing::{Cluster, Object, Workload, budget, cluster, deployment, node, object, pod, stateful_set};
    use serde_json::{Value, json};

    /// The first command, or the words, of every remedy of a code for the budget `a/b`; an unverified one is in brackets.
    fn offers(cluster: &Cluster, code: Code) -> Vec<String> {
        let snapshot = cluster.snapshot();
        let at = snapshot.budgets.position("a", "b").unwrap();
        let judged = judge(&snapshot, &Selection::new(&snapshot), at).unwrap();
        let found = judged.findings.iter().filter(|f| f.code == code);
        let text = |r: &crate::cure::Remedy| {
            let text = if r.commands().is_empty() { r.text.clone() } else { r.commands().join(" && ") };
            if r.is_verified() { text } else { format!("[{text}]") }
        };
        found.flat_map(|f| &f.remedies).map(text).collect()
    }

    fn table(code: Code, rows: Vec<(&str, Cluster, Vec<String>)>) {
        for (title, cluster, want) in rows {
            assert_eq!(offers(&cluster, code), want, "{title}");
        }
    }

    fn with(rule: Value, w: Workload) -> Cluster {
        cluster().add(budget("a/b").selects("app=web").spec(rule)).add(w)
    }

    fn web(replicas: usize) -> Workload {
        deployment("a/web").on(&vec!["n"; replicas])
    }

    fn patch(spec: &str) -> String {
        format!("kubectl patch pdb b --type=merge -p '{{\"spec\":{spec}}}' -n a")
    }

    fn max(n: i32) -> String {
        patch(&format!(r#"{{"minAvailable":null,"maxUnavailable":{n}}}"#))
    }

    fn min(n: i32) -> String {
        patch(&format!(r#"{{"minAvailable":{n},"maxUnavailable":null}}"#))
    }

    fn scale(n: i32) -> String {
        format!("kubectl scale deployment/web --replicas={n} -n a")
    }

    const DELETE: &str = "kubectl delete pdb b -n a";
    const ALWAYS: &str = r#"{"unhealthyPodEvictionPolicy":"AlwaysAllow"}"#;

    #[test]
    fn a_rule_that_never_allows_is_cured_in_the_cluster_as_it_is() {
        let crash = |at: usize, p: Object| if at == 0 { p.crashing() } else { p };
        let all = |_: usize, p: Object| p.crashing();
        let hpa = |max: i32| {
            object("autoscaling/v2", "HorizontalPodAutoscaler", "a/web")
                .spec(json!({"minReplicas": 1, "maxReplicas": max,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}))
        };
        let bound = |which: &str, n: i32| {
            format!("kubectl patch hpa web --type=merge -p '{{\"spec\":{{\"{which}\":{n}}}}}' -n a")
        };
        table(
            Code::ZeroByRule,
            vec![
                ("80 % of one", with(json!({"minAvailable": "80%"}), web(1)), vec![max(1), scale(5)]),
                ("as many as there are", with(json!({"minAvailable": 3}), web(3)), vec![max(1), scale(4)]),
                (
                    "one pod and maxUnavailable 0: ask me first",
                    with(json!({"maxUnavailable": 0}), web(1)),
                    vec![DELETE.into(), max(1)],
                ),
                (
                    "several and maxUnavailable 0",
                    with(json!({"maxUnavailable": 0}), web(3)),
                    vec![max(1), DELETE.into()],
                ),
                (
                    "an autoscaler holds the count",
                    with(json!({"minAvailable": "80%"}), web(1)).add(hpa(9)),
                    vec![max(1), bound("minReplicas", 5)],
                ),
                (
                    "an autoscaler with a low ceiling",
                    with(json!({"minAvailable": "80%"}), web(1)).add(hpa(3)),
                    vec![max(1), format!("{} && {}", bound("maxReplicas", 5), bound("minReplicas", 5))],
                ),
                // 2 healthy, 2 needed: maxUnavailable 1 is used up by the pod that crashes, and a fourth pod does not help.
                (
                    "one of three crashes",
                    with(json!({"minAvailable": 3}), web(3).pods(crash)),
                    vec![patch(ALWAYS), DELETE.into()],
                ),
                // Nothing healthy: no rule allows anything.
                ("all crash", with(json!({"maxUnavailable": 0}), web(3).pods(all)), vec![patch(ALWAYS), DELETE.into()]),
                (
                    "OrderedReady makes no fourth pod while one crashes",
                    with(json!({"minAvailable": 3}), stateful_set("a/web").on(&["n", "n", "n"]).pods(crash)),
                    vec![patch(ALWAYS), DELETE.into()],
                ),
                (
                    "a part of the pods: an integer counts what is matched",
                    with(
                        json!({"minAvailable": "50%"}),
                        web(4)
                            .spec(json!({"template": {"metadata": {"labels": {"app": "other"}}}}))
                            .pods(|at, p| if at < 2 { p } else { p.label("app", "other") }),
                    ),
                    vec![min(1)],
                ),
            ],
        );
    }

    #[test]
    fn a_sync_that_fails_is_cured_by_an_integer_or_by_no_budget() {
        let over = |rule: Value| cluster().add(budget("a/b").selects("app=x").spec(rule));
        let of = |name: &str, owner: &str| pod(name).label("app", "x").on("n").ready().owned_by("batch/v1", owner);
        let job = || object("batch/v1", "Job", "a/j");
        table(
            Code::SyncFailed,
            vec![
                (
                    "only a Job's pods",
                    over(json!({"maxUnavailable": 1})).add(job()).add(of("a/j-0", "Job/j")).add(of("a/j-1", "Job/j")),
                    vec![DELETE.into(), min(1)],
                ),
                (
                    "a Deployment's pods, too",
                    over(json!({"maxUnavailable": 1}))
                        .add(job())
                        .add(of("a/j-0", "Job/j"))
                        .add(deployment("a/x").on(&["n", "n"])),
                    vec![min(2)],
                ),
                (
                    "a percentage",
                    over(json!({"minAvailable": "50%"})).add(job()).add(of("a/j-0", "Job/j")),
                    vec![DELETE.into(), min(1)],
                ),
            ],
        );
    }

    #[test]
    fn a_job_needs_no_budget_at_all() {
        let of = |name: &str| pod(name).label("app", "x").on("n").ready().owned_by("batch/v1", "Job/j");
        let over = |rule: Value| cluster().add(budget("a/b").selects("app=x").spec(rule)).add(of("a/j-0"));
        let job = || object("batch/v1", "Job", "a/j");
        let min_one = json!({"minAvailable": 1});
        table(
            Code::ZeroByRule,
            vec![
                ("a Job of one pod", over(min_one).add(job()), vec![DELETE.into(), min(0)]),
                (
                    "a Deployment's pod, too",
                    over(json!({"minAvailable": 2})).add(job()).add(deployment("a/x").on(&["n"])),
                    vec![min(1), "kubectl scale deployment/x --replicas=2 -n a".into()],
                ),
            ],
        );
    }

    #[test]
    fn what_the_api_server_refuses_is_corrected_in_its_manifest() {
        let says = |what: &str| vec![format!("[in the manifest of budget a/b: {what}]")];
        let number =
            |field: &str| says(&format!("set {field} to a number from 0 up, or to a percentage from 0% to 100%"));
        table(
            Code::InvalidBudget,
            vec![
                (
                    "both rules",
                    with(json!({"minAvailable": 1, "maxUnavailable": 1}), web(3)),
                    says("keep one of minAvailable and maxUnavailable"),
                ),
                ("above 100%", with(json!({"maxUnavailable": "150%"}), web(3)), number("maxUnavailable")),
                (
                    "a number in quotes",
                    with(json!({"minAvailable": "2"}), web(3)),
                    says("write minAvailable: 2 without quotes"),
                ),
            ],
        );
        // Nothing else is said about a budget that no controller will see.
        for rule in [json!({"maxUnavailable": "150%"}), json!({"maxUnavailable": "half"})] {
            let snapshot = with(rule, web(3)).snapshot();
            let judged = judge(&snapshot, &Selection::new(&snapshot), 0).unwrap();
            let codes: Vec<Code> = judged.findings.iter().map(|f| f.code).collect();
            assert_eq!(codes, [Code::InvalidBudget]);
        }
    }

    #[test]
    fn a_number_is_set_on_what_made_the_replica_set() {
        let crd = object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "rollouts.argoproj.io").spec(json!({
            "group": "argoproj.io", "names": {"kind": "Rollout", "plural": "rollouts"}, "scope": "Namespaced",
            "versions": [{"name": "v1alpha1", "served": true, "storage": true,
                "subresources": {"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}}]}));
        let rollout = object("argoproj.io/v1alpha1", "Rollout", "a/web").spec(json!({"replicas": 2}));
        let set = object("apps/v1", "ReplicaSet", "a/web-1")
            .owned_by("argoproj.io/v1alpha1", "Rollout/web")
            .spec(json!({"replicas": 2, "template": {"metadata": {"labels": {"app": "web"}}}}));
        let of = |name: &str| pod(name).label("app", "web").on("n").ready().owned_by("apps/v1", "ReplicaSet/web-1");
        let over = cluster().add(budget("a/b").selects("app=web").min_available(2));
        let all = over.all([crd, rollout, set, of("a/web-1-0"), of("a/web-1-1")]);
        let scale = "kubectl scale rollout.argoproj.io/web --replicas=3 -n a";
        table(Code::ZeroByRule, vec![("an Argo Rollout", all, vec![max(1), scale.into()])]);
    }

    #[test]
    fn a_deletion_that_nobody_confirms_ends_with_its_node() {
        let silent = |n: &str| node(n).condition("Ready", "Unknown", "NodeStatusUnknown");
        let ends = |at: usize, p: Object| if at == 0 { p.deleted("2026-01-01T11:40:00Z", 30) } else { p };
        let over = |n: Object| {
            let web = stateful_set("a/web").on(&["n", "m", "m"]).pods(ends);
            cluster().all([n, node("m")]).add(budget("a/b").selects("app=web").max_unavailable(1)).add(web)
        };
        let repair = [
            "[kubectl describe node n]",
            "[kubectl taint nodes n node.kubernetes.io/out-of-service=nodeshutdown:NoExecute]",
        ];
        table(
            Code::DisruptionInProgress,
            vec![
                ("its kubelet does not answer", over(silent("n")), repair.map(str::to_owned).to_vec()),
                ("its kubelet answers", over(node("n")), vec![]),
            ],
        );
    }

    #[test]
    fn the_budget_whose_deletion_helps_comes_first() {
        let ready = |b: Object, allowed: i32| b.allows(allowed).max_unavailable(1);
        let (delete, other) = (DELETE.to_owned(), "kubectl delete pdb other -n a".to_owned());
        let (old, new) = ("2025-12-01T00:00:00Z", "2026-01-01T11:00:00Z");
        let two = |b: Object, other: Object| {
            cluster().add(b).add(other).add(web(3)).add(pod("a/alone").label("team", "a").on("n").ready())
        };
        table(
            Code::Overlap,
            vec![
                (
                    "the same pods: the older one is being replaced",
                    two(
                        ready(budget("a/b").selects("app=web").created(new), 1),
                        ready(budget("a/other").selects("app=web").created(old), 1),
                    ),
                    vec![other.clone(), delete.clone()],
                ),
                (
                    "the one that stays is to allow evictions",
                    two(
                        ready(budget("a/b").selects("app=web").created(new), 0),
                        ready(budget("a/other").selects("app=web").created(old), 1),
                    ),
                    vec![delete.clone(), other.clone()],
                ),
                (
                    "fewest pods are left without a budget",
                    two(
                        ready(budget("a/b").selects("{}").created(old), 1),
                        ready(budget("a/other").selects("app=web").created(new), 1),
                    ),
                    vec![other, delete],
                ),
                (
                    "three over one pod: no single deletion helps",
                    two(ready(budget("a/b").selects("app=web"), 1), ready(budget("a/other").selects("app=web"), 1))
                        .add(budget("a/third").selects("{}")),
                    vec![],
                ),
            ],
        );
    }

    #[test]
    fn broken_pods_are_told_how_to_look_into() {
        let crash = |at: usize, p: Object| if at == 0 { p.crashing() } else { p };
        let pending = pod("a/web-1-9").label("app", "web").owned_by("apps/v1", "ReplicaSet/web-1");
        let refused = pending.condition("PodScheduled", "False", "Unschedulable");
        let one = json!({"maxUnavailable": 1});
        table(
            Code::UnhealthyPods,
            vec![(
                "a crash loop",
                with(one.clone(), web(3).pods(crash)),
                vec!["[kubectl logs web-1-0 --all-containers --previous -n a]".into()],
            )],
        );
        table(
            Code::MissingPods,
            vec![
                (
                    "unschedulable",
                    with(one.clone(), web(2).replicas(3)).add(refused),
                    vec!["[kubectl pdb why-pending web-1-9 -n a]".into()],
                ),
                ("not created yet", with(one.clone(), web(2).replicas(3)), vec![]),
            ],
        );
        table(Code::UnhealthyNotEvictable, vec![("AlwaysAllow", with(one, web(3).pods(crash)), vec![patch(ALWAYS)])]);
    }

    #[test]
    fn a_selector_that_covers_nothing_is_corrected_or_its_budget_deleted() {
        let labelled = |name: &str, labels: Value| {
            deployment(&format!("a/{name}"))
                .spec(json!({"template": {"metadata": {"labels": labels}}, "selector": {"matchLabels": labels}}))
                .replicas(2)
        };
        let over = |selector: &str| cluster().add(budget("a/b").selects(selector)).add(pod("a/other"));
        let set = |labels: Value| {
            let patch = json!([{"op": "replace", "path": "/spec/selector", "value": {"matchLabels": labels}}]);
            format!("kubectl patch pdb b --type=json -p '{patch}' -n a")
        };
        let web = json!({"app": "web"});
        table(
            Code::NoPods,
            vec![
                ("a mistyped value", over("app=wbe").add(labelled("web", web.clone())), vec![set(web.clone())]),
                (
                    "its application is gone",
                    over("app=x").add(labelled("web", web.clone())),
                    vec![format!("[{DELETE}]")],
                ),
                (
                    "another part of the same application",
                    over("team=t,app=old").add(labelled("web", json!({"team": "t", "app": "web"}))),
                    vec![format!("[{DELETE}]")],
                ),
                (
                    "the workload's own selector takes another's pods, too",
                    over("app=wbe").add(labelled("web", web.clone())).add(labelled("web-canary", web)),
                    vec![format!("[{DELETE}]")],
                ),
                (
                    "a CronJob will make such pods",
                    over("app=x").add(object("batch/v1", "CronJob", "a/x").spec(json!({"jobTemplate": {"spec":
                        {"template": {"metadata": {"labels": {"app": "x"}}}}}}))),
                    vec![],
                ),
            ],
        );
    }

    #[test]
    fn a_floor_is_raised_as_far_as_the_rule_needs() {
        let hpa = object("autoscaling/v2", "HorizontalPodAutoscaler", "a/web")
            .spec(json!({"minReplicas": 2, "maxReplicas": 9,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}));
        let raised = r#"kubectl patch hpa web --type=merge -p '{"spec":{"minReplicas":3}}' -n a"#;
        table(
            Code::HpaFloor,
            vec![("above its floor", with(json!({"minAvailable": 2}), web(4)).add(hpa), vec![raised.into()])],
        );
    }
}
