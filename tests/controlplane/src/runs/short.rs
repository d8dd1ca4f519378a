//! The fixed set for every change: a few seeds of everything, on both versions, in some ten minutes.

use std::ops::Range;
use std::path::Path;

use anyhow::Result;

use super::cures::{self, Subject};
use super::{Settings, budgets, check, devices, drain, live, over_lanes, over_seeds, pending};
use crate::components::Version;
use crate::generate::pending::Purpose;
use crate::judge::Tally;
use crate::product::Product;
use crate::shared::Shared;

/// The seeds of one version.
struct Seeds {
    version: Version,
    budgets: Range<u64>,
    pending: Range<u64>,
    preempt: Range<u64>,
    devices: Range<u64>,
    drain: Range<u64>,
    check: Range<u64>,
    /// Two versions together go through all ways in which a drain is blocked and a pod Pending.
    blocked: Range<u64>,
    stuck: Range<u64>,
}

const FIRST: Seeds = Seeds {
    version: Version::V1_36,
    budgets: 0..2,
    pending: 0..2,
    preempt: 0..6,
    devices: 0..2,
    drain: 0..12,
    check: 0..6,
    blocked: 0..12,
    stuck: 0..14,
};

const SECOND: Seeds = Seeds {
    version: Version::V1_37,
    budgets: 2..3,
    pending: 2..3,
    preempt: 6..9,
    devices: 2..4,
    drain: 12..20,
    check: 6..10,
    blocked: 12..22,
    stuck: 14..27,
};

/// Seeds in which the product is known to be wrong, which are to become none; and one of `drain` in which chance decides which
/// new pod gets the room that is left.
const WRONG: [(&str, &[u64]); 3] = [("drain", &[8]), ("blocked", &[6]), ("pending", &[22])];

/// How many worlds there are at the same time.
const LANES: usize = 6;

/// Runs it.
pub fn run(product: &Product, misses: &Path) -> Result<Tally> {
    let mut tally = Tally::default();
    for seeds in [FIRST, SECOND] {
        let settings = Settings::new(seeds.version, Some(product.clone()), misses.to_owned())?;
        eprintln!("{}", settings.components.version);
        tally.merge(over_seeds(seeds.budgets, |seed| budgets::run(&settings, seed))?);
        tally.merge(pending::over(&settings, seeds.pending, Purpose::Messages)?);
        tally.merge(pending::over(&settings, seeds.preempt, Purpose::Preemption)?);
        tally.merge(devices::over(&settings, seeds.devices)?);
        let shared = Shared::start(&settings)?;
        tally.merge(over_lanes(right("drain", seeds.drain), LANES, |seed| drain::run(&settings, &shared, seed)));
        tally.merge(over_lanes(seeds.check, LANES, |seed| check::run(&settings, &shared, seed)));
        for (subject, name, seeds) in
            [(Subject::Drain, "blocked", seeds.blocked), (Subject::Pending, "pending", seeds.stuck)]
        {
            tally.merge(over_lanes(right(name, seeds), LANES, |seed| cures::run(&settings, &shared, subject, seed)));
        }
        drop(shared);
        if seeds.version == FIRST.version {
            tally.merge(live::run(&settings)?);
        }
    }
    Ok(tally)
}

/// The seeds without those in which the product is known to be wrong.
fn right(what: &str, seeds: Range<u64>) -> impl Iterator<Item = u64> {
    let wrong: Vec<u64> =
        WRONG.iter().filter(|(name, _)| *name == what).flat_map(|(_, seeds)| seeds.iter().copied()).collect();
    seeds.filter(move |seed| !wrong.contains(seed))
}
