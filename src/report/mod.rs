//! The JSON contract: plain structs that other programs rely on. Fields may be added; none changes its meaning.

pub mod check;
pub mod digest;
pub mod pending;
pub mod plan;
pub mod schema;
pub mod status;

use crate::finding::Finding;
use crate::snapshot::coverage::ReadOutcome;
use crate::snapshot::{Kind, Snapshot};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// The version of the documents.
pub const API_VERSION: &str = "kubectl-pdb/v1";

/// What every document begins with; `B` is what the answer itself has.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Document<B> {
    /// `kubectl-pdb/v1`.
    pub api_version: &'static str,
    /// `BudgetStatusList`, `DrainPlan`, `PendingReport` or `CheckReport`.
    pub kind: &'static str,
    /// When the answer was made: the time it speaks of is `source.now`.
    pub generated_at: Timestamp,
    /// What it was made from.
    pub source: Source,
    /// Whether no gap affects this answer.
    pub complete: bool,
    /// What could not be read.
    pub gaps: Vec<Gap>,
    /// Those that belong to no single item.
    pub findings: Vec<Finding>,
    /// The answer.
    #[serde(flatten)]
    pub body: B,
}

/// What an answer was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The kubeconfig context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The API server's URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The files it was read from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The server's version, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_version: Option<String>,
    /// The time the answer speaks of.
    pub now: Timestamp,
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gap {
    /// The resource, as kubectl names it.
    pub resource: String,
    /// Why.
    pub reason: GapReason,
    /// What could not be judged for it.
    pub effect: String,
    /// How much of the answer depends on it.
    #[serde(skip)]
    pub weight: Weight,
}

/// Why something could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GapReason {
    /// The server refuses.
    Forbidden,
    /// It is not in the input, or not served.
    Absent,
    /// It went wrong.
    Failed,
}

impl GapReason {
    /// In words for a person.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::Absent => "not in the input",
            Self::Failed => "failed",
        }
    }
}

/// A kind that a command reads, and what cannot be judged without it.
#[derive(Debug, Clone, Copy)]
pub struct Need {
    /// The kind.
    pub kind: Kind,
    /// What its absence means.
    pub weight: Weight,
    /// What could not be judged without it.
    pub effect: &'static str,
}

/// How much of an answer depends on a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The answer stands on it: it is not complete without, for whatever reason.
    Essential,
    /// Something would be missed without it: the answer is not complete where there may be some that was not shown
    /// (forbidden, failed). A file that merely lacks it has none.
    Helpful,
    /// It only adds words.
    Incidental,
}

impl Need {
    /// A kind that the answer stands on.
    pub const fn essential(kind: Kind, effect: &'static str) -> Self {
        Self { kind, weight: Weight::Essential, effect }
    }

    /// A kind without which something would be missed.
    pub const fn helpful(kind: Kind, effect: &'static str) -> Self {
        Self { kind, weight: Weight::Helpful, effect }
    }

    /// A kind that only adds words.
    pub const fn incidental(kind: Kind, effect: &'static str) -> Self {
        Self { kind, weight: Weight::Incidental, effect }
    }
}

impl<B> Document<B> {
    /// The gaps that a person is told of one by one: what a file merely lacks matters where the answer stands on it.
    pub fn told_gaps(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.iter().filter(|g| g.reason != GapReason::Absent || g.weight == Weight::Essential)
    }

    /// Of the other kinds, how many the input does not have; they are taken as empty. 0 where the answer is whole.
    pub fn taken_as_empty(&self) -> usize {
        if self.complete { 0 } else { self.gaps.len() - self.told_gaps().count() }
    }

    /// The document of an answer made from a snapshot at the moment `generated_at`.
    pub fn new(kind: &'static str, snapshot: &Snapshot, needs: &[Need], generated_at: Timestamp, body: B) -> Self {
        let gaps: Vec<Gap> = needs.iter().filter_map(|n| gap(snapshot, n)).collect();
        Self {
            api_version: API_VERSION,
            kind,
            generated_at,
            source: Source {
                context: snapshot.source.context.clone(),
                server: snapshot.source.server.clone(),
                files: snapshot.source.files.clone(),
                server_version: snapshot.source.server_version.clone(),
                now: snapshot.now,
            },
            complete: !gaps.iter().any(|gap| match gap.weight {
                Weight::Essential => true,
                Weight::Helpful => gap.reason != GapReason::Absent,
                Weight::Incidental => false,
            }),
            gaps,
            findings: Vec::new(),
            body,
        }
    }
}

impl Document<()> {
    /// The same document with the answer in it. Text for people needs no answer in the JSON's form.
    pub fn with<B>(self, body: B) -> Document<B> {
        Document {
            api_version: self.api_version,
            kind: self.kind,
            generated_at: self.generated_at,
            source: self.source,
            complete: self.complete,
            gaps: self.gaps,
            findings: self.findings,
            body,
        }
    }
}

fn gap(snapshot: &Snapshot, need: &Need) -> Option<Gap> {
    let reason = match snapshot.coverage.of(need.kind) {
        ReadOutcome::Read => return None,
        // Most clusters do without the operator that defines it.
        ReadOutcome::Absent if need.kind.info().custom => return None,
        ReadOutcome::Absent => GapReason::Absent,
        ReadOutcome::Forbidden(_) => GapReason::Forbidden,
        ReadOutcome::Failed(_) | ReadOutcome::Partial(_) => GapReason::Failed,
    };
    let detail = match snapshot.coverage.of(need.kind) {
        ReadOutcome::Forbidden(words) | ReadOutcome::Failed(words) | ReadOutcome::Partial(words)
            if !words.is_empty() =>
        {
            format!(" ({words})")
        }
        _ => String::new(),
    };
    let effect = format!("{}{detail}", need.effect);
    Some(Gap { resource: need.kind.resource(), reason, effect, weight: need.weight })
}
