//! What the filters said of a pod on every node. Mirrors `framework.Diagnosis`.

use super::node::NodeId;
use super::state::State;
use super::status::{Plugin, Reason, Status};

/// What the filters said of a pod on every node.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// How many nodes there are.
    pub total: usize,
    /// The minor version of the scheduler.
    pub minor: u32,
    /// The pod was refused before any node was looked at.
    pub rejection: Option<Status>,
    /// What is said of nodes that are in neither list, as they were left out before the filters ran.
    pub left_out: Option<Status>,
    /// Nodes that take the pod.
    pub fits: Vec<NodeId>,
    /// Nodes that do not, each with its first refusal.
    pub failures: Vec<(NodeId, Status)>,
    /// The attempt to schedule the pod ends with this error, in the scheduler's words: no node is chosen.
    pub error: Option<String>,
}

impl Diagnosis {
    pub(super) fn new(state: &State, rejection: Option<Status>, left_out: Option<Status>) -> Self {
        let (total, minor) = (state.nodes().len(), state.minor());
        // Mirrors `RunPreFilterPlugins`.
        let words = |s: &Status| Some(format!("running PreFilter plugin {:?}: {}", s.plugin.as_str(), error_of(s)?));
        let error = rejection.as_ref().and_then(words);
        Self { total, minor, rejection, left_out, fits: Vec::new(), failures: Vec::new(), error }
    }

    /// Ends the attempt where a node made a plugin fail, unless so many nodes take the pod that the scheduler stops
    /// looking before all are asked. Mirrors `findNodesThatPassFilters` and `numFeasibleNodesToFind`.
    pub(super) fn end_in_error(&mut self) {
        let failed = |(_, s): &(NodeId, Status)| error_of(s).map(|words| filter_error(s.plugin, words));
        let Some(words) = self.failures.iter().find_map(failed) else { return };
        if self.fits.len() < enough(self.total) {
            self.error = Some(words);
            self.fits = Vec::new();
        }
    }

    /// Why the pod is not put into the queue.
    pub fn not_enqueued(&self) -> Option<&str> {
        self.rejection.iter().flat_map(|s| &s.reasons).find_map(|r| match r {
            Reason::NotEnqueued(words) => Some(&**words),
            _ => None,
        })
    }

    /// The nodes of which it is not known what the scheduler says, each with what is not evaluated.
    pub fn not_judged(&self) -> impl Iterator<Item = (NodeId, &str)> {
        self.failures.iter().filter_map(|(id, s)| Some((*id, doubt_of(s)?)))
    }

    /// Whether it is not known what the scheduler says of the pod.
    pub fn is_unknown(&self) -> bool {
        let doubt = || self.rejection.iter().any(|s| doubt_of(s).is_some()) || self.not_judged().next().is_some();
        self.fits.is_empty() && self.error.is_none() && doubt()
    }

    /// The first refusal of a node: its own, else that of all nodes left out.
    pub fn refusal(&self, node: NodeId) -> Option<&Status> {
        let own = self.failures.binary_search_by_key(&node, |(id, _)| *id).ok();
        let fits = || self.fits.binary_search(&node).is_ok();
        match own.and_then(|at| self.failures.get(at)) {
            Some((_, status)) => Some(status),
            None if fits() => None,
            None => self.rejection.as_ref().or(self.left_out.as_ref()),
        }
    }
}

fn error_of(status: &Status) -> Option<&str> {
    status.reasons.iter().find_map(|r| if let Reason::Fails(words) = r { Some(&**words) } else { None })
}

fn doubt_of(status: &Status) -> Option<&str> {
    status.reasons.iter().find_map(|r| if let Reason::NotJudged(what) = r { Some(&**what) } else { None })
}

/// Mirrors `RunFilterPlugins`.
fn filter_error(plugin: Plugin, words: &str) -> String {
    format!("running {:?} filter plugin: {words}", plugin.as_str())
}

/// With so many nodes that take a pod the scheduler stops looking: a hundred, or the share that it thinks fit.
fn enough(nodes: usize) -> usize {
    if nodes < 100 {
        return nodes;
    }
    let percent = 50usize.saturating_sub(nodes / 125).max(5);
    (nodes * percent / 100).max(100)
}
