//! `status`: how many pods each budget may lose now, and if none, whether for a while or for ever.

use super::names;
use super::watch::{self, Repeated};
use crate::answer::Answer;
use crate::budget::{Judgement, Selection, Verdict, judge};
use crate::cli::{Global, StatusArgs};
use crate::error::{Failure, FailureKind, Result};
use crate::finding::Code;
use crate::input::Scope;
use crate::render::{self, Format};
use crate::report::status::BudgetStatusList;
use crate::report::{Document, Need};
use crate::snapshot::{Kind, Snapshot};
use jiff::Timestamp;
use std::collections::BTreeSet;

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
        "whether an autoscaler holds a number of pods at which nothing may go",
    ),
    Need::helpful(Kind::Namespace, "whether a namespace is being deleted"),
    Need::incidental(Kind::Node, "whether a pod is not Ready for its node"),
    Need::helpful(Kind::CustomResourceDefinition, "whether custom owners have a scale"),
    Need::incidental(Kind::LonghornSetting, "what Longhorn does with its budgets while a node is drained"),
];

/// Runs the command.
pub fn run(args: &StatusArgs, global: &Global) -> Result<Answer> {
    if args.all_namespaces && !args.names.is_empty() {
        return Err(Failure::usage("a budget cannot be named across all namespaces: give -n instead of -A"));
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
        .with(BudgetStatusList::new(snapshot, judged));
    document.complete &= judged.iter().all(|j| j.findings.iter().all(|f| f.code != Code::NotJudged));
    let text = match screen.format {
        Format::Json => render::json(&document)?,
        Format::Yaml => render::yaml(&document)?,
        Format::Html => render::html::status(&document),
        Format::Name => judged.iter().map(|j| format!("poddisruptionbudget.policy/{}\n", j.budget.meta.name)).collect(),
        Format::Text | Format::Wide => render::status::text(&document, &screen, &view(args)),
    };
    let status = if args.exit_code { exit_status(judged) } else { 0 };
    let nothing = judged.is_empty().then(|| nothing(args, snapshot, &global.scope(args.all_namespaces)));
    Ok(Answer { text, warnings: super::input_warnings(snapshot), nothing, status })
}

/// What was looked at, where nothing was found.
fn nothing(args: &StatusArgs, snapshot: &Snapshot, scope: &Scope) -> String {
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
    format!("No PodDisruptionBudgets{labels} {place}{hint}.")
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
    let named = args.names.iter().map(|name| names::of(Kind::PodDisruptionBudget, name)).collect::<Result<Vec<_>>>()?;
    let wanted = |b: &crate::snapshot::budget::Budget| {
        scope.takes(b.meta.ns())
            && args.selector.as_ref().is_none_or(|s| s.matches(&b.meta.labels))
            && (named.is_empty() || named.contains(&&*b.meta.name))
    };
    for name in &named {
        let Scope::Namespace(ns) = scope else { continue };
        if snapshot.budgets.named(ns, name).is_none() {
            return Err(no_such_budget(snapshot, ns, name));
        }
    }
    let at = snapshot.budgets.iter().enumerate().filter(|(_, b)| wanted(b)).map(|(at, _)| at);
    Ok(at.filter_map(|at| judge(snapshot, &selection, at)).collect())
}

fn no_such_budget(snapshot: &Snapshot, ns: &str, name: &str) -> Failure {
    let elsewhere = snapshot.budgets.iter().filter(|b| &*b.meta.name == name).map(|b| b.meta.ns().to_owned());
    let known = snapshot.budgets.in_namespace(ns).iter().map(|b| &*b.meta.name);
    let failure =
        Failure::new(FailureKind::NotFound, format!("there is no PodDisruptionBudget {name:?} in namespace {ns:?}"));
    failure.hint(names::hint(name, known, elsewhere))
}

fn exit_status(judged: &[Judgement]) -> u8 {
    let any = |of: &[Verdict]| judged.iter().any(|j| of.contains(&j.verdict));
    if any(&[Verdict::Never, Verdict::Unhealthy, Verdict::Broken]) {
        2
    } else if any(&[Verdict::Unknown]) {
        3
    } else {
        0
    }
}
