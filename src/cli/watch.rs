//! Flags of commands that can be repeated.

use crate::duration::parse_timeout;
use clap::Args;
use std::time::Duration;

/// Flags of commands that can be repeated.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Repeating")]
pub struct WatchArgs {
    /// Read again and again, and print what changed
    #[arg(long, short = 'w')]
    pub watch: bool,
    /// Return when there is nothing left to wait for, or fail after TIMEOUT
    #[arg(
        long, value_name = "TIMEOUT", num_args = 0..=1, require_equals = true, default_missing_value = "0",
        value_parser = parse_timeout
    )]
    pub wait: Option<Duration>,
    /// The pause between two readings [default: 5s]
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "5s",
        hide_default_value = true,
        value_parser = parse_pause
    )]
    pub interval: Duration,
}

/// A pause is one: without it, a server would be asked without end.
fn parse_pause(text: &str) -> Result<Duration, String> {
    let pause = parse_timeout(text)?;
    if pause.is_zero() { Err("the pause has to be longer than 0".to_owned()) } else { Ok(pause) }
}
