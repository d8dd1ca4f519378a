//! What the pages have in common: verdicts, findings, cures, tables.

use crate::cure::Remedy;
use crate::finding::Finding;
use crate::render::style::Tone;
use maud::{Markup, html};

/// The class that colours a tone.
pub fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Waiting => "wait",
        Tone::Bad => "bad",
        Tone::Faint | Tone::Plain | Tone::Strong => "none",
    }
}

/// A verdict word of the contract.
pub fn verdict(word: &str) -> Markup {
    html! { span class={ "tag " (class(Tone::of_verdict(word))) } { (word) } }
}

/// Findings, each with what can be done about it.
pub fn findings<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Markup {
    html! {
        @for finding in findings {
            @let tone = class(Tone::of_severity(finding.severity));
            div class={ "finding of-" (tone) } {
                p {
                    span class={ "tag " (tone) } { (finding.severity.as_str()) } " "
                    code { (finding.code.as_str()) } " "
                    (finding.message)
                }
                (cures(&finding.remedies))
                @if let Some(why) = &finding.no_remedy { p { (why) } }
            }
        }
    }
}

fn cures(remedies: &[Remedy]) -> Markup {
    html! {
        @if !remedies.is_empty() {
            p { "What can be done (least change first):" }
            ol.cures {
                @for remedy in remedies {
                    li {
                        (remedy.text)
                        @if !remedy.is_verified() { " (not verified)" }
                        @for command in remedy.commands() { pre { (command) } }
                        @if let Some(risk) = &remedy.risk { p.soft { "Risk: " (risk) } }
                        @for undo in remedy.undos() { p.soft { "Undo: " code { (undo) } } }
                    }
                }
            }
        }
    }
}

/// A column of a table, by its header.
pub enum Column {
    /// Of words.
    Words(&'static str),
    /// Of numbers, whose digits stand below each other.
    Number(&'static str),
}
pub use Column::{Number, Words};

/// A table in a box of its own, which is scrolled where the screen is too narrow for it.
pub fn table(caption: &str, columns: &[Column], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table {
                thead {
                    tr {
                        @for column in columns {
                            @match column {
                                Words(header) => th scope="col" { (header) },
                                Number(header) => th.number scope="col" { (header) },
                            }
                        }
                    }
                }
                tbody { (rows) }
            }
        }
    }
}

/// The first few of some names, and how many more there are.
pub fn some(names: impl ExactSizeIterator<Item = impl AsRef<str>>, few: usize) -> String {
    let more = names.len().saturating_sub(few);
    let named = names.take(few).map(|n| n.as_ref().to_owned()).collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut() {
        assert_eq!(some(["a", "b", "c"].iter(), 2), "a, b and 1 more");
        assert_eq!(some(["a"].iter(), 2), "a");
    }
}
