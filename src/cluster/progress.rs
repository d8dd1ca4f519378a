//! What is said while the cluster is read: a counter where a person waits, and a word where the server makes one wait.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Told what goes on. Called from the thread that talks to the server.
pub trait Observer: Send + Sync {
    /// `path` is asked for once more after `wait`, for the reason given.
    fn retrying(&self, path: &str, why: &str, wait: Duration) {
        let _ = (path, why, wait);
    }

    /// Something more was read: `bytes` so far in all lists, and `items` of `total` in those that need several pages.
    fn read(&self, items: u64, total: u64, bytes: u64) {
        let _ = (items, total, bytes);
    }

    /// A little time has passed.
    fn tick(&self) {}

    /// All lists are read, or the reading has failed.
    fn done(&self) {}
}

/// Says nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {}

/// Speaks on standard error: of retries always, of progress once a second has passed, if it is a terminal.
#[derive(Debug)]
pub struct Terminal {
    is_terminal: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    started: Option<Instant>,
    items: u64,
    total: u64,
    bytes: u64,
    /// Whether a counter stands on the line, and has to go before anything else is written there.
    shown: bool,
}

const PATIENCE: Duration = Duration::from_secs(1);

impl Terminal {
    /// An observer that speaks on standard error.
    #[must_use]
    pub fn new() -> Self {
        Self {
            is_terminal: io::stderr().is_terminal(),
            state: Mutex::new(State { started: None, items: 0, total: 0, bytes: 0, shown: false }),
        }
    }

    fn with(&self, change: impl FnOnce(&mut State, &mut dyn Write)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state, &mut io::stderr().lock());
    }
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    fn erase(&mut self, out: &mut dyn Write) {
        if self.shown {
            let _ = write!(out, "\r\x1b[K");
            self.shown = false;
        }
    }

    fn line(&self, waited: Duration) -> String {
        let seconds = waited.as_secs();
        if self.bytes == 0 {
            return format!("waiting for the API server ({seconds} s)");
        }
        let objects =
            if self.total > 0 { format!(", {} of {} objects", self.items, self.total) } else { String::new() };
        format!("read {:.1} MB{objects} ({seconds} s)", self.bytes as f64 / 1e6)
    }
}

impl Observer for Terminal {
    fn retrying(&self, path: &str, why: &str, wait: Duration) {
        // The reason is the server's text: its control characters stay off the terminal.
        let why: String = why.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.with(|state, out| {
            state.erase(out);
            let _ = writeln!(out, "{path}: {why}: asking again in {:.1} s", wait.as_secs_f32());
        });
    }

    fn read(&self, items: u64, total: u64, bytes: u64) {
        self.with(|state, _| (state.items, state.total, state.bytes) = (items, total, bytes));
    }

    fn tick(&self) {
        self.with(|state, out| {
            let waited = state.started.get_or_insert_with(Instant::now).elapsed();
            if self.is_terminal && waited >= PATIENCE {
                let _ = write!(out, "\r{}\x1b[K", state.line(waited));
                let _ = out.flush();
                state.shown = true;
            }
        });
    }

    fn done(&self) {
        self.with(|state, out| {
            state.erase(out);
            state.started = None;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_says_what_it_knows() {
        let line = |items, total, bytes| {
            State { started: None, items, total, bytes, shown: false }.line(Duration::from_millis(2900))
        };
        assert_eq!(line(0, 0, 0), "waiting for the API server (2 s)");
        assert_eq!(line(1500, 30000, 12_345_678), "read 12.3 MB, 1500 of 30000 objects (2 s)");
        assert_eq!(line(0, 0, 1_000_000), "read 1.0 MB (2 s)");
    }
}
