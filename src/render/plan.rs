//! `drain-plan` as text: every node in a row, or one node in detail.

use super::Screen;
use super::findings::{paragraph, remedies};
use super::style::{Tone, paint, safe};
use super::table::{Cell, Table, wrap};
use crate::drain::note::{Drainability, Note};
use crate::drain::outcome::{Action, Outcome, PodPlan, Replacement, Verdict};
use crate::drain::{NodePlan, Plan};
use crate::finding::{Code, Finding, Severity};
use crate::lists::some;
use crate::report::Document;
use crate::snapshot::age::duration_words;

/// Pods of the same fate are named up to this number, and counted beyond.
const NAMED: usize = 3;

/// The answer as text: details of the nodes that were named, and a table where there are several.
pub fn text(plan: &Plan, document: &Document<()>, screen: &Screen, each_alone: bool) -> String {
    let mut out = String::new();
    let several = plan.nodes.len() > 1;
    if several || each_alone {
        out.push_str(&table(plan, screen, each_alone));
    }
    if !each_alone {
        for node in &plan.nodes {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&detail(node, screen));
        }
    }
    if several && !screen.no_headers {
        out.push('\n');
        out.push_str(&order(plan, screen));
    }
    for finding in &document.findings {
        out.push_str(&paragraph(finding, screen));
    }
    out.push_str(&super::gaps(document, screen));
    out
}

fn table(plan: &Plan, screen: &Screen, each_alone: bool) -> String {
    let mut headers = vec!["NODE", "VERDICT", "ROUND", "PODS", "WAITS", "NEVER", "WHY"];
    if !each_alone {
        headers.insert(2, "ALONE");
    }
    if screen.wide() {
        headers.splice(headers.len() - 1..headers.len() - 1, ["TIME", "FLAGS"]);
    }
    let mut table = Table::new(headers);
    for n in &plan.nodes {
        let round = plan.order.rounds.iter().position(|r| r.contains(&n.node.meta.name));
        let count = |test: &dyn Fn(&PodPlan) -> bool| n.pods.iter().filter(|p| test(p)).count().to_string();
        let mut row: Vec<Cell> = vec![(&*n.node.meta.name).into(), Cell::verdict(n.verdict.as_str())];
        if !each_alone {
            row.push(Cell::verdict(n.alone.as_str()));
        }
        row.push(round.map_or_else(|| "-".to_owned(), |r| (r + 1).to_string()).into());
        row.push(n.pods.len().to_string().into());
        row.push(count(&|p| p.outcome == Outcome::Waits).into());
        row.push(count(&PodPlan::blocks).into());
        if screen.wide() {
            row.push(duration_words(n.estimate.seconds).into());
            let flags: Vec<&str> = n.needed_flags.iter().map(|f| f.as_str()).collect();
            row.push(if flags.is_empty() { "-".to_owned() } else { flags.join(",") }.into());
        }
        row.push(why(n).into());
        table.row(row);
    }
    table.render(screen)
}

/// What decides a node's verdict, in a line.
fn why(n: &NodePlan) -> String {
    let decides = |p: &&PodPlan| match n.verdict {
        Verdict::Blocked => p.blocks(),
        Verdict::Unknown => p.outcome == Outcome::Unknown,
        Verdict::Waits => p.outcome == Outcome::Waits,
        Verdict::Drains => false,
    };
    let pods: Vec<&PodPlan> = n.pods.iter().filter(decides).collect();
    let Some(first) = pods.first() else { return "-".to_owned() };
    let names: Vec<String> = pods.iter().map(|p| p.pod.meta.path()).collect();
    let names = some(names.iter().map(|s| &**s), 1);
    format!("{names}: {}", pod_why(first))
}

/// What a pod meets, in a line: what holds it, else what there is to know.
fn pod_why(p: &PodPlan) -> String {
    let held = |n: &&Note| n.drainability > Drainability::Drains;
    let telling = match p.outcome {
        Outcome::Stays | Outcome::Unknown | Outcome::Waits => {
            let refused = |n: &&Note| REFUSALS.contains(&n.code);
            p.notes.iter().find(held).or_else(|| p.notes.iter().find(refused)).or_else(|| p.notes.first())
        }
        Outcome::Gone => p.notes.iter().find(|n| severity(n) < Severity::Info),
    };
    match (telling, &p.replacement) {
        (Some(note), _) => note.text.clone(),
        (None, Some(Replacement::On(node))) => format!("starts again on {node}"),
        _ => "-".to_owned(),
    }
}

const REFUSALS: &[Code] = &[
    Code::BudgetNever,
    Code::BudgetWaits,
    Code::BudgetShared,
    Code::Overlap,
    Code::SyncFailed,
    Code::Stale,
    Code::OperatorOwned,
];

fn severity(note: &Note) -> Severity {
    note.severity.unwrap_or_else(|| note.code.severity())
}

fn detail(n: &NodePlan, screen: &Screen) -> String {
    let width = screen.prose_width();
    let mut out = format!("{}\n", headline(n, width));
    if n.node.unschedulable {
        let leaving = n.pods.iter().filter(|p| p.pod.is_terminating()).count();
        let words = match leaving {
            0 => "It is cordoned already, and none of its pods is being deleted.".to_owned(),
            n => format!("It is cordoned already, and {} being deleted: its drain has begun.", pods_are(n)),
        };
        out.push_str(&format!("  {}\n", wrap(&words, width, 2)));
    }
    // Never wrapped: it has to be pasted as it is.
    out.push_str(&format!("\n  {}\n", paint(&safe(&n.command), Tone::Strong)));
    for (flag, code) in [("--delete-emptydir-data", Code::EmptyDir), ("--force", Code::Unmanaged)] {
        out.push_str(&destroys(n, flag, code, width));
    }
    if !n.pods.is_empty() {
        out.push('\n');
        out.push_str(&pods(n, screen));
    }
    let told: Vec<&Finding> = n.findings.iter().filter(|f| screen.wide() || f.severity != Severity::Info).collect();
    if !told.is_empty() {
        out.push('\n');
        told.iter().for_each(|f| out.push_str(&paragraph(f, screen)));
    }
    let cures = remedies(told.iter().copied(), &format!("to unblock {}", safe(&n.node.meta.name)), screen);
    if !cures.is_empty() {
        out.push_str(&format!("\n{cures}"));
    }
    let time = format!("It takes about {} ({}).", duration_words(n.estimate.seconds), n.estimate.basis);
    out.push_str(&format!("\n  {}\n", wrap(&time, width, 2)));
    out
}

fn pods_are(n: usize) -> String {
    if n == 1 { "1 pod is".to_owned() } else { format!("{n} pods are") }
}

/// The whole answer for a node in one sentence.
fn headline(n: &NodePlan, width: usize) -> String {
    let count = |test: &dyn Fn(&PodPlan) -> bool| n.pods.iter().filter(|p| test(p)).count();
    let skipped = |p: &PodPlan| matches!(p.action, Action::Skip | Action::None) && p.outcome == Outcome::Stays;
    let parts = [
        (count(&|p| p.outcome == Outcome::Gone), "goes at once", "go at once"),
        (count(&|p| p.outcome == Outcome::Waits), "waits", "wait"),
        (count(&PodPlan::blocks), "never goes", "never go"),
        (count(&|p| p.outcome == Outcome::Unknown), "cannot be told", "cannot be told"),
        (count(&skipped), "is left alone", "are left alone"),
    ];
    let said: Vec<String> = parts
        .iter()
        .filter(|(n, ..)| *n > 0)
        .map(|(n, one, many)| format!("{n} {}", if *n == 1 { one } else { many }))
        .collect();
    let verdict = n.verdict.as_str();
    let name = safe(&n.node.meta.name);
    let all = match n.pods.len() {
        0 => "no pods: nothing to do".to_owned(),
        1 => format!("1 pod: {}", said.join(", ")),
        total => format!("{total} pods: {}", said.join(", ")),
    };
    let indent = name.len() + verdict.len() + 5;
    format!("{name}  {}   {}", paint(&verdict.to_uppercase(), Tone::of_verdict(verdict)), wrap(&all, width, indent))
}

fn destroys(n: &NodePlan, flag: &str, code: Code, width: usize) -> String {
    let hit: Vec<String> = n
        .pods
        .iter()
        .filter(|p| p.codes.contains(&code) && matches!(p.action, Action::Evict | Action::Delete))
        .map(|p| p.pod.meta.path())
        .collect();
    if hit.is_empty() {
        return String::new();
    }
    let names = some(hit.iter().map(|s| &**s), NAMED);
    let text = match code {
        Code::EmptyDir => format!("{flag} destroys the scratch data of {names}"),
        _ => format!("{flag} deletes {names} for good: nothing makes them again"),
    };
    format!("      {}\n", wrap(&safe(&text), width, 6))
}

fn pods(n: &NodePlan, screen: &Screen) -> String {
    let mut headers = vec!["STEP", "POD", "FATE", "WHY"];
    if screen.wide() {
        headers.splice(3..3, ["ACTION", "NEW POD ON", "BUDGETS"]);
    }
    let mut table = Table::new(headers).indented(2);
    let mut sorted: Vec<&PodPlan> = n.pods.iter().collect();
    sorted.sort_by_key(|p| (rank(p), p.step.unwrap_or(u32::MAX)));
    let mut rest = &sorted[..];
    while let Some(first) = rest.first() {
        let key = (rank(first), first.step, is_plain(first));
        let same = rest.iter().take_while(|p| (rank(p), p.step, is_plain(p)) == key).count();
        let (group, others) = rest.split_at(same);
        if is_plain(first) && group.len() > NAMED && !screen.wide() {
            let what = format!("{} pods (-o wide names them)", group.len());
            table.row([step(first).into(), what.into(), Cell::verdict(fate(first)), group_why(group).into()]);
        } else {
            group.iter().for_each(|p| table.row(row(p, screen)));
        }
        rest = others;
    }
    table.render(screen)
}

/// The order of the table: what goes, what cannot be told, what stays, what is left alone.
fn rank(p: &PodPlan) -> u8 {
    match (p.action, p.outcome) {
        (Action::Skip | Action::None, Outcome::Stays) => 3,
        (_, Outcome::Gone | Outcome::Waits) => 0,
        (_, Outcome::Unknown) => 1,
        (_, Outcome::Stays) => 2,
    }
}

/// Whether there is nothing to say of the pod by itself.
fn is_plain(p: &PodPlan) -> bool {
    rank(p) == 3 || (p.outcome == Outcome::Gone && p.notes.iter().all(|n| severity(n) == Severity::Info))
}

fn step(p: &PodPlan) -> String {
    match (rank(p), p.step) {
        (2, _) => "never".to_owned(),
        (_, Some(step)) => step.to_string(),
        _ => "-".to_owned(),
    }
}

fn fate(p: &PodPlan) -> &'static str {
    if rank(p) == 3 { "left" } else { p.outcome.as_str() }
}

fn group_why(group: &[&PodPlan]) -> String {
    let any = |code: Code| group.iter().any(|p| p.codes.contains(&code));
    match (any(Code::DaemonSet), any(Code::Mirror)) {
        (true, true) => "DaemonSets and static pods".to_owned(),
        (true, false) => "DaemonSets".to_owned(),
        (false, true) => "static pods".to_owned(),
        _ => "-".to_owned(),
    }
}

fn row(p: &PodPlan, screen: &Screen) -> Vec<Cell> {
    let mut row: Vec<Cell> = vec![step(p).into(), p.pod.meta.path().into(), Cell::verdict(fate(p))];
    if screen.wide() {
        let action = match p.action {
            Action::Evict => "evict",
            Action::Delete => "delete",
            Action::Skip => "skip",
            Action::None => "none",
        };
        let new = match &p.replacement {
            Some(Replacement::On(node)) => node.to_string(),
            Some(Replacement::OnNewNode(new)) => format!("new node of {}", new.pool),
            Some(Replacement::Unschedulable(_)) => "nowhere".to_owned(),
            None => "-".to_owned(),
        };
        let budgets = if p.budgets.is_empty() { "-".to_owned() } else { p.budgets.join(",") };
        row.extend([action.into(), new.into(), budgets.into()]);
    }
    row.push(pod_why(p).into());
    row
}

/// The advice for doing it in rounds.
fn order(plan: &Plan, screen: &Screen) -> String {
    let rounds = &plan.order.rounds;
    let blocked: Vec<&str> =
        plan.nodes.iter().filter(|n| n.alone == Verdict::Blocked).map(|n| &*n.node.meta.name).collect();
    let mut text = match rounds.len() {
        0 => "No node can be drained as things are.".to_owned(),
        1 => format!("1 round: {} at the same time.", list(rounds.first())),
        n => {
            let bound = if plan.order.lower_bound == n {
                "no order needs fewer".to_owned()
            } else {
                format!("no order needs fewer than {}", plan.order.lower_bound)
            };
            let shown: Vec<String> = rounds.iter().take(8).map(|r| list(Some(r))).collect();
            let more = if n > shown.len() { format!(", and {} more", n - shown.len()) } else { String::new() };
            format!("{n} rounds ({bound}): {}{more}.", shown.join(", then "))
        }
    };
    if !blocked.is_empty() && !rounds.is_empty() {
        text.push_str(&format!(" Not before what blocks them is cured: {}.", some(blocked, NAMED)));
    }
    format!("{}\n", wrap(&safe(&text), screen.prose_width(), 0))
}

fn list(round: Option<&Vec<crate::snapshot::Str>>) -> String {
    round.map(|r| some(r.iter().map(|n| &**n), 6)).unwrap_or_default()
}
