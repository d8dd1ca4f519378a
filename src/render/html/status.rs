//! The page of `status`: the budgets that block first, then all.

use super::page::page;
use super::parts;
use super::parts::{Number, Words};
use crate::lists::count;
use crate::render::style::Tone;
use crate::report::Document;
use crate::report::digest::Told;
use crate::report::status::{BudgetStatus, BudgetStatusList, PodReport};
use maud::{Markup, html};

/// The page.
pub fn status(document: &Document<BudgetStatusList>) -> String {
    let mut items: Vec<&BudgetStatus> = document.body.items.iter().collect();
    items.sort_by_key(|b| b.rank());
    let lead = match items.len() {
        0 => "No PodDisruptionBudgets were found.".to_owned(),
        _ => crate::render::status::summary(&document.body.items),
    };
    let telling = BudgetStatus::is_problem;
    let told: Vec<(usize, &BudgetStatus)> = items.iter().copied().enumerate().filter(|(_, b)| telling(b)).collect();
    let body = html! {
        @if !told.is_empty() {
            section {
                h2 { "Problems" }
                @for (at, budget) in &told { (article(*at, budget)) }
            }
        }
        @if !items.is_empty() {
            section {
                h2 { "All budgets" }
                (parts::table(
                    "All budgets",
                    &[Words("Budget"), Words("Rule"), Number("Healthy"), Number("Needed"), Number("Allowed"), Words("Verdict")],
                    &html! { @for (at, budget) in items.iter().enumerate() { (row(at, budget, telling(budget))) } },
                ))
            }
        }
    };
    page("Disruption budgets", &lead, document, &body)
}

fn rule(b: &BudgetStatus) -> String {
    match (&b.rule.min_available, &b.rule.max_unavailable) {
        (Some(v), _) => format!("minAvailable {v}"),
        (_, Some(v)) => format!("maxUnavailable {v}"),
        _ => "no rule".to_owned(),
    }
}

fn row(at: usize, b: &BudgetStatus, linked: bool) -> Markup {
    html! {
        tr {
            td.name { @if linked { a href={ "#b" (at) } { (b.path()) } } @else { (b.path()) } }
            td { (rule(b)) }
            td.number { (b.current_healthy) " of " (b.expected_pods) }
            td.number { (b.desired_healthy) }
            td.number { (b.disruptions_allowed) }
            td { (parts::verdict(b.verdict.as_str())) }
        }
    }
}

fn article(at: usize, b: &BudgetStatus) -> Markup {
    let blocked = b.pods.iter().filter(|p| p.eviction.code != 201).count();
    html! {
        article id={ "b" (at) } {
            header { h3 { (b.namespace) "/" (b.name) } (parts::verdict(b.verdict.as_str())) }
            p {
                (rule(b)) ": " (b.current_healthy) " healthy of " (b.expected_pods) " expected, " (b.desired_healthy)
                " needed, " b { (b.disruptions_allowed) " allowed" }
                @if !b.reported.in_sync {
                    " (the controller reports " (b.reported.disruptions_allowed) " allowed, and is behind)"
                }
            }
            (parts::findings(&b.findings))
            @if !b.pods.is_empty() {
                details {
                    summary { (count(b.pods.len(), "pod")) ", of which " (blocked) " cannot be evicted now" }
                    (parts::table(
                        &format!("Pods of {}/{}", b.namespace, b.name),
                        &[Words("Pod"), Words("Node"), Words("State"), Words("Counted"), Words("If evicted now")],
                        &html! { @for pod in &b.pods { (pod_row(pod)) } },
                    ))
                }
            }
        }
    }
}

fn pod_row(pod: &PodReport) -> Markup {
    let (tone, word) = match (pod.eviction.code, pod.eviction.bypass) {
        (201, true) => (Tone::Good, "evicted, does not use the budget"),
        (201, false) => (Tone::Good, "evicted"),
        (429, _) => (Tone::Waiting, "refused"),
        _ => (Tone::Bad, "error"),
    };
    html! {
        tr {
            td.name { (pod.name) }
            td.name { (pod.node.as_deref().unwrap_or("–")) }
            td { (pod.phase) @if !pod.ready { ", not Ready" } }
            td { (if pod.counted { "yes" } else { "no" }) }
            td.words {
                span class={ "tag " (parts::class(tone)) } { (word) " (" (pod.eviction.code) ")" } " "
                (pod.eviction.message)
            }
        }
    }
}
