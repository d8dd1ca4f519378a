//! Puts the answer together, object by object.

use super::context::WorkloadContext;
use super::expand::{Expanded, expand};
use super::ignore::Ignores;
use super::manifest::{Content, Key, Manifest};
use super::rules;
use crate::budget::{Basis, Judgement, Selection, Verdict, judge, judge_by, numbers_by};
use crate::finding::{Code, Finding, Ref, Severity};
use crate::snapshot::Snapshot;
use crate::snapshot::budget::Budget;
use serde_json::Value;
use std::collections::HashMap;
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

/// Checks manifests. `cluster` is the cluster with the manifests applied, where there is one: what they do not have themselves
/// is looked for there.
pub fn check(manifests: &[Manifest], options: &Options, cluster: Option<&Snapshot>) -> Outcome {
    let cluster = cluster.map(|snapshot| (snapshot, Selection::new(snapshot)));
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
    budgets(&expanded, &selection, cluster, &mut found);
    workloads(&expanded, &selection, cluster, options, &mut found);
    let objects: HashMap<usize, &Key> = expanded.places.iter().map(|(key, at)| (*at, key)).collect();
    let skipped = manifests.iter().filter(|m| m.content == Content::NoObject).count();
    let mut outcome = Outcome { skipped, ..Outcome::default() };
    for (at, (manifest, found)) in manifests.iter().zip(found).enumerate() {
        let object = objects.get(&at).map(|key| reference(manifest, key));
        let (mut findings, before) = (found.findings, outcome.ignored);
        findings.retain(|finding| {
            let about = object.as_ref().or(finding.refs.first());
            let hidden = about.is_some_and(|about| options.ignores.hide(finding.code, about, value(manifest)));
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

fn budgets(expanded: &Expanded, selection: &Selection, cluster: Applied<'_>, found: &mut [Found]) {
    let snapshot = &expanded.snapshot;
    for (at, budget) in snapshot.budgets.iter().enumerate() {
        let key = ("PodDisruptionBudget".to_owned(), budget.meta.ns().to_owned(), budget.meta.name.to_string());
        let place = expanded.places.get(&key).and_then(|place| found.get_mut(*place));
        let (Some(found), Some(judged)) = (place, judge_by(Basis::Spec, snapshot, selection, at)) else { continue };
        let there = cluster.filter(|_| judged.verdict == Verdict::Unused).and_then(|c| in_cluster(budget, c));
        let judged = there.unwrap_or(judged);
        found.judged = true;
        found.verdict = Some(judged.verdict);
        found.findings.extend(judged.findings.into_iter().map(|finding| about_workloads(expanded, finding)));
    }
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
