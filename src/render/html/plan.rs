//! The page of `drain-plan`: a picture of the rounds, the nodes that block first, then all.

use super::lanes::lanes;
use super::page::page;
use super::parts;
use super::parts::{Number, Words};
use super::picture::picture;
use crate::drain::actor::Actor;
use crate::drain::outcome::{Outcome, Verdict};
use crate::finding::Finding;
use crate::lists::count;
use crate::render::style::Tone;
use crate::report::Document;
use crate::report::digest::Told;
use crate::report::plan::{ActorReport, DrainPlan, NodeReport, PodReport, ReplacementReport};
use maud::{Markup, html};

/// The page.
pub fn plan(document: &Document<DrainPlan>) -> String {
    let plan = &document.body;
    let mut nodes: Vec<&NodeReport> = plan.nodes.iter().collect();
    nodes.sort_by_key(|n| n.rank());
    let lead = crate::render::plan::summary(&plan.nodes);
    let told: Vec<(usize, &NodeReport)> = nodes
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, n)| n.verdict != Verdict::Drains || !n.findings.is_empty())
        .collect();
    let is_typed = plan.actor.as_ref().is_none_or(|a| a.name == Actor::Kubectl.as_str());
    let body = html! {
        @if let Some(actor) = &plan.actor { (by(actor)) }
        @if let Some(timeline) = &plan.timeline {
            section {
                h2 { "Over time" }
                p { (timeline.summary()) }
                (lanes(timeline))
                p.soft { "Times are upper bounds: " (timeline.basis) "." }
            }
        }
        section {
            h2 { "In which order" }
            p { (order_in_words(plan)) }
            (picture(plan))
        }
        @if !told.is_empty() {
            section {
                h2 { "What blocks, is forced, waits, or is lost" }
                @for (at, node) in &told { (article(*at, node, is_typed)) }
            }
        }
        section {
            h2 { "All nodes" }
            (parts::table(
                "All nodes",
                &[
                    Words("Node"),
                    Words("Verdict"),
                    Words("Alone"),
                    Number("Round"),
                    Number("Pods"),
                    Number("About"),
                    Words("Command"),
                ],
                &html! { @for (at, node) in nodes.iter().enumerate() {
                    (row(at, node, plan.round_of(node), told.iter().any(|(t, _)| *t == at)))
                } },
            ))
        }
    };
    page("Drain plan", &lead, document, &body)
}

/// Who drains, and how.
fn by(actor: &ActorReport) -> Markup {
    html! {
        section {
            h2 { "By " (actor.title) }
            p { (actor.source) "." }
            details {
                summary { "How it drains a node" }
                dl { @for (setting, what) in &actor.settings { dt { (setting) } dd { (what) } } }
            }
        }
    }
}

fn order_in_words(plan: &DrainPlan) -> String {
    let left_out = plan.nodes.iter().filter(|n| plan.round_of(n).is_none()).count();
    let rounds = match plan.order.len() {
        0 => return "No node can be drained before it is unblocked.".to_owned(),
        1 => "1 round: all its nodes can be drained at the same time.".to_owned(),
        n => format!(
            "{n} rounds, one after the other; nodes in one round can be drained at the same time. At least {} are needed.",
            plan.lower_bound
        ),
    };
    match left_out {
        0 => rounds,
        1 => format!("{rounds} 1 node is in no round: unblock it first."),
        n => format!("{rounds} {n} nodes are in no round: unblock them first."),
    }
}

fn row(at: usize, n: &NodeReport, round: Option<usize>, linked: bool) -> Markup {
    html! {
        tr {
            td.name { @if linked { a href={ "#n" (at) } { (n.name) } } @else { (n.name) } }
            td { (parts::verdict(n.verdict.as_str())) }
            td { (n.alone.as_str()) }
            td.number { @match round { Some(round) => (round), None => "–" } }
            td.number { (n.pods.len()) }
            td.number { (seconds(n.estimate.seconds)) }
            td.words { code { (n.command) } }
        }
    }
}

fn seconds(seconds: i64) -> String {
    crate::snapshot::age::duration_words(seconds)
}

fn article(at: usize, n: &NodeReport, is_typed: bool) -> Markup {
    let mut fates: Vec<(&str, usize)> = Vec::new();
    for pod in n.worst_first() {
        match fates.iter_mut().find(|(fate, _)| *fate == pod.fate()) {
            Some((_, count)) => *count += 1,
            None => fates.push((pod.fate(), 1)),
        }
    }
    let leading = n.leading();
    let mut findings: Vec<&Finding> = n.findings.iter().collect();
    findings.sort_by_key(|f| leading != Some(*f));
    let fates: Vec<String> = fates.iter().map(|(fate, count)| format!("{count} {fate}")).collect();
    html! {
        article id={ "n" (at) } {
            header { h3 { (n.name) } (parts::verdict(n.verdict.as_str())) }
            @if let Some(finding) = leading { p { b { (finding.message) } } }
            p {
                (count(n.pods.len(), "pod")) @if !n.pods.is_empty() { ": " (fates.join(", ")) }
                "."
                @if let Some(takes) = n.duration() { " What is evicted ends in " (takes) "." }
            }
            @if is_typed { pre { (n.command) } }
            (parts::findings(findings))
            @if !n.pods.is_empty() {
                details {
                    summary { "All " (count(n.pods.len(), "pod")) " of " (n.name) }
                    (parts::table(
                        &format!("Pods of {}", n.name),
                        &[
                            Words("Pod"),
                            Words("Outcome"),
                            Number("Step"),
                            Words("Why"),
                            Words("Budgets"),
                            Words("Replacement"),
                        ],
                        &html! { @for pod in n.worst_first() { (pod_row(pod)) } },
                    ))
                }
            }
        }
    }
}

fn pod_row(pod: &PodReport) -> Markup {
    let codes: Vec<&str> = pod.codes.iter().map(|c| c.as_str()).collect();
    let tone = match pod.outcome {
        _ if pod.forced_at.is_some() => Tone::Bad,
        Outcome::Gone => Tone::Good,
        Outcome::Waits => Tone::Waiting,
        Outcome::Stays if pod.is_ignored() => Tone::Faint,
        Outcome::Stays => Tone::Bad,
        Outcome::Unknown => Tone::Faint,
    };
    html! {
        tr {
            td.name { (pod.namespace) "/" (pod.name) }
            td { span class={ "tag " (parts::class(tone)) } { (pod.fate()) } }
            td.number { @match pod.step { Some(step) => (step), None => "–" } }
            td.words { (pod.why.as_deref().unwrap_or("–")) @if !codes.is_empty() { " " span.soft { "(" (codes.join(", ")) ")" } } }
            td { (parts::some(pod.budgets.iter(), 4)) }
            td.words {
                @match &pod.replacement {
                    Some(ReplacementReport::Node(node)) => { "on " (node) }
                    Some(ReplacementReport::NewNode(new)) => { (new.why) }
                    Some(ReplacementReport::Unschedulable(words)) => { (words) }
                    None => "–",
                }
            }
        }
    }
}
