//! What the subcommands do.

pub mod budgets;
pub mod drain;
pub mod pending;
pub mod replay;

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::components::Components;
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
    /// The product.
    pub fn product(&self) -> Result<&Product> {
        self.product.as_ref().context("this run needs the product")
    }
}
