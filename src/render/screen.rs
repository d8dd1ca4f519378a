//! What answers are written for.

use super::format::Format;

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
