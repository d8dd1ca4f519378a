//! What an answer finds: the table of codes, and the shape of a finding.

mod codes;
pub mod ignore;
mod severity;
pub mod words;

use crate::cure::Remedy;
use crate::snapshot::api_version;
pub use codes::Code;
use schemars::JsonSchema;
use serde::Serialize;
pub use severity::Severity;
use std::fmt;

/// Something an answer found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Its code.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, in a sentence that names what causes it.
    pub message: String,
    /// What is at fault: `Kind/namespace/name`, or `Kind/name`.
    pub objects: Vec<String>,
    /// The same objects, in the form programs look them up by.
    pub refs: Vec<Ref>,
    /// What can be done about it, least first.
    pub remedies: Vec<Remedy>,
    /// Why nothing is offered that could be expected to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_remedy: Option<String>,
}

/// A reference to an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ref {
    /// `policy/v1`, `v1` …
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace, absent outside namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

impl Ref {
    /// A reference by API version, kind, namespace (empty outside namespaces) and name.
    pub fn new(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
            name: name.to_owned(),
        }
    }

    /// `namespace/name`, or the name of an object outside namespaces.
    pub fn path(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}/{}", self.name),
            None => self.name.clone(),
        }
    }

    /// A pod.
    pub fn pod(pod: &crate::snapshot::pod::Pod) -> Self {
        Self::new("v1", "Pod", pod.meta.ns(), &pod.meta.name)
    }

    /// A node.
    pub fn node(name: &str) -> Self {
        Self::new("v1", "Node", "", name)
    }

    /// A budget.
    pub fn budget(budget: &crate::snapshot::budget::Budget) -> Self {
        Self::new("policy/v1", "PodDisruptionBudget", budget.meta.ns(), &budget.meta.name)
    }

    /// A workload.
    pub fn workload(w: &crate::snapshot::workload::Workload) -> Self {
        Self::new(&api_version::join(&w.group, &w.version), &w.kind, w.meta.ns(), &w.meta.name)
    }

    /// The owner of an object of this namespace.
    pub fn owner(namespace: &str, owner: &crate::snapshot::meta::OwnerRef) -> Self {
        Self::new(&owner.api_version(), &owner.kind, namespace, &owner.name)
    }

    /// An object of a known kind.
    pub fn of(kind: crate::snapshot::Kind, meta: &crate::snapshot::meta::Meta) -> Self {
        let i = kind.info();
        Self::new(&api_version::join(i.group, i.version), i.name, meta.ns(), &meta.name)
    }
}

/// `Kind/namespace/name`, or `Kind/name`.
impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(ns) => write!(f, "{}/{ns}/{}", self.kind, self.name),
            None => write!(f, "{}/{}", self.kind, self.name),
        }
    }
}

impl Finding {
    /// A finding with the severity of its code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            objects: Vec::new(),
            refs: Vec::new(),
            remedies: Vec::new(),
            no_remedy: None,
        }
    }

    /// The same finding, with what is at fault.
    #[must_use]
    pub fn about(mut self, refs: impl IntoIterator<Item = Ref>) -> Self {
        for r in refs {
            self.objects.push(r.to_string());
            self.refs.push(r);
        }
        self
    }

    /// The same finding, with something that can be done.
    #[must_use]
    pub fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedies.push(remedy);
        self
    }

    /// The same finding, with why nothing is offered.
    #[must_use]
    pub fn without_remedy(mut self, why: impl Into<String>) -> Self {
        self.no_remedy = Some(why.into());
        self
    }

    /// The same finding, with another severity than its code's.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}
