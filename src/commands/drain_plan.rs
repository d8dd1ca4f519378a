//! `drain-plan`.

use crate::cli::{Answer, Global};
use crate::error::{Failure, Kind, Result};
use clap::Args;

/// Flags of `drain-plan`.
#[derive(Debug, Clone, Args)]
pub struct DrainPlanArgs {}

/// Runs the command.
pub fn run(_args: &DrainPlanArgs, _global: &Global) -> Result<Answer> {
    Err(Failure::new(Kind::Internal, "not there yet"))
}
