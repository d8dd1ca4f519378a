//! Random Pending pods: the scheduler's message word for word, and what preemption does.

use std::collections::BTreeSet;
use std::ops::Range;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Settings, over_seeds};
use crate::cases;
use crate::generate::pending::{Purpose, cluster};
use crate::judge::{self, Tally};
use crate::load::load;
use crate::plane::{Options, Plane};
use crate::reset::reset;
use crate::scheduling::{self, Scheduled};
use crate::snapshot::{self, key};

/// A control plane that is used for many seeds, one after the other.
pub struct Pending {
    plane: Plane,
    used: bool,
}

/// A snapshot and what the scheduler says to it.
pub struct Recorded {
    /// The List.
    pub list: Value,
    /// What the scheduler did.
    pub scheduled: Scheduled,
}

impl Pending {
    /// Starts the control plane.
    pub fn start(settings: &Settings) -> Result<Self> {
        Ok(Self { plane: Plane::start(&settings.components, &Options::default())?, used: false })
    }

    /// Makes the seed's cluster and asks the scheduler. For messages, pods that fit would change the state for the
    /// others: they are dropped and all starts afresh, until none fits.
    pub fn record(&mut self, seed: u64, purpose: Purpose) -> Result<Recorded> {
        let mut items = cluster(seed, purpose);
        for _ in 0..30 {
            let recorded = self.once(&items)?;
            let fits: BTreeSet<&String> = recorded.scheduled.bound().collect();
            if purpose == Purpose::Preemption || fits.is_empty() {
                return Ok(recorded);
            }
            items.retain(|item| item["kind"] != "Pod" || !fits.contains(&key(item)));
        }
        bail!("pods still fit after thirty rounds")
    }

    /// Loads the items into an empty control plane and lets the scheduler look.
    pub fn once(&mut self, items: &[Value]) -> Result<Recorded> {
        if self.used {
            reset(&mut self.plane)?;
        }
        self.used = true;
        let loaded = load(&self.plane.api, items)?;
        if let Some(refusal) = loaded.refused.first() {
            bail!("the API server does not take what was generated: {refusal}");
        }
        scheduling::settle_volumes(&mut self.plane)?;
        let list = snapshot::take(&self.plane)?;
        let scheduled = scheduling::ask(&mut self.plane)?;
        Ok(Recorded { list, scheduled })
    }

    /// One seed: generate, ask both, compare; a miss is written as a case.
    pub fn run(&mut self, settings: &Settings, seed: u64, purpose: Purpose) -> Result<Tally> {
        let recorded = self.record(seed, purpose)?;
        let name = match purpose {
            Purpose::Messages => format!("pending-{seed}"),
            Purpose::Preemption => format!("preempt-{seed}"),
        };
        let file = settings.scratch.path().join(format!("{name}.json"));
        std::fs::write(&file, recorded.list.to_string()).context("write the snapshot")?;
        let answer = settings.product()?.ask(&["why-pending", "-A"], &file)?;
        let mut tally = Tally::default();
        judge::pending(&mut tally, &answer, &recorded.scheduled);
        if !tally.misses.is_empty() {
            let at = cases::write(&settings.misses, &name, &recorded.list, &recorded.scheduled.to_json())?;
            eprintln!("seed {seed}: a case is in {}", at.display());
        }
        Ok(tally)
    }
}

/// Runs these seeds on one control plane.
pub fn over(settings: &Settings, seeds: Range<u64>, purpose: Purpose) -> Result<Tally> {
    let mut run = Pending::start(settings)?;
    over_seeds(seeds, |seed| run.run(settings, seed, purpose))
}
