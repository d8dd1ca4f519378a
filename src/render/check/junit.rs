//! JUnit's XML, which build servers read: a suite for each file, a case for each object. Two elements and an escape are
//! written here: a crate for them would bring an XML library.

use super::{place, title};
use crate::finding::{Code, Finding};
use crate::report::Document;
use crate::report::check::{CheckItem, CheckReport};
use std::fmt::Write;

/// The suites. A finding that `fails` is a failure, a document that was not judged is skipped, and other findings are
/// written to the output of their case.
pub fn suites(document: &Document<CheckReport>, fails: impl Fn(&Finding) -> bool) -> String {
    let changes = changes(document);
    let report = &document.body;
    let failing = |i: &&CheckItem| i.findings.iter().any(&fails);
    let items: Vec<CheckItem> = report.items.iter().cloned().chain(changes).collect();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = |items: &[CheckItem]| {
        format!("tests=\"{}\" failures=\"{}\" errors=\"0\"", items.len(), items.iter().filter(failing).count())
    };
    let _ = writeln!(out, "<testsuites name=\"kubectl pdb check\" {}>", counts(&items));
    for suite in items.chunk_by(|a, b| a.file == b.file) {
        let file = suite.first().map(|i| &*i.file).unwrap_or_default();
        let _ = writeln!(out, "  <testsuite name=\"{}\" {}>", escape(file), counts(suite));
        suite.iter().for_each(|item| out.push_str(&case(item, &fails)));
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

/// What the manifests do to a cluster, as a case of its own: on no line of a file.
fn changes(document: &Document<CheckReport>) -> Option<CheckItem> {
    let item = || CheckItem {
        file: "cluster".to_owned(),
        line: 1,
        template: None,
        kind: Some("with these manifests applied".to_owned()),
        namespace: None,
        name: None,
        verdict: None,
        findings: document.findings.clone(),
    };
    (!document.findings.is_empty()).then(item)
}

fn case(item: &CheckItem, fails: &impl Fn(&Finding) -> bool) -> String {
    let (file, line) = place(item);
    let name = match title(item) {
        name if name.is_empty() => format!("document on line {line}"),
        name => name,
    };
    let (file, name) = (escape(file), escape(&name));
    let head = format!("    <testcase classname=\"{file}\" name=\"{name}\" file=\"{file}\" line=\"{line}\"");
    let (failures, notes): (Vec<&Finding>, Vec<&Finding>) = item.findings.iter().partition(|f| fails(f));
    let lines = |findings: &[&Finding]| {
        let line = |f: &&Finding| format!("{}: {}", f.code, f.message);
        escape(&findings.iter().map(line).collect::<Vec<_>>().join("\n"))
    };
    let mut body = String::new();
    if let Some(first) = failures.first() {
        let (code, message) = (first.code, escape(&first.message));
        let _ = writeln!(body, "      <failure type=\"{code}\" message=\"{message}\">{}</failure>", lines(&failures));
    } else if let Some(skipped) = notes.iter().find(|f| matches!(f.code, Code::Unrendered | Code::NotJudged)) {
        let _ = writeln!(body, "      <skipped message=\"{}\"/>", escape(&skipped.message));
    }
    if !notes.is_empty() {
        let _ = writeln!(body, "      <system-out>{}</system-out>", lines(&notes));
    }
    if body.is_empty() { format!("{head}/>\n") } else { format!("{head}>\n{body}    </testcase>\n") }
}

/// Text for XML 1.0, which has no control characters but tab and line ends.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b & \"c\"\u{1b}"), "a&lt;b &amp; &quot;c&quot;\u{fffd}");
    }
}
