//! The short answer about many: a line that counts, then only problems, those of one cause together, each with its fix.

use super::Screen;
use super::style::{Tone, paint, safe};
use super::table::wrap;
use crate::cure::Remedy;
use crate::lists::{count, some};
use crate::report::Source;
use crate::report::digest::{Group, Told};
use crate::shell::quote;
use std::collections::HashMap;

/// An answer about many has no more lines than this, unless all rows are asked for.
pub const SCREEN: usize = 50;
/// More rows than this are told by their causes only.
pub const TABLE: usize = 20;
/// Items of a group that are told where there are many.
const NAMED: usize = 2;

/// How much is told of each group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Every item with its cause: a table without causes stands above.
    Each,
    /// No causes, as a table above has them.
    FixOnly,
    /// Two items of each group, and how many more there are.
    Few,
}

impl Depth {
    /// What is left to tell below a table of so many rows: whether it is shown, and whether its causes fit into it.
    pub fn below(rows: usize, shown: bool, causes_fit: bool) -> Self {
        match (shown, causes_fit) {
            (true, true) => Self::FixOnly,
            (true, false) if rows <= TABLE => Self::Each,
            _ => Self::Few,
        }
    }
}

/// How many lines the groups of an answer take at most below what is written of it: a few are for what follows them.
pub fn room(written: &str) -> usize {
    (SCREEN - 5).saturating_sub(written.lines().count())
}

/// An answer with so many rows: whole where that is `asked` for or no longer than a screen; else with a few items of each
/// group below its table, or without the table where both are too long. `with` writes it, with a table or without.
pub fn within_a_screen(rows: usize, asked: bool, causes_fit: bool, with: impl Fn(bool, Depth) -> String) -> String {
    let shown = asked || rows <= TABLE;
    let whole = with(shown, Depth::below(rows, shown, causes_fit));
    let fits = |text: &String| asked || text.lines().count() <= SCREEN;
    if fits(&whole) {
        return whole;
    }
    Some(with(shown, Depth::Few)).filter(fits).unwrap_or_else(|| with(false, Depth::Few))
}

/// The groups as text. `all` is the line that shows everything; where not all items are told, the groups take as many lines
/// as are `left`.
pub fn groups<T: Told>(
    groups: &[Group<'_, T>],
    source: &Source,
    screen: &Screen,
    depth: Depth,
    all: &str,
    mut left: usize,
) -> String {
    let mut out = String::new();
    for (at, group) in groups.iter().enumerate() {
        let text = one(group, source, screen, depth);
        let lines = text.lines().count();
        if depth == Depth::Few && lines > left {
            let rest = &groups[at..];
            let named = rest.iter().map(|group| {
                let code = group.code.map_or_else(String::new, |code| format!(" ({code})"));
                format!("{}: {}{code}", group.verdict, count(group.weight(), T::KIND))
            });
            let words = format!("and {}: {}: {all}", count(rest.len(), "more cause"), some(named, 4));
            out.push_str(&format!("\n{}\n", wrap(&safe(&words), screen.prose_width(), 2)));
            break;
        }
        left = left.saturating_sub(lines);
        out.push_str(&text);
    }
    out
}

fn one<T: Told>(group: &Group<'_, T>, source: &Source, screen: &Screen, depth: Depth) -> String {
    let width = screen.prose_width();
    let tone = Tone::of_verdict(group.verdict);
    let code = group.code.map_or_else(String::new, |code| format!(" ({code})"));
    let mut out = format!("\n{}: {}{code}\n", paint(group.verdict, tone), count(group.weight(), T::KIND));
    let named = match depth {
        Depth::Each => group.items.len(),
        Depth::Few => NAMED,
        Depth::FixOnly => 0,
    };
    // What has the same words is told once.
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut others: Vec<String> = Vec::new();
    for item in &group.items {
        let cause = item.cause();
        let at = known.get(&cause).copied().filter(|_| !cause.is_empty());
        let room = told.len() < named;
        match at.and_then(|at| told.get_mut(at)) {
            Some((_, names)) => names.push(item.path()),
            None if room => {
                known.insert(cause.clone(), told.len());
                told.push((cause, vec![item.path()]));
            }
            None => others.push(item.path()),
        }
    }
    for (cause, names) in &told {
        let cause = if cause.is_empty() { String::new() } else { format!(": {cause}") };
        out.push_str(&format!("  {}\n", wrap(&safe(&format!("{}{cause}", some(names, 3))), width, 4)));
    }
    let more = others.len();
    if depth == Depth::FixOnly {
        let names: Vec<String> = group.items.iter().map(|i| i.path()).collect();
        out.push_str(&format!("  {}\n", wrap(&safe(&some(names, 4)), width, 4)));
    } else if more > 0 {
        out.push_str(&format!("  {}\n", wrap(&safe(&format!("and {more} more: {}", some(others, 2))), width, 4)));
    }
    let (item, remedy) = match group.fix() {
        Some((item, remedy)) => (Some(item), Some(remedy)),
        None => (group.items.first().copied(), None),
    };
    if let Some(remedy) = remedy {
        out.push_str(&format!("  {}\n", wrap(&safe(&fix(remedy)), width, 4)));
    }
    if let Some(item) = item {
        out.push_str(&format!("  more: {}\n", safe(&again(source, &item.more()))));
    }
    out
}

/// What can be done, in a line.
pub fn fix(remedy: &Remedy) -> String {
    let kind = if remedy.is_verified() { "fix" } else { "fix, not verified" };
    format!("{kind}: {}", remedy.text)
}

/// The line that asks the same input something else.
pub fn again(source: &Source, words: &[String]) -> String {
    let mut line = "kubectl pdb".to_owned();
    let mut push = |word: &str| {
        line.push(' ');
        line.push_str(&quote(word));
    };
    words.iter().for_each(|word| push(word));
    for file in &source.files {
        push("--from");
        push(file);
    }
    match &source.context {
        Some(context) if source.files.is_empty() => {
            push("--context");
            push(context);
        }
        _ => {}
    }
    line
}
