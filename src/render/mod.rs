//! How answers are written: the only place that knows colour and width.

pub mod findings;
pub mod format;
pub mod pending;
pub mod plan;
pub mod status;
pub mod style;
pub mod table;

use crate::error::{Failure, Kind, Result};
pub use format::Format;
use serde::Serialize;

/// How and how wide to write.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// The format asked for.
    pub format: Format,
    /// The terminal's width in columns; `None` where the output is no terminal: nothing is cut then.
    pub width: Option<usize>,
    /// Whether table headers are left out.
    pub no_headers: bool,
}

impl Screen {
    /// The width to wrap prose at.
    pub fn prose_width(&self) -> usize {
        self.width.unwrap_or(100).clamp(40, 120)
    }

    /// Whether `-o wide` was asked for.
    pub fn wide(&self) -> bool {
        self.format == Format::Wide
    }
}

/// A document as JSON, ending in a newline.
pub fn json<T: Serialize>(document: &T) -> Result<String> {
    let mut text = serde_json::to_string_pretty(document)
        .map_err(|e| Failure::new(Kind::Internal, "the answer cannot be written as JSON").caused_by(e))?;
    text.push('\n');
    Ok(text)
}

/// A document as YAML, ending in a newline.
pub fn yaml<T: Serialize>(document: &T) -> Result<String> {
    serde_saphyr::to_string(document)
        .map_err(|e| Failure::new(Kind::Internal, "the answer cannot be written as YAML").caused_by(e))
}

/// What could not be read, in a few lines; nothing where the answer is whole.
pub fn gaps(gaps: &[crate::report::Gap], complete: bool, screen: &Screen) -> String {
    use crate::report::GapReason;
    let told: Vec<_> = gaps.iter().filter(|g| !complete || g.reason != GapReason::Absent).collect();
    if told.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", style::paint("not everything could be read:", style::Tone::Waiting));
    for gap in told {
        let why = match gap.reason {
            GapReason::Forbidden => "forbidden",
            GapReason::Absent => "not in the input",
            GapReason::Failed => "failed",
        };
        let line = format!("{} ({why}): {}", gap.resource, style::safe(&gap.effect));
        out.push_str(&format!("  {}\n", table::wrap(&line, screen.prose_width(), 4)));
    }
    out
}
