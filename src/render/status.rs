//! `status` as a table, or one budget in detail.

use super::Screen;
use super::findings::{paragraph, remedies};
use super::style::{Tone, paint, safe};
use super::table::{Cell, Table, wrap};
use crate::budget::arithmetic::arithmetic;
use crate::budget::{Judgement, Verdict};
use crate::finding::Code;
use crate::report::Document;
use crate::snapshot::Snapshot;
use crate::snapshot::pod_state::why_not_ready;

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// One row a budget.
    Table {
        /// Whether the namespace is a column.
        all_namespaces: bool,
    },
    /// Each budget with its arithmetic, its pods and its cures.
    Detail,
}

/// The answer as text.
pub fn text(
    snapshot: &Snapshot,
    judged: &[Judgement],
    document: &Document<()>,
    screen: &Screen,
    view: &View,
) -> String {
    let mut out = match view {
        View::Table { all_namespaces } => table(judged, screen, *all_namespaces),
        View::Detail => judged.iter().map(|j| detail(snapshot, j, screen)).collect::<Vec<_>>().join("\n"),
    };
    if matches!(view, View::Table { .. }) && !screen.no_headers {
        out.push_str(&summary(snapshot, judged, screen));
        out.push_str(&reasons(judged, screen));
    }
    out.push_str(&super::gaps(document, screen));
    out
}

fn table(judged: &[Judgement], screen: &Screen, all_namespaces: bool) -> String {
    if judged.is_empty() {
        return String::new();
    }
    let mut headers = vec!["NAME", "RULE", "HEALTHY", "NEEDED", "ALLOWED", "VERDICT", "WHY"];
    if screen.wide() {
        headers.splice(6..6, ["REPORTED", "POLICY", "SELECTOR"]);
    }
    if all_namespaces {
        headers.insert(0, "NAMESPACE");
    }
    let mut table = Table::new(headers);
    for j in judged {
        let mut row: Vec<Cell> = Vec::new();
        if all_namespaces {
            row.push(j.budget.meta.ns().into());
        }
        row.extend([
            (&*j.budget.meta.name).into(),
            rule_word(j).into(),
            format!("{}/{}", j.numbers.healthy, j.numbers.expected).into(),
            j.numbers.desired.to_string().into(),
            j.numbers.allowed.to_string().into(),
            Cell::verdict(j.verdict.as_str()),
        ]);
        if screen.wide() {
            let in_sync = if j.in_sync { "in sync" } else { "behind" };
            row.push(format!("{} ({in_sync})", j.budget.status.disruptions_allowed).into());
            row.push(j.budget.unhealthy_policy.as_deref().unwrap_or("IfHealthyBudget").into());
            row.push(j.budget.selector.to_string().into());
        }
        row.push(why(j).into());
        table.row(row);
    }
    table.render(screen)
}

fn rule_word(j: &Judgement) -> String {
    use crate::snapshot::budget::Rule;
    match &j.budget.rule {
        Rule::MinAvailable(v) => format!("min {v}"),
        Rule::MaxUnavailable(v) => format!("max {v}"),
        Rule::None => "none".to_owned(),
    }
}

/// Why in one line: what gives the verdict, or what to know of a budget that allows some to go.
fn why(j: &Judgement) -> String {
    let telling =
        j.findings.iter().find(|f| j.verdict != Verdict::Allows || f.severity != crate::finding::Severity::Info);
    telling.map_or_else(|| "-".to_owned(), |f| f.message.clone())
}

/// One line that says what matters, and how to learn more.
fn summary(snapshot: &Snapshot, judged: &[Judgement], screen: &Screen) -> String {
    if judged.is_empty() {
        let others = snapshot.budgets.len();
        return match others {
            0 => "There are no budgets.\n".to_owned(),
            n => format!("There are no such budgets here; {n} elsewhere: give -n NAMESPACE, or -A for all.\n"),
        };
    }
    let count = |v: Verdict| judged.iter().filter(|j| j.verdict == v).count();
    let worst = [
        (Verdict::Never, "can never allow an eviction as things are", ""),
        (Verdict::Broken, "cannot be used as written", ""),
        (Verdict::Unknown, "could not be judged", ""),
        (Verdict::Unhealthy, "held by broken pods", ""),
        (Verdict::Waits, "wait", "waits"),
        (Verdict::Unused, "select no pods", "selects no pods"),
    ];
    let worst = worst
        .map(|(verdict, several, one)| (verdict, if count(verdict) == 1 && !one.is_empty() { one } else { several }));
    let said: Vec<String> = worst
        .iter()
        .filter(|(v, _)| count(*v) > 0)
        .map(|(v, words)| format!("{} {words} ({})", count(*v), v.as_str()))
        .collect();
    let budgets = if judged.len() == 1 { "budget" } else { "budgets" };
    let text = if said.is_empty() {
        format!("{} {budgets}: every one allows an eviction now.", judged.len())
    } else {
        format!("{} {budgets}: {}.", judged.len(), said.join(", "))
    };
    let bad = judged.iter().filter(|j| j.verdict != Verdict::Allows).min_by_key(|j| order(j.verdict));
    let more = bad.map_or_else(String::new, |j| {
        format!("More about one: kubectl pdb status {} -n {}\n", safe(&j.budget.meta.name), safe(j.budget.meta.ns()))
    });
    format!("\n{}\n{more}", wrap(&text, screen.prose_width(), 0))
}

/// At most so many reasons are given in full below a table that cuts them.
const MOST_REASONS: usize = 6;

/// On a terminal that leaves the last column too little room: the worst reasons once more, in full.
fn reasons(judged: &[Judgement], screen: &Screen) -> String {
    let Some(width) = screen.width else { return String::new() };
    let mut bad: Vec<&Judgement> = judged.iter().filter(|j| j.verdict != Verdict::Allows).collect();
    bad.sort_by_key(|j| order(j.verdict));
    let room_for_why = width.saturating_sub(85);
    if bad.iter().all(|j| why(j).len() <= room_for_why) {
        return String::new();
    }
    let mut out = "\n".to_owned();
    for j in bad.iter().take(MOST_REASONS) {
        let word = j.verdict.as_str();
        let rest = wrap(&safe(&format!("{}: {}", j.budget.meta.path(), why(j))), screen.prose_width(), 10);
        out.push_str(&format!(
            "{}{} {rest}\n",
            paint(word, Tone::of_verdict(word)),
            " ".repeat(9usize.saturating_sub(word.len()))
        ));
    }
    if bad.len() > MOST_REASONS {
        out.push_str(&format!(
            "and {} more: kubectl pdb status NAME, or pipe the table to see all of WHY\n",
            bad.len() - MOST_REASONS
        ));
    }
    out
}

fn order(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Never => 0,
        Verdict::Broken => 1,
        Verdict::Unknown => 2,
        Verdict::Unhealthy => 3,
        Verdict::Waits => 4,
        Verdict::Unused => 5,
        Verdict::Allows => 6,
    }
}

/// The whole answer in one sentence.
fn headline(j: &Judgement) -> String {
    let path = j.budget.meta.path();
    let n = j.numbers.allowed;
    let disruptions = if n == 1 { "1 disruption".to_owned() } else { format!("{n} disruptions") };
    match j.verdict {
        Verdict::Allows => format!("{path} allows {disruptions} now."),
        Verdict::Waits => format!("{path} allows 0 disruptions now; more once its pods are Ready."),
        Verdict::Unhealthy => format!("{path} allows 0 disruptions until its broken pods are repaired."),
        Verdict::Never => format!("{path} never allows a disruption with the present rule and scale."),
        Verdict::Unused => format!("{path} selects no pods: it protects and blocks nothing."),
        Verdict::Broken => format!("{path} cannot be used as it is written: evictions under it fail."),
        Verdict::Unknown => {
            format!("{path} could not be judged, or is not yet processed by the disruption controller.")
        }
    }
}

fn detail(snapshot: &Snapshot, j: &Judgement, screen: &Screen) -> String {
    let width = screen.prose_width();
    let mut out = format!("{}\n\n", paint(&headline(j), Tone::of_verdict(j.verdict.as_str())));
    let mut line = |name: &str, text: String| out.push_str(&format!("  {name:<9} {}\n", wrap(&safe(&text), width, 12)));
    let default = if j.budget.unhealthy_policy.is_none() { " (default)" } else { "" };
    let policy = j.budget.unhealthy_policy.as_deref().unwrap_or("IfHealthyBudget");
    line("rule", format!("{}, unhealthyPodEvictionPolicy {policy}{default}", j.budget.rule));
    line("covers", covers(snapshot, j));
    line("sum", sum(j));
    line("reported", reported(j));
    if !j.findings.is_empty() {
        out.push('\n');
        for f in &j.findings {
            out.push_str(&paragraph(f, screen));
        }
    }
    if !j.pods.is_empty() {
        out.push('\n');
        out.push_str(&pods(snapshot, j, screen));
    }
    let cures = remedies(&j.findings, screen);
    if !cures.is_empty() {
        out.push_str(&format!("\n{cures}"));
    }
    out
}

fn covers(snapshot: &Snapshot, j: &Judgement) -> String {
    let mut text = j.budget.selector.to_string();
    if j.budget.selector.is_everything() {
        text = "every pod of the namespace (an empty selector)".to_owned();
    }
    let owners: Vec<String> = j
        .ideal
        .owners
        .iter()
        .map(|s| {
            let replicas = if s.scale == 1 { "1 replica".to_owned() } else { format!("{} replicas", s.scale) };
            let autoscaler =
                snapshot.horizontal_pod_autoscalers.in_namespace(j.budget.meta.ns()).iter().find(|a| {
                    crate::cure::scale_target(snapshot, a).is_some_and(|t| std::sync::Arc::ptr_eq(t, &s.owner))
                });
            let held = autoscaler.and_then(|a| Some((a, a.spec.as_ref()?))).map_or_else(String::new, |(a, spec)| {
                format!(
                    " (HorizontalPodAutoscaler {}: {} to {})",
                    a.meta.name,
                    spec.min_replicas.unwrap_or(1),
                    spec.max_replicas.unwrap_or_default()
                )
            });
            format!("{} {}, {replicas}{held}", s.owner.kind, s.owner.meta.name)
        })
        .collect();
    if !owners.is_empty() {
        text.push_str(&format!(" → {}", crate::lists::some(owners.iter().map(|o| &**o), 4)));
    }
    text
}

fn sum(j: &Judgement) -> String {
    if j.findings.iter().any(|f| matches!(f.code, Code::SyncFailed | Code::NotJudged)) {
        return "cannot be made: see below".to_owned();
    }
    let n = j.numbers;
    let spare = n.healthy - n.desired;
    let allowed = if n.expected <= 0 && spare > 0 {
        "nothing is expected, so 0 allowed".to_owned()
    } else if spare < 0 {
        format!("{} healthy − {} needed = {spare}, so 0 allowed", n.healthy, n.desired)
    } else {
        format!("{} healthy − {} needed = {} allowed", n.healthy, n.desired, n.allowed)
    };
    format!("{}. {allowed}", arithmetic(&j.budget.rule, i64::from(n.expected), n.desired))
}

fn reported(j: &Judgement) -> String {
    if j.in_sync {
        return "the same, up to date".to_owned();
    }
    let s = &j.budget.status;
    let generation = match s.observed_generation {
        None => "never synced".to_owned(),
        Some(g) if g < j.budget.meta.generation => {
            format!("of generation {g}, the spec is at {}", j.budget.meta.generation)
        }
        Some(_) => "of the present spec".to_owned(),
    };
    format!(
        "{} expected, {} healthy, {} needed, {} allowed ({generation})",
        s.expected_pods, s.current_healthy, s.desired_healthy, s.disruptions_allowed
    )
}

fn pods(snapshot: &Snapshot, j: &Judgement, screen: &Screen) -> String {
    let others = j.pods.iter().any(|p| p.budgets.len() > 1);
    let mut headers = vec!["POD", "NODE", "COUNTED", "IF EVICTED NOW", "STATE"];
    if others {
        headers.insert(4, "OTHER BUDGETS");
    }
    let mut table = Table::new(headers).indented(2);
    for p in &j.pods {
        let verb = match (p.eviction.code, p.eviction.bypass) {
            (201, true) => Cell::toned("goes, spends none (201)", Tone::Good),
            (201, false) => Cell::toned("goes (201)", Tone::Good),
            (429, _) => Cell::toned("refused (429)", Tone::Waiting),
            (code, _) => Cell::toned(format!("error ({code})"), Tone::Bad),
        };
        let state = why_not_ready(snapshot, &p.pod).map_or_else(|| "Ready".to_owned(), |w| w.text);
        let mut row: Vec<Cell> = vec![
            (&*p.pod.meta.name).into(),
            p.pod.node.as_deref().unwrap_or_default().into(),
            if p.counted { "yes" } else { "no" }.into(),
            verb,
        ];
        if others {
            let names: Vec<&str> = p.budgets.iter().filter(|b| **b != j.budget.meta.name).map(|b| &**b).collect();
            row.push(names.join(",").into());
        }
        row.push(state.into());
        table.row(row);
    }
    table.render(screen)
}
