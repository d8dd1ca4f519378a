//! `explain CODE`: what a finding code means, an example and the cure, from the table that the findings come from.

use super::names;
use crate::answer::Answer;
use crate::cli::{ExplainArgs, Global};
use crate::error::{Failure, FailureKind, Result};
use crate::finding::{Code, Severity};
use crate::render::table::{Cell, Table, wrap};
use crate::render::{self, Format, Screen};
use serde::Serialize;

/// A row of the table.
#[derive(Debug, Serialize)]
struct Explanation {
    code: Code,
    severity: Severity,
    meaning: &'static str,
    example: &'static str,
    cure: &'static str,
}

impl From<Code> for Explanation {
    fn from(code: Code) -> Self {
        Self { code, severity: code.severity(), meaning: code.meaning(), example: code.example(), cure: code.cure() }
    }
}

/// Runs the command.
///
/// # Errors
/// A code that is not in the table; a page.
pub fn run(args: &ExplainArgs, global: &Global) -> Result<Answer> {
    let asked = args.codes.iter().map(|word| parse(word)).collect::<Result<Vec<_>>>()?;
    let screen = global.screen();
    let wanted = if asked.is_empty() { Code::ALL } else { &asked };
    let rows = || wanted.iter().map(|c| Explanation::from(*c)).collect::<Vec<_>>();
    let text = match screen.format {
        Format::Json => render::json(&rows())?,
        Format::Yaml => render::yaml(&rows())?,
        Format::Html => return Err(super::no_page("explain")),
        Format::Name => wanted.iter().map(|c| format!("{c}\n")).collect(),
        _ if asked.is_empty() => overview(&screen),
        _ => asked.iter().map(|c| paragraphs(*c, &screen)).collect::<Vec<_>>().join("\n"),
    };
    Ok(Answer::new(text))
}

fn parse(word: &str) -> Result<Code> {
    Code::parse(word).ok_or_else(|| {
        let hint = names::hint(word, Code::ALL.iter().map(|c| c.as_str()), std::iter::empty());
        Failure::new(FailureKind::NotFound, format!("there is no finding code {word:?}")).hint(hint)
    })
}

fn overview(screen: &Screen) -> String {
    let mut table = Table::new(["CODE", "SEVERITY", "MEANING"]);
    for code in Code::ALL {
        table.row([code.as_str().into(), Cell::severity(code.severity()), code.meaning().into()]);
    }
    table.render(screen)
}

fn paragraphs(code: Code, screen: &Screen) -> String {
    let text = |text: &str| wrap(text, screen.prose_width(), 11);
    format!(
        "{code} ({})\n\n  means    {}\n  example  {}\n  cure     {}\n",
        code.severity(),
        text(code.meaning()),
        text(code.example()),
        text(code.cure())
    )
}
