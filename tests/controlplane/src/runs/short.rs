//! The fixed set for every change: a few seeds of everything, on both versions, in some minutes.

use std::path::Path;

use anyhow::Result;

use super::{Settings, live, over_lanes, over_seeds, pending};
use crate::components::Version;
use crate::generate::pending::Purpose;
use crate::judge::Tally;
use crate::product::Product;
use crate::shared::Shared;

/// Runs it.
pub fn run(product: &Product, misses: &Path) -> Result<Tally> {
    let mut tally = Tally::default();
    for version in [Version::V1_36, Version::V1_37] {
        let settings = Settings::new(version, Some(product.clone()), misses.to_owned())?;
        eprintln!("{}", settings.components.version);
        let first = version == Version::V1_36;
        tally.merge(over_seeds(if first { 0..2 } else { 2..3 }, |seed| super::budgets::run(&settings, seed))?);
        tally.merge(pending::over(&settings, if first { 0..2 } else { 2..3 }, Purpose::Messages)?);
        tally.merge(pending::over(&settings, if first { 0..6 } else { 6..9 }, Purpose::Preemption)?);
        let shared = Shared::start(&settings)?;
        tally.merge(over_lanes(&(if first { 0..3 } else { 3..5 }), 6, |seed| {
            super::drain::run(&settings, &shared, seed)
        }));
        if first {
            tally.merge(live::run(&settings)?);
        }
    }
    Ok(tally)
}
