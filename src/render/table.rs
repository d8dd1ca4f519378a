//! Tables as kubectl prints them: upper-case headers, three spaces between, no lines.

use super::Screen;
use super::style::{Tone, safe};
use crate::finding::Severity;
use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell as Painted, Color, ContentArrangement};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Spaces between columns.
const GAP: usize = 3;

/// A cell: its text, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// A cell whose text is coloured.
    pub fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }

    /// A cell with a verdict word of the contract, coloured as such.
    pub fn verdict(word: &str) -> Self {
        Self::toned(word, Tone::of_verdict(word))
    }

    /// A cell with a severity.
    pub fn severity(severity: Severity) -> Self {
        Self::toned(severity.as_str(), Tone::of_severity(severity))
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::toned(text, Tone::Plain)
    }
}

/// Rows under headers. The last column is cut to the width of a terminal and whole where the output is none.
#[derive(Debug, Clone, Default)]
pub struct Table {
    headers: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    indent: usize,
}

impl Table {
    /// A table with these headers.
    pub fn new(headers: impl IntoIterator<Item = &'static str>) -> Self {
        Self { headers: headers.into_iter().collect(), ..Self::default() }
    }

    /// The same table, moved to the right.
    #[must_use]
    pub fn indented(mut self, by: usize) -> Self {
        self.indent = by;
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text, coloured, each line ending in a newline.
    pub fn render(&self, screen: &Screen) -> String {
        let last = self.headers.len().saturating_sub(1);
        let rows: Vec<Vec<(String, Tone)>> = self
            .rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|c| (if c.text.is_empty() { "<none>".into() } else { safe(&c.text).into_owned() }, c.tone))
                    .collect()
            })
            .collect();
        let before_last: usize = (0..last)
            .map(|column| {
                let header = if screen.no_headers { 0 } else { self.headers.get(column).map_or(0, |h| h.width()) };
                let cells = rows.iter().filter_map(|r| r.get(column)).map(|(text, _)| text.width());
                cells.chain([header]).max().unwrap_or_default() + GAP
            })
            .sum();
        let room = screen.width.map(|w| w.saturating_sub(self.indent + before_last).max(12));

        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.force_no_tty().enforce_styling();
        if !screen.no_headers {
            table.set_header(self.headers.iter().map(Painted::new));
        }
        for row in rows {
            table.add_row(row.into_iter().enumerate().map(|(at, (text, tone))| {
                let text = match room {
                    Some(room) if at == last => cut(&text, room),
                    _ => text,
                };
                painted(&text, tone)
            }));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, u16::try_from(GAP).unwrap_or_default()));
        }
        let margin = " ".repeat(self.indent);
        table.lines().map(|line| format!("{margin}{}\n", line.trim_end())).collect()
    }
}

fn painted(text: &str, tone: Tone) -> Painted {
    let cell = Painted::new(text);
    match tone {
        Tone::Plain => cell,
        Tone::Good => cell.fg(Color::DarkGreen),
        Tone::Waiting => cell.fg(Color::DarkYellow),
        Tone::Bad => cell.fg(Color::DarkRed).add_attribute(Attribute::Bold),
        Tone::Faint => cell.add_attribute(Attribute::Dim),
        Tone::Strong => cell.add_attribute(Attribute::Bold),
    }
}

/// The text, or as much of it as fits with an ellipsis.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1; // the ellipsis
    let kept = text.chars().take_while(|c| {
        used += c.width().unwrap_or_default();
        used <= width
    });
    let mut kept: String = kept.collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Breaks prose at spaces; lines after the first are indented. Does not end in a newline.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    let mut column = indent;
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        let length = word.width();
        if !out.is_empty() {
            if column + 1 + length > width {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                column = indent;
            } else {
                out.push(' ');
                column += 1;
            }
        }
        out.push_str(word);
        column += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Format;

    fn table() -> Table {
        let mut t = Table::new(["NAME", "VERDICT", "WHY"]);
        t.row(["web".into(), Cell::verdict("never"), "80% of 1 rounds up to 1".into()]);
        t.row(["a-longer-name".into(), Cell::verdict("allows"), "".into()]);
        t
    }

    #[test]
    fn looks_as_kubectl_does() {
        let screen = Screen { format: Format::Text, width: None, no_headers: false };
        let plain = anstream::adapter::strip_str(&table().render(&screen)).to_string();
        assert_eq!(
            plain,
            "NAME            VERDICT   WHY\n\
             web             never     80% of 1 rounds up to 1\n\
             a-longer-name   allows    <none>\n"
        );
    }

    #[test]
    fn the_last_column_is_cut_to_the_terminal() {
        let screen = Screen { format: Format::Text, width: Some(40), no_headers: true };
        let plain = anstream::adapter::strip_str(&table().render(&screen)).to_string();
        assert_eq!(plain.lines().next(), Some("web             never    80% of 1 round…"));
        assert!(plain.lines().all(|l| l.width() <= 40), "{plain}");
    }

    #[test]
    fn prose_is_wrapped_at_spaces() {
        assert_eq!(wrap("one two three", 9, 2), "one two\n  three");
    }
}
