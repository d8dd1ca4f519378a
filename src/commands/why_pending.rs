//! `why-pending`.

use crate::cli::{Answer, Global};
use crate::error::{Failure, Kind, Result};
use clap::Args;

/// Flags of `why-pending`.
#[derive(Debug, Clone, Args)]
pub struct WhyPendingArgs {}

/// Runs the command.
pub fn run(_args: &WhyPendingArgs, _global: &Global) -> Result<Answer> {
    Err(Failure::new(Kind::Internal, "not there yet"))
}
