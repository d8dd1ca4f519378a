//! Tables as kubectl prints them: upper-case headers, three spaces between, no lines.

use super::Screen;
use super::style::{Tone, paint, safe};
use crate::finding::Severity;
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

    /// The table as text, coloured, each line ending in a newline.
    pub fn render(&self, screen: &Screen) -> String {
        let last = self.headers.len().saturating_sub(1);
        let text = |cell: &Cell| if cell.text.is_empty() { "<none>".to_owned() } else { safe(&cell.text).into_owned() };
        let headers = (!screen.no_headers).then(|| self.headers.iter().map(|h| Cell::from(*h)).collect::<Vec<_>>());
        let rows = headers.iter().chain(&self.rows);
        let mut rows: Vec<Vec<(String, Tone)>> =
            rows.map(|row| row.iter().map(|cell| (text(cell), cell.tone)).collect()).collect();
        let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|(text, _)| text.width()).max();
        let widths: Vec<usize> = (0..last).map(|column| widest(column).unwrap_or_default() + GAP).collect();
        if let Some(width) = screen.width {
            let room = width.saturating_sub(self.indent + widths.iter().sum::<usize>()).max(12);
            for (text, _) in rows.iter_mut().filter_map(|row| row.get_mut(last)) {
                *text = cut(text, room);
            }
        }
        rows.iter().map(|row| self.line(row, &widths)).collect()
    }

    fn line(&self, row: &[(String, Tone)], widths: &[usize]) -> String {
        let mut line = " ".repeat(self.indent);
        for (at, (text, tone)) in row.iter().enumerate() {
            line.push_str(&paint(text, *tone));
            let width = widths.get(at).copied().unwrap_or_default();
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(text.width())));
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
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
