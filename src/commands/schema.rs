//! `schema`: prints the JSON Schema of what `-o json` writes.

use crate::answer::Answer;
use crate::cli::{Global, SchemaArgs};
use crate::error::Result;
use crate::render::{self, Format};
use crate::report::schema::DocumentKind;

/// Runs the command.
///
/// # Errors
/// A format that a schema is not written in.
pub fn run(args: &SchemaArgs, global: &Global) -> Result<Answer> {
    let text = match (args.document, global.screen().format) {
        (Some(document), Format::Yaml) => render::yaml(&document.schema())?,
        (None, Format::Yaml) => render::yaml(&all())?,
        (Some(document), Format::Text | Format::Wide | Format::Json | Format::Name) => {
            render::json(&document.schema())?
        }
        (None, Format::Text | Format::Wide | Format::Json | Format::Name) => render::json(&all())?,
        (_, format) => return Err(super::not_written("schema", format)),
    };
    Ok(Answer::new(text))
}

fn all() -> Vec<schemars::Schema> {
    DocumentKind::ALL.iter().map(|d| d.schema()).collect()
}
