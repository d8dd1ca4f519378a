//! What is found of one pod, or of one workload whose pods were not created.

use super::queue::Turn;
use super::scheduling::Scheduling;
use super::stage::Stage;
use crate::finding::{Code, Finding, Severity};
use crate::snapshot::Str;
use crate::snapshot::meta::Meta;
use crate::snapshot::pod::Pod;
use crate::snapshot::workload::Workload;
use std::sync::Arc;

/// What an item is about.
#[derive(Debug, Clone)]
pub enum Subject {
    /// A pod that is not running.
    Pod(Arc<Pod>),
    /// A workload that lacks pods.
    Workload(Arc<Workload>),
}

impl Subject {
    /// Its metadata.
    pub fn meta(&self) -> &Meta {
        match self {
            Self::Pod(p) => &p.meta,
            Self::Workload(w) => &w.meta,
        }
    }

    /// `pod/x`, `deployment.apps/x`, as `-o name` prints it.
    pub fn resource_name(&self) -> String {
        match self {
            Self::Pod(p) => format!("pod/{}", p.meta.name),
            Self::Workload(w) => w.resource_name(),
        }
    }

    /// `Pod`, or the workload's kind.
    pub fn kind(&self) -> &str {
        match self {
            Self::Pod(_) => "Pod",
            Self::Workload(w) => &w.kind,
        }
    }
}

/// One pod, or one workload.
#[derive(Debug, Clone)]
pub struct Item {
    /// What it is about.
    pub subject: Subject,
    /// The topmost controller of a pod.
    pub owner: Option<Arc<Workload>>,
    /// How far it came.
    pub stage: Stage,
    /// What the pod demands, in short phrases.
    pub asks: Vec<String>,
    /// How many pods a workload lacks.
    pub missing: usize,
    /// Where the pods of a manifest would go.
    pub placement: Option<Placement>,
    /// What the scheduler makes of it; `None` for a workload, and for a pod that has its node.
    pub scheduling: Option<Scheduling>,
    /// What the pod's turn in the scheduler's queue comes to; `None` for one that is not queued.
    pub turn: Option<Turn>,
    /// Everything that matters.
    pub findings: Vec<Finding>,
}

/// Where the pods of a manifest would go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// How many are wanted.
    pub wanted: usize,
    /// How many fit.
    pub placed: usize,
    /// On which nodes, likely: the scheduler may choose others.
    pub nodes: Vec<(Str, usize)>,
}

impl Item {
    /// Whether neither a node nor preemption helps: somebody has to do something.
    pub fn is_stuck(&self) -> bool {
        if self.findings.iter().any(|f| f.code == Code::SchedulerError && f.severity == Severity::Error) {
            return true;
        }
        let behind = |f: &Finding| f.code == Code::QueueBehind && f.severity == Severity::Warning;
        if self.findings.iter().any(behind) {
            return true;
        }
        if matches!(self.subject, Subject::Workload(_)) && self.missing == 0 && self.scheduling.is_none() {
            return self.findings.iter().any(|f| f.severity == Severity::Error);
        }
        match (&self.scheduling, self.stage) {
            (Some(s), _) => s.fits.is_empty() && s.preemption.chosen.is_none() && !self.waits_for_victims(),
            (None, Stage::NotCreated | Stage::Gated | Stage::Unscheduled) => true,
            (None, Stage::Bound | Stage::Nominated) => self.findings.iter().any(|f| f.severity == Severity::Error),
            (None, Stage::Unknown) => false,
        }
    }

    /// The pod's priority; 0 for a workload.
    pub fn priority(&self) -> i32 {
        match &self.subject {
            Subject::Pod(p) => p.priority(),
            Subject::Workload(_) => 0,
        }
    }

    fn waits_for_victims(&self) -> bool {
        self.findings.iter().any(|f| f.code == Code::NominatedWaits)
    }
}
