//! The picture of a drain plan: what is in no round and then the rounds from top to bottom, in each its nodes, in each node a mark for every pod.
//! It is drawn twice, for narrow and for wide screens; the page shows one of them.

use crate::drain::outcome::Outcome;
use crate::lists::count;
use crate::report::plan::{DrainPlan, NodeReport, PodReport};
use maud::{Markup, html};

/// Nodes of a round that are drawn; the table below has them all.
const DRAWN: usize = 48;
/// A node's box, and the marks in it.
const BOX: (usize, usize) = (176, 84);
const GAP: usize = 12;
const MARK: usize = 10;
const IN_A_ROW: usize = 12;
const ROWS: usize = 2;
/// Letters of a node's name that fit into its box.
const NAME: usize = 19;
/// Room for the heading of a round.
const HEADING: usize = 28;

/// A row of the picture.
struct Round<'a> {
    title: String,
    nodes: Vec<&'a NodeReport>,
}

/// Both pictures.
pub fn picture(plan: &DrainPlan) -> Markup {
    let (rounds, domain) = (rounds(plan), domain(plan));
    html! {
        figure {
            (drawing(&rounds, domain, 2, "narrow"))
            (drawing(&rounds, domain, 6, "wide"))
            figcaption.soft {
                "A box is a node, in a dashed frame if it waits, in a thick one if it is blocked. A mark is a pod: "
                @for (at, (mark, words)) in Mark::ALL.iter().enumerate() {
                    @if at > 0 { ", " }
                    svg.key aria-hidden="true" viewBox={ "-1 -1 " (MARK + 2) " " (MARK + 2) } { (mark.at(0, 0)) }
                    " " (words)
                }
                "."
            }
        }
    }
}

/// What becomes of a pod. Each has a shape of its own: colours only help to find it.
#[derive(Clone, Copy)]
enum Mark {
    Stuck,
    Unknown,
    Waits,
    Gone,
    LeftAlone,
}

impl Mark {
    const ALL: [(Self, &str); 5] = [
        (Self::Stuck, "blocked"),
        (Self::Unknown, "unknown"),
        (Self::Waits, "evicted after waiting"),
        (Self::Gone, "evicted immediately"),
        (Self::LeftAlone, "ignored"),
    ];

    fn of(pod: &PodReport) -> Self {
        match pod.outcome {
            Outcome::Stays if pod.is_ignored() => Self::LeftAlone,
            Outcome::Stays => Self::Stuck,
            Outcome::Unknown => Self::Unknown,
            Outcome::Waits => Self::Waits,
            Outcome::Gone => Self::Gone,
        }
    }

    /// Drawn with its upper left corner at a place.
    fn at(self, x: usize, y: usize) -> Markup {
        let line = |class: &str, line: &str| html! { path class=(class) d={ "M" (x) " " (y) (line) } {} };
        let square = |class: &str, rx: usize, inset: usize| {
            let side = MARK - 2 * inset;
            html! { rect class=(class) x=(x + inset) y=(y + inset) width=(side) height=(side) rx=(rx) {} }
        };
        match self {
            Self::Stuck => line("stuck", "m1 1l8 8m0-8l-8 8"),
            Self::Unknown => line("pod none", "m5 0l5 10h-10z"),
            Self::Waits => square("pod wait", MARK / 2, 0),
            Self::Gone => square("pod good", 2, 0),
            Self::LeftAlone => square("pod", 0, 2),
        }
    }
}

fn rounds(plan: &DrainPlan) -> Vec<Round<'_>> {
    let named = |name: &str| plan.nodes.iter().find(|n| *n.name == *name);
    let rest: Vec<&NodeReport> = plan.nodes.iter().filter(|n| plan.round_of(n).is_none()).collect();
    let rest = (!rest.is_empty()).then(|| Round { title: "Blocked, drain later".to_owned(), nodes: rest });
    let rounds = plan.order.iter().enumerate().map(|(at, names)| Round {
        title: format!("Round {}", at + 1),
        nodes: names.iter().filter_map(|n| named(n)).collect(),
    });
    rest.into_iter().chain(rounds).collect()
}

/// What all names end with, from their first dot on: it tells no node from another.
fn domain(plan: &DrainPlan) -> &str {
    let [first, _, ..] = &*plan.nodes else { return "" };
    let domain = first.name.find('.').and_then(|at| first.name.get(at..)).unwrap_or_default();
    if plan.nodes.iter().all(|n| n.name.ends_with(domain)) { domain } else { "" }
}

/// As much of a node's name as fits: both its ends, as either may be what tells it from others.
fn label(name: &str, domain: &str) -> String {
    let host = name.strip_suffix(domain).unwrap_or(name);
    let letters = host.chars().count();
    if letters <= NAME {
        return host.to_owned();
    }
    let end = host.chars().skip(letters - NAME / 2);
    host.chars().take(NAME - NAME / 2 - 1).chain(['…']).chain(end).collect()
}

fn drawing(rounds: &[Round<'_>], domain: &str, columns: usize, class: &str) -> Markup {
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
                text.name x="2" y=(top + 18) {
                    (round.title)
                    @if round.nodes.len() > DRAWN {
                        tspan.note dx="12" { (DRAWN) " of " (round.nodes.len()) " nodes" }
                    }
                }
                @for (at, node) in round.nodes.iter().take(DRAWN).enumerate() {
                    @let x = 2 + (at % columns) * (BOX.0 + GAP);
                    @let y = top + HEADING + (at / columns) * (BOX.1 + GAP);
                    (node_box(node, &label(&node.name, domain), x, y))
                }
            }
        }
    }
}

/// The picture for those who do not see it: a summary, as the table below has every node.
fn in_words(rounds: &[Round<'_>]) -> String {
    let words = rounds.iter().map(|round| {
        let mut counted: Vec<(&str, usize)> = Vec::new();
        for verdict in round.nodes.iter().map(|n| drawn_verdict(n)) {
            match counted.iter_mut().find(|(word, _)| *word == verdict) {
                Some((_, count)) => *count += 1,
                None => counted.push((verdict, 1)),
            }
        }
        let counted: Vec<String> = counted.iter().map(|(word, count)| format!("{count} {word}")).collect();
        format!("{}: {} ({})", round.title, count(round.nodes.len(), "node"), counted.join(", "))
    });
    words.collect::<Vec<_>>().join(". ")
}

/// A round is drained after the rounds before it: there it matters how a node's drain ends alone.
fn drawn_verdict(node: &NodeReport) -> &'static str {
    node.alone.as_str()
}

fn node_box(node: &NodeReport, name: &str, x: usize, y: usize) -> Markup {
    let pods = node.worst_first();
    let verdict = drawn_verdict(node);
    // The pods' outcomes are those of the command as given, which are others where the verdict is another.
    let most = if node.verdict == node.alone { IN_A_ROW * ROWS } else { 0 };
    let (drawn, more) = (pods.len().min(most), pods.len().saturating_sub(most));
    html! {
        rect class={ "box " (verdict) } x=(x) y=(y) width=(BOX.0) height=(BOX.1) rx="6" {}
        text.name x=(x + 10) y=(y + 19) { (name) }
        text.note x=(x + 10) y=(y + 37) {
            (verdict) ", " (pods.len()) @if pods.len() == 1 { " pod" } @else { " pods" }
            @if more > 0 && drawn > 0 { " (" (drawn) " drawn)" }
        }
        @for (at, pod) in pods.iter().take(drawn).enumerate() {
            (Mark::of(pod).at(x + 10 + (at % IN_A_ROW) * (MARK + 3), y + 47 + (at / IN_A_ROW) * (MARK + 4)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_in_a_box() {
        assert_eq!(label("n1", ""), "n1");
        assert_eq!(label("ip-10-0-0-1.eu.internal", ".eu.internal"), "ip-10-0-0-1");
        assert_eq!(label("gke-prod-default-pool-1a2b3c4d-x1yz", ""), "gke-prod-…3c4d-x1yz");
        assert_eq!(label("gke-prod-default-pool-1a2b3c4d-x1yz", "").chars().count(), NAME);
    }
}
