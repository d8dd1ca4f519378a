//! Findings and their remedies as text: all three commands print them alike.

use super::Screen;
use super::style::{Tone, paint, safe};
use super::table::wrap;
use crate::finding::Finding;

/// A finding in a paragraph: its code, and what was found.
pub fn paragraph(finding: &Finding, screen: &Screen) -> String {
    let tone = Tone::of_severity(finding.severity);
    let code = finding.code.as_str();
    let width = screen.prose_width();
    let rest = wrap(&safe(&finding.message), width, 4);
    format!("  {}\n    {rest}\n", paint(code, tone))
}

/// The remedies of some findings, numbered; each with its command, its cost and whether it was tried.
pub fn remedies<'a>(findings: impl IntoIterator<Item = &'a Finding>, screen: &Screen) -> String {
    let width = screen.prose_width();
    let mut seen: Vec<&String> = Vec::new();
    let mut out = String::new();
    let all: Vec<_> = findings.into_iter().flat_map(|f| &f.remedies).collect();
    for remedy in all {
        let key = remedy.commands().first().unwrap_or(&remedy.text);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let kind = if remedy.is_verified() { "" } else { " (a direction: not tried)" };
        out.push_str(&format!("  {}  {}\n", seen.len(), wrap(&format!("{}{kind}", safe(&remedy.text)), width, 5)));
        for command in remedy.commands() {
            // Never wrapped: it has to be pasted as it is.
            out.push_str(&format!("     {}\n", paint(&safe(command), Tone::Strong)));
        }
        if let Some(risk) = &remedy.risk {
            out.push_str(&format!("     costs: {}\n", wrap(&safe(risk), width, 12)));
        }
    }
    if out.is_empty() { out } else { format!("{}\n{out}", paint("what can be done, least first", Tone::Strong)) }
}
