//! The page of `check`: findings by file.

use super::page::page;
use super::parts;
use crate::render::check::{sentence, summary, title};
use crate::report::Document;
use crate::report::check::CheckReport;
use maud::html;

/// The page.
pub fn check(document: &Document<CheckReport>) -> String {
    let report = &document.body;
    let told: Vec<_> = report.items.iter().filter(|i| !i.findings.is_empty()).collect();
    let body = html! {
        @if !report.changes.is_empty() {
            section {
                h2 { "With these manifests applied" }
                ul {
                    @for change in &report.changes {
                        li { (sentence(change)) }
                    }
                }
            }
        }
        @for item in told {
            section {
                h2 { (title(item)) }
                p.soft { (item.file) ":" (item.line) }
                (parts::findings(&item.findings))
            }
        }
    };
    let lead = summary(report);
    page("Manifests", lead.trim_end(), document, &body)
}
