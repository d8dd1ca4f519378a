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

/// Rows under headers. A row is never wider than the terminal; where the output is none, nothing is cut.
#[derive(Debug, Clone, Default)]
pub struct Table {
    headers: Vec<String>,
    rows: Vec<Vec<Cell>>,
    indent: usize,
    below: bool,
}

/// The texts of a table's rows, the headers among them.
type Texts = Vec<Vec<(String, Tone)>>;

/// A column is not cut to less than this.
const LEAST: usize = 10;

impl Table {
    /// A table with these headers.
    pub fn new(headers: impl IntoIterator<Item = &'static str>) -> Self {
        Self::of(headers.into_iter().map(str::to_owned).collect())
    }

    /// A table with headers that a user gave.
    pub fn of(headers: Vec<String>) -> Self {
        Self { headers, ..Self::default() }
    }

    /// The same table, moved to the right.
    #[must_use]
    pub fn indented(mut self, by: usize) -> Self {
        self.indent = by;
        self
    }

    /// The same table, whose last column is given whole: below each row where there is too little room beside it.
    #[must_use]
    pub fn last_below(mut self) -> Self {
        self.below = true;
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether every row, with all of its last cell, fits on the screen.
    pub fn fits(&self, screen: &Screen) -> bool {
        let texts = self.texts(screen);
        screen
            .width
            .is_none_or(|width| self.indent + columns(&texts).iter().map(|w| w + GAP).sum::<usize>() <= width + GAP)
    }

    /// The table as text, coloured, each line ending in a newline.
    pub fn render(&self, screen: &Screen) -> String {
        let mut texts = self.texts(screen);
        let mut out = String::new();
        let last = self.headers.len().saturating_sub(1);
        let mut below: Vec<String> = Vec::new();
        if let Some(width) = screen.width
            && !self.fits(screen)
        {
            let room = width.saturating_sub(self.indent);
            let beside = |texts: &Texts| columns(texts).iter().take(last).map(|w| w + GAP).sum::<usize>();
            if beside(&texts) + LEAST > room || self.below {
                for column in 0..last {
                    if let Some(note) = shorten(&mut texts, column, screen.no_headers) {
                        let header = self.headers.get(column).map_or("", String::as_str);
                        let note = wrap(&format!("{header}: {note}"), width, self.indent + 4);
                        out.push_str(&format!("{}{note}\n", " ".repeat(self.indent)));
                    }
                }
            }
            let whole = columns(&texts).get(last).copied().unwrap_or_default();
            if self.below && beside(&texts) + whole > room {
                below = texts.iter_mut().map(|row| row.pop().map(|(text, _)| text).unwrap_or_default()).collect();
            }
            squeeze(&mut texts, room);
        }
        let widths: Vec<usize> = columns(&texts).iter().map(|w| w + GAP).collect();
        for (at, row) in texts.iter().enumerate() {
            out.push_str(&self.line(row, &widths));
            let is_header = at == 0 && !screen.no_headers;
            if let Some(text) = below.get(at).filter(|text| !is_header && !["-", "<none>"].contains(&text.as_str())) {
                let indent = self.indent + 4;
                let text = wrap(text, screen.prose_width(), indent);
                out.push_str(&format!("{}{text}\n", " ".repeat(indent)));
            }
        }
        out
    }

    fn texts(&self, screen: &Screen) -> Texts {
        let text = |cell: &Cell| if cell.text.is_empty() { "<none>".to_owned() } else { safe(&cell.text).into_owned() };
        let headers =
            (!screen.no_headers).then(|| self.headers.iter().map(|h| Cell::from(h.as_str())).collect::<Vec<_>>());
        let rows = headers.iter().chain(&self.rows);
        rows.map(|row| row.iter().map(|cell| (text(cell), cell.tone)).collect()).collect()
    }

    fn line(&self, row: &[(String, Tone)], widths: &[usize]) -> String {
        let mut line = " ".repeat(self.indent);
        for (at, (text, tone)) in row.iter().enumerate() {
            line.push_str(&paint(text, *tone));
            if at + 1 < row.len() {
                let width = widths.get(at).copied().unwrap_or_default();
                line.extend(std::iter::repeat_n(' ', width.saturating_sub(text.width())));
            }
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

/// The widest text of each column.
fn columns(texts: &Texts) -> Vec<usize> {
    let count = texts.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| texts.iter().filter_map(|row| row.get(column)).map(|(text, _)| text.width()).max();
    (0..count).map(|column| widest(column).unwrap_or_default()).collect()
}

/// Names in a cloud have much in common: the domain behind them, the pool before them. Takes it out of a column, and says
/// what was taken out.
fn shorten(texts: &mut Texts, column: usize, no_headers: bool) -> Option<String> {
    let skipped = usize::from(!no_headers);
    let names: Vec<&str> = texts.iter().skip(skipped).filter_map(|row| Some(row.get(column)?.0.as_str())).collect();
    let [first, others @ ..] = &names[..] else { return None };
    if others.iter().all(|name| name == first) {
        return None;
    }
    // Only at a dot or a dash: half a word is not a part.
    let ending = others.iter().fold(*first, |ending, name| {
        let same = ending.chars().rev().zip(name.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8());
        ending.get(ending.len() - same.sum::<usize>()..).unwrap_or_default()
    });
    let ending = ending.find('.').and_then(|at| ending.get(at..)).unwrap_or_default();
    let stems = || names.iter().map(|name| name.strip_suffix(ending).unwrap_or(name));
    let stem = first.strip_suffix(ending).unwrap_or(first);
    let start = stems().fold(stem, |start, name| {
        let same = start.chars().zip(name.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8());
        start.get(..same.sum::<usize>()).unwrap_or_default()
    });
    let start = start.rfind(['-', '/']).and_then(|at| start.get(..=at)).unwrap_or_default();
    let (start, ending) = (if start.len() < 8 { "" } else { start }, if ending.len() < 6 { "" } else { ending });
    let note = match (start, ending) {
        ("", "") => return None,
        ("", ending) => format!("each ends in {ending}, left out below"),
        (start, "") => format!("each begins with {start}, left out below"),
        (start, ending) => format!("each begins with {start} and ends in {ending}, left out below"),
    };
    let (start, ending) = (start.to_owned(), ending.to_owned());
    for (text, _) in texts.iter_mut().skip(skipped).filter_map(|row| row.get_mut(column)) {
        let stem = text.strip_suffix(&ending).unwrap_or(text);
        *text = stem.strip_prefix(&start).unwrap_or(stem).to_owned();
    }
    Some(note)
}

/// Cuts cells until each row fits: the last column down to half a phrase, then the widest.
fn squeeze(texts: &mut Texts, room: usize) {
    loop {
        let widths = columns(texts);
        let over = (widths.iter().map(|w| w + GAP).sum::<usize>()).saturating_sub(room + GAP);
        let Some(last) = widths.len().checked_sub(1).filter(|_| over > 0) else { return };
        let of = |column: usize| widths.get(column).copied().unwrap_or_default();
        let widest = (0..last).max_by_key(|column| of(*column)).unwrap_or(last);
        let (column, least) = match (of(last), of(widest)) {
            (text, _) if text > 2 * LEAST => (last, 2 * LEAST),
            (text, name) if name > LEAST && name >= text => (widest, LEAST),
            _ => (last, LEAST),
        };
        let to = of(column).saturating_sub(over).max(least);
        if to >= of(column) {
            return;
        }
        for (text, _) in texts.iter_mut().filter_map(|row| row.get_mut(column)) {
            *text = if column == last { cut(text, to) } else { cut_middle(text, to) };
        }
    }
}

/// The text, or its beginning and its end: what tells names apart is mostly at their ends.
fn cut_middle(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let (front, back) = (kept / 2, kept - kept / 2);
    let mut used = 0;
    let tail: Vec<char> = text
        .chars()
        .rev()
        .take_while(|c| {
            used += c.width().unwrap_or_default();
            used <= back
        })
        .collect();
    let head = cut(text, front + 1);
    format!("{head}{}", tail.into_iter().rev().collect::<String>())
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
    fn names_of_a_cloud_are_cut_once_and_rows_never_wrap() {
        let mut table = Table::new(["NODE", "VERDICT", "WHY"]).last_below();
        for (node, verdict) in [("5", "blocked"), ("17", "drains")] {
            let name = format!("ip-10-0-13-{node}.eu-west-1.compute.internal");
            let why = if verdict == "blocked" { "shop/web: allows 1, used by web-6bdqb" } else { "-" };
            table.row([name.into(), Cell::verdict(verdict), why.into()]);
        }
        let plain = |width| {
            let screen = Screen { format: Format::Text, width: Some(width), no_headers: false };
            anstream::adapter::strip_str(&table.render(&screen)).to_string()
        };
        assert_eq!(
            plain(60),
            "NODE: each begins with ip-10-0-13- and ends in\n    .eu-west-1.compute.internal, left out below\n\
             NODE   VERDICT   WHY\n\
             5      blocked   shop/web: allows 1, used by web-6bdqb\n\
             17     drains    -\n"
        );
        let narrow = plain(40);
        assert!(narrow.contains("5      blocked\n    shop/web: allows 1, used by\n"), "{narrow}");
        assert!(plain(120).contains("17.eu-west-1.compute.internal   drains"), "nothing is cut where there is room");
        for width in 20..130 {
            let text = plain(width);
            assert!(text.lines().all(|l| l.width() <= width.max(40)), "{width}: {text}");
        }
    }

    #[test]
    fn prose_is_wrapped_at_spaces() {
        assert_eq!(wrap("one two three", 9, 2), "one two\n  three");
    }
}
