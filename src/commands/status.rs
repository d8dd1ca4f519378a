//! `status`.

use crate::cli::{Answer, Global};
use crate::error::{Failure, Kind, Result};
use clap::Args;

/// Flags of `status`.
#[derive(Debug, Clone, Args)]
pub struct StatusArgs {}

/// Runs the command.
pub fn run(_args: &StatusArgs, _global: &Global) -> Result<Answer> {
    Err(Failure::new(Kind::Internal, "not there yet"))
}
