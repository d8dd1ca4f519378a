//! Flags of `schema`.

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
    pub document: Option<DocumentKind>,
}
