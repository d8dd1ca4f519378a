//! `schema`: prints the JSON Schema of what `-o json` writes.

use crate::cli::{Answer, Global};
use crate::error::Result;
use crate::render::{self, Format};
use crate::report::schema::DocumentKind;
use clap::Args;

/// Flags of `schema`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  kubectl pdb schema drain-plan > plan.schema.json   of one document
  kubectl pdb schema                                 of all three, as a list

Exit status: 0 printed; 1 there is no such document.")]
pub struct SchemaArgs {
    /// The command whose document is meant; without it, all of them
    #[arg(value_enum, value_name = "COMMAND")]
    document: Option<DocumentKind>,
}

/// Runs the command.
///
/// # Errors
/// A page is asked for: a schema has none.
pub fn run(args: &SchemaArgs, global: &Global) -> Result<Answer> {
    let text = match (args.document, global.screen().format) {
        (_, Format::Html) => return Err(super::no_page("schema")),
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
