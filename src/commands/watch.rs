//! `-w` and `--wait`: the same answer again and again, of which only what changed is printed.

use crate::answer::{self, Answer};
use crate::cli::{Global, WatchArgs};
use crate::error::{Failure, FailureKind, Result};
use crate::input::{Input, Scope};
use crate::render::Format;
use crate::report::Need;
use crate::snapshot::Snapshot;
use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

/// What is repeated.
pub struct Repeated<'a, A, D> {
    /// The kinds it reads.
    pub needs: &'a [Need],
    /// Where it looks.
    pub scope: &'a Scope,
    /// Makes the answer.
    pub answer: A,
    /// Whether there is nothing left to wait for.
    pub done: D,
}

/// Answers once, or, with `-w` or `--wait`, until there is nothing left to wait for.
///
/// # Errors
/// Those of a reading; a server that is away for a while is one only at first. A wait that takes too long.
pub fn run<A, D>(args: &WatchArgs, global: &Global, repeated: &Repeated<'_, A, D>) -> Result<Answer>
where
    A: Fn(&Snapshot) -> Result<Answer>,
    D: Fn(&Snapshot) -> bool,
{
    let mut input = global.input()?;
    let mut snapshot = input.read(repeated.needs, repeated.scope)?;
    let end = args.wait.filter(|limit| !limit.is_zero()).map(|limit| Instant::now() + limit);
    let mut shown = String::new();
    loop {
        let answer = (repeated.answer)(&snapshot)?;
        if !args.watch && args.wait.is_none() {
            // The program ends, and taking a large cluster apart would take time.
            std::mem::forget(snapshot);
            return Ok(answer);
        }
        if args.watch {
            let text = changes(&shown, &answer.text, global.output().format);
            // What is warned of once stays so.
            let warnings = if shown.is_empty() { answer.warnings.clone() } else { Vec::new() };
            let nothing = answer.nothing.clone().filter(|_| shown.is_empty());
            answer::print(&Answer { text, warnings, nothing, status: answer.status });
            shown.clone_from(&answer.text);
        }
        if args.wait.is_some() && (repeated.done)(&snapshot) {
            let shown_already = Answer { status: answer.status, ..Answer::new(String::new()) };
            return Ok(if args.watch { shown_already } else { answer });
        }
        snapshot = loop {
            if end.is_some_and(|end| Instant::now() >= end) {
                return Err(Failure::new(FailureKind::NotFound, "what is waited for has not come in time")
                    .hint("give --wait more time, or look at what holds it up without --wait"));
            }
            thread::sleep(args.interval);
            if let Some(snapshot) = again(args.interval, &mut input, repeated)? {
                break snapshot;
            }
        };
    }
}

/// Reads once more; `None` while the server cannot be reached: it may be what is being upgraded.
fn again<A, D>(pause: Duration, input: &mut Input<'_>, repeated: &Repeated<'_, A, D>) -> Result<Option<Snapshot>> {
    match input.read(repeated.needs, repeated.scope) {
        Ok(snapshot) => Ok(Some(snapshot)),
        Err(failure) if failure.kind == FailureKind::NoCluster => {
            log::warn!("{failure}: trying again in {} s", pause.as_secs_f32());
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

/// What of `new` was not in `old`: of a table the rows that are new or differ, and those that are gone, as kubectl's
/// own watch does; a document is printed whole.
fn changes(old: &str, new: &str, format: Format) -> String {
    if old.is_empty() {
        return new.to_owned();
    }
    if matches!(format, Format::Json | Format::Yaml) {
        return if without_times(old) == without_times(new) { String::new() } else { new.to_owned() };
    }
    let before: HashSet<&str> = old.lines().collect();
    let names: HashSet<_> = new.lines().map(name).collect();
    let mut text = String::new();
    for line in new.lines().filter(|line| !line.trim().is_empty() && !before.contains(line)) {
        text.push_str(line);
        text.push('\n');
    }
    for line in old.lines().filter(|line| !line.trim().is_empty() && !names.contains(&name(line))) {
        text.push_str(line);
        text.push_str("   (removed)\n");
    }
    text
}

/// What a row is about: its first two words, which are namespace and name, or a name and what never changes.
fn name(line: &str) -> [Option<&str>; 2] {
    let mut words = line.split_whitespace();
    [words.next(), words.next()]
}

/// A document without the times that differ from one reading to the next.
fn without_times(document: &str) -> Vec<&str> {
    let is_time = |line: &str| {
        ["generatedAt", "now"]
            .contains(&line.trim_start_matches([' ', '"']).split(['"', ':']).next().unwrap_or_default())
    };
    document.lines().filter(|line| !is_time(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_shows_rows_that_changed() {
        let old = "NAMESPACE   NAME   ALLOWED\na           x      1\na           y      0\nb           z      2\n\n3 budgets\n";
        let new = "NAMESPACE   NAME   ALLOWED\na           x      1\na           y      1\na           n      0\n\n3 budgets\n";
        assert_eq!(changes("", old, Format::Text), old);
        assert_eq!(changes(old, old, Format::Text), "");
        let want = "a           y      1\na           n      0\nb           z      2   (removed)\n";
        assert_eq!(changes(old, new, Format::Text), want);
    }

    #[test]
    fn a_document_is_shown_whole_when_more_than_time_has_passed() {
        let json = |now: u8, allowed: u8| {
            format!(
                "{{\n  \"generatedAt\": \"{now}\",\n  \"source\": {{\n    \"now\": \"{now}\"\n  }},\n  \"allowed\": {allowed}\n}}\n"
            )
        };
        assert_eq!(changes(&json(1, 0), &json(2, 0), Format::Json), "");
        assert_eq!(changes(&json(1, 0), &json(2, 1), Format::Json), json(2, 1));
        let yaml = |now: u8, allowed: u8| format!("generatedAt: {now}\nsource:\n  now: {now}\nallowed: {allowed}\n");
        assert_eq!(changes(&yaml(1, 0), &yaml(2, 0), Format::Yaml), "");
        assert_eq!(changes(&yaml(1, 0), &yaml(2, 1), Format::Yaml), yaml(2, 1));
    }
}
