//! What every page has around its answer.

use super::parts;
use crate::report::{Document, Source};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The page of a document: its title, the whole answer in a sentence, and the rest.
pub fn page<B>(title: &str, lead: &str, document: &Document<B>, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                // The page was made from names that strangers chose: nothing in it may load or run anything.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) " – kubectl pdb" }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                header {
                    h1 { (title) }
                    p.lead { (lead) }
                    (source(&document.source))
                }
                main {
                    (parts::findings(&document.findings))
                    (body)
                    (gaps(document))
                }
                footer {
                    p.soft {
                        "Made by kubectl pdb " (env!("CARGO_PKG_VERSION")) " at " (format!("{:.0}", document.generated_at))
                        ". It only reads: nothing was changed. What a code means: " code { "kubectl pdb explain CODE" }
                    }
                }
            }
        }
    };
    let mut text = page.into_string();
    text.push('\n');
    text
}

fn source(source: &Source) -> Markup {
    html! {
        p.soft {
            @if let Some(context) = &source.context { "Context " b { (context) } ", " }
            @if let Some(server) = &source.server { (server) ", " }
            @if !source.files.is_empty() { "From " (parts::some(source.files.iter(), 4)) ", " }
            @if let Some(version) = &source.server_version { "Kubernetes " (version) ", " }
            "as of " (format!("{:.0}", source.now))
        }
    }
}

fn gaps<B>(document: &Document<B>) -> Markup {
    let told: Vec<_> = document.told_gaps().collect();
    html! {
        @if !told.is_empty() {
            section {
                h2 { "Not everything could be read" }
                ul {
                    @for gap in told {
                        li { b { (gap.resource) } " (" (gap.reason.as_str()) "): " (gap.effect) }
                    }
                    @if let Some(rest) = crate::render::taken_as_empty(document) { li { (rest) } }
                }
            }
        }
    }
}
