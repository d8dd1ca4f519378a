//! `explain WORD`: what a code, a verdict or a stage means, and what to do next.

use super::names;
use crate::answer::Answer;
use crate::cli::{ExplainArgs, Global};
use crate::error::{Failure, FailureKind, Result};
use crate::finding::words::{WORDS, Word};
use crate::finding::{Code, Severity};
use crate::render::table::{Cell, Table, wrap};
use crate::render::{self, Format, Screen};
use serde::Serialize;

/// Something that is explained.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Code(Code),
    Word(Word),
}

impl Asked {
    fn word(self) -> &'static str {
        match self {
            Self::Code(code) => code.as_str(),
            Self::Word(word) => word.word,
        }
    }
}

/// A row of the table.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Explanation {
    Code { code: Code, severity: Severity, meaning: &'static str, example: &'static str, cure: &'static str },
    Word { word: &'static str, kind: &'static str, command: &'static str, meaning: &'static str, next: &'static str },
}

impl From<Asked> for Explanation {
    fn from(asked: Asked) -> Self {
        match asked {
            Asked::Code(code) => Self::Code {
                code,
                severity: code.severity(),
                meaning: code.meaning(),
                example: code.example(),
                cure: code.cure(),
            },
            Asked::Word(Word { word, kind, command, meaning, next }) => {
                Self::Word { word, kind, command, meaning, next }
            }
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A word that is not in the tables, or a format that they are not written in.
pub fn run(args: &ExplainArgs, global: &Global) -> Result<Answer> {
    let asked = args.codes.iter().map(|word| parse(word)).collect::<Result<Vec<_>>>()?.concat();
    let screen = global.screen();
    let everything: Vec<Asked> =
        Code::ALL.iter().copied().map(Asked::Code).chain(WORDS.iter().copied().map(Asked::Word)).collect();
    let wanted = if asked.is_empty() { &everything } else { &asked };
    let rows = || wanted.iter().map(|a| Explanation::from(*a)).collect::<Vec<_>>();
    let text = match screen.format {
        Format::Json => render::json(&rows())?,
        Format::Yaml => render::yaml(&rows())?,
        Format::Name => wanted.iter().map(|a| format!("{}\n", a.word())).collect(),
        Format::Text | Format::Wide if asked.is_empty() => overview(&screen),
        Format::Text | Format::Wide => asked.iter().map(|c| paragraphs(*c, &screen)).collect::<Vec<_>>().join("\n"),
        format => return Err(super::not_written("explain", format)),
    };
    Ok(Answer::new(text))
}

/// A code, or the words of that name: `unknown` is one of three commands.
fn parse(word: &str) -> Result<Vec<Asked>> {
    if let Some(code) = Code::parse(word) {
        return Ok(vec![Asked::Code(code)]);
    }
    let words: Vec<Asked> = WORDS.iter().filter(|w| w.word == word).copied().map(Asked::Word).collect();
    if words.is_empty() {
        let known = Code::ALL.iter().map(|c| c.as_str()).chain(WORDS.iter().map(|w| w.word));
        let hint = names::hint(word, known, std::iter::empty());
        let text = format!("there is no code, verdict or stage {word:?}");
        return Err(Failure::new(FailureKind::NotFound, text).hint(hint));
    }
    Ok(words)
}

fn overview(screen: &Screen) -> String {
    let mut words = Table::new(["WORD", "COMMAND", "MEANING"]).last_below();
    for word in WORDS {
        words.row([Cell::verdict(word.word), word.command.into(), word.meaning.into()]);
    }
    let mut codes = Table::new(["CODE", "SEVERITY", "MEANING"]);
    for code in Code::ALL {
        codes.row([code.as_str().into(), Cell::severity(code.severity()), code.meaning().into()]);
    }
    format!("{}\n{}", words.render(screen), codes.render(screen))
}

fn paragraphs(asked: Asked, screen: &Screen) -> String {
    let text = |text: &str| wrap(text, screen.prose_width(), 11);
    match asked {
        Asked::Code(code) => format!(
            "{code} ({})\n\n  means    {}\n  example  {}\n  fix      {}\n",
            code.severity(),
            text(code.meaning()),
            text(code.example()),
            text(code.cure())
        ),
        Asked::Word(word) => format!(
            "{} ({} of {})\n\n  means    {}.\n  next     {}\n",
            word.word,
            word.kind,
            word.command,
            text(word.meaning),
            text(word.next)
        ),
    }
}
