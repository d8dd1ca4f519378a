//! Puts the answer together, object by object.

use super::against::Changes;
use super::context::WorkloadContext;
use super::expand::{Expanded, expand};
use super::fields;
use super::hooks::is_hook;
use super::manifest::{Content, Key, Manifest};
use super::rules;
use crate::budget::{Basis, Judgement, Selection, Verdict, judge, judge_by, numbers_by};
use crate::finding::ignore::{self, Ignores};
use crate::finding::{Code, Finding, Ref, Severity};
use crate::snapshot::budget::Budget;
use crate::snapshot::selector::Operator;
use crate::snapshot::{Snapshot, api_version};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How to check.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The namespace of what names none.
    pub namespace: String,
    /// Whether a workload of several replicas without a budget is told.
    pub require_budgets: bool,
    /// What is not to be told.
    pub ignores: Ignores,
}

/// What came of checking.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Every object that was judged, and every document that could not be, in the order of the manifests.
    pub items: Vec<Checked>,
    /// How many Kubernetes objects there are, hooks left out.
    pub objects: usize,
    /// How many files hold any document.
    pub files: usize,
    /// How many hooks of Helm and Argo CD were left out, as they do not run beside the application.
    pub hooks: usize,
    /// How many findings were ignored.
    pub ignored: usize,
    /// How many documents hold something else than a Kubernetes object.
    pub skipped: usize,
}

/// An object, or a document that is none.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The file.
    pub file: Arc<str>,
    /// The line on which it begins.
    pub line: usize,
    /// The template that it was rendered from, where that is known.
    pub template: Option<String>,
    /// What it is; `None` for a document that holds no object.
    pub object: Option<Ref>,
    /// What a budget comes to; `None` for what is no budget.
    pub verdict: Option<Verdict>,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
}

impl Checked {
    /// Whether something about it could not be judged.
    pub fn is_unknown(&self) -> bool {
        let unknown = |f: &Finding| matches!(f.code, Code::Unrendered | Code::NotJudged);
        self.verdict == Some(Verdict::Unknown) || self.findings.iter().any(unknown)
    }
}

/// What is found about an object on the way.
#[derive(Default)]
struct Found {
    /// Whether it is of a kind that is judged.
    judged: bool,
    verdict: Option<Verdict>,
    findings: Vec<Finding>,
}

/// Checks manifests. `against` is what they change in a cluster, where there is one: what they do not have themselves is
/// looked for there.
pub fn check(manifests: &[Manifest], options: &Options, against: Option<&Changes>) -> Outcome {
    let cluster = against.map(|changes| (&changes.snapshot, Selection::new(&changes.snapshot)));
    let cluster = cluster.as_ref().map(|(snapshot, selection)| (*snapshot, selection));
    let mut expanded = expand(manifests, &options.namespace);
    let of = |m: &Manifest| Found { findings: document(m).into_iter().collect(), ..Found::default() };
    let mut found: Vec<Found> = manifests.iter().map(of).collect();
    for (at, note) in &expanded.notes {
        if let Some(found) = found.get_mut(*at) {
            found.judged = true;
            found.findings.push(note.clone());
        }
    }
    let selection = Selection::new(&expanded.snapshot);
    settle(&mut expanded.snapshot, &selection);
    budgets(manifests, &expanded, &selection, cluster, &mut found);
    workloads(&expanded, &selection, cluster, options, &mut found);
    for (object, finding) in against.map(|changes| &*changes.refused).unwrap_or_default() {
        let key = (object.kind.clone(), object.namespace.clone().unwrap_or_default(), object.name.clone());
        if let Some(found) = expanded.places.get(&key).and_then(|place| found.get_mut(*place)) {
            found.judged = true;
            found.findings.push(finding.clone());
        }
    }
    if manifests.iter().any(|m| matches!(m.content, Content::Unrendered(_) | Content::Unreadable(_))) {
        found.iter_mut().for_each(without_all);
    }
    let objects: HashMap<usize, &Key> = expanded.places.iter().map(|(key, at)| (*at, key)).collect();
    let hooks = manifests.iter().filter(|m| value(m).is_some_and(is_hook)).count();
    let mut outcome = Outcome {
        objects: manifests.iter().filter(|m| value(m).is_some()).count() - hooks,
        files: manifests.iter().map(|m| &*m.file).collect::<HashSet<_>>().len(),
        hooks,
        skipped: manifests.iter().filter(|m| m.content == Content::NoObject).count(),
        ..Outcome::default()
    };
    for (at, (manifest, found)) in manifests.iter().zip(found).enumerate() {
        let object = objects.get(&at).map(|key| reference(manifest, key));
        let (mut findings, before) = (found.findings, outcome.ignored);
        findings.retain(|finding| {
            let about = object.as_ref().or(finding.refs.first());
            let hidden = about.is_some_and(|about| {
                options.ignores.reason(finding.code, &about.path(), value(manifest).and_then(annotation)).is_some()
            });
            outcome.ignored += usize::from(hidden);
            !hidden
        });
        if !found.judged && findings.is_empty() && outcome.ignored == before {
            continue;
        }
        findings.sort_by_key(|f| f.severity);
        outcome.items.push(Checked {
            file: manifest.file.clone(),
            line: manifest.line,
            template: manifest.template.clone(),
            object: object.or_else(|| findings.first().and_then(|f| f.refs.first().cloned())),
            verdict: found.verdict,
            findings,
        });
    }
    outcome
}

fn value(manifest: &Manifest) -> Option<&Value> {
    match &manifest.content {
        Content::Object(object) => Some(object),
        _ => None,
    }
}

/// What an object's own annotation says is to be ignored.
fn annotation(object: &Value) -> Option<&str> {
    object.pointer("/metadata/annotations")?.get(ignore::ANNOTATION)?.as_str()
}

/// Where not all documents could be read, a budget's pods can come from one of those.
fn without_all(found: &mut Found) {
    if found.verdict != Some(Verdict::Unused) {
        return;
    }
    for finding in found.findings.iter_mut().filter(|f| f.code == Code::NoPods) {
        found.verdict = Some(Verdict::Unknown);
        let message = format!("{}; a document that was not checked can hold their workload", finding.message);
        *finding = Finding::new(Code::NotJudged, message).about(std::mem::take(&mut finding.refs));
    }
}

fn reference(manifest: &Manifest, (kind, namespace, name): &Key) -> Ref {
    let version = value(manifest).map(|v| super::manifest::text(v, "/apiVersion")).unwrap_or_default();
    Ref::new(version, kind, namespace, name)
}

/// What is to be told of a document that holds no object.
fn document(manifest: &Manifest) -> Option<Finding> {
    match &manifest.content {
        Content::Object(_) | Content::NoObject => None,
        Content::Unrendered(with) => {
            let message =
                format!("not checked: it is a template, and what it makes is known once it is rendered with {with}");
            Some(Finding::new(Code::Unrendered, message))
        }
        Content::Unreadable(why) => {
            let message = format!("not checked: it cannot be read: {why}");
            Some(Finding::new(Code::NotJudged, message).severity(Severity::Error))
        }
    }
}

/// Writes into each budget what the disruption controller would write, so that evictions are answered by it.
fn settle(snapshot: &mut Snapshot, selection: &Selection) {
    let settled = |at| {
        let budget = snapshot.budgets.get(at)?;
        let status = numbers_by(Basis::Spec, snapshot, selection, at)?.status(budget);
        Some(Arc::new(Budget { status, ..Budget::clone(budget) }))
    };
    let all: Vec<_> = (0..snapshot.budgets.len()).filter_map(settled).collect();
    all.into_iter().for_each(|budget| snapshot.budgets.put(budget));
}

/// A cluster and what its budgets cover.
type Applied<'a> = Option<(&'a Snapshot, &'a Selection)>;

fn budgets(
    manifests: &[Manifest],
    expanded: &Expanded,
    selection: &Selection,
    cluster: Applied<'_>,
    found: &mut [Found],
) {
    let snapshot = &expanded.snapshot;
    for (at, budget) in snapshot.budgets.iter().enumerate() {
        let key = ("PodDisruptionBudget".to_owned(), budget.meta.ns().to_owned(), budget.meta.name.to_string());
        let place = expanded.places.get(&key).copied();
        let of_place = place.and_then(|place| Some((found.get_mut(place)?, manifests.get(place)?)));
        let (Some((found, manifest)), Some(judged)) = (of_place, judge_by(Basis::Spec, snapshot, selection, at)) else {
            continue;
        };
        let by_nodes = judged.verdict == Verdict::Never && counts_nodes(snapshot, selection, at);
        let there = cluster.filter(|_| judged.verdict == Verdict::Unused || by_nodes);
        let judged = match there.and_then(|cluster| in_cluster(budget, cluster)) {
            Some(there) => there,
            None if by_nodes => unknown(judged, Code::ZeroByRule, |budget, _| nodes_are_not_known(budget)),
            None => match made_by_custom(manifests, expanded, &judged) {
                Some(maker) => unknown(judged, Code::NoPods, |budget, _| {
                    format!(
                        "no pod of these manifests matches {}; a controller can make such pods for {maker}",
                        budget.selector
                    )
                }),
                None => judged,
            },
        };
        found.findings.extend(value(manifest).and_then(fields::unknown).map(|f| f.about([Ref::budget(budget)])));
        found.judged = true;
        found.verdict = Some(judged.verdict);
        // What the API server refuses is never there, whatever else it would come to.
        let is_refused = judged.findings.iter().any(|f| f.code == Code::InvalidBudget);
        let told = judged.findings.into_iter().filter(|f| !is_refused || f.code == Code::InvalidBudget);
        found.findings.extend(told.map(|finding| about_workloads(expanded, finding)));
    }
}

/// The judgement as one that is not known, with other words in place of the finding of this code.
fn unknown(mut judged: Judgement, code: Code, words: impl Fn(&Budget, &Finding) -> String) -> Judgement {
    for finding in judged.findings.iter_mut().filter(|f| f.code == code) {
        let message = words(&judged.budget, finding);
        *finding = Finding::new(Code::NotJudged, message).about(std::mem::take(&mut finding.refs));
    }
    judged.verdict = Verdict::Unknown;
    judged
}

/// Whether a budget counts pods of a DaemonSet, of which each node has one.
fn counts_nodes(snapshot: &Snapshot, selection: &Selection, at: usize) -> bool {
    selection.pods(snapshot, at).any(|p| p.is_of("DaemonSet"))
}

fn nodes_are_not_known(budget: &Budget) -> String {
    format!(
        "whether {} allows an eviction depends on the number of nodes: a DaemonSet has a pod on each (kubectl drain evicts \
         none of them)",
        budget.rule
    )
}

/// Groups of custom resources that make no pods, although they often have the name of the application.
const NO_PODS: [&str; 12] = [
    "argoproj.io",
    "autoscaling.k8s.io",
    "cert-manager.io",
    "cilium.io",
    "external-secrets.io",
    "gateway.networking.k8s.io",
    "keda.sh",
    "kyverno.io",
    "networking.istio.io",
    "projectcontour.io",
    "security.istio.io",
    "traefik.io",
];

/// The custom resource that a budget without pods is meant for: it is in the namespace, and its name is what the selector
/// asks for.
fn made_by_custom(manifests: &[Manifest], expanded: &Expanded, judged: &Judgement) -> Option<String> {
    let no_pods = judged.findings.iter().find(|f| f.code == Code::NoPods)?;
    let is_near = no_pods.refs.iter().any(|r| r.kind != "PodDisruptionBudget");
    let budget = &judged.budget;
    let names: Vec<&str> = budget
        .selector
        .requirements()
        .iter()
        .filter(|r| r.operator == Operator::In)
        .flat_map(|r| r.values.iter().map(|v| &**v))
        .collect();
    let makes = |object: &&Value| {
        let group = api_version::split(super::manifest::text(object, "/apiVersion")).0;
        let is_custom = group.contains('.') && (!group.ends_with(".k8s.io") || group.ends_with(".x-k8s.io"));
        let monitors = group == "monitoring.coreos.com"
            && !matches!(super::manifest::text(object, "/kind"), "Prometheus" | "Alertmanager" | "ThanosRuler");
        is_custom && !monitors && !NO_PODS.contains(&group)
    };
    let named = |object: &&Value| {
        let (kind, namespace, name) = super::manifest::key(object);
        let is_there = namespace == budget.meta.ns() || namespace.is_empty();
        is_there && names.contains(&&*name) && !expanded.stand_ins.values().any(|r| r.kind == kind && r.name == name)
    };
    let maker = manifests.iter().filter_map(value).filter(|_| !is_near).filter(named).find(makes)?;
    let (kind, _, name) = super::manifest::key(maker);
    Some(format!("{kind} {name}"))
}

/// The budget as it is in a cluster, where it covers something there.
fn in_cluster(budget: &Budget, (snapshot, selection): (&Snapshot, &Selection)) -> Option<Judgement> {
    let at = snapshot.budgets.position(budget.meta.ns(), &budget.meta.name)?;
    let covers = selection.pods(snapshot, at).next().is_some() || selection.workloads(snapshot, at).next().is_some();
    covers.then(|| judge(snapshot, selection, at)).flatten()
}

/// The same finding, about workloads where it is about the pods that stand for theirs.
fn about_workloads(expanded: &Expanded, mut finding: Finding) -> Finding {
    let stands_for = |r: Ref| {
        let key = (r.namespace.clone().unwrap_or_default(), r.name.clone());
        if r.kind == "Pod" { expanded.stand_ins.get(&key).cloned().unwrap_or(r) } else { r }
    };
    let mut refs: Vec<Ref> = Vec::new();
    for r in std::mem::take(&mut finding.refs).into_iter().map(stands_for) {
        if !refs.contains(&r) {
            refs.push(r);
        }
    }
    finding.objects.clear();
    finding.about(refs)
}

fn workloads(expanded: &Expanded, selection: &Selection, cluster: Applied<'_>, options: &Options, found: &mut [Found]) {
    let snapshot: &Snapshot = &expanded.snapshot;
    for workload in snapshot.workloads.iter() {
        let key = (workload.kind.to_string(), workload.meta.ns().to_owned(), workload.meta.name.to_string());
        let Some(found) = expanded.places.get(&key).and_then(|place| found.get_mut(*place)) else { continue };
        let mut context = WorkloadContext::new(snapshot, selection, workload, options.require_budgets);
        let labels = workload.template.as_ref().map(|t| &t.meta.labels);
        if let (Some((snapshot, selection)), Some(labels)) = (cluster, labels) {
            let there = selection.of_labels(snapshot, workload.meta.ns(), labels).len();
            context.budgets = context.budgets.max(there);
        }
        found.judged = true;
        found.findings.extend(rules::RULES.iter().filter_map(|rule| rule(&context)));
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "a test writes its JSON where it is taken")]
mod tests {
    use super::*;
    use serde_json::json;

    /// Kind/name, its verdict and codes, of what is found about these objects.
    fn of(objects: &[Value], options: &Options) -> Vec<(String, &'static str, Vec<&'static str>)> {
        let manifest = |(at, object): (usize, &Value)| Manifest {
            file: Arc::from("f.yaml"),
            line: at + 1,
            template: None,
            content: Content::Object(object.clone()),
        };
        let manifests: Vec<Manifest> = objects.iter().enumerate().map(manifest).collect();
        let row = |c: &Checked| {
            let object = c.object.as_ref().map(|o| format!("{}/{}", o.kind, o.name)).unwrap_or_default();
            let codes = c.findings.iter().map(|f| f.code.as_str()).collect();
            (object, c.verdict.map_or("", Verdict::as_str), codes)
        };
        check(&manifests, options, None).items.iter().map(row).collect()
    }

    fn budget(name: &str, spec: Value) -> Value {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec})
    }

    fn over_web(rule: (&str, Value)) -> Value {
        budget("web", json!({rule.0: rule.1, "selector": {"matchLabels": {"app": "web"}}}))
    }

    fn deployment(name: &str, replicas: i64) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c"}]}}}})
    }

    #[test]
    fn budgets_are_judged_by_the_rules_of_status() {
        let options = Options { namespace: "shop".to_owned(), ..Options::default() };
        let hpa = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
            "spec": {"minReplicas": 2, "maxReplicas": 9, "scaleTargetRef": {"kind": "Deployment", "name": "web"}}});
        let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "web"},
            "spec": {"template": {"metadata": {"labels": {"app": "web"}}, "spec": {}}}});
        let second = budget("all", json!({"maxUnavailable": 1, "selector": {}}));
        for (title, objects, verdict, codes) in [
            (
                "one may be missing",
                vec![over_web(("maxUnavailable", json!(1))), deployment("web", 3)],
                "allows",
                vec![],
            ),
            (
                "all must stay",
                vec![over_web(("minAvailable", json!("100%"))), deployment("web", 3)],
                "never",
                vec!["zero-by-rule"],
            ),
            (
                "as many as there are",
                vec![over_web(("minAvailable", json!(3))), deployment("web", 3)],
                "never",
                vec!["zero-by-rule"],
            ),
            (
                "one more than there must be",
                vec![over_web(("minAvailable", json!(3))), deployment("web", 4)],
                "allows",
                vec![],
            ),
            (
                "two thousand million pods are counted, not made",
                vec![over_web(("maxUnavailable", json!(1))), deployment("web", 2_147_483_647)],
                "allows",
                vec!["rollout-past-budget"],
            ),
            (
                "all may be missing",
                vec![over_web(("minAvailable", json!(0))), deployment("web", 3)],
                "allows",
                vec!["over-permissive"],
            ),
            (
                "the floor of the autoscaler counts",
                vec![over_web(("minAvailable", json!(2))), deployment("web", 5), hpa],
                "never",
                vec!["zero-by-rule", "hpa-floor"],
            ),
            ("a Job has no scale", vec![over_web(("maxUnavailable", json!(1))), job], "broken", vec!["sync-failed"]),
            (
                "a Job under an integer",
                vec![
                    over_web(("minAvailable", json!(2))),
                    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "web"}, "spec": {"parallelism": 3,
                        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"restartPolicy": "Never"}}}}),
                ],
                "allows",
                vec![],
            ),
            (
                "a DaemonSet under an integer",
                vec![
                    over_web(("minAvailable", json!(1))),
                    json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"},
                        "spec": {"template": {"metadata": {"labels": {"app": "web"}}, "spec": {}}}}),
                ],
                "unknown",
                vec!["not-judged"],
            ),
            (
                "an operator makes the pods",
                vec![
                    over_web(("minAvailable", json!(1))),
                    json!({"apiVersion": "db.example.org/v1", "kind": "Database", "metadata": {"name": "web", "namespace": "shop"}}),
                ],
                "unknown",
                vec!["not-judged"],
            ),
            (
                "what has the name of the application makes no pods",
                vec![
                    over_web(("minAvailable", json!(1))),
                    json!({"apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "metadata": {"name": "web", "namespace": "shop"}}),
                ],
                "unused",
                vec!["no-pods"],
            ),
            (
                "a bare pod",
                vec![
                    over_web(("maxUnavailable", json!(1))),
                    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {}}),
                ],
                "never",
                vec!["unmanaged-pods"],
            ),
            (
                "a field that no budget has",
                vec![over_web(("maxUnavailble", json!(1))), deployment("web", 3)],
                "never",
                vec!["invalid-budget", "no-rule"],
            ),
            ("no workload", vec![over_web(("maxUnavailable", json!(1)))], "unused", vec!["no-pods"]),
            (
                "a typing mistake",
                vec![over_web(("maxUnavailable", json!(1))), deployment("wbe", 3)],
                "unused",
                vec!["no-pods"],
            ),
            (
                "both rules",
                vec![
                    budget(
                        "web",
                        json!({"minAvailable": 1, "maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}),
                    ),
                    deployment("web", 3),
                ],
                "broken",
                vec!["invalid-budget"],
            ),
            (
                "two budgets",
                vec![over_web(("maxUnavailable", json!(1))), deployment("web", 3), second],
                "broken",
                vec!["overlap"],
            ),
            (
                "scaled to none",
                vec![over_web(("minAvailable", json!(1))), deployment("web", 0)],
                "unused",
                vec!["no-pods", "scaled-down"],
            ),
        ] {
            let found = of(&objects, &options);
            assert_eq!((found[0].1, &found[0].2), (verdict, &codes), "{title}");
        }
    }

    #[test]
    fn what_is_ignored_is_counted() {
        let ignores = Ignores(Ignores::parse("zero-by-rule:shop/web").unwrap());
        let options = Options { namespace: "shop".to_owned(), ignores, ..Options::default() };
        let objects = [over_web(("minAvailable", json!(3))), deployment("web", 3)];
        let found = of(&objects, &options);
        assert_eq!(found[0], ("PodDisruptionBudget/web".to_owned(), "never", vec![]));
    }

    #[test]
    fn a_hook_is_left_out() {
        let options = Options { namespace: "shop".to_owned(), ..Options::default() };
        let test = json!({"apiVersion": "v1", "kind": "Pod", "spec": {}, "metadata": {"name": "test", "labels": {"app": "web"},
            "annotations": {"helm.sh/hook": "test"}}});
        let objects = [over_web(("maxUnavailable", json!(1))), deployment("web", 3), test];
        let found = of(&objects, &options);
        assert_eq!(found[0], ("PodDisruptionBudget/web".to_owned(), "allows", vec![]));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn what_was_not_read_can_hold_the_workload_of_a_budget() {
        let manifest = |content: Content| Manifest { file: Arc::from("f"), line: 1, template: None, content };
        let web = |value: Value| manifest(Content::Object(value));
        let budget = || over_web(("maxUnavailable", json!(1)));
        for (title, manifests, verdict, code) in [
            ("all was read", vec![web(budget())], Verdict::Unused, Code::NoPods),
            (
                "a template was not",
                vec![web(budget()), manifest(Content::Unrendered("helm template"))],
                Verdict::Unknown,
                Code::NotJudged,
            ),
            (
                "something was not",
                vec![web(budget()), manifest(Content::Unreadable("why".to_owned()))],
                Verdict::Unknown,
                Code::NotJudged,
            ),
        ] {
            let outcome = check(&manifests, &Options { namespace: "shop".to_owned(), ..Options::default() }, None);
            let first = &outcome.items[0];
            assert_eq!((first.verdict, first.findings[0].code), (Some(verdict), code), "{title}");
        }
    }

    #[test]
    fn a_finding_names_the_workload_and_not_the_pod_that_stands_for_it() {
        let manifests: Vec<Manifest> =
            [over_web(("maxUnavailable", json!(1))), budget("all", json!({"selector": {}})), deployment("web", 3)]
                .into_iter()
                .map(|object| Manifest {
                    file: Arc::from("f"),
                    line: 1,
                    template: None,
                    content: Content::Object(object),
                })
                .collect();
        let outcome = check(&manifests, &Options { namespace: "shop".to_owned(), ..Options::default() }, None);
        let overlap = &outcome.items[0].findings[0];
        assert_eq!(overlap.code, Code::Overlap);
        assert!(overlap.objects.contains(&"Deployment/shop/web".to_owned()), "{:?}", overlap.objects);
    }
}
