//! What upstream's own code says of thousands of texts, written for the product's tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::components::Version;

/// Writes the tables anew; where they lie.
pub fn write(version: Version) -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tables");
    let folder = folder.canonicalize().with_context(|| format!("find {}", folder.display()))?;
    let status = Command::new("go")
        .args(["run", "-mod=readonly", "./tables"])
        .arg(&folder)
        .current_dir(version.module())
        .status()
        .context("run go (is Go 1.26 installed?)")?;
    if !status.success() {
        bail!("the program that asks upstream failed: {status}");
    }
    Ok(folder)
}
