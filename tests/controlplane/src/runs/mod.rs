//! What the subcommands do.

pub mod budgets;
pub mod drain;
mod encodings;
pub mod live;
pub mod pending;
pub mod replay;
pub mod short;

use std::ops::Range;
use std::path::PathBuf;

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
    /// For snapshots handed to the product.
    pub scratch: Folder,
}

impl Settings {
    /// Builds the components of the version and makes the scratch folder.
    pub fn new(version: Version, product: Option<Product>, misses: PathBuf) -> Result<Self> {
        Ok(Self { components: Components::build(version)?, product, misses, scratch: Folder::new()? })
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
