//! The page of `why-pending`: what has no node and no help first.

use super::page::page;
use super::parts;
use super::parts::{Number, Words};
use crate::render::style::Tone;
use crate::report::Document;
use crate::report::pending::{PendingItem, PendingReport, PreemptionSays, ReasonGroup, SchedulerSays};
use maud::{Markup, html};

/// The page. The items stand in the report's order, worst first.
pub fn pending(document: &Document<PendingReport>) -> String {
    let items = &document.body.items;
    let lead = match items.len() {
        0 => "No pending pods were found.".to_owned(),
        _ => crate::render::pending::summary(items),
    };
    let body = html! {
        @if !items.is_empty() {
            section {
                h2 { "Why not" }
                @for item in items { (article(item)) }
                p { (document.body.assumes) }
            }
        }
    };
    page("Pending pods", &lead, document, &body)
}

fn article(item: &PendingItem) -> Markup {
    html! {
        article {
            header {
                h3 { (item.kind) " " (item.namespace) "/" (item.name) }
                span class={ "tag " (parts::class(tone(item))) } { (item.stage) }
            }
            p {
                @if let Some(owner) = &item.owner { "Of " (owner) ". " }
                "Priority " (item.priority) "."
                @if let Some(age) = item.age_seconds { " Made " (crate::snapshot::age::duration_words(age)) " ago." }
                @if !item.asks.is_empty() { " Requests: " (item.asks.join("; ")) "." }
            }
            @if let Some(placement) = &item.placement {
                p {
                    (placement.fits) " of " (placement.wanted) " pods fit"
                    @if !placement.nodes.is_empty() {
                        ": "
                        (placement.nodes.iter().map(|n| format!("{} on {}", n.pods, n.name)).collect::<Vec<_>>().join(", "))
                    }
                    "."
                }
            }
            (parts::findings(&item.findings))
            @if let Some(says) = &item.scheduler { (scheduler(says, item)) }
            @if let Some(says) = &item.preemption { (preemption(says)) }
        }
    }
}

fn tone(item: &PendingItem) -> Tone {
    let helped = item.preemption.as_ref().is_some_and(|p| p.possible);
    let fits = item.scheduler.as_ref().is_some_and(|s| !s.fits.is_empty());
    match item.stage {
        "unscheduled" | "not-created" if !helped && !fits => Tone::Bad,
        "unknown" => Tone::Faint,
        _ => Tone::Waiting,
    }
}

fn scheduler(says: &SchedulerSays, item: &PendingItem) -> Markup {
    let helps = item.preemption.as_ref().is_some_and(|p| p.possible);
    html! {
        @if !says.message.is_empty() {
            h4 { "What the scheduler says" }
            pre { (says.message) }
        }
        @if !says.fits.is_empty() { p { "The pod fits on " (parts::some(says.fits.iter(), 10)) "." } }
        @if !says.groups.is_empty() {
            (parts::table(
                &format!("What speaks against the nodes for {}/{}", item.namespace, item.name),
                &[Number("Nodes"), Words("Names"), Words("Why not"), Words("Preemption")],
                &html! { @for group in &says.groups { (group_row(group, helps)) } },
            ))
        }
    }
}

fn group_row(group: &ReasonGroup, helps: bool) -> Markup {
    let resolvable = helps && group.reasons.iter().all(|r| r.resolvable);
    html! {
        tr {
            td.number { (group.count) }
            td {
                (group.nodes.join(", "))
                @if group.count > group.nodes.len() { " and " (group.count - group.nodes.len()) " more" }
            }
            td.words { @for reason in &group.reasons { div { (reason.message) " " span.soft { "(" (reason.plugin) ")" } } } }
            td { (if resolvable { "could help" } else { "would not help" }) }
        }
    }
}

fn preemption(says: &PreemptionSays) -> Markup {
    html! {
        @if let Some(node) = &says.node {
            h4 { "What preemption would do" }
            p {
                "The scheduler would make room on " b { (node) } " by evicting " (parts::some(says.victims.iter(), 10))
                @if says.budget_violations > 0 { ", " (says.budget_violations) " of them against their budget" }
                "."
            }
        }
    }
}
