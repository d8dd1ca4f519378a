//! The page of `drain-plan`: a picture of the rounds, the nodes that block first, then all.

use super::page::page;
use super::parts;
use super::parts::{Number, Words};
use super::picture::{by_outcome, is_left_alone, picture, round_of};
use crate::drain::outcome::{Outcome, Verdict};
use crate::finding::Finding;
use crate::render::style::Tone;
use crate::report::Document;
use crate::report::plan::{DrainPlan, NodeReport, PodReport, ReplacementReport};
use maud::{Markup, html};

/// What needs somebody first.
const ORDER: &[(Verdict, &str)] = &[
    (Verdict::Blocked, "blocked"),
    (Verdict::Unknown, "unknown"),
    (Verdict::Waits, "waits"),
    (Verdict::Drains, "drains"),
];
const OUTCOMES: &[(Outcome, &str)] = &[
    (Outcome::Stays, "stays"),
    (Outcome::Unknown, "unknown"),
    (Outcome::Waits, "waits"),
    (Outcome::Gone, "gone at once"),
];

/// The page.
pub fn plan(document: &Document<DrainPlan>) -> String {
    let plan = &document.body;
    let mut nodes: Vec<&NodeReport> = plan.nodes.iter().collect();
    nodes.sort_by_key(|n| ORDER.iter().position(|(v, _)| *v == n.verdict));
    let verdicts: Vec<Verdict> = nodes.iter().map(|n| n.verdict).collect();
    let lead = format!("{}: {}.", parts::count(nodes.len(), "node"), parts::counted(&verdicts, ORDER));
    let told: Vec<(usize, &NodeReport)> = nodes
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, n)| n.verdict != Verdict::Drains || !n.findings.is_empty())
        .collect();
    let body = html! {
        section {
            h2 { "In which order" }
            p { (order_in_words(plan)) }
            (picture(plan))
        }
        @if !told.is_empty() {
            section {
                h2 { "What blocks, waits, or is lost" }
                @for (at, node) in &told { (article(*at, node)) }
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
                    (row(at, node, round_of(plan, node), told.iter().any(|(t, _)| *t == at)))
                } },
            ))
        }
    };
    page("Drain plan", &lead, document, &body)
}

fn order_in_words(plan: &DrainPlan) -> String {
    let left_out = plan.nodes.iter().filter(|n| round_of(plan, n).is_none()).count();
    let rounds = match plan.order.len() {
        0 => return "No node can be drained before what blocks it is cured.".to_owned(),
        1 => "One round: all nodes in it may be drained at the same time.".to_owned(),
        n => format!(
            "{n} rounds, one after the other; nodes in one round may be drained at the same time. No order needs fewer \
             than {}.",
            plan.lower_bound
        ),
    };
    match left_out {
        0 => rounds,
        1 => format!("{rounds} One node is in none: it has to be cured first."),
        n => format!("{rounds} {n} nodes are in none: they have to be cured first."),
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

fn article(at: usize, n: &NodeReport) -> Markup {
    let outcomes: Vec<Outcome> = n.pods.iter().map(|p| p.outcome).collect();
    html! {
        article id={ "n" (at) } {
            header { h3 { (n.name) } (parts::verdict(n.verdict.as_str())) }
            p {
                (parts::count(n.pods.len(), "pod")) @if !n.pods.is_empty() { ": " (parts::counted(&outcomes, OUTCOMES)) }
                ". About " (seconds(n.estimate.seconds)) " for those that go (" (n.estimate.basis) ")."
            }
            pre { (n.command) }
            (parts::findings(blocking_first(n)))
            @if !n.pods.is_empty() {
                details {
                    summary { "All " (parts::count(n.pods.len(), "pod")) " of " (n.name) }
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
                        &html! { @for pod in by_outcome(n) { (pod_row(pod)) } },
                    ))
                }
            }
        }
    }
}

/// A node's findings, those about pods that hold it up first.
fn blocking_first(n: &NodeReport) -> Vec<&Finding> {
    let stuck = n.pods.iter().filter(|p| p.outcome == Outcome::Stays && !is_left_alone(p));
    let stuck: Vec<String> = stuck.map(|p| format!("Pod/{}/{}", p.namespace, p.name)).collect();
    let mut findings: Vec<&Finding> = n.findings.iter().collect();
    findings.sort_by_key(|f| !f.objects.iter().any(|object| stuck.contains(object)));
    findings
}

fn pod_row(pod: &PodReport) -> Markup {
    let codes: Vec<&str> = pod.codes.iter().map(|c| c.as_str()).collect();
    let tone = match pod.outcome {
        Outcome::Gone => Tone::Good,
        Outcome::Waits => Tone::Waiting,
        Outcome::Stays if is_left_alone(pod) => Tone::Faint,
        Outcome::Stays => Tone::Bad,
        Outcome::Unknown => Tone::Faint,
    };
    html! {
        tr {
            td.name { (pod.namespace) "/" (pod.name) }
            td { span class={ "tag " (parts::class(tone)) } { (pod.outcome.as_str()) } }
            td.number { @match pod.step { Some(step) => (step), None => "–" } }
            td.words { (codes.join(", ")) }
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
