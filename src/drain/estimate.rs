//! How long a drain takes: grace periods, start-up times as they were observed, and kubectl's retries.

use super::ground::{Candidate, Ground};
use super::owners::STARTUP_GUESS;
use super::simulate::{NodeRun, RETRY};
use crate::snapshot::age::duration_words;

/// How long a drain takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// How many passes let something go.
    pub steps: u32,
    /// Seconds until the last pod that goes is gone, at the most as far as grace periods tell.
    pub seconds: i64,
    /// What it rests on.
    pub basis: String,
}

impl Estimate {
    /// The estimate of a drain that was simulated.
    pub fn new(ground: &Ground<'_>, candidates: &[Candidate], run: &NodeRun) -> Self {
        let going = || run.attempts.iter().filter(|a| a.step.is_some()).filter_map(|a| candidates.get(a.candidate));
        let running = going().filter(|c| !c.pod.is_finished());
        let grace = running.map(|c| ground.options.grace(&c.pod)).max().unwrap_or_default();
        let mut basis = vec![format!("every pod uses its grace period (up to {})", duration_words(grace))];
        if run.steps > 1 {
            let observed: Vec<i64> =
                going().filter_map(|c| ground.owners.of(&c.pod)).filter_map(|o| o.startup).collect();
            basis.push(match observed.iter().max() {
                Some(most) => format!("new pods start as its pods did (up to {})", duration_words(*most)),
                None => format!("new pods take {STARTUP_GUESS} s to start, as nothing tells"),
            });
            basis.push(format!("kubectl tries again every {RETRY} s"));
        }
        let hangs = run.attempts.iter().any(|a| a.step.is_none() || !a.ends);
        if hangs {
            basis.push("then it hangs on what stays".to_owned());
        }
        Self { steps: run.steps, seconds: run.ended - run.began, basis: basis.join("; ") }
    }
}
