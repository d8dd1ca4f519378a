//! `schema`: prints the JSON Schema of what `-o json` writes.

use crate::answer::Answer;
use crate::cli::{Global, SchemaArgs};
use crate::error::Result;
use crate::render::{self, Format};
use crate::report::schema::DocumentKind;

/// Runs the command.
///
/// # Errors
/// A page is asked for: a schema has none.
pub fn run(args: &SchemaArgs, global: &Global) -> Result<Answer> {
    let text = match (args.document, global.screen().format) {
        (_, Format::Html | Format::Csv | Format::JsonPath | Format::CustomColumns) => {
            return Err(super::no_page("schema"));
        }
        (_, Format::Sarif | Format::Junit | Format::Github) => return Err(super::only_check("schema")),
        (Some(document), Format::Yaml) => render::yaml(&document.schema())?,
        (Some(document), _) => render::json(&document.schema())?,
        (None, Format::Yaml) => render::yaml(&all())?,
        (None, _) => render::json(&all())?,
    };
    Ok(Answer::new(text))
}

fn all() -> Vec<schemars::Schema> {
    DocumentKind::ALL.iter().map(|d| d.schema()).collect()
}
