//! What `-v N` prints: the records of this program on standard error, and nobody else's.

use std::io::{self, Write};

use log::{Level, LevelFilter, Log, Metadata, Record};

/// Only this crate's records are shown. The libraries below it would name headers and bodies.
const TARGET: &str = env!("CARGO_CRATE_NAME");

struct Stderr;

impl Log for Stderr {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let target = metadata.target();
        metadata.level() <= log::max_level()
            && target.strip_prefix(TARGET).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            // Nothing is left to be done about a closed standard error.
            let _ = writeln!(io::stderr().lock(), "{}", line(record));
        }
    }

    fn flush(&self) {}
}

fn line(record: &Record<'_>) -> String {
    match record.level() {
        Level::Error => format!("error: {}", record.args()),
        Level::Warn => format!("warning: {}", record.args()),
        Level::Info | Level::Debug | Level::Trace => record.args().to_string(),
    }
}

/// The level that kubectl's `-v N` stands for here: warnings always, from 1 what was read with bytes and time,
/// from 6 every request.
#[must_use]
pub fn level(verbosity: u8) -> LevelFilter {
    match verbosity {
        0 => LevelFilter::Warn,
        1..=5 => LevelFilter::Info,
        6..=7 => LevelFilter::Debug,
        _ => LevelFilter::Trace,
    }
}

/// Starts logging to standard error. A second call only changes the level.
pub fn init(verbosity: u8) {
    // The one error is that a logger is set already, which is this one.
    let _ = log::set_logger(&Stderr);
    log::set_max_level(level(verbosity));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_kubectl() {
        let rows = [
            (0, LevelFilter::Warn),
            (1, LevelFilter::Info),
            (5, LevelFilter::Info),
            (6, LevelFilter::Debug),
            (9, LevelFilter::Trace),
        ];
        for (verbosity, want) in rows {
            assert_eq!(level(verbosity), want, "-v {verbosity}");
        }
    }

    #[test]
    fn only_this_crate_is_shown() {
        log::set_max_level(LevelFilter::Info);
        let enabled = |target| Stderr.enabled(&Metadata::builder().level(Level::Info).target(target).build());
        assert!(enabled("kubectl_pdb"));
        assert!(enabled("kubectl_pdb::cluster::client"));
        assert!(!enabled("kubectl_pdb_other"));
        assert!(!enabled("kube_client::client"));
    }

    #[test]
    fn warnings_say_what_they_are() {
        let text = line(&Record::builder().level(Level::Warn).args(format_args!("x")).build());
        assert_eq!(text, "warning: x");
        let text = line(&Record::builder().level(Level::Debug).args(format_args!("x")).build());
        assert_eq!(text, "x");
    }
}
