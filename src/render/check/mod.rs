//! `check` as text, and in the forms that code scanning and build servers read.

pub mod github;
pub mod junit;
pub mod sarif;

use super::Screen;
use super::style::{Tone, paint, safe};
use super::table::wrap;
use crate::finding::{Finding, Severity};
use crate::lists::count;
use crate::report::Document;
use crate::report::check::{ChangeReport, CheckItem, CheckReport};

/// Where an object stands: a file and a line. What came through a pipe is told by the template that Helm names.
pub(super) fn place(item: &CheckItem) -> (&str, usize) {
    match &item.template {
        Some(template) if item.file == STANDARD_INPUT => (template, 1),
        _ => (&item.file, item.line),
    }
}

/// What files that came through a pipe are called.
const STANDARD_INPUT: &str = "standard input";

/// `PodDisruptionBudget shop/web`; nothing for a document that holds no object.
pub(super) fn title(item: &CheckItem) -> String {
    let path = [&item.namespace, &item.name].into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("/");
    match &item.kind {
        Some(kind) => format!("{kind} {path}"),
        None => String::new(),
    }
}

/// The findings by file and line, and their number.
pub fn text(document: &Document<CheckReport>, screen: &Screen, against: bool) -> String {
    let report = &document.body;
    let mut out = String::new();
    for item in report.items.iter().filter(|i| !i.findings.is_empty()) {
        let (file, line) = (&item.file, item.line);
        let head = format!("{file}:{line}");
        let template = item.template.as_ref().map(|t| format!("  (from {})", safe(t))).unwrap_or_default();
        let title = [title(item), item.verdict.map(|v| v.as_str().to_owned()).unwrap_or_default()].join("  ");
        let line = format!("{}  {}{template}", paint(&safe(&head), Tone::Strong), safe(title.trim()));
        out.push_str(&format!("{}\n", line.trim_end()));
        item.findings.iter().for_each(|finding| out.push_str(&paragraph(finding, screen)));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    if against {
        out.push_str(&changes(&report.changes, screen));
    }
    out.push_str(&summary(report));
    out.push_str(&super::gaps(document, screen));
    out
}

fn paragraph(finding: &Finding, screen: &Screen) -> String {
    let width = screen.prose_width();
    let tone = Tone::of_severity(finding.severity);
    let message = wrap(&format!("{}: {}", finding.code, safe(&finding.message)), width, 11);
    let mut out = format!("  {}  {message}\n", paint(&format!("{:7}", finding.severity.as_str()), tone));
    for (at, remedy) in finding.remedies.iter().enumerate() {
        let word = if at == 0 { "fix:" } else { "or: " };
        let tried = if remedy.is_verified() { "" } else { " (not verified)" };
        out.push_str(&format!("           {word} {}\n", wrap(&format!("{}{tried}", safe(&remedy.text)), width, 16)));
    }
    out
}

/// A text tells so many changes.
const MOST_CHANGES: usize = 20;

fn changes(changes: &[ChangeReport], screen: &Screen) -> String {
    if changes.is_empty() {
        return "With these manifests applied, the same nodes drain, and no budget or pod fares otherwise.\n\n"
            .to_owned();
    }
    let mut out = format!("{}\n", paint("with these manifests applied", Tone::Strong));
    for change in changes.iter().take(MOST_CHANGES) {
        out.push_str(&format!("  {}\n", wrap(&safe(&sentence(change)), screen.prose_width(), 4)));
    }
    if changes.len() > MOST_CHANGES {
        out.push_str(&format!("  {} more: -o json has all\n", count(changes.len() - MOST_CHANGES, "change")));
    }
    out.push('\n');
    out
}

/// A change in a sentence: `node n1 can no longer be drained: …`.
pub(super) fn sentence(change: &ChangeReport) -> String {
    let (what, why) = (subject(change), &change.why);
    match (&change.node, &*change.before, &*change.after) {
        (Some(_), _, "blocked") => format!("{what} can no longer be drained: {why}"),
        (Some(_), "blocked", "drains" | "waits") => format!("{what} can be drained: {why}"),
        _ => format!("{what}: {} (before: {}): {why}", change.after, change.before),
    }
}

/// `node n1`, `budget shop/web`, `pod shop/web-0`.
pub(super) fn subject(change: &ChangeReport) -> String {
    let named = [("node", &change.node), ("budget", &change.budget), ("pod", &change.pod)];
    let words = named.into_iter().filter_map(|(word, name)| Some(format!("{word} {}", safe(name.as_ref()?))));
    words.collect::<Vec<_>>().join(" ")
}

/// How many objects, and how many findings of each severity.
pub(super) fn summary(report: &CheckReport) -> String {
    let checked = report.items.iter().filter(|i| i.kind.is_some()).count();
    let of_them = if checked < report.objects { format!(", {checked} of them checked") } else { String::new() };
    let of =
        |severity: Severity| report.items.iter().flat_map(|i| &i.findings).filter(|f| f.severity == severity).count();
    let all = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "note")];
    let found: Vec<String> = all.into_iter().filter(|(s, _)| of(*s) > 0).map(|(s, noun)| count(of(s), noun)).collect();
    let found = if found.is_empty() { "no findings".to_owned() } else { found.join(", ") };
    let ignored = if report.ignored > 0 { format!(" ({} ignored)", report.ignored) } else { String::new() };
    let skipped = match report.skipped {
        0 => String::new(),
        n => format!("; {} without a Kubernetes object", count(n, "document")),
    };
    let hooks = match report.hooks {
        0 => String::new(),
        n => format!("; {} left out, as a hook does not run beside the application", count(n, "hook")),
    };
    let (objects, files) = (count(report.objects, "object"), count(report.files, "file"));
    format!("{objects} in {files}{of_them}: {found}{ignored}{hooks}{skipped}\n")
}

/// Kind and name of each object with a finding, as kubectl's `-o name` has them.
pub fn names(report: &CheckReport) -> String {
    let told = report.items.iter().filter(|i| !i.findings.is_empty());
    let name = |i: &CheckItem| Some(format!("{}/{}\n", i.kind.as_ref()?.to_lowercase(), i.name.as_ref()?));
    told.filter_map(name).collect()
}
