//! JSON Schema of the documents, made from the structs that write them.

use super::check::CheckReport;
use super::pending::PendingReport;
use super::plan::DrainPlan;
use super::status::BudgetStatusList;
use super::{API_VERSION, Document};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

/// A document that has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum DocumentKind {
    /// BudgetStatusList, the answer of status
    Status,
    /// DrainPlan, the answer of drain-plan
    DrainPlan,
    /// PendingReport, the answer of why-pending
    WhyPending,
    /// CheckReport, the answer of check
    Check,
}

impl DocumentKind {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Status, Self::DrainPlan, Self::WhyPending, Self::Check];

    /// The document's `kind`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Status => "BudgetStatusList",
            Self::DrainPlan => "DrainPlan",
            Self::WhyPending => "PendingReport",
            Self::Check => "CheckReport",
        }
    }

    /// Its JSON Schema (draft 2020-12). Fields that it does not name are no fault: some may be added.
    pub fn schema(self) -> Schema {
        let mut schema = match self {
            Self::Status => schema_of::<BudgetStatusList>(),
            Self::DrainPlan => schema_of::<DrainPlan>(),
            Self::WhyPending => schema_of::<PendingReport>(),
            Self::Check => schema_of::<CheckReport>(),
        };
        schema.insert("title".to_owned(), self.kind().into());
        for (field, value) in [("/properties/apiVersion", API_VERSION), ("/properties/kind", self.kind())] {
            if let Some(field) = schema.pointer_mut(field).and_then(|f| f.as_object_mut()) {
                field.insert("const".to_owned(), value.into());
            }
        }
        schema
    }
}

fn schema_of<B: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Document<B>>()
}
