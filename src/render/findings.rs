//! Findings and their remedies as text: all commands print them alike.

use super::Screen;
use super::style::{Tone, paint, safe};
use super::table::wrap;
use crate::cure::Remedy;
use crate::finding::Finding;
use crate::report::digest;

/// A finding in a paragraph: its code, and what was found.
pub fn paragraph(finding: &Finding, screen: &Screen) -> String {
    let tone = Tone::of_severity(finding.severity);
    let rest = wrap(&safe(&finding.message), screen.prose_width(), 4);
    format!("  {}\n    {rest}\n", paint(finding.code.as_str(), tone))
}

/// The remedies of some findings, numbered; each with its commands, its risk, how it is taken back, and whether it was
/// tried. `aim` says what they are for: `to unblock n1`.
pub fn remedies<'a>(findings: impl IntoIterator<Item = &'a Finding>, aim: &str, screen: &Screen) -> String {
    let findings: Vec<&Finding> = findings.into_iter().collect();
    let told = digest::remedies(findings.iter().copied());
    let heading = match told.len() {
        0 => return none(&findings, aim, screen),
        1 => format!("{aim}:"),
        _ => format!("{aim}, one of (least change first):"),
    };
    let mut out = format!("{}\n", paint(&heading, Tone::Strong));
    for (at, remedy) in told.iter().enumerate() {
        out.push_str(&one(at + 1, remedy, screen.prose_width()));
    }
    out
}

/// Why nothing is offered, where that is said.
fn none(findings: &[&Finding], aim: &str, screen: &Screen) -> String {
    let mut told: Vec<&String> = Vec::new();
    for why in findings.iter().filter_map(|f| f.no_remedy.as_ref()) {
        if !told.contains(&why) {
            told.push(why);
        }
    }
    let lines = told.iter().map(|why| format!("  {}\n", wrap(&safe(why), screen.prose_width(), 2)));
    match lines.collect::<String>() {
        lines if lines.is_empty() => lines,
        lines => format!("{}\n{lines}", paint(&format!("{aim}:"), Tone::Strong)),
    }
}

fn one(number: usize, remedy: &Remedy, width: usize) -> String {
    let kind = if remedy.is_verified() { "" } else { " (not verified)" };
    let mut out = format!("  {number}  {}\n", wrap(&format!("{}{kind}", safe(&remedy.text)), width, 5));
    for command in remedy.commands() {
        // Never wrapped: it has to be pasted as it is.
        out.push_str(&format!("     {}\n", paint(&safe(command), Tone::Strong)));
    }
    if let Some(risk) = &remedy.risk {
        out.push_str(&format!("     risk: {}\n", wrap(&safe(risk), width, 11)));
    }
    for undo in remedy.undos() {
        out.push_str(&format!("     undo: {}\n", safe(undo)));
    }
    out
}
