//! What the subcommands do.

pub mod budgets;
pub mod check;
pub mod cures;
pub mod devices;
pub mod drain;
mod encodings;
pub mod live;
pub mod pending;
pub mod queue;
pub mod replay;
pub mod short;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

use crate::components::{Components, Version};
use crate::judge::Tally;
use crate::process::Folder;
use crate::product::Product;

/// What every run needs.
pub struct Settings {
    /// The built components.
    pub components: Components,
    /// The product, where a run asks it.
    pub product: Option<Product>,
    /// Where cases of disagreement are written.
    pub misses: PathBuf,
    /// Worlds are written as cases also where all agree.
    pub keep: bool,
    /// For snapshots handed to the product.
    pub scratch: Folder,
}

impl Settings {
    /// Builds the components of the version and makes the scratch folder.
    pub fn new(version: Version, product: Option<Product>, misses: PathBuf) -> Result<Self> {
        Ok(Self { components: Components::build(version)?, product, misses, keep: false, scratch: Folder::new()? })
    }

    /// The product.
    pub fn product(&self) -> Result<&Product> {
        self.product.as_ref().context("this run needs the product")
    }
}

/// Runs one seed after the other and adds up.
pub fn over_seeds(seeds: Range<u64>, mut one: impl FnMut(u64) -> Result<Tally>) -> Result<Tally> {
    let mut tally = Tally::default();
    for seed in seeds {
        let seen = one(seed).with_context(|| format!("seed {seed}"))?;
        eprint!("seed {seed}:\n{}", seen.summary());
        tally.merge(seen);
    }
    Ok(tally)
}

/// Runs so many seeds at the same time and adds up. A seed that fails by the harness' own fault does not end the others.
pub fn over_lanes(
    seeds: impl IntoIterator<Item = u64>,
    lanes: usize,
    one: impl Fn(u64) -> Result<Tally> + Sync,
) -> Tally {
    let seeds: Vec<u64> = seeds.into_iter().collect();
    let (next, sum) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let seen = one(*seed).unwrap_or_else(|error| Tally::failed(&format!("seed {seed}: {error:#}")));
                    eprint!("seed {seed}:\n{}{}", seen.details(usize::MAX), seen.summary());
                    sum.lock().unwrap_or_else(PoisonError::into_inner).merge(seen);
                }
            });
        }
    });
    sum.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A world up to three times, under another name each: what agrees once was missed by the clock of a busy machine, or by a
/// choice of the scheduler's. What is really wrong is wrong each time.
pub fn steadily<T>(name: &str, once: impl Fn(&str) -> Result<(Tally, T)>) -> Result<(Tally, T)> {
    let (mut tally, mut made) = once(name)?;
    for again in ["x", "y"] {
        if tally.misses.is_empty() {
            break;
        }
        (tally, made) = once(&format!("{name}{again}"))?;
        if tally.misses.is_empty() {
            tally.count("agrees when it is tried again");
        }
    }
    Ok((tally, made))
}
