//! Annotations of a pull request: the workflow commands of GitHub Actions.

use super::{place, title};
use crate::finding::Severity;
use crate::report::Document;
use crate::report::check::CheckReport;

/// A line for each finding: `::error file=a.yaml,line=3,title=zero-by-rule::…`.
pub fn annotations(document: &Document<CheckReport>) -> String {
    let mut out = String::new();
    for item in &document.body.items {
        let (file, line) = place(item);
        for finding in &item.findings {
            let command = command(finding.severity);
            let message = [title(item), finding.message.clone()].into_iter().filter(|t| !t.is_empty());
            let message = data(&message.collect::<Vec<_>>().join(": "));
            let (file, code) = (property(file), finding.code);
            out.push_str(&format!("::{command} file={file},line={line},title={code}::{message}\n"));
        }
    }
    // What the manifests do to a cluster stands on no line.
    for finding in &document.findings {
        let (command, code, message) = (command(finding.severity), finding.code, data(&finding.message));
        out.push_str(&format!("::{command} title={code}::{message}\n"));
    }
    out
}

fn command(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    }
}

/// Mirrors `escapeData` of `actions/toolkit`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Mirrors `escapeProperty` of `actions/toolkit`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_would_take_for_its_own_is_escaped() {
        assert_eq!(data("80%\nof 1: x"), "80%25%0Aof 1: x");
        assert_eq!(property("a:b,c%.yaml"), "a%3Ab%2Cc%25.yaml");
    }
}
