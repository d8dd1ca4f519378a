//! Flags that every command takes.

#[cfg(feature = "live")]
use crate::cluster::ConnectOptions;
use crate::render::Output;
use crate::snapshot::Kind;
use clap::Args;
use jiff::Timestamp;

/// Flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
pub struct Global {
    /// The namespace to look at
    #[arg(long, short = 'n', global = true, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// Read a file, a directory or - (standard input) instead of a cluster; can be repeated
    #[arg(long, global = true, value_name = "FILE|DIR|-", help_heading = "Input")]
    pub from: Vec<String>,
    /// The time to answer for, in RFC 3339 form [default: the newest time in the files]
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_time, help_heading = "Input")]
    pub now: Option<Timestamp>,
    /// Of these kinds the cluster has none, where the files have none: pdb,pods,...
    #[arg(long, global = true, value_name = "KIND", value_delimiter = ',', value_parser = parse_kind, help_heading = "Input", hide_short_help = true)]
    pub none: Vec<Kind>,
    /// wide, json, yaml, name, html, csv, jsonpath=TEMPLATE or custom-columns=HEADER:.field,...
    #[arg(long, short = 'o', global = true, value_parser = Output::parse, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<Output>,
    /// Leave out the headers of tables
    #[arg(long, global = true, help_heading = "Output")]
    pub no_headers: bool,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = "Output")]
    pub color: Color,
    /// How much to say on standard error: 1 what was read, 6 each request
    #[arg(long = "v", short = 'v', global = true, default_value_t = 0, value_name = "N", help_heading = "Output")]
    pub verbosity: u8,
    /// Which cluster, and as whom.
    #[cfg(feature = "live")]
    #[command(flatten)]
    pub connect: ConnectOptions,
}

fn parse_kind(text: &str) -> Result<Kind, String> {
    Kind::from_word(text).ok_or_else(|| format!("{text:?} is not a kind that is read: write it like pdb or pods"))
}

fn parse_time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| format!("{text:?} is no time: write it like 2026-01-31T12:00:00Z"))
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
