//! `status`: how many pods each budget may lose now, and if none, whether for a while or for ever.

use super::names;
use super::watch::{self, Repeated};
use crate::answer::Answer;
use crate::budget::{Judgement, Selection, Verdict, judge};
use crate::cli::{Global, StatusArgs};
use crate::error::{Failure, FailureKind, Result};
use crate::finding::ignore::Ignores;
use crate::finding::{Code, Ref};
use crate::input::Scope;
use crate::pending::threats;
use crate::render::{self, Format};
use crate::report::status::{BudgetStatus, BudgetStatusList};
use crate::report::{Document, Need};
use crate::snapshot::coverage::ReadOutcome;
use crate::snapshot::pod::Pod;
use crate::snapshot::{Kind, Snapshot};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The kinds that `status` reads.
pub const NEEDS: &[Need] = &[
    Need::essential(Kind::PodDisruptionBudget, "there are no budgets to judge"),
    Need::essential(Kind::Pod, "what the budgets cover, and how many are healthy"),
    Need::helpful(Kind::ReplicaSet, "how many pods the owners want"),
    Need::helpful(Kind::Deployment, "how many pods the owners want"),
    Need::helpful(Kind::StatefulSet, "how many pods the owners want"),
    Need::helpful(Kind::ReplicationController, "how many pods the owners want"),
    Need::helpful(
        Kind::HorizontalPodAutoscaler,
        "whether an autoscaler holds a number of pods at which no eviction is allowed",
    ),
    Need::helpful(Kind::Namespace, "whether a namespace is being deleted"),
    Need::incidental(Kind::Node, "whether a pod is not Ready for its node"),
    Need::helpful(Kind::CustomResourceDefinition, "whether custom owners have a scale"),
    Need::incidental(Kind::LonghornSetting, "what Longhorn does with its budgets while a node is drained"),
];

/// Runs the command.
pub fn run(args: &StatusArgs, global: &Global) -> Result<Answer> {
    if args.all_namespaces && !args.names.is_empty() {
        return Err(Failure::usage("a budget cannot be named across all namespaces: give -n NAMESPACE instead of -A"));
    }
    let scope = &global.scope(args.all_namespaces);
    let repeated = Repeated {
        needs: NEEDS,
        scope,
        answer: |snapshot: &Snapshot| about(args, global, snapshot),
        // A wait ends when each of the budgets lets a pod go.
        done: |snapshot: &Snapshot| {
            select(args, snapshot, scope).is_ok_and(|judged| judged.iter().all(|j| j.verdict == Verdict::Allows))
        },
    };
    watch::run(&args.repeat, global, &repeated)
}

/// The answer about a snapshot.
///
/// # Errors
/// Budgets that were not read, or are not there.
pub fn about(args: &StatusArgs, global: &Global, snapshot: &Snapshot) -> Result<Answer> {
    answer(args, global, snapshot, &select(args, snapshot, &global.scope(args.all_namespaces))?)
}

fn answer(args: &StatusArgs, global: &Global, snapshot: &Snapshot, judged: &[Judgement]) -> Result<Answer> {
    let screen = global.screen();
    let mut document = Document::new("BudgetStatusList", snapshot, NEEDS, Timestamp::now(), ())
        .with(BudgetStatusList::new(snapshot, judged, &Ignores(args.ignore.clone())));
    let items = &mut document.body.items;
    items.retain(|b| args.verdict.is_empty() || args.verdict.iter().any(|v| v == b.verdict.as_str()));
    if let Some(field) = &args.sort_by {
        render::template::sort_by(items, field)?;
    }
    document.complete &= judged.iter().all(|j| j.findings.iter().all(|f| f.code != Code::NotJudged));
    let text = match screen.format {
        Format::Json => render::json(&document)?,
        Format::Yaml => render::yaml(&document)?,
        Format::Html => render::html::status(&document),
        Format::Name => {
            document.body.items.iter().map(|b| format!("poddisruptionbudget.policy/{}\n", b.name)).collect()
        }
        Format::Csv => render::status::csv(&document.body),
        Format::JsonPath | Format::CustomColumns => render::templated(&document, &global.output(), &screen)?,
        format @ (Format::Sarif | Format::Junit | Format::Github) => return Err(super::not_written("status", format)),
        Format::Text | Format::Wide => render::status::text(&document, &screen, &view(args)),
    };
    let status = if args.exit_code { exit_status(&document.body.items) } else { 0 };
    let nothing = document.body.items.is_empty().then(|| nothing(args, snapshot, &global.scope(args.all_namespaces)));
    Ok(Answer { text, warnings: super::input_warnings(snapshot), nothing, status })
}

/// What was looked at, where nothing was found.
fn nothing(args: &StatusArgs, snapshot: &Snapshot, scope: &Scope) -> String {
    if !args.verdict.is_empty() {
        return format!("No PodDisruptionBudgets with the verdict {}.", args.verdict.join(" or "));
    }
    let labels = args.selector.as_ref().map_or_else(String::new, |s| format!(" with the labels {s}"));
    let elsewhere = match scope {
        Scope::Namespace(_) => snapshot.budgets.iter().map(|b| b.meta.ns()).collect::<BTreeSet<_>>(),
        Scope::All => BTreeSet::new(),
    };
    let place = match scope {
        Scope::All => "in any namespace".to_owned(),
        Scope::Namespace(ns) => format!("in namespace {ns}"),
    };
    let hint = match (elsewhere.len(), elsewhere.first()) {
        (0, _) | (_, None) => String::new(),
        (1, Some(one)) => format!(" ({} in {one}: -n {one}, or -A)", snapshot.budgets.len()),
        (n, _) => format!(" ({} in {n} other namespaces: -A)", snapshot.budgets.len()),
    };
    let from_file = !snapshot.source.files.is_empty();
    if from_file && *snapshot.coverage.of(Kind::PodDisruptionBudget) == ReadOutcome::Absent {
        return "The input has no PodDisruptionBudget and does not say that they were read: whether the cluster has some is not \
                known (add them to the input, or say --none pdb where the cluster has none)."
            .to_owned();
    }
    let namespace = match scope {
        Scope::Namespace(ns) => names::namespace_hint(ns, snapshot),
        Scope::All => String::new(),
    };
    format!("No PodDisruptionBudgets{labels} {place}{hint}.{namespace}")
}

fn view(args: &StatusArgs) -> render::status::View {
    if args.names.is_empty() {
        render::status::View::Many { all_namespaces: args.all_namespaces, every_row: args.all }
    } else {
        render::status::View::Detail
    }
}

/// The budgets asked for, judged.
fn select(args: &StatusArgs, snapshot: &Snapshot, scope: &Scope) -> Result<Vec<Judgement>> {
    super::require(snapshot, Kind::PodDisruptionBudget)?;
    let selection = Selection::new(snapshot);
    let (named, of_workloads) = targets(args, snapshot, &selection, scope)?;
    let wanted = |b: &crate::snapshot::budget::Budget| {
        scope.takes(b.meta.ns())
            && args.selector.as_ref().is_none_or(|s| s.matches(&b.meta.labels))
            && (args.names.is_empty() || named.contains(&&*b.meta.name))
    };
    for name in &named {
        let Scope::Namespace(ns) = scope else { continue };
        if snapshot.budgets.named(ns, name).is_none() {
            return Err(no_such_budget(snapshot, ns, name));
        }
    }
    let mut at: Vec<usize> = snapshot.budgets.iter().enumerate().filter(|(_, b)| wanted(b)).map(|(at, _)| at).collect();
    at.extend(of_workloads);
    at.sort_unstable();
    at.dedup();
    let mut judged: Vec<Judgement> = at.into_iter().filter_map(|at| judge(snapshot, &selection, at)).collect();
    // Of a live namespace the pods of others are not there, without which nothing can be said of room.
    if *scope == Scope::All || snapshot.source.server.is_none() {
        let threats = threats::threats(snapshot);
        for j in &mut judged {
            let budget = Ref::budget(&j.budget);
            j.findings.extend(threats::finding(&threats, budget, j.pods.iter().map(|p| &p.pod)));
        }
    }
    Ok(judged)
}

/// The budgets that are named, and the positions of those of the workloads that are named (`deployment/web`).
fn targets<'a>(
    args: &'a StatusArgs,
    snapshot: &Snapshot,
    selection: &Selection,
    scope: &Scope,
) -> Result<(Vec<&'a str>, Vec<usize>)> {
    let mut words = &args.names[..];
    // As kubectl: `pdb NAME…`, where no budget is called so.
    if let ([first, _, ..], Scope::Namespace(ns)) = (words, scope)
        && Kind::from_word(first) == Some(Kind::PodDisruptionBudget)
        && snapshot.budgets.named(ns, first).is_none()
    {
        words = words.get(1..).unwrap_or_default();
    }
    let (mut named, mut of_workloads) = (Vec::new(), Vec::new());
    for word in words {
        let kind = word.split_once('/').and_then(|(kind, name)| Some((Kind::from_word(kind)?, name)));
        match kind {
            Some((kind, name)) if WORKLOADS.contains(&kind) => {
                of_workloads.extend(budgets_of(snapshot, selection, scope, kind, name)?);
            }
            _ => named.push(names::of(Kind::PodDisruptionBudget, word)?),
        }
    }
    Ok((named, of_workloads))
}

/// Kinds whose budgets can be asked for by the workload's name.
const WORKLOADS: &[Kind] =
    &[Kind::Deployment, Kind::ReplicaSet, Kind::StatefulSet, Kind::DaemonSet, Kind::ReplicationController, Kind::Job];

/// The positions of the budgets that cover a workload's pods.
fn budgets_of(snapshot: &Snapshot, selection: &Selection, scope: &Scope, kind: Kind, name: &str) -> Result<Vec<usize>> {
    let kind = kind.info().name;
    let mut workloads = snapshot.workloads.iter();
    let found = workloads.find(|w| *w.kind == *kind && *w.meta.name == *name && scope.takes(w.meta.ns()));
    let Some(workload) = found else {
        let known = snapshot.workloads.iter().filter(|w| *w.kind == *kind && scope.takes(w.meta.ns()));
        let known: Vec<&str> = known.map(|w| &*w.meta.name).collect();
        return Err(Failure::new(FailureKind::NotFound, format!("there is no {kind} {name:?}")).hint(names::hint(
            name,
            known.into_iter(),
            std::iter::empty(),
        )));
    };
    let pods = crate::pending::select::pods_of(workload, snapshot);
    let covers = |at: &usize| {
        let pod = |p: &Arc<Pod>| pods.iter().any(|pod| Arc::ptr_eq(p, pod));
        selection.pods(snapshot, *at).any(pod) || selection.workloads(snapshot, *at).any(|w| Arc::ptr_eq(w, workload))
    };
    let at: Vec<usize> = (0..snapshot.budgets.len()).filter(covers).collect();
    if at.is_empty() {
        let text = format!("no PodDisruptionBudget covers the pods of {kind} {name}");
        return Err(Failure::new(FailureKind::NotFound, text)
            .hint("evictions of its pods are always allowed; a budget would limit them"));
    }
    Ok(at)
}

fn no_such_budget(snapshot: &Snapshot, ns: &str, name: &str) -> Failure {
    let elsewhere = snapshot.budgets.iter().filter(|b| &*b.meta.name == name).map(|b| b.meta.ns().to_owned());
    let known = snapshot.budgets.in_namespace(ns).iter().map(|b| &*b.meta.name);
    let failure =
        Failure::new(FailureKind::NotFound, format!("there is no PodDisruptionBudget {name:?} in namespace {ns:?}"));
    failure.hint(names::hint(name, known, elsewhere))
}

fn exit_status(items: &[BudgetStatus]) -> u8 {
    let any = |of: &[Verdict]| items.iter().any(|b| b.ignored.is_none() && of.contains(&b.verdict));
    if any(&[Verdict::Never, Verdict::Unhealthy, Verdict::Broken]) {
        2
    } else if any(&[Verdict::Unknown]) {
        3
    } else {
        0
    }
}
