//! `status` as text: a line that counts, a table and the problems by cause, or one budget in detail.

use super::Screen;
use super::digest::{self, Depth, again};
use super::findings::{paragraph, remedies};
use super::style::{Tone, paint, safe};
use super::table::{Cell, Table, wrap};
use crate::budget::Verdict;
use crate::lists::{count, some};
use crate::report::Document;
use crate::report::digest::{Told, problems, verdicts};
use crate::report::status::{BudgetStatus, BudgetStatusList, OwnerReport};

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The budgets of a namespace, or of all.
    Many {
        /// Whether the namespace is a column.
        all_namespaces: bool,
        /// Whether each has a row, however many there are.
        every_row: bool,
    },
    /// Each budget with its causes, its remedies, its arithmetic and its pods.
    Detail,
}

/// The answer as text.
pub fn text(document: &Document<BudgetStatusList>, screen: &Screen, view: &View) -> String {
    let items = &document.body.items;
    let mut out = match view {
        View::Many { all_namespaces, every_row } => many(document, screen, *all_namespaces, *every_row),
        View::Detail => items.iter().map(|b| detail(b, screen)).collect::<Vec<_>>().join("\n"),
    };
    out.push_str(&super::gaps(document, screen));
    out
}

fn many(document: &Document<BudgetStatusList>, screen: &Screen, all_namespaces: bool, every_row: bool) -> String {
    let items = &document.body.items;
    if items.is_empty() {
        return String::new();
    }
    let table = table(items, screen, all_namespaces, true);
    if screen.no_headers {
        return table.render(screen);
    }
    let head = format!("{}\n", wrap(&summary(items), screen.prose_width(), 0));
    let causes_fit = table.fits(screen);
    let place = if all_namespaces { vec!["-A".to_owned()] } else { namespace(items) };
    let words = [vec!["status".to_owned()], place, vec!["--all".to_owned()]].concat();
    let all = again(&document.source, &words);
    let with = |rows: bool, depth: Depth| {
        let mut out = head.clone();
        if rows {
            let shown =
                if causes_fit || screen.wide() { &table } else { &self::table(items, screen, all_namespaces, false) };
            out.push_str(&format!("\n{}", shown.render(screen)));
        }
        if !screen.wide() {
            let left = digest::room(&out);
            out.push_str(&digest::groups(&problems(items), &document.source, screen, depth, &all, left));
            if !rows {
                let words = format!("every budget: {all}; of some verdicts: --verdict never,broken");
                out.push_str(&format!("\n{}\n", wrap(&safe(&words), screen.prose_width(), 2)));
            }
        }
        out
    };
    let asked = every_row || screen.wide();
    digest::within_a_screen(items.len(), asked, causes_fit, with)
}

fn namespace(items: &[BudgetStatus]) -> Vec<String> {
    items.first().map(|b| vec!["-n".to_owned(), b.namespace.to_string()]).unwrap_or_default()
}

/// `13 budgets: 2 never, 1 waits, 10 allow evictions now.`
pub fn summary(items: &[BudgetStatus]) -> String {
    let said = verdicts(items).into_iter().map(|(verdict, n)| match (verdict, n) {
        ("allows", 1) => "1 allows evictions now".to_owned(),
        ("allows", n) => format!("{n} allow evictions now"),
        ("waits", 1) => "1 waits".to_owned(),
        ("waits", n) => format!("{n} wait"),
        (verdict, n) => format!("{n} {verdict}"),
    });
    let ignored = items.iter().filter(|b| b.ignored.is_some()).count();
    let ignored = if ignored == 0 { String::new() } else { format!(" ({ignored} ignored)") };
    format!("{}: {}{ignored}.", count(items.len(), "budget"), said.collect::<Vec<_>>().join(", "))
}

/// A row for each budget, comma-separated.
pub fn csv(list: &BudgetStatusList) -> String {
    const HEADERS: &[&str] =
        &["namespace", "name", "rule", "healthy", "expected", "needed", "allowed", "verdict", "code", "why"];
    let row = |b: &BudgetStatus| {
        vec![
            b.namespace.to_string(),
            b.name.to_string(),
            rule(b),
            b.current_healthy.to_string(),
            b.expected_pods.to_string(),
            b.desired_healthy.to_string(),
            b.disruptions_allowed.to_string(),
            b.verdict.as_str().to_owned(),
            b.leading().map(|f| f.code.to_string()).unwrap_or_default(),
            b.cause(),
        ]
    };
    super::template::csv(HEADERS, list.items.iter().map(row))
}

fn table(items: &[BudgetStatus], screen: &Screen, all_namespaces: bool, causes: bool) -> Table {
    let mut headers = vec!["NAME", "RULE", "HEALTHY", "NEEDED", "ALLOWED", "VERDICT"];
    if screen.wide() {
        headers.extend(["REPORTED", "POLICY", "SELECTOR"]);
    }
    if all_namespaces {
        headers.insert(0, "NAMESPACE");
    }
    if causes {
        headers.push("WHY");
    }
    let mut table = Table::new(headers);
    if screen.wide() && causes {
        table = table.last_below();
    }
    for b in items {
        let mut row: Vec<Cell> = Vec::new();
        if all_namespaces {
            row.push((&*b.namespace).into());
        }
        row.extend([
            (&*b.name).into(),
            short_rule(b).into(),
            format!("{}/{}", b.current_healthy, b.expected_pods).into(),
            b.desired_healthy.to_string().into(),
            b.disruptions_allowed.to_string().into(),
            Cell::verdict(b.verdict.as_str()),
        ]);
        if screen.wide() {
            let in_sync = if b.reported.in_sync { "in sync" } else { "behind" };
            row.push(format!("{} ({in_sync})", b.reported.disruptions_allowed).into());
            row.push((&*b.unhealthy_pod_eviction_policy).into());
            row.push(b.selector.clone().into());
        }
        if causes {
            let why = match (&b.ignored, b.cause()) {
                (Some(reason), cause) if screen.wide() => format!("ignored ({reason}): {cause}"),
                (Some(_), _) => "ignored".to_owned(),
                (None, cause) if cause.is_empty() => "-".to_owned(),
                (None, cause) => cause,
            };
            row.push(why.into());
        }
        table.row(row);
    }
    table
}

fn short_rule(b: &BudgetStatus) -> String {
    match (&b.rule.min_available, &b.rule.max_unavailable) {
        (Some(v), _) => format!("min {v}"),
        (_, Some(v)) => format!("max {v}"),
        _ => "none".to_owned(),
    }
}

/// The whole answer in one sentence.
fn headline(b: &BudgetStatus) -> String {
    let n = b.disruptions_allowed;
    let cause = b.leading().map(|f| f.message.trim_end_matches('.'));
    match (b.verdict, cause) {
        (Verdict::Allows, Some(cause)) => format!("allows {} now; {cause}.", count_of(n)),
        (Verdict::Allows, None) => format!("allows {} now.", count_of(n)),
        (_, Some(cause)) => format!("{cause}."),
        (verdict, None) => format!("{}.", crate::finding::words::meaning("status", verdict.as_str())),
    }
}

fn count_of(evictions: i32) -> String {
    if evictions == 1 { "1 eviction".to_owned() } else { format!("{evictions} evictions") }
}

fn detail(b: &BudgetStatus, screen: &Screen) -> String {
    let width = screen.prose_width();
    let (path, verdict) = (b.path(), b.verdict.as_str());
    let indent = path.len() + verdict.len() + 5;
    let (gap, indent) = if indent > width / 2 { ("\n  ", 2) } else { ("   ", indent) };
    let mut out = format!(
        "{}  {}{gap}{}\n",
        safe(&path),
        paint(&verdict.to_uppercase(), Tone::of_verdict(verdict)),
        wrap(&safe(&headline(b)), width, indent)
    );
    let aim = match b.verdict {
        Verdict::Allows | Verdict::Unused => "to correct it",
        _ => "to allow evictions",
    };
    let fixes = remedies(&b.findings, aim, screen);
    if !fixes.is_empty() {
        out.push_str(&format!("\n{fixes}"));
    }
    let lines = [
        ("rule", format!("{}, unhealthyPodEvictionPolicy {}", rule(b), b.unhealthy_pod_eviction_policy)),
        ("covers", covers(b)),
        ("sum", b.arithmetic.clone()),
        ("reported", reported(b)),
    ];
    out.push('\n');
    for (name, text) in lines {
        out.push_str(&format!("  {name:<9} {}\n", wrap(&safe(&text), width, 12)));
    }
    let leading = b.leading();
    let others: Vec<_> = b.findings.iter().filter(|f| leading != Some(f)).collect();
    if !others.is_empty() {
        out.push('\n');
        others.iter().for_each(|f| out.push_str(&paragraph(f, screen)));
    }
    if !b.pods.is_empty() {
        out.push_str(&format!("\n{}", pods(b, screen)));
    }
    if let Some(finding) = leading {
        out.push_str(&format!("\nmore: kubectl pdb explain {}\n", finding.code));
    }
    out
}

fn rule(b: &BudgetStatus) -> String {
    match (&b.rule.min_available, &b.rule.max_unavailable) {
        (Some(v), _) => format!("minAvailable {v}"),
        (_, Some(v)) => format!("maxUnavailable {v}"),
        _ => "neither minAvailable nor maxUnavailable".to_owned(),
    }
}

fn covers(b: &BudgetStatus) -> String {
    let selector = match b.selector.as_str() {
        "<all>" => "every pod of the namespace (an empty selector)",
        "<none>" => "no pod (it has no selector)",
        other => other,
    };
    let bare: Vec<&str> = b.others.iter().filter(|o| &*o.kind == "Pod").map(|o| &*o.name).collect();
    let others = b.others.iter().filter(|o| &*o.kind != "Pod");
    let others = others.map(|o| format!("{} {}, {}", o.kind, o.name, count(o.pods, "pod")));
    let mut owners: Vec<String> = b.owners.iter().map(owner).chain(others).collect();
    if !bare.is_empty() {
        let pods = count(bare.len(), "pod");
        owners.push(format!("{pods} without a controller ({})", some(bare, 2)));
    }
    if owners.is_empty() {
        return selector.to_owned();
    }
    format!("{selector} → {}", some(owners, 4))
}

fn owner(o: &OwnerReport) -> String {
    let replicas = if o.replicas == 1 { "1 replica".to_owned() } else { format!("{} replicas", o.replicas) };
    let autoscaler = o.autoscaler.as_ref().map_or_else(String::new, |a| {
        format!(" (HorizontalPodAutoscaler {}: {} to {})", a.name, a.min_replicas, a.max_replicas)
    });
    format!("{} {}, {replicas}{autoscaler}", o.kind, o.name)
}

fn reported(b: &BudgetStatus) -> String {
    let r = &b.reported;
    if r.in_sync {
        return "the controller reports these numbers, too".to_owned();
    }
    let generation = match r.observed_generation {
        None => "the controller has not looked at it yet".to_owned(),
        Some(g) if g < r.generation => format!("for generation {g}; the budget is at generation {}", r.generation),
        Some(_) => "for the present spec".to_owned(),
    };
    format!(
        "{} expected, {} healthy, {} needed, {} allowed ({generation})",
        r.expected_pods, r.current_healthy, r.desired_healthy, r.disruptions_allowed
    )
}

fn pods(b: &BudgetStatus, screen: &Screen) -> String {
    let others = b.pods.iter().any(|p| p.eviction.budgets.len() > 1);
    let mut headers = vec!["POD", "NODE", "COUNTED", "IF EVICTED NOW", "STATE"];
    if others {
        headers.insert(4, "OTHER BUDGETS");
    }
    let mut table = Table::new(headers).indented(2).last_below();
    for p in &b.pods {
        let mut row: Vec<Cell> = vec![
            (&*p.name).into(),
            p.node.as_deref().unwrap_or_default().into(),
            if p.counted { "yes" } else { "no" }.into(),
            eviction(p.eviction.code, p.eviction.bypass),
        ];
        if others {
            let names: Vec<&str> = p.eviction.budgets.iter().filter(|other| **other != b.name).map(|b| &**b).collect();
            row.push(names.join(",").into());
        }
        row.push(p.state.clone().into());
        table.row(row);
    }
    table.render(screen)
}

fn eviction(code: u16, bypass: bool) -> Cell {
    match (code, bypass) {
        (201, true) => Cell::toned("evicted, does not use the budget (201)", Tone::Good),
        (201, false) => Cell::toned("evicted (201)", Tone::Good),
        (429, _) => Cell::toned("refused (429)", Tone::Waiting),
        (code, _) => Cell::toned(format!("error ({code})"), Tone::Bad),
    }
}
