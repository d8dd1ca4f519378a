//! `CheckReport`: what `check` answers.

use crate::budget::Verdict;
use crate::check::Checked;
use crate::check::against::{Change, Subject};
use crate::finding::Finding;
use schemars::JsonSchema;
use serde::Serialize;

/// The body of a `CheckReport`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// Every object that was judged, and every document that could not be, in the order of the files.
    pub items: Vec<CheckItem>,
    /// What the manifests change in the cluster; empty without one.
    pub changes: Vec<ChangeReport>,
    /// How many Kubernetes objects the files hold, hooks left out.
    pub objects: usize,
    /// How many files were read.
    pub files: usize,
    /// How many hooks of Helm and Argo CD were left out, as they do not run beside the application.
    pub hooks: usize,
    /// How many findings were ignored as asked for.
    pub ignored: usize,
    /// How many documents hold something else than a Kubernetes object.
    pub skipped: usize,
}

/// An object, or a document that holds none.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckItem {
    /// The file.
    pub file: String,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// The template that it was rendered from, where Helm says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Its kind; absent for a document that holds no object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What a budget comes to, with every pod of its workloads Ready; absent for what is no budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
}

/// What becomes of a node, a budget or a pod with the manifests applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeReport {
    /// The node whose drain ends otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The budget that comes to something else: `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// The pod that gets a node or none: `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// What it was.
    pub before: String,
    /// What it will be.
    pub after: String,
    /// Why.
    pub why: String,
}

impl From<&Checked> for CheckItem {
    fn from(c: &Checked) -> Self {
        let object = c.object.as_ref();
        Self {
            file: c.file.to_string(),
            line: c.line,
            template: c.template.clone(),
            kind: object.map(|o| o.kind.clone()),
            namespace: object.and_then(|o| o.namespace.clone()),
            name: object.map(|o| o.name.clone()),
            verdict: c.verdict,
            findings: c.findings.clone(),
        }
    }
}

impl From<&Change> for ChangeReport {
    fn from(c: &Change) -> Self {
        let mut report = Self {
            node: None,
            budget: None,
            pod: None,
            before: c.before.to_owned(),
            after: c.after.to_owned(),
            why: c.why.clone(),
        };
        match &c.subject {
            Subject::Node(name) => report.node = Some(name.clone()),
            Subject::Budget(path) => report.budget = Some(path.clone()),
            Subject::Pod(path) => report.pod = Some(path.clone()),
        }
        report
    }
}
