//! The picture of a drain plan: the rounds from top to bottom, in each its nodes, in each node a square for every pod.
//! It is drawn twice, for narrow and for wide screens; the page shows one of them.

use super::plan::{is_left_alone, round_of};
use crate::drain::outcome::Outcome;
use crate::render::table::cut;
use crate::report::plan::{DrainPlan, NodeReport, PodReport};
use maud::{Markup, html};

/// Nodes of a round that are drawn; the table below has them all.
const DRAWN: usize = 48;
/// A node's box, and the squares in it.
const BOX: (usize, usize) = (176, 84);
const GAP: usize = 12;
const SQUARE: usize = 10;
const IN_A_ROW: usize = 12;
const ROWS: usize = 2;
/// Room for the heading of a round.
const HEADING: usize = 28;

/// A row of the picture.
struct Round<'a> {
    title: String,
    nodes: Vec<&'a NodeReport>,
}

/// Both pictures.
pub fn picture(plan: &DrainPlan) -> Markup {
    let rounds = rounds(plan);
    html! {
        figure style="margin: 1rem 0" {
            (drawing(&rounds, 2, "narrow"))
            (drawing(&rounds, 6, "wide"))
            figcaption.soft {
                "A box is a node, a square is a pod: green goes at once, yellow waits, red stays, empty is left alone, \
                 grey is unknown. A node in a dashed frame waits, one in a thick frame is blocked."
            }
        }
    }
}

fn rounds(plan: &DrainPlan) -> Vec<Round<'_>> {
    let named = |name: &str| plan.nodes.iter().find(|n| *n.name == *name);
    let mut rounds: Vec<Round<'_>> = plan
        .order
        .iter()
        .enumerate()
        .map(|(at, names)| Round {
            title: format!("Round {}", at + 1),
            nodes: names.iter().filter_map(|n| named(n)).collect(),
        })
        .collect();
    let rest: Vec<&NodeReport> = plan.nodes.iter().filter(|n| round_of(plan, n).is_none()).collect();
    if !rest.is_empty() {
        rounds.push(Round { title: "Not before it is cured".to_owned(), nodes: rest });
    }
    rounds
}

fn drawing(rounds: &[Round<'_>], columns: usize, class: &str) -> Markup {
    let width = columns * (BOX.0 + GAP) - GAP + 4;
    let lines = |round: &Round<'_>| round.nodes.len().min(DRAWN).div_ceil(columns);
    let heights: Vec<usize> = rounds.iter().map(|r| HEADING + lines(r) * (BOX.1 + GAP)).collect();
    let tops = heights.iter().scan(0, |top, height| {
        let at = *top;
        *top += height;
        Some(at)
    });
    html! {
        svg class=(class) role="img" aria-label=(in_words(rounds)) viewBox={ "0 0 " (width) " " (heights.iter().sum::<usize>()) } {
            @for (round, top) in rounds.iter().zip(tops) {
                text.name x="2" y=(top + 18) { (round.title) }
                @if round.nodes.len() > DRAWN {
                    text.note x="90" y=(top + 18) { (DRAWN) " of " (round.nodes.len()) " nodes" }
                }
                @for (at, node) in round.nodes.iter().take(DRAWN).enumerate() {
                    @let x = 2 + (at % columns) * (BOX.0 + GAP);
                    @let y = top + HEADING + (at / columns) * (BOX.1 + GAP);
                    (node_box(node, x, y))
                }
            }
        }
    }
}

/// The picture for those who do not see it.
fn in_words(rounds: &[Round<'_>]) -> String {
    let words = rounds.iter().map(|round| {
        let names: Vec<String> =
            round.nodes.iter().take(DRAWN).map(|n| format!("{} {}", n.name, n.verdict.as_str())).collect();
        format!("{}: {}", round.title, names.join(", "))
    });
    words.collect::<Vec<_>>().join(". ")
}

fn node_box(node: &NodeReport, x: usize, y: usize) -> Markup {
    let pods = by_outcome(node);
    let (drawn, more) = (pods.len().min(IN_A_ROW * ROWS), pods.len().saturating_sub(IN_A_ROW * ROWS));
    html! {
        rect class={ "box " (node.verdict.as_str()) } x=(x) y=(y) width=(BOX.0) height=(BOX.1) rx="6" {}
        text.name x=(x + 10) y=(y + 19) { (cut(&node.name, 22)) }
        text.note x=(x + 10) y=(y + 37) {
            (node.verdict.as_str()) ", " (pods.len()) @if pods.len() == 1 { " pod" } @else { " pods" }
            @if more > 0 { " (" (drawn) " drawn)" }
        }
        @for (at, pod) in pods.iter().take(drawn).enumerate() {
            rect class={ "pod " (square(pod)) } width=(SQUARE) height=(SQUARE) rx="2"
                x=(x + 10 + (at % IN_A_ROW) * (SQUARE + 3)) y=(y + 47 + (at / IN_A_ROW) * (SQUARE + 4)) {}
        }
    }
}

/// The pods of a node, those that hold it up first.
fn by_outcome(node: &NodeReport) -> Vec<&PodReport> {
    let rank = |pod: &PodReport| match (pod.outcome, is_left_alone(pod)) {
        (Outcome::Stays, false) => 0,
        (Outcome::Unknown, _) => 1,
        (Outcome::Waits, _) => 2,
        (Outcome::Gone, _) => 3,
        (Outcome::Stays, true) => 4,
    };
    let mut pods: Vec<&PodReport> = node.pods.iter().collect();
    pods.sort_by_key(|p| rank(p));
    pods
}

fn square(pod: &PodReport) -> &'static str {
    match pod.outcome {
        Outcome::Stays if !is_left_alone(pod) => "stuck",
        outcome => outcome.as_str(),
    }
}
