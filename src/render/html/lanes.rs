//! The picture of several drains over time: a line for each that can be under way at the same time, on it a bar for each
//! node from the beginning of its drain to the end. It is drawn twice, for narrow and for wide screens.

use crate::drain::timeline::{NodeTurn, Timeline};
use crate::lists::count;
use crate::snapshot::age::duration_words;
use maud::{Markup, html};

/// Lanes that are drawn; the table of the nodes has them all.
const DRAWN: usize = 24;
const HEIGHT: usize = 40;
const BAR: usize = 26;
/// Room for the name of a lane at the left, and for the times below.
const MARGIN: (usize, usize) = (60, 28);
/// A bar is so wide at the least, to be seen.
const LEAST: usize = 6;
/// Pixels of a letter, about.
const LETTER: usize = 8;

/// Both pictures; none where nothing is drained.
pub fn lanes(timeline: &Timeline) -> Markup {
    if timeline.turns.is_empty() {
        return html! {};
    }
    html! {
        figure {
            (drawing(timeline, 370, "narrow"))
            (drawing(timeline, 1120, "wide"))
            figcaption.soft {
                "A line is one of the drains that can be under way at the same time, a bar the drain of a node: in a dashed frame \
                 if it waits, in a thick one if it is blocked. A bar that is open at the right never ends; nodes that are not \
                 begun are not drawn."
            }
        }
    }
}

/// When the picture ends, in seconds: what never ends is drawn a little further than all that does.
fn end(timeline: &Timeline) -> i64 {
    let last =
        timeline.turns.iter().filter(|t| t.reached).map(|t| t.ends.unwrap_or(t.begins)).max().unwrap_or_default();
    let endless = timeline.turns.iter().any(|t| t.reached && t.ends.is_none());
    (if endless { last + last / 5 + 10 } else { last }).max(1)
}

fn drawing(timeline: &Timeline, width: usize, class: &str) -> Markup {
    let end = end(timeline);
    let lanes = timeline.parallel.min(timeline.turns.iter().map(|t| t.lane).max().unwrap_or(1));
    let drawn = lanes.min(DRAWN);
    let room = width - MARGIN.0 - 4;
    let at = |seconds: i64| {
        let seconds = usize::try_from(seconds.clamp(0, end)).unwrap_or_default();
        MARGIN.0 + room.saturating_mul(seconds) / usize::try_from(end).unwrap_or(1).max(1)
    };
    let bottom = drawn * HEIGHT;
    html! {
        svg class=(class) role="img" aria-label=(in_words(timeline)) viewBox={ "0 0 " (width) " " (bottom + MARGIN.1) } {
            @for lane in 1..=drawn {
                text.note x="2" y=(lane * HEIGHT - HEIGHT / 2 + 5) { "lane " (lane) }
                @for turn in timeline.turns.iter().filter(|t| t.reached && t.lane == lane) {
                    (bar(turn, at(turn.begins), at(turn.ends.unwrap_or(end)), (lane - 1) * HEIGHT + (HEIGHT - BAR) / 2))
                }
            }
            @for (quarter, anchor) in [(0, "start"), (2, "middle"), (4, "end")] {
                @let seconds = end / 4 * quarter + end % 4 * quarter / 4;
                text.note x=(at(seconds)) y=(bottom + 18) text-anchor=(anchor) { (duration_words(seconds)) }
            }
        }
    }
}

fn bar(turn: &NodeTurn, from: usize, to: usize, top: usize) -> Markup {
    let width = to.saturating_sub(from).max(LEAST);
    let letters = width.saturating_sub(12) / LETTER;
    let name: String = if turn.node.chars().count() <= letters {
        turn.node.to_string()
    } else {
        turn.node.chars().take(letters).collect()
    };
    let end = from + width;
    html! {
        @if turn.ends.is_some() {
            rect class={ "box " (turn.verdict.as_str()) } x=(from) y=(top) width=(width) height=(BAR) rx="4" {}
        } @else {
            path class={ "box " (turn.verdict.as_str()) } d={ "M" (end) " " (top) "H" (from) "V" (top + BAR) "H" (end) } {}
        }
        text.name x=(from + 6) y=(top + 18) { (name) }
    }
}

/// The picture for those who do not see it: a summary.
fn in_words(timeline: &Timeline) -> String {
    let begun = timeline.turns.iter().filter(|t| t.reached).count();
    format!("{} {} begun.", timeline.summary(), count(begun, "drain"))
}
