//! Words with a colour, and text from the cluster made safe for a terminal.

use crate::finding::Severity;
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;

/// What a word stands for; a terminal colours it. The word always says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// All is well.
    Good,
    /// Time will tell.
    Waiting,
    /// Somebody has to do something.
    Bad,
    /// Not known, or not important.
    Faint,
    /// A heading.
    Strong,
}

impl Tone {
    /// The tone of a verdict word of the contract.
    pub fn of_verdict(word: &str) -> Self {
        match word {
            "allows" | "drains" | "gone" => Self::Good,
            "waits" => Self::Waiting,
            "never" | "broken" | "unhealthy" | "blocked" | "forced" | "stays" => Self::Bad,
            "unused" | "unknown" => Self::Faint,
            _ => Self::Plain,
        }
    }

    /// The tone of a severity.
    pub fn of_severity(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Bad,
            Severity::Warning => Self::Waiting,
            Severity::Info => Self::Faint,
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Waiting => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Faint => Style::new().dimmed(),
            Self::Strong => Style::new().bold(),
        }
    }
}

/// The word in its colour. The writer takes colours out again where they do not belong.
pub fn paint(text: &str, tone: Tone) -> String {
    let style = tone.style();
    format!("{style}{text}{style:#}")
}

/// Text from the cluster without control characters, escape codes and invisible direction marks: names, events and
/// annotations are untrusted. Line breaks become spaces.
pub fn safe(text: &str) -> Cow<'_, str> {
    let bad = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if !text.contains(bad) {
        return Cow::Borrowed(text);
    }
    let kept = text.chars().map(|c| match c {
        '\n' | '\r' | '\t' => ' ',
        c if bad(c) => '\u{fffd}',
        c => c,
    });
    Cow::Owned(kept.collect())
}

/// As [`safe`], for a whole answer that is written by us and quotes the cluster: line breaks and our own colours stay.
pub fn safe_lines(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte == b'\n' || matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').map(safe_keeping_colour);
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

fn safe_keeping_colour(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("\u{1b}[") {
        let (before, escape) = rest.split_at(at);
        out.push_str(&safe(before));
        let end = escape.char_indices().skip(2).find(|(_, c)| !(c.is_ascii_digit() || *c == ';'));
        match end {
            Some((end, 'm')) => {
                out.push_str(&escape[..=end]);
                rest = &escape[end + 1..];
            }
            _ => {
                out.push('\u{fffd}');
                rest = &escape[1..];
            }
        }
    }
    out.push_str(&safe(rest));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_cannot_steer_the_terminal() {
        assert_eq!(safe("web-1"), "web-1");
        assert_eq!(safe("a\u{1b}[2Jb\u{7}c\nd\u{202e}e"), "a\u{fffd}[2Jb\u{fffd}c d\u{fffd}e");
        assert_eq!(safe_lines("a\u{1b}[31mb\u{1b}[2J\nc"), "a\u{1b}[31mb\u{fffd}[2J\nc");
    }
}
