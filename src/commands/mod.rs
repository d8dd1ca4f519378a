//! The commands: each has its flags, the kinds it needs, a call of its engine, and a rendering.

pub mod check;
pub mod completion;
pub mod drain_plan;
pub mod explain;
pub mod man;
mod names;
pub mod options;
pub mod schema;
#[cfg(feature = "live")]
pub mod snapshot;
pub mod status;
mod watch;
pub mod why_pending;

use crate::error::{Failure, FailureKind, Result};
use crate::render::Format;
use crate::snapshot::coverage::ReadOutcome;
use crate::snapshot::{Kind, Snapshot, Twice, age};

/// Data from a file older than this is warned of.
const OLD: jiff::SignedDuration = jiff::SignedDuration::from_hours(1);

/// A warning where a snapshot from a file is older than an hour.
fn age_warning(snapshot: &Snapshot) -> Vec<String> {
    let old = jiff::Timestamp::now().duration_since(snapshot.now);
    if snapshot.source.files.is_empty() || old < OLD {
        return Vec::new();
    }
    let words = age::duration_words(old.as_secs());
    vec![format!(
        "the input is {words} old (its newest time is {:.0}): the cluster might have changed since",
        snapshot.now
    )]
}

/// Warnings about the input: how old it is, and what it has two states of.
pub fn input_warnings(snapshot: &Snapshot) -> Vec<String> {
    let mut all = age_warning(snapshot);
    let Twice { count, some } = &snapshot.twice;
    let names = some.join(", ");
    let more = if *count > some.len() { " and more" } else { "" };
    match count {
        0 => {}
        1 => all.push(format!("the input has {names} twice: the newer one counts (resourceVersion, else the later file)")),
        _ => all.push(format!(
            "the input has {count} objects twice ({names}{more}): the newer ones count (resourceVersion, else the later file)"
        )),
    }
    all
}

/// Makes sure that the kind was read that the whole answer is about.
///
/// # Errors
/// It may not be read, or could not be.
pub fn require(snapshot: &Snapshot, kind: Kind) -> Result<()> {
    match snapshot.coverage.of(kind) {
        ReadOutcome::Read | ReadOutcome::Absent | ReadOutcome::Partial(_) => Ok(()),
        ReadOutcome::Forbidden(words) => {
            Err(Failure::new(FailureKind::NoAccess, format!("forbidden: {words}")).hint(format!(
                "get a ClusterRole with the verb list on {}; the README has one with all that is read",
                kind.resource()
            )))
        }
        ReadOutcome::Failed(words) => {
            Err(Failure::new(FailureKind::BadInput, format!("{} cannot be read: {words}", kind.resource())))
        }
    }
}

/// The refusal of a format that a command does not write.
pub fn not_written(command: &str, format: Format) -> Failure {
    match format {
        Format::Sarif | Format::Junit | Format::Github => {
            Failure::usage(format!("{command} has no such form")).hint("-o sarif, junit and github are for check")
        }
        _ => Failure::usage(format!("{command} does not write this format"))
            .hint("-o html, jsonpath and custom-columns are for status, drain-plan, why-pending and check; -o csv for the first three"),
    }
}
